//! `cargo xtask bench`: builds the services and the measuring program for release, and becomes that program.
//!
//! It is the bench target `figures` of this crate, so that measuring may depend on what is measured while `xtask` itself
//! still runs when nothing else compiles.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

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
    /// Rounds; each measures everything once, so that a busy minute of the machine does not fall on one case alone;
    /// 3 where nothing is said, 1 for soak, weather, idle and memory
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Seconds of each measurement; where nothing is said 2, conversations, isolation and push 10, idle 20, soak and weather 60
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub seconds: Option<u64>,
    /// Settled events beside which the cost of a claim is measured (bus); 10000000 takes a quarter of an hour to make
    #[arg(long, default_value_t = 200_000)]
    pub settled: usize,
    /// Leave the other queues out (bus)
    #[arg(long)]
    pub no_peers: bool,
    /// Only what has this in its name (bus: append, work, peers or history; ingest: `64 connections`; flows:
    /// check or what a document is made of; soak, weather: one of the cases)
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Append, claim and settle, in this process, beside other queues on Postgres
    Bus,
    /// Signed webhooks over HTTP, to the service
    Ingest,
    /// Coverage, cached and offline addresses over gRPC, to the service
    Geocode,
    /// The check of the forms, and the linter on ten megabytes, in this process
    Flows,
    /// A backlog of reports, to a partner that answers in 50 ms
    Push,
    /// Whole reports, from the first webhook to the reference, with the simulators
    Conversations,
    /// The citizens of one channel, while a hundred thousand chats of another are ready
    Isolation,
    /// The queue while parts of it freeze, restart or are cut off
    Soak,
    /// The door under ten thousand idle connections, forgeries, and without its database
    Weather,
    /// What the services ask of the database while nothing happens
    Idle,
    /// What the processes hold in memory while a hundred thousand messages wait
    Memory,
}

impl What {
    /// What it starts, to be built.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Bus | Self::Flows | Self::Soak => &[],
            Self::Ingest | Self::Weather => &["ingest", "abisu"],
            Self::Geocode => &["geocode", "simulator", "abisu"],
            Self::Conversations | Self::Isolation | Self::Idle => {
                &["ingest", "conversation", "geocode", "partner-push", "simulator", "abisu"]
            }
            Self::Push => &["partner-push", "abisu"],
            Self::Memory => &["ingest", "conversation", "geocode", "simulator", "abisu"],
        }
    }
}

impl Args {
    /// How long each measurement takes.
    pub fn length(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(match self.what {
            What::Bus | What::Flows | What::Ingest | What::Geocode | What::Memory => 2,
            What::Conversations | What::Isolation | What::Push => 10,
            What::Idle => 20,
            What::Soak | What::Weather => 60,
        }))
    }

    /// How often everything is measured.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(match self.what {
            What::Bus
            | What::Flows
            | What::Ingest
            | What::Geocode
            | What::Conversations
            | What::Isolation
            | What::Push => 3,
            What::Soak | What::Weather | What::Idle | What::Memory => 1,
        })
    }

    /// Whether a part of the measurement is asked for.
    pub fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| part.contains(only))
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
    // What stands after `bench` on this command line is what that program reads.
    let error = std::process::Command::new(&program)
        .args(std::env::args_os().skip_while(|word| word != "bench").skip(1))
        .env("ABISU_BIN_DIR", tree::target_folder().await?.join("release"))
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
