//! The repository: where it is, where cargo builds, and how cargo is called.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::LazyLock;

use anyhow::{Context, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::progress::say;

/// The root of the repository: of the one that cargo runs in, which need not be the one it was built in when two
/// checkouts share a target folder.
pub static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let built = env!("CARGO_MANIFEST_DIR");
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| built.into()));
    manifest.ancestors().nth(3).unwrap_or(&manifest).to_owned()
});

/// Where runs keep what they need; ignored by git.
pub static STATE: LazyLock<PathBuf> = LazyLock::new(|| ROOT.join(".abisu"));

/// `cargo`, in the root, with the commit that `/version` tells. All calls carry it, or cargo would build twice.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&*ROOT).kill_on_drop(true).env_remove("DATABASE_URL").env("SQLX_OFFLINE", "true");
    if let Some(commit) = commit() {
        command.env("ABISU_GIT_COMMIT", commit);
    }
    command
}

fn commit() -> Option<String> {
    let output = std::process::Command::new("git")
        .current_dir(&*ROOT)
        .args(["rev-parse", "--short=12", "HEAD"])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Runs a command with its output on the terminal.
///
/// # Errors
/// It cannot be started, or it fails.
pub async fn run(what: &str, command: &mut Command) -> anyhow::Result<()> {
    let status =
        command.stdin(Stdio::null()).status().await.with_context(|| format!("cannot start {what}"))?;
    ensure!(status.success(), "{what} failed ({status})");
    Ok(())
}

/// `cargo metadata` as JSON.
///
/// # Errors
/// Cargo fails, for example on a broken manifest.
pub async fn metadata(with_dependencies: bool) -> anyhow::Result<Value> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1"]).stderr(Stdio::inherit());
    if !with_dependencies {
        command.arg("--no-deps");
    }
    let output = command.output().await.context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo metadata failed");
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}

/// The folder of the built binaries: `ABISU_BIN_DIR` as it is, else cargo's, built now.
///
/// # Errors
/// The build fails.
pub async fn binaries() -> anyhow::Result<PathBuf> {
    if let Some(folder) = std::env::var_os("ABISU_BIN_DIR").filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    say("building (the first time takes minutes)");
    run("cargo build", cargo().args(["build", "--workspace", "--bins"])).await?;
    let folder = debug_folder().await?;
    say("built");
    Ok(folder)
}

/// Where cargo puts the binaries of the dev profile.
///
/// # Errors
/// Cargo cannot say.
pub async fn debug_folder() -> anyhow::Result<PathBuf> {
    Ok(target_folder().await?.join("debug"))
}

/// Where cargo puts everything it builds.
///
/// # Errors
/// Cargo cannot say.
pub async fn target_folder() -> anyhow::Result<PathBuf> {
    let metadata = metadata(false).await?;
    let target = metadata["target_directory"].as_str();
    target.map(PathBuf::from).context("cargo metadata names no target directory")
}
