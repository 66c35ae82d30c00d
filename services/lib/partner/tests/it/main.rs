//! One conformance suite for all adapters: what the worker builds on, each adapter must do, whatever the platform
//! speaks. Every test runs against the agreed JSON API, the same under other names, and Open311.
#![expect(clippy::unwrap_used, reason = "what a test cannot set up ends it")]

mod conformance;
mod particular;
mod platform;
mod session;
