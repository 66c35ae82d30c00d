//! The door under any weather: crowds that only hold connections, forgeries without end, a stop in the middle, and a
//! database that is gone.
//! Beside all of it goes honest traffic at a steady rate; what becomes of that is measured, and what the service holds
//! in memory meanwhile. Checked is only that nothing acked is lost, and that who cannot be served is told so in time.

mod crowd;
mod honest;
mod stop;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;
use xtask::process::Signal;
use xtask::progress::say;

use crate::Bench;
use crate::board::Board;
use crate::ingest::door::{Door, PATH, message_id, webhook};
use crate::ingest::wire::Connection;
use crate::watch::{peak_while, resident_mib};
use crowd::{Crowd, Manner};
use honest::{Answer, latency, other_than, otherwise, traffic};

/// Honest webhooks a second beside a crowd, and while the database is gone.
const HONEST: u32 = 200;
const INTO_THE_OUTAGE: u32 = 500;
/// How many come of each manner.
const CROWDS: [(Manner, usize); 3] = [(Manner::Silent, 10_000), (Manner::Head, 2_000), (Manner::Body, 1_000)];
const AFTER_A_CROWD: Duration = Duration::from_secs(15);
const FORGERIES: usize = 100_000;
const FORGERS: usize = 16;
/// Files that this program needs beside the crowd's connections.
const OTHER_FILES: u64 = 2_000;
/// While the database is gone a caller is told so within this time.
const REFUSED_WITHIN_MS: f64 = 2_500.0;
/// A second counts as full speed again when all of it was accepted.
const FULL_SPEED: &str = "full speed after its return";

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &mut Bench, board: &mut Board) -> anyhow::Result<()> {
    let most = allow_files();
    let door = Door::open(&bench.cluster.url("abisu"), &[]).await?;
    // Much shorter than the outage: every case has hundreds of answers within seconds.
    let short = (bench.length / 4).max(Duration::from_secs(4));
    // Connections of the pool and plans are there before anything is compared.
    traffic(door.address, HONEST, Duration::from_secs(2)).await?;
    for round in 1..=bench.args.rounds() {
        say(format!("round {round}: calm"));
        let calm = traffic(door.address, HONEST, short).await?;
        show(board, "calm", &calm, None);
        board.add("calm: memory of ingest", "MiB", resident_mib(door.pid()?)?);
        for (manner, size) in CROWDS.into_iter().filter(|(manner, _)| bench.args.wants(manner.name())) {
            let size = size.min(usize::try_from(most.saturating_sub(OTHER_FILES))?);
            let name = format!("{size} {}", manner.name());
            say(format!("round {round}: {name}"));
            let beside = async {
                let crowd = Crowd::gather(door.address, manner, size).await?;
                let answers = traffic(door.address, HONEST, short).await;
                drop(crowd);
                answers
            };
            let (peak, answers) = peak_while(door.pid()?, beside).await?;
            show(board, &name, &answers, Some("calm"));
            board.add(&format!("{name}: most memory of ingest"), "MiB", peak);
            // A crowd takes seconds to go; the next calm must not be measured in its wake.
            tokio::time::sleep(AFTER_A_CROWD).await;
        }
        if bench.args.wants("forgeries") {
            say(format!("round {round}: forgeries"));
            let name = format!("{FORGERIES} wrong signatures");
            let (peak, (answers, rate)) = peak_while(door.pid()?, forged(door.address, short)).await?;
            show(board, &name, &answers, Some("calm"));
            board.add(&format!("{name}: refused"), "webhooks/s", rate);
            board.add(&format!("{name}: most memory of ingest"), "MiB", peak);
        }
        if bench.args.wants("stop") {
            say(format!("round {round}: told to stop"));
            stop::measure(bench, board, &door, short).await?;
        }
        if bench.args.wants("outage") {
            say(format!("round {round}: database gone for {} s", bench.length.as_secs()));
            Box::pin(outage(bench, board, &door)).await?;
        }
    }
    Ok(())
}

/// Honest traffic while forgers post what they cannot sign, as fast as they are refused. Returns how many of these went
/// a second.
async fn forged(address: SocketAddr, length: Duration) -> anyhow::Result<(Vec<Answer>, f64)> {
    let left = Arc::new(AtomicUsize::new(FORGERIES));
    let began = Instant::now();
    let mut forgers = JoinSet::new();
    for _ in 0..FORGERS {
        let left = Arc::clone(&left);
        forgers.spawn(async move {
            let body = webhook(&[message_id()]);
            let proof = format!("sha256={}", "0".repeat(64));
            let mut connection = Connection::open(address).await?;
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
            {
                let status = connection.post(PATH, &proof, &body).await?;
                ensure!(status == 403, "a forgery was answered with {status}");
            }
            Ok(())
        });
    }
    let all = async {
        while let Some(one) = forgers.join_next().await {
            one??;
        }
        anyhow::Ok(FORGERIES as f64 / began.elapsed().as_secs_f64())
    };
    let (answers, rate) = tokio::join!(traffic(address, HONEST, length), all);
    Ok((answers?, rate?))
}

/// The database goes and comes back under traffic.
async fn outage(bench: &mut Bench, board: &mut Board, door: &Door) -> anyhow::Result<()> {
    let length = bench.length;
    let around = Duration::from_secs(5);
    let began = Instant::now();
    let server = async {
        tokio::time::sleep(around).await;
        bench.cluster.restart(Signal::INT, tokio::time::sleep(length)).await?;
        anyhow::Ok(began.elapsed())
    };
    let sending = async {
        let length = around + length + 3 * around;
        let (answers, back) = tokio::join!(traffic(door.address, INTO_THE_OUTAGE, length), server);
        anyhow::Ok((answers?, back?))
    };
    let (peak, (answers, back)) = peak_while(door.pid()?, Box::pin(sending)).await?;
    // Well inside: nothing that was under way as the server ended, or as it came back.
    let inside = |answer: &&Answer| {
        answer.due > around + Duration::from_secs(3) && answer.due + Duration::from_secs(3) < back
    };
    let refused: Vec<&Answer> = answers.iter().filter(inside).collect();
    let accepted = refused.iter().filter(|answer| answer.ended == Ok(200)).count();
    ensure!(accepted == 0, "{accepted} webhooks were accepted while the database was gone");
    let silent = refused.iter().filter(|answer| answer.ended != Ok(503)).count();
    let slowest = refused.iter().map(|answer| answer.took_ms).fold(0.0, f64::max);
    let name = format!("database gone for {} s under {INTO_THE_OUTAGE} webhooks/s", length.as_secs());
    board.add(&format!("{name}: refused with 503"), "webhooks", (refused.len() - silent) as f64);
    board.add(&format!("{name}: not answered, or otherwise"), "webhooks", silent as f64);
    if let Some(how) = otherwise(refused.iter().copied(), 503) {
        board.note(format!("{name}: not refused with 503: {how}"));
    }
    board.add(&format!("{name}: slowest answer"), "ms", slowest);
    if slowest > REFUSED_WITHIN_MS {
        board.note(format!(
            "{name}: the slowest answer took {slowest:.0} ms, more than {REFUSED_WITHIN_MS:.0}"
        ));
    }
    board.add(&format!("{name}: most memory of ingest"), "MiB", peak);
    // The last second in which anything was refused ends the time that it takes.
    let last = answers.iter().filter(|answer| answer.ended != Ok(200)).map(|answer| answer.due).max();
    let again = last.map_or(0.0, |last| (last.as_secs_f64() - back.as_secs_f64()).max(0.0));
    board.add(&format!("{name}: {FULL_SPEED}"), "s", again);
    if let Some(how) = otherwise(answers.iter().filter(|answer| answer.due > back), 200) {
        board.note(format!("{name}: after its return, before full speed: {how}"));
    }
    let stored = stored(bench).await?;
    let acked = answers.iter().filter(|answer| answer.ended == Ok(200));
    let lost = acked.filter(|answer| !stored.contains(&answer.id)).count();
    ensure!(lost == 0, "{lost} acked messages are not stored");
    board.add(&format!("{name}: acked and lost"), "messages", lost as f64);
    Ok(())
}

/// Ids of all messages that are stored.
async fn stored(bench: &Bench) -> anyhow::Result<HashSet<String>> {
    let mut on = PgConnection::connect(&bench.cluster.url("abisu")).await?;
    let ids = sqlx::query_scalar("select message_id from inbound.event").fetch_all(&mut on).await?;
    Ok(ids.into_iter().collect())
}

fn show(board: &mut Board, name: &str, answers: &[Answer], beside: Option<&str>) {
    let title = |of: &str, what: &str| format!("{of}: {HONEST} honest webhooks/s, {what}");
    board.add(&title(name, "p50"), "ms", latency(answers, 0.5));
    board.add(&title(name, "p99"), "ms", latency(answers, 0.99));
    board.add(&title(name, "not accepted"), "webhooks", other_than(answers, 200) as f64);
    if let Some(how) = otherwise(answers, 200) {
        board.note(format!("{name}: not accepted: {how}"));
    }
    if let Some(beside) = beside {
        let p99 = |of: &str| board.last(&title(of, "p99"));
        if let (Some(now), Some(before)) = (p99(name), p99(beside)) {
            board.add(&format!("{name}: p99 / that of calm"), "×", now / before);
        }
    }
}

/// Allows this program, and what it starts, as many files as the system lets it have. Returns how many.
fn allow_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(65_536);
    let wanted = Rlimit { current: Some(most), maximum: limit.maximum };
    match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => most,
        Err(_) => limit.current.unwrap_or(1024),
    }
}
