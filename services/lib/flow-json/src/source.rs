//! The shapes of the three kinds of file, as a person writes them. Nothing is judged here but the syntax.
//!
//! Maps are ordered, so that their serialisation is canonical: the version of a taxonomy is a hash of it.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, Problems};

/// `flows/report/taxonomy.yaml`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaxonomyFile {
    #[serde(default)]
    pub(crate) option_sets: BTreeMap<String, Vec<String>>,
    pub(crate) tree: Vec<NodeSource>,
}

/// A node of the tree: exactly one of the first three fields is given, which the check sees to.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeSource {
    pub(crate) group: Option<String>,
    pub(crate) report: Option<String>,
    pub(crate) informational: Option<String>,
    pub(crate) items: Option<Vec<NodeSource>>,
    pub(crate) options: Option<String>,
    /// Of an informational leaf: the route of the report that its screen can go over to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bridge: Option<String>,
}

/// The parts of `catalogs/<language>.yaml` that belong to the form. Other top-level keys are not ours.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct CatalogFile {
    pub(crate) form: FormTexts,
    pub(crate) taxonomy: BTreeMap<String, Texts>,
}

/// Texts of the form that do not depend on the tree.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormTexts {
    pub(crate) root_title: String,
    pub(crate) root_prompt: String,
    pub(crate) summary_title: String,
    pub(crate) category_heading: String,
    pub(crate) address_heading: String,
    pub(crate) photo_label: String,
    pub(crate) photo_description: String,
    pub(crate) note_label: String,
    pub(crate) note_helper: String,
    pub(crate) submit: String,
    pub(crate) info_title: String,
    pub(crate) info_close: String,
    // Only where the tree has a bridge; left out, so that the version of a city without one stays as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bridge_title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bridge_question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bridge_report: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bridge_continue: Option<String>,
}

/// Texts of a node of the tree.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Texts {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) text: Option<String>,
}

impl CatalogFile {
    /// The texts of a node and the key they stand under: the whole route before its last segment.
    pub(crate) fn find<'a>(&'a self, route: &str, key: &str) -> Option<(&'a str, &'a Texts)> {
        let (name, texts) = [route, key].into_iter().find_map(|name| self.taxonomy.get_key_value(name))?;
        Some((name, texts))
    }
}

/// `catalogs/partner.yaml`.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartnerFile {
    #[serde(default)]
    pub(crate) options: BTreeMap<String, PartnerOptions>,
    pub(crate) entries: BTreeMap<String, PartnerEntry>,
}

/// How the members of an option set are written into the contractor's note.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartnerOptions {
    /// The sentence, with `{option}` in it.
    pub(crate) note: String,
    pub(crate) values: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartnerEntry {
    pub(crate) category: String,
    pub(crate) note: Option<String>,
}

/// Reads one file; what the parser says becomes a problem of that file.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, text: &str, found: &mut Vec<Problem>) -> Option<T> {
    match serde_saphyr::from_str(text) {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            let message = format!("cannot be read: {}", error.without_snippet());
            let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
            Problems::of(file, found).add_at(line, message, "correct the file at that place");
            None
        }
    }
}
