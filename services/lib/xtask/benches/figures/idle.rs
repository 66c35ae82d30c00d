//! What the services ask of the database while nothing happens, counted by the server itself.

use std::time::Duration;

use anyhow::Context;
use sqlx::{Connection as _, Executor, PgConnection};
use xtask::process::Signal;
use xtask::progress::say;
use xtask::stack::{Options, SERVICES, Stack};
use xtask::tree::{STATE, binaries};

use crate::Bench;
use crate::board::Board;
use crate::watch::resident_mib;

/// From readiness until the first polls and samples are over.
const SETTLE: Duration = Duration::from_secs(5);

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &mut Bench, board: &mut Board) -> anyhow::Result<()> {
    let mut on = PgConnection::connect(&bench.cluster.url("abisu")).await?;
    on.execute("alter system set shared_preload_libraries = 'pg_stat_statements'").await?;
    drop(on);
    bench.cluster.restart(Signal::INT, async {}).await?;
    let mut on = PgConnection::connect(&bench.cluster.url("abisu")).await?;
    on.execute("create extension pg_stat_statements")
        .await
        .context("the server has no pg_stat_statements")?;
    let mut options = Options::new(binaries().await?);
    options.database = Some(bench.cluster.url("abisu"));
    options.logs = STATE.join("bench-logs");
    let stack = Stack::start(options).await?;
    tokio::time::sleep(SETTLE).await;
    for _ in bench.rounds() {
        on.execute("select pg_stat_statements_reset()").await?;
        tokio::time::sleep(bench.length).await;
        let calls: Vec<(String, i64)> = sqlx::query_as(
            "select r.rolname::text, sum(s.calls)::bigint from pg_stat_statements s join pg_roles r on r.oid = s.userid
             group by 1",
        )
        .fetch_all(&mut on)
        .await?;
        for service in SERVICES {
            let role = format!("abisu_{}", service.replace('-', "_"));
            let count = calls.iter().find(|(name, _)| *name == role).map_or(0, |(_, count)| *count);
            board.add(&format!("{service} at rest"), "queries/s", count as f64 / bench.length.as_secs_f64());
            let pid = stack.pid(service).with_context(|| format!("{service} is down"))?;
            board.add(&format!("{service} at rest, memory"), "MiB", resident_mib(pid)?);
        }
    }
    most_asked(&mut on).await
}

/// Says what is asked most often, for whoever wants it to be less.
async fn most_asked(on: &mut PgConnection) -> anyhow::Result<()> {
    let asked: Vec<(String, i64, String)> = sqlx::query_as(
        "select r.rolname::text, s.calls, left(regexp_replace(s.query, '\\s+', ' ', 'g'), 100)
         from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname like 'abisu\\_%'
         order by s.calls desc limit 12",
    )
    .fetch_all(on)
    .await?;
    for (role, calls, query) in asked {
        say(format!("{calls:>5} × {role}: {query}"));
    }
    Ok(())
}
