//! Everything through real HTTP and a real database, as the service's own role.
#![expect(clippy::unwrap_used, reason = "a helper that cannot do its work fails its test")]

mod app;
mod batches;
mod cases;
mod channels;
mod contract;
mod corpus;
mod door;
mod generic;
mod identity;
mod media;
mod odd;
mod outgoing;
mod proxy;
mod schema;
mod weather;
