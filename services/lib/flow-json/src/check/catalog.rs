//! A catalog against the tree: every node has its texts, every text has its node and fits where it is shown.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog_file;
use crate::limits;
use crate::problem::{Problem, Problems};
use crate::source::{CatalogFile, FormTexts, Texts};
use crate::taxonomy::Kind;
use crate::tree::{Entry, Node, groups, has_bridge, walk};

/// Languages are named by two or three lower-case letters, each once.
pub(crate) fn languages(languages: &[&str], found: &mut Vec<Problem>) {
    if languages.is_empty() {
        Problems::of("catalogs", found).add("", "there is no catalog", "add one file for each language");
    }
    let mut seen = BTreeSet::new();
    for language in languages {
        let file = catalog_file(language);
        let mut problems = Problems::of(&file, found);
        if !(2..=3).contains(&language.len()) || !language.bytes().all(|byte| byte.is_ascii_lowercase()) {
            problems.add(
                "",
                format!("`{language}` is not a language code"),
                "name the file after one, as es",
            );
        }
        if !seen.insert(*language) {
            problems.add("", "the language is given twice", "keep one catalog for each language");
        }
    }
}

/// All checks of one catalog.
pub(crate) fn check(language: &str, catalog: &CatalogFile, tree: &[Entry], found: &mut Vec<Problem>) {
    let file = catalog_file(language);
    let mut check = Check { catalog, problems: Problems::of(&file, found) };
    check.form();
    check.bridge(has_bridge(tree));
    check.nodes(tree);
    check.orphans(tree);
    check.rows("tree", tree);
    for (entry, group) in groups(tree) {
        check.rows(&entry.route, &group.entries);
    }
}

/// The same optional lines in every language, so that the screens differ in words only. `first` is the
/// language the others are compared with.
pub(crate) fn same_structure(
    first: (&str, &CatalogFile),
    other: (&str, &CatalogFile),
    tree: &[Entry],
    found: &mut Vec<Problem>,
) {
    let file = catalog_file(other.0);
    let mut problems = Problems::of(&file, found);
    walk(tree, &mut |path| {
        let Some(entry) = path.last() else { return };
        let (Some((_, here)), Some((key, there))) =
            (first.1.find(&entry.route, &entry.key), other.1.find(&entry.route, &entry.key))
        else {
            return;
        };
        for (name, here, there) in [
            ("description", &here.description, &there.description),
            ("metadata", &here.metadata, &there.metadata),
        ] {
            if here.is_some() != there.is_some() {
                problems.add(
                    format!("taxonomy.{key}.{name}"),
                    format!("differs from {}: one of the two has no such line", catalog_file(first.0)),
                    "give the line in every language or in none",
                );
            }
        }
    });
}

struct Check<'a> {
    catalog: &'a CatalogFile,
    problems: Problems<'a>,
}

impl Check<'_> {
    fn form(&mut self) {
        let FormTexts {
            root_title,
            root_prompt,
            summary_title,
            category_heading,
            address_heading,
            photo_label,
            photo_description,
            note_label,
            note_helper,
            submit,
            info_title,
            info_close,
            // In `bridge`.
            bridge_title: _,
            bridge_question: _,
            bridge_report: _,
            bridge_continue: _,
        } = &self.catalog.form;
        for (name, text, limit) in [
            ("root_title", root_title, limits::TITLE),
            ("root_prompt", root_prompt, limits::LIST_LABEL),
            ("summary_title", summary_title, limits::TITLE),
            ("category_heading", category_heading, limits::HEADING),
            ("address_heading", address_heading, limits::HEADING),
            ("photo_label", photo_label, limits::PHOTO_LABEL),
            ("photo_description", photo_description, limits::PHOTO_DESCRIPTION),
            ("note_label", note_label, limits::AREA_LABEL),
            ("note_helper", note_helper, limits::AREA_HELPER),
            ("submit", submit, limits::FOOTER),
            ("info_title", info_title, limits::TITLE),
            ("info_close", info_close, limits::FOOTER),
        ] {
            self.text(&format!("form.{name}"), text, limit);
        }
    }

    /// The texts of a screen that not every tree has.
    fn bridge(&mut self, needed: bool) {
        let FormTexts { bridge_title, bridge_question, bridge_report, bridge_continue, .. } =
            &self.catalog.form;
        for (name, text, limit) in [
            ("bridge_title", bridge_title, limits::TITLE),
            ("bridge_question", bridge_question, limits::BODY),
            ("bridge_report", bridge_report, limits::LINK),
            ("bridge_continue", bridge_continue, limits::FOOTER),
        ] {
            let place = format!("form.{name}");
            match (text, needed) {
                (Some(text), true) => self.text(&place, text, limit),
                (None, false) => {}
                (None, true) => {
                    self.problems.add(place, "missing", "the tree has a `bridge`, whose screen needs it");
                }
                (Some(_), false) => {
                    self.problems.add(place, "never shown", "no leaf of the tree has a `bridge`; remove it");
                }
            }
        }
    }

    /// Several routes may share one entry, so what is found is kept by entry and said once.
    fn nodes(&mut self, tree: &[Entry]) {
        let catalog = self.catalog;
        let mut shared: BTreeMap<&str, (&Entry, &Texts)> = BTreeMap::new();
        let mut missing = BTreeSet::new();
        walk(tree, &mut |path| {
            let Some(entry) = path.last() else { return };
            match catalog.find(&entry.route, &entry.key) {
                Some((key, texts)) => {
                    let fields = (needs_prompt(entry), needs_text(entry));
                    let known = shared.entry(key).or_insert((entry, texts));
                    if (needs_prompt(known.0), needs_text(known.0)) != fields {
                        missing.insert(entry.route.as_str());
                    }
                }
                None => {
                    missing.insert(entry.route.as_str());
                }
            }
        });
        for route in missing {
            self.problems.add(
                format!("taxonomy.{route}"),
                "this node of the tree has no texts of its own",
                "add an entry under the route or, where the text is the same everywhere, under its last key",
            );
        }
        for (key, (entry, texts)) in shared {
            self.texts(key, entry, texts);
        }
    }

    fn texts(&mut self, key: &str, entry: &Entry, texts: &Texts) {
        let Texts { title, description, metadata, prompt, text } = texts;
        self.text(&format!("taxonomy.{key}.title"), title, limits::TITLE);
        for (name, text, limit) in
            [("description", description, limits::DESCRIPTION), ("metadata", metadata, limits::METADATA)]
        {
            if let Some(text) = text {
                self.text(&format!("taxonomy.{key}.{name}"), text, limit);
            }
        }
        for (name, text, needed, limit) in [
            ("prompt", prompt, needs_prompt(entry), limits::LIST_LABEL),
            ("text", text, needs_text(entry), limits::BODY),
        ] {
            let place = format!("taxonomy.{key}.{name}");
            match (text, needed) {
                (Some(text), true) => self.text(&place, text, limit),
                (None, false) => {}
                (None, true) => self.problems.add(
                    place,
                    "missing",
                    "groups need a `prompt`, informational leaves need a `text`",
                ),
                (Some(_), false) => self.problems.add(
                    place,
                    "never shown",
                    "only groups have a `prompt` and only informational leaves a `text`; remove it",
                ),
            }
        }
    }

    fn orphans(&mut self, tree: &[Entry]) {
        let catalog = self.catalog;
        let mut used = BTreeSet::new();
        walk(tree, &mut |path| {
            let found = path.last().and_then(|entry| catalog.find(&entry.route, &entry.key));
            used.extend(found.map(|(key, _)| key));
        });
        for key in catalog.taxonomy.keys().filter(|key| !used.contains(key.as_str())) {
            self.problems.add(
                format!("taxonomy.{key}"),
                "no node of the tree uses this entry",
                "remove it, or correct the key",
            );
        }
    }

    /// Two rows that read the same cannot be told apart by a person.
    fn rows(&mut self, list: &str, entries: &[Entry]) {
        let mut seen = BTreeSet::new();
        for entry in entries {
            let Some((key, texts)) = self.catalog.find(&entry.route, &entry.key) else { continue };
            if !seen.insert(texts.title.to_lowercase()) {
                self.problems.add(
                    format!("taxonomy.{key}.title"),
                    format!("another row of the list `{list}` has the same title"),
                    "give each row of a list a title of its own",
                );
            }
        }
    }

    fn text(&mut self, place: &str, text: &str, limit: usize) {
        if text.trim().is_empty() {
            self.problems.add(place, "blank", "write a text; the platform refuses blank ones");
        }
        if text.trim() != text || text.contains(|sign: char| sign.is_control() && sign != '\n') {
            self.problems.add(
                place,
                "space around it or control characters in it",
                "keep only the words themselves",
            );
        }
        let length = limits::length(text);
        if length > limit {
            self.problems.add(
                place,
                format!("{length} characters long; {limit} are shown"),
                format!("shorten it by {}", length - limit),
            );
        }
        if text.contains('`') || text.contains("${") {
            self.problems.add(
                place,
                "contains a backtick or `${`, which the platform takes for an expression",
                "write it without them",
            );
        }
    }
}

fn needs_prompt(entry: &Entry) -> bool {
    matches!(entry.node, Node::Group(_))
}

fn needs_text(entry: &Entry) -> bool {
    matches!(entry.node, Node::Leaf(Kind::Informational))
}
