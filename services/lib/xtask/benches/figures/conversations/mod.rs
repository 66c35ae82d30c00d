//! Whole reports, from the greeting to the reference and on to the contractor, with all services and the simulators:
//! how many a second, and how long a citizen waits for an answer.

pub(crate) mod person;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;
use xtask::citizen::{Citizen, Simulator};
use xtask::progress::say;
use xtask::stack::{Options, Stack};
use xtask::tree::{STATE, binaries};

use crate::Bench;
use crate::board::Board;
use crate::stats::percentile;
use person::{People, waits};

/// Citizens who report at the same time, each after the other, where as much as goes is asked for.
const AT_ONCE: usize = 48;
/// Chats that wait for an address, and how long the geocoder takes for each.
const SLOW_CHATS: usize = 10;
const SLOW: Duration = Duration::from_secs(15);
/// How long the contractor may take to get the last report.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let mut options = Options::new(binaries().await?);
    options.database = Some(bench.cluster.url("abisu"));
    options.logs = STATE.join("bench-logs");
    let environment = [
        // What Meta allows a number at most; the limit of a new one would be all that is measured.
        ("ABISU_SENDS_PER_SECOND", "1000"),
        // So long that a slow geocoder is waited for.
        ("ABISU_LOOKUP_TIMEOUT_MS", "20000"),
        ("ABISU_CARTOCIUDAD_TIMEOUT_MS", "20000"),
    ];
    options.environment.extend(environment.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let stack = Stack::start(options).await?;
    let url = stack.urls.simulator.as_deref().context("the simulator runs")?;
    let people = Arc::new(People::new(Simulator::new(url)?)?);
    let mut reports = 0;
    for _ in bench.rounds() {
        let (citizens, rate) = one_after_the_other(&people, AT_ONCE, bench.length).await?;
        board.add(&format!("whole reports, {AT_ONCE} citizens at once"), "reports/s", rate);
        reports += show(board, &format!("{AT_ONCE} citizens at once"), &citizens).await?;

        let (citizens, _) = one_after_the_other(&people, 1, bench.length).await?;
        reports += show(board, "one citizen at a time", &citizens).await?;

        // Each half after as long a rest: machines are quick for a while after one.
        let half = (rate / 2.0).max(1.0);
        tokio::time::sleep(SLOW).await;
        let without = steadily(&people, half, bench.length).await?;
        reports += show(board, "half of the most", &without).await?;

        say(format!("{SLOW_CHATS} chats wait for a slow geocoder"));
        let fault = json!({"surface": "cartociudad", "kind": "delay", "ms": SLOW.as_millis()});
        people.fault(&fault).await?;
        // They ask again as soon as they are answered.
        let waiting = slow(&people).await?;
        tokio::time::sleep(SLOW).await;
        let beside = steadily(&people, half, bench.length).await?;
        reports += show(board, "half of the most, beside a slow geocoder", &beside).await?;
        drop(waiting);
        people.mend().await?;
    }
    board.ratio(
        &format!("p99 beside {SLOW_CHATS} chats whose geocoder takes {} s / without", SLOW.as_secs()),
        &p99_name("half of the most, beside a slow geocoder"),
        &p99_name("half of the most"),
    );
    check(bench, reports).await
}

/// So many citizens at once, and a new one whenever one has its reference. Returns all of them, and reports a second.
async fn one_after_the_other(
    people: &Arc<People>,
    at_once: usize,
    length: Duration,
) -> anyhow::Result<(Vec<Citizen>, f64)> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..at_once {
        let people = Arc::clone(people);
        tasks.spawn(async move {
            let mut all = Vec::new();
            while began.elapsed() < length {
                let citizen = people.citizen().await?;
                people.report(&citizen).await?;
                all.push(citizen);
            }
            anyhow::Ok(all)
        });
    }
    let mut citizens = Vec::new();
    while let Some(one) = tasks.join_next().await {
        citizens.extend(one??);
    }
    let rate = citizens.len() as f64 / began.elapsed().as_secs_f64();
    Ok((citizens, rate))
}

/// A new citizen so often a second, whatever becomes of those before.
pub(crate) async fn steadily(
    people: &Arc<People>,
    per_second: f64,
    length: Duration,
) -> anyhow::Result<Vec<Citizen>> {
    let began = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / per_second));
    let mut tasks = JoinSet::new();
    while began.elapsed() < length {
        ticks.tick().await;
        let people = Arc::clone(people);
        tasks.spawn(async move {
            let citizen = people.citizen().await?;
            people.report(&citizen).await?;
            anyhow::Ok(citizen)
        });
    }
    let mut citizens = Vec::new();
    while let Some(one) = tasks.join_next().await {
        citizens.push(one??);
    }
    Ok(citizens)
}

/// Chats that wait for the geocoder until they are dropped.
async fn slow(people: &Arc<People>) -> anyhow::Result<JoinSet<anyhow::Result<()>>> {
    let mut tasks = JoinSet::new();
    for _ in 0..SLOW_CHATS {
        let people = Arc::clone(people);
        let citizen = people.citizen().await?;
        tasks.spawn(async move { people.ask(&citizen).await });
    }
    Ok(tasks)
}

/// Notes how long citizens waited. Returns how many reports there were.
pub(crate) async fn show(board: &mut Board, load: &str, citizens: &[Citizen]) -> anyhow::Result<i64> {
    let mut all = Vec::new();
    for citizen in citizens {
        all.extend(waits(citizen).await?);
    }
    board.add(&format!("webhook → reply, {load}, p50"), "ms", percentile(&mut all, 0.5));
    board.add(&p99_name(load), "ms", percentile(&mut all, 0.99));
    Ok(i64::try_from(citizens.len())?)
}

fn p99_name(load: &str) -> String {
    format!("webhook → reply, {load}, p99")
}

/// Every report is stored, once, and at the contractor's.
async fn check(bench: &Bench, reports: i64) -> anyhow::Result<()> {
    say("waiting for the contractor to have all of it");
    let mut on = PgConnection::connect(&bench.cluster.url("abisu")).await?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (received, references, pushed): (i64, i64, i64) = sqlx::query_as(
            "select count(*), count(distinct reference), count(*) filter (where push_state = 'sent')
             from report.report where state = 'received'",
        )
        .fetch_one(&mut on)
        .await?;
        ensure!(
            received == reports && references == reports,
            "{reports} references told, {received} reports stored"
        );
        if pushed == reports {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "of {reports} reports {pushed} are at the contractor's");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
