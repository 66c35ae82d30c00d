//! The contractor's mapping against the tree: every report leaf has exactly one category, and every entry is
//! used.

use std::collections::{BTreeMap, BTreeSet};

use super::PARTNER_FILE;
use crate::problem::{Problem, Problems};
use crate::source::{PartnerEntry, PartnerFile};
use crate::taxonomy::{Kind, PartnerCategory};
use crate::tree::{Entry, Node, leaves};

/// Where the chosen option stands in the sentence for the note.
const PLACEHOLDER: &str = "{option}";

/// The category of every report leaf, by route.
pub(crate) fn map(
    file: &PartnerFile,
    sets: &BTreeMap<String, Vec<String>>,
    tree: &[Entry],
    found: &mut Vec<Problem>,
) -> BTreeMap<String, PartnerCategory> {
    let mut mapping =
        Mapping { file, used_options: BTreeSet::new(), problems: Problems::of(PARTNER_FILE, found) };
    mapping.options(sets);
    let mut used = BTreeSet::new();
    let mut mapped = BTreeMap::new();
    for (path, kind) in leaves(tree) {
        let Some((leaf, above)) = path.split_last() else { continue };
        let group = above.last().and_then(|group| match &group.node {
            Node::Group(inner) => inner.option_set.as_deref().map(|set| (group.route.as_str(), set)),
            Node::Leaf(_) => None,
        });
        match kind {
            // Nothing is sent for it; an entry for it shows up as unused.
            Kind::Informational => continue,
            Kind::Report => {}
        }
        let entry = file
            .entries
            .get_key_value(&leaf.route)
            .or_else(|| group.and_then(|(route, _)| file.entries.get_key_value(route)));
        let Some((route, entry)) = entry else {
            mapping.problems.add(
                format!("entries.{}", leaf.route),
                "this report leaf has no category",
                "add an entry for the leaf, or for the group whose options it belongs to",
            );
            continue;
        };
        used.insert(route.as_str());
        let option_note = mapping.note(route, entry, &leaf.key, group.map(|(_, set)| set));
        mapped.insert(leaf.route.clone(), PartnerCategory { category: entry.category.clone(), option_note });
    }
    mapping.entries(&used);
    mapped
}

struct Mapping<'a> {
    file: &'a PartnerFile,
    used_options: BTreeSet<&'a str>,
    problems: Problems<'a>,
}

impl<'a> Mapping<'a> {
    fn options(&mut self, sets: &BTreeMap<String, Vec<String>>) {
        for (name, options) in &self.file.options {
            let place = format!("options.{name}");
            let Some(members) = sets.get(name) else {
                self.problems.add(
                    place,
                    "the taxonomy has no such option set",
                    "remove it, or correct the name",
                );
                continue;
            };
            if options.note.matches(PLACEHOLDER).count() != 1 {
                self.problems.add(
                    format!("{place}.note"),
                    format!("does not hold {PLACEHOLDER} exactly once"),
                    format!("write it where the option belongs, as \"Fracción: {PLACEHOLDER}\""),
                );
            }
            for member in members {
                if options.values.get(member).is_none_or(|value| value.trim().is_empty()) {
                    self.problems.add(
                        format!("{place}.values.{member}"),
                        "this option has no text for the contractor",
                        "add it",
                    );
                }
            }
            for value in options.values.keys().filter(|value| !members.contains(value)) {
                self.problems.add(
                    format!("{place}.values.{value}"),
                    "the option set has no such member",
                    "remove it, or correct the key",
                );
            }
        }
    }

    /// The sentence for the note, if the entry asks for one.
    fn note(
        &mut self,
        route: &str,
        entry: &'a PartnerEntry,
        option: &str,
        set: Option<&str>,
    ) -> Option<String> {
        let name = entry.note.as_deref()?;
        let place = format!("entries.{route}.note");
        if set != Some(name) {
            self.problems.add(
                place,
                format!("the leaves of this entry are not the options of `{name}`"),
                "name the option set of the group, or take the note away",
            );
            return None;
        }
        self.used_options.insert(name);
        let Some(options) = self.file.options.get(name) else {
            self.problems.add(
                place,
                format!("`{name}` has no texts for the contractor"),
                format!("add options.{name} to this file"),
            );
            return None;
        };
        options.values.get(option).map(|value| options.note.replace(PLACEHOLDER, value))
    }

    fn entries(&mut self, used: &BTreeSet<&str>) {
        for (route, entry) in &self.file.entries {
            if !used.contains(route.as_str()) {
                self.problems.add(
                    format!("entries.{route}"),
                    "no report leaf uses this entry",
                    "remove it, or correct the route",
                );
            }
            if entry.category.is_empty() || entry.category.trim() != entry.category {
                self.problems.add(
                    format!("entries.{route}.category"),
                    "blank, or with space around it",
                    "write the contractor's code as it is",
                );
            }
        }
        for name in self.file.options.keys().filter(|name| !self.used_options.contains(name.as_str())) {
            self.problems.add(
                format!("options.{name}"),
                "no entry writes these options into its note",
                "remove them, or name them in the `note` of an entry",
            );
        }
    }
}
