//! The Helm chart without a cluster: what it renders, what it refuses, and what is made from it.
//!
//! Helm itself renders; see `xtask::chart::tools` for where it comes from. What only a cluster can show is in
//! `cargo xtask cluster-test`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]

mod contract;
mod drift;
mod kubernetes;
mod metrics;
mod network;
mod package;
mod pods;
mod refused;
mod scaling;
mod support;
