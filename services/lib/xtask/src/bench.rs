//! `cargo xtask bench`: builds the services and the measuring program for release, and becomes that program.
//!
//! It is the bench target `figures` of this crate, so that measuring may depend on what is measured while `xtask` itself
//! still runs when nothing else compiles.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::progress::say;
use crate::tree::{self, cargo};

/// What to measure, and how long.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// What to measure
    #[arg(value_enum)]
    pub what: What,
    /// Write the figures of every round as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Rounds; each measures everything once, so that a busy minute of the machine does not fall on one case alone
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: u64,
    /// Settled events beside which the cost of a claim is measured (bus)
    #[arg(long, default_value_t = 200_000)]
    pub settled: usize,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Append, claim and settle, in this process
    Bus,
    /// Signed webhooks over HTTP, to the service
    Ingest,
    /// Coverage, cached and offline addresses over gRPC, to the service
    Geocode,
}

impl What {
    /// What it starts, to be built.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Bus => &[],
            Self::Ingest => &["ingest", "abisu"],
            Self::Geocode => &["geocode", "simulator", "abisu"],
        }
    }
}

/// Builds, then becomes the measuring program: what it starts it also stops, signals included.
///
/// # Errors
/// Something does not compile; else it does not return.
pub async fn run(args: &Args) -> anyhow::Result<()> {
    say("building for release (the first time takes minutes)");
    let programs = args.what.programs();
    if !programs.is_empty() {
        let mut build = cargo();
        build.args(["build", "--release", "--bins"]);
        build.args(programs.iter().flat_map(|program| ["--package", program]));
        tree::run("cargo build --release", &mut build).await?;
    }
    let program = figures().await?;
    let metadata = tree::metadata(false).await?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    // What stands after `bench` on this command line is what that program reads.
    let error = std::process::Command::new(&program)
        .args(std::env::args_os().skip_while(|word| word != "bench").skip(1))
        .env("ABISU_BIN_DIR", Path::new(target).join("release"))
        .exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

/// Builds the measuring program and says where it is.
async fn figures() -> anyhow::Result<PathBuf> {
    let mut command = cargo();
    command.args(["bench", "--package", "xtask", "--bench", "figures", "--no-run"]);
    command.args(["--message-format", "json-render-diagnostics"]).stdin(Stdio::null());
    let output = command.stderr(Stdio::inherit()).output().await.context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo bench --no-run failed ({})", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut executable = text.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let ours = message["target"]["name"] == "figures";
        message["executable"].as_str().filter(|_| ours).map(PathBuf::from)
    });
    executable.next_back().context("cargo does not say where the program is")
}
