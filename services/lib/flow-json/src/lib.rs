//! The form: one tree of what can be reported, and everything that is derived from it.
//!
//! The tree (`flows/report/taxonomy.yaml`), its texts (`catalogs/<language>.yaml`) and the contractor's
//! categories (`catalogs/partner.yaml`) are held once. From them come the Flow JSON of each language
//! ([`generate()`]), the routes a completed form may carry and their labels ([`Taxonomy::leaf`],
//! [`Taxonomy::labels`]) and what the contractor is told ([`PartnerCategory`]). So a form and the code that
//! reads its answers cannot disagree.
//!
//! A [`Taxonomy`] only exists checked: the platform accepts texts that a phone then does not show and payloads
//! that break on the phone, so whatever can be known from the files is refused here, with the place and the
//! remedy. The crate is pure: text in, values out; no files, no clock, no network.

#![deny(missing_docs)]

mod check;
mod city;
mod compiled;
mod completion;
mod document;
mod generate;
mod init;
mod keys;
mod limits;
mod lines;
mod lint;
mod problem;
mod source;
mod taxonomy;
mod tree;

pub use city::{GivenFiles, in_one_line};
pub use compiled::CompiledError;
pub use completion::{Completion, CompletionError, PhotoRef, parse_completion};
pub use generate::{FlowDocument, GenerateError, generate};
pub use init::{FIRST_SCREEN, init_data};
pub use keys::Keys;
pub use lint::{Code, MOST_BYTES, MOST_INIT_BYTES, Violation, lint, lint_init_data, lint_languages};
pub use problem::Problem;
pub use taxonomy::{BUILTIN, CityFiles, Kind, Leaf, PartnerCategory, Taxonomy};
