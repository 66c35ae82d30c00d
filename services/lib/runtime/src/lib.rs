//! The process shell that every service shares, so that each one starts, reports and stops the same way.
//!
//! * [`main`] parses, refuses bad configuration with one line and exit code 64, opens the admin port, runs the
//!   service until a signal or the end of one of its tasks, and drains it under a deadline.
//! * [`Shell`] is what a service gets: named tasks, readiness, metrics, the stop signal.
//! * [`city`] reads the files of a city from the folders that are configured.
//! * [`config`] has the argument groups that several services share, and the reading of secrets.
//! * [`database`] has the pool, the schema gate and [`with_tx`], the only way to open a transaction.
//! * [`failpoint`] lets a test kill a process between two steps.
//! * [`trace`] carries W3C trace context through rows.
#![deny(missing_docs)]

mod admin;
pub mod backoff;
pub mod city;
pub mod config;
pub mod database;
pub mod failpoint;
pub mod http;
mod rotate;
mod run;
mod shell;
mod telemetry;
pub mod trace;
pub mod usage;

pub use config::{ConfigError, ServiceArgs};
pub use database::with_tx;
pub use run::main;
pub use shell::{Initialised, Shell};

/// In the images (static, musl) every thread would else wait for one lock at each allocation.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What this binary is, as `/version` says it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit this binary was built from, as `cargo xtask` passes it; `unknown` for a bare `cargo build`.
pub const COMMIT: &str = match option_env!("ABISU_GIT_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};
