//! The simulator over real HTTP, as the services and the tests of others meet it.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test would")]

mod cartociudad;
mod faults;
mod flows;
mod graph;
mod media;
mod partner;
mod support;
mod walk;
mod webhook;
