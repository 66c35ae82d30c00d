//! The shell of a service: transactions that cancelling cannot break, the schema gate, the admin port, the drain.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod shell;
mod transaction;
