//! The form of one language, without an endpoint: lists that lead to a summary.
//!
//! ```text
//! ROOT ──▶ one list per group ──▶ … ┬─▶ SUMMARY  report leaves: category, address, photo, note   ● complete
//!                                   │     ▲
//!                                   │   BRIDGE   informational leaves that could be a report: which of the two?
//!                                   │     ▼
//!                                   └─▶ INFO     informational leaves: what to do                 ● complete
//! ```
//!
//! A screen with a list may hold nothing else, so its question is the list's label. The route of a leaf is a
//! literal in the payload of its row; the screens hand it on untouched. INFO ends the form as well: a route
//! that ends on a screen without a button is only tolerated by the platform, and the chat can then repeat what
//! to do where the citizen can tap the number. Who wants to get rid of a sofa and who has found one in the street tap
//! the same row: BRIDGE asks, and what it leads to is in the payload of the row, so one screen serves all such
//! leaves. The address stays on ROOT, where the message puts it, and is
//! read from there, so every way into SUMMARY carries the same two values.

mod screens;

use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::init::{EXAMPLE_ADDRESS, FIRST_SCREEN, init_data};
use crate::keys::{Keys, keys};
use crate::lint::{Violation, lint, lint_init_data, lint_languages};
use crate::taxonomy::Taxonomy;
use screens::Generator;

pub(crate) use screens::{BRIDGE_SCREEN, FIXED_SCREENS, INFO_SCREEN};

/// The Flow JSON of one language and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowDocument {
    /// Pretty-printed, with a final newline, so that the platform's line numbers mean something.
    pub json: String,
    /// SHA-256 of `json`, in hex.
    pub content_hash: String,
    /// The screen a message must open.
    pub first_screen: String,
    /// An example of the data that screen needs; see [`init_data`].
    pub init_example: Value,
    /// Where each of its texts came from.
    pub keys: Keys,
}

impl FlowDocument {
    /// What is wrong with the form, with the keys that caused it: the document itself, and what a message gives it.
    /// A checked taxonomy gives none; this is the proof that it does not.
    pub fn lint(&self) -> Vec<Violation> {
        let mut violations = lint(&self.json);
        violations.extend(lint_init_data(&self.json, &self.first_screen, Some(&self.init_example)));
        self.with_keys(violations)
    }

    /// Where the form of another language differs from this one in more than words. The violations are of `other`.
    pub fn lint_language(&self, other: &Self) -> Vec<Violation> {
        other.with_keys(lint_languages(&self.json, &other.json, |key| {
            matches!(key, "route" | "report" | "version")
        }))
    }

    fn with_keys(&self, mut violations: Vec<Violation>) -> Vec<Violation> {
        for violation in &mut violations {
            violation.key = self.keys.find(&violation.pointer).map(str::to_owned);
        }
        violations
    }
}

/// Why there is no form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// The taxonomy has no catalog of this language.
    #[error("the taxonomy has no language {0:?}")]
    UnknownLanguage(String),
    /// The taxonomy was read back from its compiled shape, which does not hold the form.
    #[error("a form cannot be generated from a compiled taxonomy")]
    CompiledOnly,
}

/// The form of one language. The same taxonomy gives the same bytes.
///
/// # Errors
/// When the taxonomy does not have the language, or is a compiled one.
pub fn generate(taxonomy: &Taxonomy, language: &str) -> Result<FlowDocument, GenerateError> {
    let form = taxonomy.form.as_ref().ok_or(GenerateError::CompiledOnly)?;
    let catalog =
        form.catalogs.get(language).ok_or_else(|| GenerateError::UnknownLanguage(language.to_owned()))?;
    let document = Generator { form, catalog, version: &taxonomy.version, language }.document();
    let mut json =
        serde_json::to_string_pretty(&document).expect("structs and maps with string keys always serialise");
    json.push('\n');
    Ok(FlowDocument {
        content_hash: hex::encode(Sha256::digest(&json)),
        json,
        first_screen: FIRST_SCREEN.to_owned(),
        init_example: init_data(EXAMPLE_ADDRESS),
        keys: keys(form, catalog, language),
    })
}
