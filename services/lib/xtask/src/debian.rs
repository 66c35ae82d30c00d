//! Installing what is missing where that is one package away: Debian and its relatives.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// Whether this system has packages of Debian.
pub(crate) fn is_here() -> bool {
    Path::new("/etc/debian_version").exists() && Path::new("/usr/bin/apt-get").exists()
}

/// Runs `apt-get`, through sudo where this is not root.
///
/// # Errors
/// It cannot be run, or it fails.
pub(crate) fn apt_get(args: &[&str]) -> anyhow::Result<()> {
    let root = rustix::process::geteuid().is_root();
    let mut command = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        // Through `env`: sudo drops what it does not know.
        command.args(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    }
    // Its output is progress, not a result.
    let stdout = std::io::stderr();
    let status = command
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(if root { Stdio::null() } else { Stdio::inherit() })
        .stdout(Stdio::from(stdout))
        .status()
        .with_context(|| format!("cannot run {}", if root { "apt-get" } else { "sudo" }))?;
    ensure!(status.success(), "apt-get {} failed ({status})", args.join(" "));
    Ok(())
}
