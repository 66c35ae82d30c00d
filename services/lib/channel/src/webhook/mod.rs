//! Whoever posts in our own form: one message, or many in `messages`. The schema stands in the OpenAPI document of
//! `ingest`.

mod body;
pub mod inbound;
