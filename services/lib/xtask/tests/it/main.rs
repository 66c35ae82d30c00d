//! The whole system as processes, over its real protocols: what must hold from the citizen's phone to the contractor's
//! platform, also when parts of it die.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod books;
mod crash;
mod crowd;
mod erase;
mod failpoint;
mod offline;
mod outage;
mod refuse;
mod report;
mod soak;
#[path = "../../benches/figures/soak/mod.rs"]
mod soaks;
#[path = "../../benches/figures/stats.rs"]
mod stats;
mod synthetic;
mod town;
mod twice;
mod words;
