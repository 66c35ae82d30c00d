//! A private Postgres server with PostGIS, for as long as a value lives.
//!
//! A server counts only if it can create PostGIS in a database: many machines have one that cannot. The data goes to
//! `.abisu/postgres/`, or under `/var/tmp` where the user that the server runs as cannot reach the repository: root
//! runs it as an ordinary user, since Postgres refuses root. It trusts who connects on 127.0.0.1 and listens nowhere
//! else unless it is asked to, where it wants passwords. Everything in it is gone when the value is.

mod account;
mod find;
mod install;
mod program;

use std::fs::{self, File};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use sqlx::{Connection, Executor, PgConnection};

use crate::ledger;
use crate::process::{Process, Signal};
use account::Account;
use program::{Program, Wishes, arguments, free_port, init};

/// The owner of everything in the server.
const OWNER: &str = "abisu";
/// Version 14: the oldest that notices a client that has gone away while a statement runs.
const OLDEST: i32 = 140_000;
/// How long a server may take until it answers.
const START: Duration = Duration::from_secs(60);
/// How long it may take to stop before it is stopped at once.
const STOP: Duration = Duration::from_secs(5);

/// A running server. Stops, and its data goes, when this is dropped.
#[derive(Debug)]
pub struct Cluster {
    server: Child,
    port: u16,
    programs: PathBuf,
    folder: PathBuf,
    state: PathBuf,
    program: Program,
}

impl Cluster {
    /// Finds or installs Postgres and starts a server with an empty database `abisu` that has PostGIS.
    ///
    /// `state` is the folder for data and logs. Not `durable` means that a crash of the machine may lose data, which is
    /// several times faster where every test commits.
    ///
    /// # Errors
    /// No Postgres with PostGIS is here and none can be installed; the message says what to install.
    pub async fn start(state: &Path, durable: bool) -> anyhow::Result<Self> {
        Self::start_as(state, Wishes { durable, also: None }).await
    }

    /// As [`Cluster::start`], not durable, and reachable at another address of this machine as well, with a password.
    ///
    /// # Errors
    /// As there; also when `address` is not of this machine.
    pub(crate) async fn start_at(state: &Path, address: IpAddr) -> anyhow::Result<Self> {
        Self::start_as(state, Wishes { durable: false, also: Some(address) }).await
    }

    async fn start_as(state: &Path, wishes: Wishes) -> anyhow::Result<Self> {
        ledger::clean(state)?;
        let mut refused = Vec::new();
        if let Some(cluster) = Self::first_usable(state, wishes, &mut refused).await? {
            return Ok(cluster);
        }
        if std::env::var_os("ABISU_TEST_PG").is_none() {
            install::install(&refused)?;
            if let Some(cluster) = Self::first_usable(state, wishes, &mut refused).await? {
                return Ok(cluster);
            }
        }
        bail!("no usable PostgreSQL with PostGIS: {}\n{}", refused.join("; "), install::HINT)
    }

    async fn first_usable(
        state: &Path,
        wishes: Wishes,
        refused: &mut Vec<String>,
    ) -> anyhow::Result<Option<Self>> {
        refused.clear();
        for programs in find::candidates() {
            match Self::start_from(&programs, state, wishes).await {
                Ok(cluster) => return Ok(Some(cluster)),
                Err(error) => refused.push(format!("{}: {error:#}", programs.display())),
            }
        }
        if refused.is_empty() {
            refused.push("no initdb found".to_owned());
        }
        Ok(None)
    }

    async fn start_from(programs: &Path, state: &Path, wishes: Wishes) -> anyhow::Result<Self> {
        let account = Account::for_server()?;
        let folder = account.make_folder(&state.join("postgres"))?;
        ledger::path(state, &folder);
        let data = folder.join("data");
        let logs = state.join("logs");
        fs::create_dir_all(&logs)?;
        let log = logs.join("postgres.log");
        File::create(&log)?;
        let started = || -> anyhow::Result<(Child, u16, Program)> {
            init(programs, &account, &data, wishes)?;
            let port = free_port(wishes.also)?;
            let args = arguments(&data, port, wishes);
            let program = Program { path: programs.join("postgres"), args, log: log.clone() };
            Ok((program.spawn(&account)?, port, program))
        };
        let (server, port, program) = started().inspect_err(|_| remove(state, &folder))?;
        ledger::child(state, server.id());
        let mut cluster =
            Self { server, port, programs: programs.to_owned(), folder, state: state.to_owned(), program };
        cluster.answers().await.with_context(|| tail(&log))?;
        cluster.database("abisu").await?;
        let mut on = PgConnection::connect(&cluster.url("abisu")).await?;
        let version: i32 = sqlx::query_scalar("select current_setting('server_version_num')::int")
            .fetch_one(&mut on)
            .await?;
        ensure!(version >= OLDEST, "version {} is too old", version / 10_000);
        on.execute("create extension postgis").await.context("cannot create PostGIS")?;
        on.close().await?;
        Ok(cluster)
    }

    /// Ends the server at once, as a crash does, does something while it is down, and starts it again on the same data.
    ///
    /// # Errors
    /// It does not come up again.
    pub(crate) async fn crash<T>(&mut self, meanwhile: impl Future<Output = T>) -> anyhow::Result<T> {
        self.restart(Signal::QUIT, meanwhile).await
    }

    /// Ends the server by a signal, does something while it is down, and starts it again on the same data. `INT` is its
    /// fast shutdown, `QUIT` its immediate one, after which it recovers as from a crash.
    ///
    /// # Errors
    /// It does not end, or does not come up again.
    pub async fn restart<T>(&mut self, by: Signal, meanwhile: impl Future<Output = T>) -> anyhow::Result<T> {
        if let Some(process) = Process::find(self.server.id()) {
            // Its children end with it; they would not if it were killed.
            process.signal(by);
            ensure!(process.wait_gone(START), "the server does not end");
        }
        self.server.wait()?;
        ledger::forget_child(&self.state, self.server.id());
        let result = meanwhile.await;
        self.server = self.program.spawn(&Account::for_server()?)?;
        ledger::child(&self.state, self.server.id());
        self.answers().await.with_context(|| tail(&self.program.log))?;
        Ok(result)
    }

    async fn answers(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + START;
        loop {
            match PgConnection::connect(&self.url("postgres")).await {
                Ok(connection) => return Ok(connection.close().await?),
                Err(error) if Instant::now() > deadline => {
                    return Err(error).context("the server does not answer");
                }
                Err(_) => {}
            }
            if let Some(status) = self.server.try_wait()? {
                bail!("the server ended ({status})");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Makes an empty database.
    ///
    /// # Errors
    /// The name is not made of small letters, digits and underscores, or is taken.
    pub async fn database(&self, name: &str) -> anyhow::Result<()> {
        let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        ensure!(plain, "{name:?} is not a plain name");
        let mut on = PgConnection::connect(&self.url("postgres")).await?;
        on.execute(sqlx::AssertSqlSafe(format!("create database {name}"))).await?;
        Ok(on.close().await?)
    }

    /// The folder of the programs that came with the server.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// The owner's URL of a database.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/{database}", self.port)
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(process) = Process::find(self.server.id()) {
            process.signal(Signal::INT);
            if !process.wait_gone(STOP) {
                process.signal(Signal::QUIT);
                process.wait_gone(STOP);
            }
        }
        // Reaps it, and ends it if it is still there.
        let _ = self.server.kill();
        let _ = self.server.wait();
        ledger::forget_child(&self.state, self.server.id());
        remove(&self.state, &self.folder);
    }
}

fn remove(state: &Path, folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        ledger::forget_path(state, folder);
    }
}

/// The last lines of a log, to explain a failure.
pub(crate) fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(15).collect();
    format!(
        "the last lines of {}:\n{}",
        log.display(),
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    )
}
