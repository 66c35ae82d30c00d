//! What comes in as tables of payloads; what goes out over real HTTP against a server that answers as told.
#![expect(clippy::unwrap_used, reason = "a helper that cannot do its work fails its test")]

mod flows;
mod graph;
mod inbound;
mod kinds;
mod media;
mod payload;
mod server;
