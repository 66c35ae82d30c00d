//! A worker process that stands still for longer than its lease, as under a debugger, a paused container or a machine
//! that swaps; then it goes on where it was. Another has its chats by then, and nothing that it writes may count.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bus::Lease;
use sqlx::PgPool;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use uuid::Uuid;
use xtask::process::{Process, Signal};

use super::books::{World, pool};
use super::feed::Feed;
use super::{Figure, PATIENCE};
use crate::stats::percentile;

const LEASE: Duration = Duration::from_millis(1_500);
const URL: &str = "ABISU_SOAK_WORKER_URL";
const OWNER: &str = "ABISU_SOAK_WORKER_OWNER";
/// What a worker process says at its end, before the number.
const FENCED: &str = "loans lost: ";
/// Between two looks at the database.
const LOOK: Duration = Duration::from_millis(10);

/// How a worker process is started: this program, called so that it asks [`Worker::from_env`] first.
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
}

/// A worker process.
pub(crate) struct Worker {
    url: String,
    owner: Uuid,
}

impl Worker {
    /// What this process is, if it was started as one.
    pub(crate) fn from_env() -> Option<Self> {
        Some(Self { url: std::env::var(URL).ok()?, owner: std::env::var(OWNER).ok()?.parse().ok()? })
    }

    /// Works until its standard input is closed and nothing is left.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (close, closed) = watch::channel(false);
        std::thread::spawn(move || {
            // Ends with the parent, at the latest.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            close.send_replace(true);
        });
        let lease = Lease { length: LEASE };
        let worker = super::work::Worker { pool: pool(&self.url)?, owner: self.owner, lease };
        println!("{FENCED}{}", worker.run(closed).await.fenced);
        Ok(())
    }
}

/// A started worker process.
struct Started {
    child: Child,
    owner: Uuid,
}

impl Started {
    fn start(world: &World, launch: &Launch) -> anyhow::Result<Self> {
        let owner = Uuid::now_v7();
        let mut command = Command::new(&launch.program);
        command.args(&launch.args).env(URL, &world.url).env(OWNER, owner.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        Ok(Self { child: command.spawn().context("cannot start a worker process")?, owner })
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.child.id().context("the worker process has ended")?;
        Process::find(pid).context("the worker process has ended")?.signal(signal);
        Ok(())
    }

    /// Lets it work off what is left, and says how many loans it had lost.
    async fn finish(mut self) -> anyhow::Result<f64> {
        drop(self.child.stdin.take());
        let mut said = String::new();
        if let Some(mut stdout) = self.child.stdout.take() {
            stdout.read_to_string(&mut said).await?;
        }
        let status = self.child.wait().await?;
        ensure!(status.success(), "a worker process failed ({status}): {said}");
        let number = said.lines().find_map(|line| line.split_once(FENCED)?.1.trim().parse().ok());
        number.with_context(|| format!("a worker process says nothing of its loans: {said}"))
    }
}

pub(super) async fn run(world: &World, launch: &Launch, length: Duration) -> anyhow::Result<Vec<Figure>> {
    let mut feed = Feed::new(&pool(&world.url)?, 0..200);
    feed.per_second = Some(1_000);
    let workers = [Started::start(world, launch)?, Started::start(world, launch)?];
    let freezing = async {
        let (began, mut taken_over) = (Instant::now(), Vec::new());
        // Twice at least, each of the two.
        while taken_over.len() < 2 || began.elapsed() < length {
            let one = &workers[taken_over.len() % workers.len()];
            taken_over.push(freeze(&world.pool, one).await?);
        }
        anyhow::Ok(taken_over)
    };
    let (sent, mut taken_over) = super::feed_while(&feed, freezing).await?;
    let [one, two] = workers;
    let lost = tokio::time::timeout(PATIENCE, async { tokio::try_join!(one.finish(), two.finish()) });
    let (one, two) = lost.await.context("the worker processes do not come to rest")??;
    world.check(&sent).await?;
    ensure!(one + two > 0.0, "nobody was fenced");
    let name = "worker frozen past its lease";
    Ok(vec![
        Figure::new(format!("{name}: freezes"), "", taken_over.len() as f64),
        Figure::new(
            format!("{name}: lease of {:.1} s, last chat taken over after, p50", LEASE.as_secs_f64()),
            "s",
            percentile(&mut taken_over, 0.5),
        ),
        Figure::new(format!("{name}: its settles that were fenced"), "", one + two),
    ])
}

/// Stops a worker in the middle of its work until another has all of its chats. Returns after how many seconds.
async fn freeze(pool: &PgPool, worker: &Started) -> anyhow::Result<f64> {
    let held = "select count(*) from chat.chat where owner = $1";
    let held = async || sqlx::query_scalar::<_, i64>(held).bind(worker.owner).fetch_one(pool).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        ensure!(Instant::now() < deadline, "the worker process never has a chat");
        worker.signal(Signal::STOP)?;
        let stopped = Instant::now();
        // What it had sent before it stopped is still being done.
        tokio::time::sleep(LOOK).await;
        if held().await? == 0 {
            worker.signal(Signal::CONT)?;
            tokio::time::sleep(LOOK).await;
            continue;
        }
        while held().await? > 0 {
            ensure!(Instant::now() < deadline, "the chats of a frozen worker are not taken over");
            tokio::time::sleep(LOOK).await;
        }
        let taken_over = stopped.elapsed();
        worker.signal(Signal::CONT)?;
        return Ok(taken_over.as_secs_f64());
    }
}
