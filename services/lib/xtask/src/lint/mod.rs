//! `cargo xtask lint`: formatting, clippy, and the rules of the tree that no other tool knows.
//!
//! The rules stand in [`rules`] (dependencies, over `cargo metadata`) and [`files`] (manifests, sources, top level).

pub mod files;
pub mod rules;

use anyhow::bail;

use crate::progress::say;
use crate::tree::{self, ROOT, cargo};

/// Runs all checks; clippy against the stored shapes of the queries.
///
/// # Errors
/// Something is wrong; all of it has been printed.
pub async fn run() -> anyhow::Result<()> {
    without_clippy().await?;
    clippy(&mut cargo()).await?;
    say("no complaints");
    Ok(())
}

/// Formatting and the rules of the tree: seconds.
///
/// # Errors
/// Something is wrong; all of it has been printed.
pub async fn without_clippy() -> anyhow::Result<()> {
    say("checking the rules of the tree");
    let metadata = tree::metadata(true).await?;
    let mut broken = rules::check(&metadata);
    broken.extend(files::check(&ROOT, &metadata)?);
    for problem in &broken {
        eprintln!("  {problem}");
    }
    if !broken.is_empty() {
        bail!("{} rules of the tree are broken", broken.len());
    }
    say("checking the formatting");
    tree::run("cargo fmt (`cargo fmt` puts it right)", cargo().args(["fmt", "--all", "--check"])).await
}

/// Clippy over everything, warnings being errors, by the given `cargo`.
///
/// # Errors
/// Clippy complains.
pub async fn clippy(cargo: &mut tokio::process::Command) -> anyhow::Result<()> {
    say("running clippy");
    tree::run("cargo clippy", cargo.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
        .await
}
