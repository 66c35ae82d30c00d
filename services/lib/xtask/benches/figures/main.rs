//! The measuring program of `cargo xtask bench`, which builds it and says how it is called.
//!
//! What is compared is measured in the same rounds on the same server; every figure is kept and shown with its spread,
//! and none is asserted: a slow machine is no defect.
//!
//! * [`bus`]: append, claim and settle in this process, beside other queues on Postgres.
//! * [`ingest`]: signed webhooks over HTTP to the service.
//! * [`geocode`]: coverage and addresses over gRPC to the service.
//! * [`flows`]: the check of the forms and the linter, in this process.
//! * [`push`]: a backlog of reports to a partner that takes a while for each.
//! * [`conversations`]: whole reports with the simulators.
//! * [`isolation`]: the citizens of one channel beside the crowd of another.
//! * [`soak`]: the queue while parts of it freeze, restart or are cut off; what must hold is checked there.
//! * [`weather`], [`idle`], [`memory`]: the services under attack, at rest, and with much waiting.
//! * [`yardstick`]: pgbench, what the server itself can do.

mod board;
mod bus;
mod conversations;
mod flows;
mod geocode;
mod idle;
mod ingest;
mod isolation;
mod memory;
mod push;
mod soak;
mod stats;
mod watch;
mod weather;
mod yardstick;

use std::time::Duration;

use anyhow::bail;
use clap::Parser;
use runtime::database::MIGRATIONS;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, PgConnection, PgPool};
use tokio::signal::unix::{SignalKind, signal};
use xtask::bench::{Args, What};
use xtask::postgres::Cluster;
use xtask::progress::say;
use xtask::tree::STATE;

use board::Board;
use soak::Soak;
use soak::frozen::{Launch, Worker};
use yardstick::Yardstick;

/// Measures Abisu
#[derive(Parser)]
struct Figures {
    #[command(flatten)]
    args: Args,
}

/// A durable server of its own, and what is asked for.
struct Bench {
    cluster: Cluster,
    yardstick: Option<Yardstick>,
    /// Of each measurement.
    length: Duration,
    args: Args,
}

fn main() -> anyhow::Result<()> {
    // A worker process of a soak, started by this program itself.
    if let Some(worker) = Worker::from_env() {
        return tokio::runtime::Runtime::new()?.block_on(worker.run());
    }
    // Called by cargo itself, to measure or to test everything.
    if std::env::args().len() == 1 || std::env::args().any(|word| word == "--bench") {
        println!("run `cargo xtask bench`");
        return Ok(());
    }
    let Figures { args } = Figures::parse();
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // A signal drops what runs, and with it the server and the services.
        tokio::select! {
            result = run(args) => result,
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("interrupted"),
        }
    })
}

async fn run(args: Args) -> anyhow::Result<()> {
    if args.what == What::Flows {
        let mut board = Board::default();
        flows::measure(&args, &mut board)?;
        print!("{board}");
        return args.json.as_ref().map_or(Ok(()), |path| board.write(path, &args, "none"));
    }
    let cluster = Cluster::start(&STATE, true).await?;
    let compared = matches!(args.what, What::Bus | What::Ingest);
    let yardstick = if compared { Yardstick::prepare(&cluster).await? } else { None };
    let length = args.length();
    let mut bench = Bench { cluster, yardstick, length, args };
    let mut board = Board::default();
    match bench.args.what {
        What::Bus => bus::measure(&bench, &mut board).await?,
        What::Ingest => ingest::measure(&bench, &mut board).await?,
        What::Geocode => geocode::measure(&bench, &mut board).await?,
        // Before: it needs no server.
        What::Flows => {}
        What::Push => push::measure(&bench, &mut board).await?,
        What::Conversations => conversations::measure(&bench, &mut board).await?,
        What::Isolation => isolation::measure(&bench, &mut board).await?,
        What::Soak => soaks(&mut bench, &mut board).await?,
        What::Weather => Box::pin(weather::measure(&mut bench, &mut board)).await?,
        What::Idle => idle::measure(&mut bench, &mut board).await?,
        What::Memory => memory::measure(&bench, &mut board).await?,
    }
    print!("{board}");
    if let Some(path) = &bench.args.json {
        let version: String = sqlx::query_scalar("select version()")
            .fetch_one(&mut PgConnection::connect(&bench.cluster.url("postgres")).await?)
            .await?;
        board.write(path, &bench.args, &version)?;
        say(format!("written to {}", path.display()));
    }
    Ok(())
}

/// All of them.
const SOAKS: [Soak; 6] = [Soak::Hot, Soak::Held, Soak::Deep, Soak::Frozen, Soak::Restart, Soak::Network];

/// Every soak that is asked for, each in a database of its own.
async fn soaks(bench: &mut Bench, board: &mut Board) -> anyhow::Result<()> {
    let length = bench.length;
    for round in 1..=bench.args.rounds() {
        for soak in SOAKS.into_iter().filter(|soak| bench.args.wants(soak.name())) {
            say(format!("round {round}: {}, {} s", soak.name(), length.as_secs()));
            let name = format!("{}_{round}", soak.name());
            bench.database(&name).await?.close().await;
            let worker = Launch { program: std::env::current_exe()?, args: Vec::new() };
            let url = bench.cluster.url(&name);
            let server = Some(&mut bench.cluster);
            for figure in soak.run(&url, server, &worker, length).await? {
                board.add(&figure.name, figure.unit, figure.value);
            }
        }
    }
    Ok(())
}

impl Bench {
    /// Says which round begins, for as many as are asked for.
    fn rounds(&self) -> impl Iterator<Item = u32> {
        let rounds = self.args.rounds();
        (1..=rounds).inspect(move |round| say(format!("round {round} of {rounds}")))
    }

    /// A migrated database of its own, and its owner's pool, as large as a busy service's.
    async fn database(&self, name: &str) -> anyhow::Result<PgPool> {
        self.cluster.database(name).await?;
        let url = self.cluster.url(name);
        MIGRATIONS.run_direct(None, &mut PgConnection::connect(&url).await?, false).await?;
        Ok(PgPoolOptions::new().max_connections(16).connect(&url).await?)
    }

    /// pgbench at so many clients, if there is a pgbench.
    async fn yardstick(&self, board: &mut Board, clients: usize) -> anyhow::Result<()> {
        if let Some(yardstick) = &self.yardstick {
            let figures = yardstick.simple_update(clients, self.length).await?;
            board.add(&yardstick::name(clients), "tx/s", figures.per_second);
            board.add(&yardstick::p50_name(clients), "ms", figures.p50_ms);
        }
        Ok(())
    }
}
