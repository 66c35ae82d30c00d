//! The outbox: reports claimed as rows, each with an epoch of its own.
//!
//! ```text
//!  claim ──▶ open_attempt ──▶ the request ──▶ settle          each one statement, so one commit
//!  (lease)   (about to send)                  (state, evidence, step)
//! ```
//! The one question is whether a record may exist on the other side. So an attempt is committed *before* its request
//! leaves and closed by its own id afterwards, whoever holds the lease by then. An attempt found open by a claim is
//! ambiguous by definition: that report goes to review and is never sent again by itself. Attempts are counted, but
//! never a fence: a defer gives one back, so the number repeats; the epoch does not.
//!
//! The pause switch and the breaker, `report.push_gate` and `report.push_breaker`, are read in the statements that claim
//! and that open an attempt: whoever forgets to look at them claims and sends nothing all the same.

mod attempt;
mod claim;
mod doubt;
pub mod operate;
mod settle;

pub use attempt::{Evidence, NewAttempt, Opened, close_attempt, open_attempt};
pub use claim::{Claim, Claimed, Photo, claim, renew};
pub use doubt::{lock_review, send_again};
pub use settle::{Outcome, Settlement, Step, settle};
