//! Other queues on Postgres, on the same server in the same rounds: each handles the same events, one chat at a time and
//! in order, as well as it can.
//!
//! They are scripts in `peers/`, run by Node and Python, with packages of exact versions in `.abisu/peers`. What cannot
//! be installed here is left out, and the table says so. None has more than a thousand events of one fetch in hand, and
//! neither have we. The clock of a peer stops when its last handler ends, ours when the last settle is committed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use sqlx::{Connection, Executor, PgConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use xtask::postgres::Cluster;
use xtask::progress::say;
use xtask::tree::STATE;

use super::order::{Handled, Verdict, judge};
use crate::Bench;
use crate::board::Board;

/// What is laid into the folder where the peers are installed.
const FILES: [(&str, &str); 7] = [
    ("package.json", include_str!("peers/package.json")),
    ("package-lock.json", include_str!("peers/package-lock.json")),
    ("requirements.txt", include_str!("peers/requirements.txt")),
    ("peer.mjs", include_str!("peers/peer.mjs")),
    ("graphile-worker.mjs", include_str!("peers/graphile-worker.mjs")),
    ("pg-boss.mjs", include_str!("peers/pg-boss.mjs")),
    ("procrastinate-lock.py", include_str!("peers/procrastinate-lock.py")),
];
/// How long a peer may take to fill itself, or to stop.
const PATIENCE: Duration = Duration::from_secs(300);

/// Each peer: its name, its script, its database, and in how many processes it is fastest on two processors.
const PEERS: [(&str, &str, &str, usize); 3] = [
    ("graphile-worker", "graphile-worker.mjs", "peer_graphile_worker", 1),
    ("pg-boss", "pg-boss.mjs", "peer_pg_boss", 1),
    ("procrastinate", "procrastinate-lock.py", "peer_procrastinate", 2),
];

/// What is to be handled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) chats: usize,
    pub(super) depth: usize,
    /// Every so many-th event fails at its first attempt; none where this is 0.
    pub(super) fail_every: usize,
}

/// A peer that can be run here.
pub(super) struct Peer {
    pub(super) name: &'static str,
    script: &'static str,
    program: PathBuf,
    folder: PathBuf,
    url: String,
    processes: usize,
}

/// What a peer came to.
pub(super) struct Outcome {
    pub(super) per_second: f64,
    pub(super) verdict: Verdict,
}

/// Installs the peers, as many as go, each with a database of its own.
pub(super) async fn install(bench: &Bench, board: &mut Board) -> anyhow::Result<Vec<Peer>> {
    let folder = STATE.join("peers");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text)?;
    }
    let (node, python) = tokio::join!(node(&folder), python(&folder));
    let mut peers = Vec::new();
    for (name, script, database, processes) in PEERS {
        let program = if script.ends_with(".py") { &python } else { &node };
        match program {
            Ok(program) => {
                bench.cluster.database(database).await?;
                let url = bench.cluster.url(database);
                let (program, folder) = (program.clone(), folder.clone());
                peers.push(Peer { name, script, program, folder, url, processes });
            }
            Err(error) => board.note(format!("{name} is left out: {error:#}")),
        }
    }
    Ok(peers)
}

/// Node with the packages of the lock file.
async fn node(folder: &Path) -> anyhow::Result<PathBuf> {
    let lock = include_str!("peers/package-lock.json");
    if !is_installed(folder, "node", lock) {
        say("installing graphile-worker and pg-boss into .abisu/peers");
        let mut npm = Command::new("npm");
        quietly("npm", npm.current_dir(folder).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))
            .await?;
        installed(folder, "node", lock)?;
    }
    quietly("node", Command::new("node").arg("--version")).await?;
    Ok("node".into())
}

/// Python with the packages of the requirements.
async fn python(folder: &Path) -> anyhow::Result<PathBuf> {
    let requirements = include_str!("peers/requirements.txt");
    let program = folder.join("venv/bin/python");
    if !is_installed(folder, "python", requirements) {
        say("installing procrastinate into .abisu/peers");
        let mut venv = Command::new("python3");
        quietly("python3 -m venv", venv.current_dir(folder).args(["-m", "venv", "--clear", "venv"])).await?;
        let mut pip = Command::new(&program);
        pip.current_dir(folder).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        quietly("pip", pip.args(["--no-deps", "--requirement", "requirements.txt"])).await?;
        installed(folder, "python", requirements)?;
    }
    Ok(program)
}

fn is_installed(folder: &Path, what: &str, list: &str) -> bool {
    std::fs::read_to_string(folder.join(format!("{what}.installed"))).is_ok_and(|text| text == list)
}

/// Notes what was installed, so that the next run finds it done.
fn installed(folder: &Path, what: &str, list: &str) -> std::io::Result<()> {
    std::fs::write(folder.join(format!("{what}.installed")), list)
}

async fn quietly(what: &str, command: &mut Command) -> anyhow::Result<()> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = output.await.with_context(|| format!("{what} is not here"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{what}: {}", said.lines().last().unwrap_or("it failed"));
    Ok(())
}

impl Peer {
    /// Fills the peer, untimed, and lets it work for `length` at most, or until all is handled.
    pub(super) async fn run(
        &self,
        cluster: &Cluster,
        case: Case,
        length: Duration,
    ) -> anyhow::Result<Outcome> {
        let run = self.run_case(case, length);
        let outcome = run.await.with_context(|| format!("{} with {case:?}", self.name));
        // What one peer left in the server's buffers must not be written while the next is measured.
        PgConnection::connect(&cluster.url("postgres")).await?.execute("checkpoint").await?;
        outcome
    }

    async fn run_case(&self, case: Case, length: Duration) -> anyhow::Result<Outcome> {
        let mut fill = self.command("fill", case);
        fill.stderr(Stdio::piped());
        let filled =
            tokio::time::timeout(PATIENCE, fill.output()).await.context("filling takes too long")??;
        let said = String::from_utf8_lossy(&filled.stderr);
        ensure!(filled.status.success(), "cannot be filled: {}", said.trim());
        let mut workers = Vec::new();
        for _ in 0..self.processes {
            let mut command = self.command("work", case);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
            workers.push(Working::start(command.spawn()?).await?);
        }
        let target = case.chats * case.depth;
        let notes = work(workers, target, length).await?;
        let (mut handled, began) = parse(&notes)?;
        ensure!(!handled.is_empty(), "it handled nothing in {} s", length.as_secs());
        let end = handled.iter().map(|one| one.end).max().unwrap_or(began);
        let per_second = handled.len() as f64 / (end.saturating_sub(began) as f64 / 1e9);
        Ok(Outcome { per_second, verdict: judge(&mut handled) })
    }

    fn command(&self, role: &str, case: Case) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).arg(self.script);
        command.env("PEER_ROLE", role).env("PEER_DATABASE_URL", &self.url);
        let numbers =
            [("PEER_CHATS", case.chats), ("PEER_DEPTH", case.depth), ("PEER_FAIL_EVERY", case.fail_every)];
        command.envs(numbers.map(|(name, number)| (name, number.to_string())));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }
}

/// A process of a peer.
struct Working {
    child: Child,
    said: Vec<u8>,
}

impl Working {
    /// Waits until it could begin.
    async fn start(child: Child) -> anyhow::Result<Self> {
        let mut one = Self { child, said: Vec::new() };
        while !one.said.ends_with(b"ready\n") {
            ensure!(one.hear().await?.is_some(), "it ended before it was ready");
        }
        one.said.clear();
        Ok(one)
    }

    /// Reads what it says next. Returns how many lines ended; none once it has closed its output.
    async fn hear(&mut self) -> anyhow::Result<Option<usize>> {
        let before = self.said.len();
        let stdout = self.child.stdout.as_mut().context("its output is not piped")?;
        let read = stdout.read_buf(&mut self.said).await?;
        let heard = self.said.get(before..).unwrap_or_default();
        Ok((read > 0).then(|| heard.iter().filter(|byte| **byte == b'\n').count()))
    }

    async fn go(&mut self) -> anyhow::Result<()> {
        Ok(self.child.stdin.as_mut().context("its input is not piped")?.write_all(b"go\n").await?)
    }

    /// Tells it to stop, and takes the rest of what it says.
    async fn stop(mut self) -> anyhow::Result<Vec<u8>> {
        drop(self.child.stdin.take());
        while self.hear().await?.is_some() {}
        let status = self.child.wait().await?;
        ensure!(status.success(), "it failed ({status})");
        Ok(self.said)
    }
}

/// Lets all work until `target` lines came, or until the time is over. Returns all that they said.
async fn work(mut workers: Vec<Working>, target: usize, length: Duration) -> anyhow::Result<Vec<Vec<u8>>> {
    for worker in &mut workers {
        worker.go().await?;
    }
    // Each says one line more, when it begins.
    let target = target + workers.len();
    let (count, mut counted) = tokio::sync::mpsc::unbounded_channel();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut tasks = JoinSet::new();
    for mut worker in workers {
        let (count, mut stopped) = (count.clone(), stopped.clone());
        tasks.spawn(async move {
            loop {
                let lines = tokio::select! {
                    lines = worker.hear() => lines?,
                    () = async { drop(stopped.wait_for(|stop| *stop).await) } => return worker.stop().await,
                };
                let lines = lines.context("it ended too soon")?;
                let _ = count.send(lines);
            }
        });
    }
    let all = async {
        let mut lines = 0;
        while lines < target {
            match counted.recv().await {
                Some(more) => lines += more,
                None => break,
            }
        }
    };
    // Both ends are good: all is handled, or enough was seen.
    let _ = tokio::time::timeout(length, all).await;
    stop.send_replace(true);
    let mut said = Vec::new();
    while let Some(one) =
        tokio::time::timeout(PATIENCE, tasks.join_next()).await.context("it does not stop")?
    {
        said.push(one??);
    }
    Ok(said)
}

/// What was handled, and when the first process began.
fn parse(notes: &[Vec<u8>]) -> anyhow::Result<(Vec<Handled>, u64)> {
    let (mut handled, mut began) = (Vec::new(), u64::MAX);
    for text in notes {
        for line in std::str::from_utf8(text)?.lines() {
            let mut words = line.split(' ');
            let mut number = |what: &str| -> anyhow::Result<u64> {
                words
                    .next()
                    .and_then(|word| word.parse().ok())
                    .with_context(|| format!("no {what} in {line:?}"))
            };
            if let Some(at) = line.strip_prefix("go ") {
                began = began.min(at.parse()?);
                continue;
            }
            let (chat, seq) = (number("chat")?, number("sequence")?);
            let (start, end) = (number("start")?, number("end")?);
            handled.push(Handled { chat: chat.into(), seq: seq.try_into()?, start, end });
        }
    }
    if began == u64::MAX {
        bail!("it never began");
    }
    Ok((handled, began))
}
