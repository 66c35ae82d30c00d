//! Whoever posts in our own form: one message, or many in `messages`, and is posted to in turn. The schema of what comes
//! in stands in the OpenAPI document of `ingest`, that of what goes out in the README of this crate.

mod body;
mod client;
pub mod inbound;
mod send;

pub use client::WebhookClient;
