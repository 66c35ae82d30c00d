//! What comes in as tables of payloads; what goes out over real HTTP against a server that answers as told.
#![expect(clippy::unwrap_used, reason = "a helper that cannot do its work fails its test")]

mod alerts;
mod config;
mod flows;
mod graph;
mod inbound;
mod infobip;
mod kinds;
mod media;
mod mutated;
mod payload;
mod proof;
mod senders;
mod server;
