//! The queues, on Postgres. All their SQL is here; nothing outside this crate touches a mailbox row.
//!
//! ```text
//!  ingest ── append ──▶ inbound.event ── claim ▶ conversation ── settle ──▶ chat.outbound ── claim ▶ sender
//!                       (append-only)   chat.chat                           (in order)      chat.sender
//!                                                        report.report ── claim ▶ partner-push
//! ```
//!
//! * [`append`]: a message is stored once and numbered under its chat's row lock: commit order is sequence order.
//! * [`mailbox`]: a chat is the unit of claiming. Its lease has an epoch; every settle is conditional on it, so a
//!   stale worker changes nothing.
//! * [`outbound`]: the outgoing mailbox of a chat, same protocol.
//! * [`outbox`] and [`photo`]: rows claimed one by one, each with an epoch of its own.
//! * [`operate`]: what a person does by hand, each change with who and why. [`retention`]: what leaves, and when.
//! * [`wake`]: LISTEN/NOTIFY to be quick, a poll to be sure.
//!
//! The guarantees, and the interleaving behind each rule, are in the README of this crate.
#![deny(missing_docs)]

pub mod append;
pub mod mailbox;
pub mod metrics;
pub mod operate;
pub mod outbound;
pub mod outbox;
pub mod photo;
pub mod retention;
pub mod wake;

mod error;
mod key;

pub use error::{Class, Error, classify};

use std::time::Duration;

/// Attempts after which work is given up: the claim that would be the sixth parks it instead of running it.
pub const MAX_ATTEMPTS: i32 = 5;

/// How a lease is taken.
#[derive(Debug, Clone, Copy)]
pub struct Lease {
    /// How long the row stays invisible to others unless it is settled or renewed.
    pub length: Duration,
}

impl Lease {
    /// When to renew, counted from the claim or the last renewal.
    pub fn renew_after(&self) -> Duration {
        self.length / 3
    }
}

/// Seconds for `make_interval(secs => …)`.
pub(crate) fn secs(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
