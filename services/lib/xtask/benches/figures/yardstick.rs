//! pgbench's simple-update on the same server: what it can commit, with nothing of ours in the way.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::process::Command;
use xtask::postgres::Cluster;
use xtask::progress::say;

use crate::stats::percentile;

/// Its database.
const DATABASE: &str = "yardstick";
/// Branches: one more than clients keeps them from queueing for the same row of `pgbench_branches`, which simple-update
/// leaves alone anyway.
const SCALE: &str = "10";

pub(crate) struct Yardstick {
    program: PathBuf,
    url: String,
    logs: PathBuf,
}

/// What one run says.
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
}

/// How the rate at so many clients is called on the board.
pub(crate) fn name(clients: usize) -> String {
    format!("pgbench simple-update, {clients} clients")
}

/// How its median is called.
pub(crate) fn p50_name(clients: usize) -> String {
    format!("pgbench simple-update, {clients} clients, p50")
}

impl Yardstick {
    /// Fills its database; none where there is no pgbench.
    pub(crate) async fn prepare(cluster: &Cluster) -> anyhow::Result<Option<Self>> {
        let beside = cluster.programs().join("pgbench");
        let program = if beside.is_file() { beside } else { "pgbench".into() };
        let found = Command::new(&program).arg("--version").stdout(Stdio::null()).status().await;
        if !found.is_ok_and(|status| status.success()) {
            say("there is no pgbench here: its figures are left out");
            return Ok(None);
        }
        cluster.database(DATABASE).await?;
        let logs = std::env::temp_dir().join(format!("abisu-pgbench-{}", std::process::id()));
        std::fs::create_dir_all(&logs)?;
        let yardstick = Self { program, url: cluster.url(DATABASE), logs };
        yardstick.run(&["--initialize", "--quiet", "--scale", SCALE]).await?;
        Ok(Some(yardstick))
    }

    /// Runs so many clients for so long.
    pub(crate) async fn simple_update(&self, clients: usize, length: Duration) -> anyhow::Result<Figures> {
        let (clients, seconds) = (clients.to_string(), length.as_secs().max(1).to_string());
        let jobs = if clients == "1" { "1" } else { "2" };
        let options =
            ["--skip-some-updates", "--no-vacuum", "--protocol", "prepared", "--log", "--log-prefix", "run"];
        let size = ["--client", clients.as_str(), "--jobs", jobs, "--time", seconds.as_str()];
        let said = self.run(&[&options[..], &size].concat()).await?;
        let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        let per_second = rate.context("pgbench says no rate")?;
        let p50_ms = percentile(&mut self.latencies()?, 0.5);
        Ok(Figures { per_second, p50_ms })
    }

    /// Milliseconds of every transaction of the last run; its files are taken away.
    fn latencies(&self) -> anyhow::Result<Vec<f64>> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&self.logs)? {
            let path = entry?.path();
            let text = std::fs::read_to_string(&path)?;
            // Client, transaction, microseconds.
            let micros = text.lines().filter_map(|line| line.split(' ').nth(2)?.parse::<f64>().ok());
            all.extend(micros.map(|micros| micros / 1000.0));
            std::fs::remove_file(path)?;
        }
        Ok(all)
    }

    async fn run(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.logs).args(args).arg(&self.url).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await.context("cannot run pgbench")?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "pgbench: {}", error.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Yardstick {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.logs);
    }
}
