//! Which key of which file each text of a generated form came from, so that a fault of the form is shown where it
//! can be repaired.

use std::collections::BTreeMap;

use crate::check::{TAXONOMY_FILE, catalog_file};
use crate::source::CatalogFile;
use crate::taxonomy::{Form, Kind};
use crate::tree::{Entry, Node, groups, leaves};

/// Files and keys by the JSON pointers of the values that came from them, as `catalogs/es.yaml: form.submit`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keys(BTreeMap<String, String>);

impl Keys {
    /// What caused the value at a pointer: its own key, or that of the nearest value around it.
    pub fn find(&self, pointer: &str) -> Option<&str> {
        let mut pointer = pointer;
        loop {
            if let Some(key) = self.0.get(pointer) {
                return Some(key);
            }
            pointer = pointer.rfind('/').map(|end| &pointer[..end])?;
        }
    }

    /// Every pointer with its file and key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(pointer, key)| (pointer.as_str(), key.as_str()))
    }
}

/// The keys of a form, screen by screen in the order in which it is generated.
pub(crate) fn keys(form: &Form, catalog: &CatalogFile, language: &str) -> Keys {
    let mut writer =
        Writer { catalog, catalog_file: catalog_file(language), keys: BTreeMap::new(), screen: 0 };
    writer.form("title", "root_title");
    writer.form("layout/children/0/label", "root_prompt");
    writer.rows(&form.tree);
    writer.screen += 1;
    for (entry, group) in groups(&form.tree) {
        writer.tree("", entry);
        writer.text("title", entry, "title");
        writer.text("layout/children/0/label", entry, "prompt");
        writer.rows(&group.entries);
        writer.screen += 1;
    }
    let leaves = leaves(&form.tree);
    let informational: Vec<&Entry> = leaves
        .iter()
        .filter(|(_, kind)| *kind == Kind::Informational)
        .filter_map(|(path, _)| path.last().copied())
        .collect();
    if let Some(entry) = informational.iter().find(|entry| entry.bridge.is_some()) {
        writer.tree("data/report", entry);
        writer.text("data/title", entry, "title");
        writer.text("data/text", entry, "text");
        for (place, name) in [
            ("title", "bridge_title"),
            ("layout/children/1/text", "bridge_question"),
            ("layout/children/2/text", "bridge_report"),
            ("layout/children/3/label", "bridge_continue"),
        ] {
            writer.form(place, name);
        }
        writer.screen += 1;
    }
    if let Some(entry) = informational.first() {
        writer.form("title", "info_title");
        writer.text("data/title", entry, "title");
        writer.text("data/text", entry, "text");
        writer.form("layout/children/2/label", "info_close");
        writer.screen += 1;
    }
    for (place, name) in [
        ("title", "summary_title"),
        ("layout/children/0/text", "category_heading"),
        ("layout/children/2/text", "address_heading"),
        ("layout/children/4/label", "photo_label"),
        ("layout/children/4/description", "photo_description"),
        ("layout/children/5/label", "note_label"),
        ("layout/children/5/helper-text", "note_helper"),
        ("layout/children/6/label", "submit"),
    ] {
        writer.form(place, name);
    }
    Keys(writer.keys)
}

struct Writer<'a> {
    catalog: &'a CatalogFile,
    catalog_file: String,
    keys: BTreeMap<String, String>,
    screen: usize,
}

impl Writer<'_> {
    fn add(&mut self, place: &str, key: String) {
        let slash = if place.is_empty() { "" } else { "/" };
        self.keys.insert(format!("/screens/{}{slash}{place}", self.screen), key);
    }

    fn form(&mut self, place: &str, name: &str) {
        self.add(place, format!("{}: form.{name}", self.catalog_file));
    }

    fn tree(&mut self, place: &str, entry: &Entry) {
        self.add(place, format!("{TAXONOMY_FILE}: tree.{}", entry.route));
    }

    fn text(&mut self, place: &str, entry: &Entry, name: &str) {
        let Some((key, texts)) = self.catalog.find(&entry.route, &entry.key) else { return };
        let absent = match name {
            "description" => texts.description.is_none(),
            "metadata" => texts.metadata.is_none(),
            _ => false,
        };
        if !absent {
            self.add(place, format!("{}: taxonomy.{key}.{name}", self.catalog_file));
        }
    }

    fn rows(&mut self, entries: &[Entry]) {
        for (row, entry) in entries.iter().enumerate() {
            let place = format!("layout/children/0/list-items/{row}");
            self.tree(&place, entry);
            for name in ["title", "description", "metadata"] {
                self.text(&format!("{place}/main-content/{name}"), entry, name);
            }
            if matches!(entry.node, Node::Leaf(Kind::Informational)) {
                let payload = format!("{place}/on-click-action/payload");
                self.text(&format!("{payload}/title"), entry, "title");
                self.text(&format!("{payload}/text"), entry, "text");
            }
        }
    }
}
