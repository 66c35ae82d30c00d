//! The whole service against a real database and a strict platform of the contractor.
#![expect(clippy::unwrap_used, reason = "what a test cannot set up ends it")]

mod delivery;
mod doubt;
mod doubtful_outage;
mod faults;
mod gate;
mod open311;
mod outage;
mod platform;
mod public;
mod scene;
