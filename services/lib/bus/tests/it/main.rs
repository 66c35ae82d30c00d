//! The protocol of the queues against a real database.
//!
//! Where the order of two transactions matters, it is forced: one is held open on a connection of its own until the
//! database says that the other waits for it. Time is never slept through; a lease that must be over is moved into the
//! past. Each test says what must hold; the README names the rule that each of them guards.
#![expect(clippy::unwrap_used, reason = "in a test a value that is not there is the failure")]

mod support;

mod append_counts;
mod append_lanes;
mod append_order;
mod append_people;
mod append_poison;
mod append_repeats;
mod attempts;
mod belt;
mod claims;
mod leases;
mod locks;
mod operate;
mod outbound;
mod outbound_pace;
mod outbox;
mod outbox_gate;
mod outbox_operate;
mod outbox_settle;
mod photo;
mod retention;
mod roles;
mod schedule;
mod senders;
mod settle_all;
mod soak;
mod state;
mod wake;
mod wakeups;
