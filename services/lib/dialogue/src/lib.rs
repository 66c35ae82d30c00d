//! The conversation as a pure state machine.
//!
//! [`decide`] takes where a conversation stands and what has just come in, and answers either with a
//! [`Lookup`] it needs first or with a [`Transition`]: the new session, the changes to the report and the
//! replies. Time, ids and looked-up facts come in as values and work goes out as values, so every path can be
//! tested as a table and the shell can commit a whole transition in one transaction.
//!
//! It guarantees: an outcome for every step and every kind of event, at most one open prompt, no draft that
//! its session has forgotten, and no reference in a reply except through [`received`].
//!
//! What it handles is personal (texts, coordinates). The `Debug` forms are for tests and must not be logged.
#![deny(missing_docs)]

mod decide;
mod decision;
mod event;
mod form;
mod keyword;
mod language;
mod limits;
mod locate;
mod notice;
mod press;
mod prompt;
mod session;
pub mod texts;
mod turn;

pub use decide::decide;
pub use decision::{Decision, Effect, Outcome, Reply, ReplyBody, Transition};
pub use event::{
    Answer, Coverage, Event, EventKind, Form, FormAnswer, Fresh, Lookup, PhotoRef, PromptFate, Verdict,
};
pub use language::Language;
pub use notice::{Notice, gave_up, notice, prompt_again, received};
pub use session::{Candidate, LastReport, LocationAsk, Place, Point, Session, Step};
