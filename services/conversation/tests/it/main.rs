//! The service in its own runtime, on a database of the test, with the role it has in production, against the strict
//! simulator. Citizens act through the simulator; what they see is what the simulator was sent.
#![expect(clippy::unwrap_used, reason = "a helper that cannot do its work fails its test")]

mod balance;
mod channels;
mod citizen;
mod codes;
mod crowd;
mod failed;
mod failure;
mod forms;
mod geo;
mod order;
mod outage;
mod photo;
mod receiver;
mod replies;
mod report;
mod support;
mod takeover;
mod telemetry;
mod trace;
mod webhook;
