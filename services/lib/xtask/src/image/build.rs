//! Static programs for this machine's processor, the same bytes from the same commit wherever it lies.
//!
//! Rust's own target for musl links everything in. What the compilers would write down of this machine are paths: of
//! cargo's folder with the sources of others, and of the folder for what is built; both are renamed. The repository's
//! own sources are compiled by their paths in it. And C may say when it was compiled: never, it is told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tokio::process::Command;

use crate::debian;
use crate::progress::say;
use crate::tree::{self, cargo};

/// The profile in the root's `Cargo.toml`.
const PROFILE: &str = "image";
/// What C takes for the time at which it is compiled. The same for every commit: what is not compiled again would say
/// that of an earlier one.
const TIME: &str = "0";
/// Allows C to say it. It does so anyhow; but cargo looks at flags for what must be compiled again, and not at
/// `SOURCE_DATE_EPOCH`.
const MAY_SAY_TIME: &str = "-Wno-date-time";
/// Between the arguments in `CARGO_ENCODED_RUSTFLAGS`.
const BETWEEN: &str = "\u{1f}";

/// What to build for.
pub(super) struct Target {
    /// As Rust calls it.
    triple: &'static str,
    /// The processor, as images call it.
    pub(super) architecture: &'static str,
}

impl Target {
    /// This machine's processor, with musl.
    pub(super) fn of_this_machine() -> anyhow::Result<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Self { triple: "x86_64-unknown-linux-musl", architecture: "amd64" }),
            "aarch64" => Ok(Self { triple: "aarch64-unknown-linux-musl", architecture: "arm64" }),
            other => bail!("images are built for x86_64 and aarch64, and this is {other}"),
        }
    }

    /// Installs what is missing: Rust's standard library for the target, and a C compiler for it.
    pub(super) async fn install(&self) -> anyhow::Result<()> {
        let asked =
            Command::new("rustc").args(["--print", "target-libdir", "--target", self.triple]).output();
        let output = asked.await.context("cannot run rustc")?;
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        if !folder.exists() {
            say(format!("rustup target add {}", self.triple));
            let mut rustup = Command::new("rustup");
            tree::run("rustup target add", rustup.args(["target", "add", self.triple])).await.with_context(
                || format!("Rust's standard library for {} is missing: install it", self.triple),
            )?;
        }
        if self.has_c_compiler() {
            return Ok(());
        }
        ensure!(debian::is_here(), "musl-gcc is missing: install musl's wrapper of the C compiler");
        say("apt-get install musl-tools");
        debian::apt_get(&["update", "--quiet"])?;
        debian::apt_get(&[
            "install",
            "--yes",
            "--quiet",
            "--no-install-recommends",
            "gcc",
            "make",
            "musl-tools",
        ])
    }

    /// Cryptography and the allocator are C in part.
    fn has_c_compiler(&self) -> bool {
        let named = [format!("CC_{}", self.triple.replace('-', "_")), "TARGET_CC".to_owned()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        cfg!(target_env = "musl")
            || named.iter().any(|name| std::env::var_os(name).is_some())
            || std::env::split_paths(&path).any(|folder| folder.join("musl-gcc").is_file())
    }

    /// Builds packages of the repository at `root` and returns the folder of their programs. `built` is cargo's target
    /// folder.
    pub(super) async fn build(
        &self,
        root: &Path,
        built: &Path,
        packages: &[&str],
    ) -> anyhow::Result<PathBuf> {
        let mut command = cargo();
        command.current_dir(root).env("CARGO_TARGET_DIR", built);
        command.args(["build", "--locked", "--profile", PROFILE, "--target", self.triple, "--bins"]);
        command.args(packages.iter().flat_map(|package| ["--package", package]));
        let cargo_home = cargo_home()?;
        let names = [(&*cargo_home, "/cargo"), (built, "/target")];
        let mut rust = OsString::new();
        let mut c = OsString::from(MAY_SAY_TIME);
        for (path, name) in names {
            let renamed = |flag: &str| {
                let mut text = OsString::from(flag);
                text.push(path);
                text.push("=");
                text.push(name);
                text
            };
            if !rust.is_empty() {
                rust.push(BETWEEN);
            }
            c.push(" ");
            rust.push(renamed("--remap-path-prefix="));
            c.push(renamed("-ffile-prefix-map="));
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", rust).env("SOURCE_DATE_EPOCH", TIME);
        command.env(format!("CFLAGS_{}", self.triple.replace('-', "_")), c);
        tree::run("cargo build", &mut command).await?;
        Ok(built.join(self.triple).join(PROFILE))
    }

    /// `cargo metadata` of the repository at `root`, with the dependencies that count for this target.
    pub(super) async fn metadata(&self, root: &Path) -> anyhow::Result<Value> {
        let mut command = cargo();
        command.current_dir(root).stderr(Stdio::inherit());
        command.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", self.triple]);
        let output = command.output().await.context("cannot start cargo")?;
        ensure!(output.status.success(), "cargo metadata failed");
        serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
    }
}

/// Where cargo keeps the sources of what we depend on.
fn cargo_home() -> anyhow::Result<PathBuf> {
    let given = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".cargo"));
    given.or_else(usual).context("neither CARGO_HOME nor HOME is set")
}

/// The version of the compiler, whose standard library is part of every program.
pub(super) async fn rust_version() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("--version").stderr(Stdio::inherit()).output().await;
    let text = String::from_utf8(output.context("cannot run rustc")?.stdout)?;
    text.split(' ').nth(1).map(str::to_owned).context("rustc does not tell its version")
}

/// Whether a program needs nothing of the system it runs on: no loader is named in it.
///
/// # Errors
/// It is no program of a 64-bit little-endian machine.
pub(super) fn is_static(program: &[u8]) -> anyhow::Result<bool> {
    /// The kind of a segment that names the loader.
    const LOADER: u32 = 3;
    ensure!(program.starts_with(b"\x7fELF\x02\x01"), "not a program of a 64-bit little-endian machine");
    let at = |from: usize, length: usize| -> anyhow::Result<u64> {
        let bytes = program.get(from..from + length).context("a program that is cut short")?;
        Ok(bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    };
    let (table, size, count) = (at(0x20, 8)?, at(0x36, 2)?, at(0x38, 2)?);
    for segment in 0..count {
        let from = usize::try_from(table + segment * size)?;
        if at(from, 4)? == u64::from(LOADER) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head of a program with segments of these kinds.
    fn program(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 * kinds.len()];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[0x20] = 64;
        bytes[0x36] = 56;
        bytes[0x38] = u8::try_from(kinds.len()).unwrap();
        for (n, kind) in kinds.iter().enumerate() {
            bytes[64 + 56 * n..][..4].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_program_with_a_loader_is_not_static() {
        assert!(is_static(&program(&[6, 1, 1, 2])).unwrap());
        assert!(!is_static(&program(&[6, 3, 1])).unwrap());
        assert!(is_static(b"#!/bin/sh\n").is_err());
        assert!(is_static(&program(&[1, 1])[..100]).is_err(), "cut short");
    }

    #[test]
    fn this_program_is_read_as_the_system_reads_it() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(is_static(&own).unwrap(), cfg!(target_env = "musl"));
    }
}
