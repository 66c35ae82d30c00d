//! The steps, by what they do to the system.

pub(super) mod autoscale;
pub(super) mod disrupt;
pub(super) mod install;
pub(super) mod memory;
pub(super) mod migrate;
pub(super) mod nodes;
pub(super) mod rights;
pub(super) mod rotate;
pub(super) mod scale;
pub(super) mod trouble;
pub(super) mod upgrade;

/// How a step ended that did not fail.
pub(super) enum Verdict {
    /// What was seen, in a few words.
    Held(String),
    /// Why it could not be done.
    Skipped(String),
}

/// The end of a step that held.
pub(super) fn held(what: impl Into<String>) -> anyhow::Result<Verdict> {
    Ok(Verdict::Held(what.into()))
}
