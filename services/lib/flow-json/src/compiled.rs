//! The shape in which a release keeps its taxonomy: enough to check, name and map an answer, years later,
//! from the row alone. The form itself is not in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::taxonomy::{Kind, Leaf, PartnerCategory, Taxonomy};

/// Raised when old readers would misunderstand the shape.
const FORMAT: u32 = 1;

/// A compiled taxonomy that cannot be read back.
#[derive(Debug, Error)]
pub enum CompiledError {
    /// The value has another shape.
    #[error("the compiled taxonomy has an unknown shape")]
    Shape(#[source] serde_json::Error),
    /// It was written by a newer release.
    #[error("the compiled taxonomy has format {0}, which this release cannot read")]
    Format(u32),
}

#[derive(Serialize, Deserialize)]
struct Compiled {
    format: u32,
    version: String,
    languages: Vec<String>,
    leaves: Vec<CompiledLeaf>,
}

#[derive(Serialize, Deserialize)]
struct CompiledLeaf {
    route: String,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partner: Option<PartnerCategory>,
    labels: BTreeMap<String, Vec<String>>,
}

impl Taxonomy {
    /// The taxonomy as one JSON object: `{format, version, languages, leaves: [{route, kind, partner?,
    /// labels: {language: [label, …]}}]}`.
    pub fn compiled(&self) -> Value {
        let leaves = self
            .leaves
            .iter()
            .map(|leaf| CompiledLeaf {
                route: leaf.route.clone(),
                kind: leaf.kind,
                partner: leaf.partner.clone(),
                labels: self
                    .languages
                    .iter()
                    .filter_map(|language| Some((language.clone(), self.labels(&leaf.route, language)?)))
                    .collect(),
            })
            .collect();
        let compiled = Compiled {
            format: FORMAT,
            version: self.version.clone(),
            languages: self.languages.clone(),
            leaves,
        };
        serde_json::to_value(compiled).expect("structs and maps with string keys always serialise")
    }

    /// Reads what [`Taxonomy::compiled`] wrote. Routes, labels and mapping are there; a form cannot be
    /// generated from it.
    ///
    /// # Errors
    /// When the value has another shape or a newer format.
    pub fn from_compiled(compiled: &Value) -> Result<Self, CompiledError> {
        let Compiled { format, version, languages, leaves } =
            Compiled::deserialize(compiled).map_err(CompiledError::Shape)?;
        if format != FORMAT {
            return Err(CompiledError::Format(format));
        }
        let mut labels: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        let mut plain = Vec::with_capacity(leaves.len());
        for CompiledLeaf { route, kind, partner, labels: by_language } in leaves {
            for (language, path) in by_language {
                labels.entry(language).or_default().insert(route.clone(), path);
            }
            plain.push(Leaf { route, kind, partner });
        }
        Ok(Self::from_parts(version, languages, plain, labels, None))
    }
}
