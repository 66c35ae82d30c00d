//! Unfolds the written tree and checks its keys, its lists and its number of screens.

use std::collections::{BTreeMap, BTreeSet};

use super::{TAXONOMY_FILE, is_key};
use crate::generate::{BRIDGE_SCREEN, FIXED_SCREENS, INFO_SCREEN};
use crate::limits;
use crate::problem::{Problem, Problems};
use crate::source::{NodeSource, TaxonomyFile};
use crate::taxonomy::Kind;
use crate::tree::{Entry, Group, Node, Said, groups, has_bridge, leaves, screen_id};

/// The tree; it may only be used when no problem was added.
pub(crate) fn build(file: &TaxonomyFile, found: &mut Vec<Problem>) -> Vec<Entry> {
    let mut builder = Builder {
        sets: &file.option_sets,
        used_sets: BTreeSet::new(),
        problems: Problems::of(TAXONOMY_FILE, found),
    };
    builder.sets();
    let entries = builder.nodes(&file.tree, None);
    builder.list("tree", &entries);
    builder.unused_sets();
    builder.groups(&entries);
    builder.bridges(&entries);
    builder.screens(&entries);
    entries
}

struct Builder<'a> {
    sets: &'a BTreeMap<String, Vec<String>>,
    used_sets: BTreeSet<&'a str>,
    problems: Problems<'a>,
}

impl<'a> Builder<'a> {
    fn sets(&mut self) {
        for (name, members) in self.sets {
            let place = format!("option_sets.{name}");
            if !is_key(name) {
                self.bad_key(&place, name);
            }
            for member in members.iter().filter(|member| !is_key(member)) {
                self.bad_key(&place, member);
            }
        }
    }

    fn nodes(&mut self, nodes: &'a [NodeSource], parent: Option<&str>) -> Vec<Entry> {
        nodes.iter().filter_map(|node| self.node(node, parent)).collect()
    }

    fn node(&mut self, source: &'a NodeSource, parent: Option<&str>) -> Option<Entry> {
        let (key, kind) = match source.said() {
            Said::Group(key) => (key, None),
            Said::Report(key) => (key, Some(Kind::Report)),
            Said::Informational(key) => (key, Some(Kind::Informational)),
            Said::Unclear => {
                self.problems.add(
                    format!("tree.{}", parent.unwrap_or_default()),
                    "a node must be one of group, report, informational",
                    "give the node exactly one of these three keys",
                );
                return None;
            }
        };
        let route = join(parent, key);
        let place = format!("tree.{route}");
        if !is_key(key) {
            self.bad_key(&place, key);
        }
        if source.bridge.is_some() && kind != Some(Kind::Informational) {
            self.problems.add(
                place.clone(),
                "only an informational leaf has a bridge",
                "take it away, or make the node informational",
            );
        }
        let node = match kind {
            None => Node::Group(self.group(source, &route, &place)),
            Some(kind) => {
                if source.items.is_some() || source.options.is_some() {
                    self.problems.add(
                        place,
                        "a leaf has items or options",
                        "make the node a group, or take them away",
                    );
                }
                Node::Leaf(kind)
            }
        };
        Some(Entry { key: key.to_owned(), route, node, bridge: source.bridge.clone() })
    }

    fn group(&mut self, source: &'a NodeSource, route: &str, place: &str) -> Group {
        let (entries, option_set) = match (&source.items, &source.options) {
            (Some(items), None) => (self.nodes(items, Some(route)), None),
            (None, Some(set)) => (self.options(set, route, place), Some(set.clone())),
            (None, None) | (Some(_), Some(_)) => {
                self.problems.add(
                    place,
                    "a group must have items or options, and not both",
                    "give the group exactly one of them",
                );
                return Group { entries: Vec::new(), option_set: None };
            }
        };
        self.list(place, &entries);
        Group { entries, option_set }
    }

    fn options(&mut self, set: &'a str, route: &str, place: &str) -> Vec<Entry> {
        let Some(members) = self.sets.get(set) else {
            self.problems.add(
                place,
                format!("there is no option set `{set}`"),
                "add it under option_sets or correct the name",
            );
            return Vec::new();
        };
        self.used_sets.insert(set);
        members
            .iter()
            .map(|member| Entry {
                key: member.clone(),
                route: join(Some(route), member),
                node: Node::Leaf(Kind::Report),
                bridge: None,
            })
            .collect()
    }

    fn list(&mut self, place: &str, entries: &[Entry]) {
        if entries.is_empty() || entries.len() > limits::LIST_ITEMS {
            self.problems.add(
                place,
                format!("the list has {} rows; a list shows 1 to {}", entries.len(), limits::LIST_ITEMS),
                "split the group or add to it",
            );
        }
        let mut seen = BTreeSet::new();
        for entry in entries.iter().filter(|entry| !seen.insert(&entry.key)) {
            self.problems.add(
                place,
                format!("`{}` stands twice in the same list", entry.key),
                "give each row a key of its own",
            );
        }
    }

    fn unused_sets(&mut self) {
        for name in self.sets.keys().filter(|name| !self.used_sets.contains(name.as_str())) {
            self.problems.add(
                format!("option_sets.{name}"),
                "no group uses this option set",
                "remove it, or name it in the `options` of a group",
            );
        }
    }

    /// A group is a screen, and a screen needs an id that is unique and not taken.
    fn groups(&mut self, entries: &[Entry]) {
        let mut seen = BTreeSet::new();
        for (entry, _) in groups(entries) {
            let place = format!("tree.{}", entry.route);
            if !seen.insert(entry.key.as_str()) {
                self.problems.add(
                    place.clone(),
                    format!("the group key `{}` is used twice", entry.key),
                    "rename one of the two groups",
                );
            }
            // SUCCESS is the platform's own.
            let id = screen_id(&entry.key);
            let ours = FIXED_SCREENS.into_iter().chain([INFO_SCREEN, BRIDGE_SCREEN, "SUCCESS"]);
            if ours.into_iter().any(|taken| taken == id) {
                self.problems.add(place, format!("the screen id {id} is reserved"), "rename the group");
            }
        }
    }

    /// A bridge leads over to a report that can be made.
    fn bridges(&mut self, entries: &[Entry]) {
        let leaves = leaves(entries);
        let reports: BTreeSet<&str> = leaves
            .iter()
            .filter(|(_, kind)| *kind == Kind::Report)
            .filter_map(|(path, _)| path.last().map(|leaf| leaf.route.as_str()))
            .collect();
        for leaf in leaves.iter().filter_map(|(path, _)| path.last()) {
            if let Some(bridge) = leaf.bridge.as_deref().filter(|bridge| !reports.contains(bridge)) {
                self.problems.add(
                    format!("tree.{}", leaf.route),
                    format!("the bridge leads to `{bridge}`, which is no report leaf"),
                    "give the whole route of a report leaf, as street/litter_bin",
                );
            }
        }
    }

    fn screens(&mut self, entries: &[Entry]) {
        let leaves = leaves(entries);
        if !leaves.iter().any(|(_, kind)| *kind == Kind::Report) {
            self.problems.add("tree", "nothing can be reported", "add a report leaf");
        }
        let informs = leaves.iter().any(|(_, kind)| *kind == Kind::Informational);
        let bridges = has_bridge(entries);
        let screens =
            groups(entries).len() + FIXED_SCREENS.len() + usize::from(informs) + usize::from(bridges);
        if screens > limits::SCREENS {
            self.problems.add(
                "tree",
                format!("the form would have {screens} screens; {} are possible", limits::SCREENS),
                "merge groups: each group is a screen, besides the first, the summary, the information and the bridge",
            );
        }
    }

    fn bad_key(&mut self, place: &str, key: &str) {
        self.problems.add(
            place,
            format!("`{key}` is not a key"),
            "use lower-case words of a to z, joined by single underscores",
        );
    }
}

fn join(parent: Option<&str>, key: &str) -> String {
    parent.map_or_else(|| key.to_owned(), |parent| format!("{parent}/{key}"))
}
