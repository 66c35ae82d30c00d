//! The linter: what is wrong with a Flow JSON, ours or anybody's.
//!
//! The platform publishes forms that do not work: it does not look into the rows of lists, follows no payload into
//! the data of its target there, and cuts texts on the phone instead of refusing them. So this is stricter than the
//! platform. Where the platform has a code for a fault, that code is given, so that one table explains both.
//!
//! Versions 5.1 to 7.3 are checked by their own rules; an older or unknown version is said and the document is
//! checked by the nearest. No text makes the linter fail: it is read once with bounded nesting, every rule is
//! linear in what it looks at, and at most ten thousand violations are listed.

mod across;
mod actions;
mod branches;
mod code;
mod context;
mod data_model;
mod document;
mod expression;
mod items;
mod json;
mod options;
mod placement;
mod places;
mod properties;
mod routing;
mod spec;
mod values;
mod version;

use std::fmt;

pub use across::{MOST_INIT_BYTES, lint_init_data, lint_languages};
pub use code::Code;
use context::{Context, Found, MOST};

/// Bytes of a document; the platform takes no more.
pub const MOST_BYTES: usize = 10 * 1024 * 1024;

/// One fault of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What kind of fault.
    pub code: Code,
    /// What is wrong, for a person.
    pub message: String,
    /// JSON pointer to the value; empty for the document as a whole.
    pub pointer: String,
    /// Line in the text, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The file and key that caused it, as `catalogs/es.yaml: form.submit`, where the document was generated.
    pub key: Option<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, message, pointer, line, column, key } = self;
        write!(formatter, "{line}:{column}: {code}: {message}")?;
        if !pointer.is_empty() {
            write!(formatter, " at {pointer}")?;
        }
        if let Some(key) = key {
            write!(formatter, " from {key}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a Flow JSON, in the order of the text; nothing if it may be published and works.
pub fn lint(text: &str) -> Vec<Violation> {
    if text.len() > MOST_BYTES {
        let message = format!("{} bytes; a form has at most {MOST_BYTES}", text.len());
        return places::place(text, None, vec![Found { at: 0, code: Code::InvalidFlowJson, message }]);
    }
    let read = match json::read(text) {
        Ok(read) => read,
        Err(json::Malformed { at, message }) => {
            let found = Found { at, code: Code::InvalidFlowJson, message: message.to_owned() };
            return places::place(text, None, vec![found]);
        }
    };
    let context = Context::new(document::version(&read.root), &read.root);
    for at in read.repeated {
        context.at(at, Code::DuplicateKey, "the key stands twice in the same object");
    }
    document::check(&context, &read.root);
    let mut found = context.found.into_inner();
    if found.len() > MOST {
        found.truncate(MOST);
        let message = format!("more than {MOST}; the others are not listed");
        found.push(Found { at: text.len(), code: Code::TooManyViolations, message });
    }
    places::place(text, Some(&read.root), found)
}
