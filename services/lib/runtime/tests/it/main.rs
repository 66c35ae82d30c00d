//! The shell of a service: transactions that cancelling cannot break, the schema gate, the admin port, the drain.

mod shell;
mod transaction;
