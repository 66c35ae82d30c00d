//! The queue in this process: append by many callers, claim and settle by several workers, what a claim costs beside much
//! that is settled, and the same events handled by other queues on the same server.

mod history;
mod order;
mod peers;
mod work;

use std::time::{Duration, Instant};

use ::bus::append::{Appender, Delivery, NewEvent};
use anyhow::Context;
use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::Bench;
use crate::board::Board;
use history::History;
use peers::{Case, Peer};
use work::{Load, Settling};

pub(crate) const CHANNEL: &str = "whatsapp";
/// How long a delivery may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// Chats that the appends go to.
const CHATS: usize = 5_000;
const CALLERS: [usize; 3] = [1, 8, 64];
const BATCHES: [usize; 2] = [1, 10];
/// Chats at once, each with one or ten events, taken by so many workers.
const WAITING: [usize; 4] = [1, 200, 2_000, 20_000];
const DEPTHS: [usize; 2] = [1, 10];
const WORKERS: [usize; 3] = [1, 2, 4];
/// Chats at once beside the peers; one chat is no queue that anybody else would be built for.
const COMPARED: [usize; 3] = [200, 2_000, 20_000];
/// Where one in so many events fails once, to see who keeps the order then.
const FAILING: Case = Case { chats: 200, depth: 10, fail_every: 20 };

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let wants = |part| bench.args.wants(part);
    let appended = bench.database("appended").await?;
    let worked = bench.database("worked").await?;
    let histories = match wants("history") {
        true => Some((
            History::prepare(bench.database("few").await?, 0).await?,
            History::prepare(bench.database("many").await?, bench.args.settled).await?,
        )),
        false => None,
    };
    let peers = match wants("peers") && !bench.args.no_peers {
        true => peers::install(bench, board).await?,
        false => Vec::new(),
    };
    for _ in bench.rounds() {
        if wants("append") {
            appends(bench, board, &appended).await?;
        }
        if wants("work") {
            works(bench, board, &worked).await?;
        }
        for peer in &peers {
            if let Err(error) = beside(bench, board, peer).await {
                board.note(format!("left out: {error:#}"));
            }
        }
        if let Some((few, many)) = &histories {
            board.add(&History::name(0), "ms", few.claim(bench.length).await?);
            board.add(&History::name(bench.args.settled), "ms", many.claim(bench.length).await?);
        }
    }
    for callers in CALLERS {
        let name = format!("append of 1 / pgbench, {callers}");
        board.ratio(&name, &append_name(callers, 1), &crate::yardstick::name(callers));
    }
    ratios(board, &peers);
    board.ratio(
        "claim beside many settled / beside few",
        &History::name(bench.args.settled),
        &History::name(0),
    );
    Ok(())
}

async fn appends(bench: &Bench, board: &mut Board, pool: &PgPool) -> anyhow::Result<()> {
    for callers in CALLERS {
        bench.yardstick(board, callers).await?;
        for batch in BATCHES {
            let rate = append(pool, callers, batch, bench.length).await?;
            board.add(&append_name(callers, batch), "events/s", rate);
        }
    }
    Ok(())
}

async fn works(bench: &Bench, board: &mut Board, pool: &PgPool) -> anyhow::Result<()> {
    let load = Load { chats: 1, depth: 1, workers: 1, settling: Settling::Together, fail_every: 0 };
    for chats in WAITING {
        for depth in DEPTHS {
            for workers in WORKERS {
                let rate = work::rate(pool, Load { chats, depth, workers, ..load }, bench.length).await?;
                board.add(&work_name(chats, depth, workers), "events/s", rate);
            }
        }
    }
    for depth in DEPTHS {
        let apart = Load { chats: 200, depth, workers: 2, settling: Settling::Apart, ..load };
        let name = format!("{}, a transaction each", work_name(200, depth, 2));
        board.add(&name, "events/s", work::rate(pool, apart, bench.length).await?);
    }
    let Case { chats, depth, fail_every } = FAILING;
    let verdict = work::order(pool, Load { chats, depth, workers: 2, fail_every, ..load }).await?;
    board.add(&order_name("ours"), "events", verdict.out_of_order as f64);
    anyhow::ensure!(verdict.is_clean(), "with failing events: {verdict:?}");
    Ok(())
}

async fn beside(bench: &Bench, board: &mut Board, peer: &Peer) -> anyhow::Result<()> {
    let mut disorder = |case: Case, verdict: order::Verdict| {
        if verdict.repeated > 0
            || verdict.overlapping > 0
            || (case.fail_every == 0 && verdict.out_of_order > 0)
        {
            board.note(format!("{} with {case:?}: {verdict:?}", peer.name));
        }
    };
    let mut rates = Vec::new();
    for chats in COMPARED {
        for depth in DEPTHS {
            let case = Case { chats, depth, fail_every: 0 };
            let outcome = peer.run(&bench.cluster, case, 3 * bench.length).await?;
            disorder(case, outcome.verdict);
            rates.push((peer_name(peer.name, chats, depth), outcome.per_second));
        }
    }
    // Long enough for the first retries of all of them.
    let outcome = peer.run(&bench.cluster, FAILING, Duration::from_secs(20)).await?;
    disorder(FAILING, outcome.verdict);
    for (name, rate) in rates {
        board.add(&name, "events/s", rate);
    }
    board.add(&order_name(peer.name), "events", outcome.verdict.out_of_order as f64);
    Ok(())
}

/// Ours beside the best of those that keep the order when an event fails, and beside the best of all.
fn ratios(board: &mut Board, peers: &[Peer]) {
    for chats in COMPARED {
        for depth in DEPTHS {
            let best = |names: Vec<String>, board: &Board| {
                names
                    .into_iter()
                    .max_by(|a, b| board.median(a).unwrap_or(0.0).total_cmp(&board.median(b).unwrap_or(0.0)))
            };
            let ours = best(WORKERS.map(|workers| work_name(chats, depth, workers)).to_vec(), board);
            let named = |peer: &Peer| peer_name(peer.name, chats, depth);
            let keeps = |peer: &&Peer| board.median(&order_name(peer.name)) == Some(0.0);
            let ordered = best(peers.iter().filter(keeps).map(named).collect(), board);
            let any = best(peers.iter().map(named).collect(), board);
            for (which, peer) in [("the best peer that keeps the order", ordered), ("the best peer", any)] {
                if let (Some(ours), Some(peer)) = (&ours, peer) {
                    board.ratio(&format!("{chats} chats × {depth}: ours / {which}"), ours, &peer);
                }
            }
        }
    }
}

fn append_name(callers: usize, batch: usize) -> String {
    format!("append, {callers} callers, {batch} a delivery")
}

fn work_name(chats: usize, depth: usize, workers: usize) -> String {
    format!("claim → settle, {chats} chats × {depth}, {workers} workers")
}

fn peer_name(peer: &str, chats: usize, depth: usize) -> String {
    format!("{peer}, {chats} chats × {depth}")
}

fn order_name(who: &str) -> String {
    format!("out of order where 1 in {} fails once: {who}", FAILING.fail_every)
}

/// Events a second that callers get stored, each with one delivery under way at a time.
async fn append(pool: &PgPool, callers: usize, batch: usize, length: Duration) -> anyhow::Result<f64> {
    let appender = Appender::new(pool.clone(), PATIENCE);
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let appender = appender.clone();
        tasks.spawn(async move {
            let mut stored = 0;
            while began.elapsed() < length {
                let events = (0..batch).map(|_| event(rand::random_range(0..CHATS))).collect();
                stored += appender.append(delivery(events)).await?.created.len();
            }
            anyhow::Ok(stored)
        });
    }
    let mut stored = 0;
    while let Some(one) = tasks.join_next().await {
        stored += one??;
    }
    Ok(stored as f64 / began.elapsed().as_secs_f64())
}

/// A message of the citizen with this number.
fn event(chat: usize) -> NewEvent {
    let activity_id = Uuid::now_v7();
    NewEvent {
        activity_id,
        message_id: format!("wamid.{}", activity_id.simple()),
        kind: "text".to_owned(),
        user_id: None,
        phone: Some(format!("346{chat:08}")),
        payload: serde_json::json!({"kind": "text", "text": "Hay botellas en la acera desde el domingo"}),
        sent_at: None,
    }
}

/// A webhook of about the size that one message has.
fn delivery(events: Vec<NewEvent>) -> Delivery {
    Delivery {
        channel: CHANNEL.to_owned(),
        delivery_id: Uuid::now_v7(),
        body: vec![b'x'; 300 + 300 * events.len()],
        trace_context: None,
        events,
        rejections: Vec::new(),
        receipts: Vec::new(),
    }
}

/// Puts `depth` events into each of `chats` chats.
async fn fill(pool: &PgPool, chats: usize, depth: usize) -> anyhow::Result<()> {
    /// Rows of one delivery.
    const ROWS: usize = 200;
    let appender = Appender::new(pool.clone(), PATIENCE);
    let mut tasks = JoinSet::new();
    let all: Vec<usize> = (0..chats).flat_map(|chat| std::iter::repeat_n(chat, depth)).collect();
    // Whole chats in one task, one delivery after another: a chat's events keep their order.
    for part in all.chunks((ROWS / depth).max(1) * depth) {
        let (appender, part) = (appender.clone(), part.to_vec());
        tasks.spawn(async move {
            for rows in part.chunks(ROWS) {
                appender.append(delivery(rows.iter().map(|&chat| event(chat)).collect())).await?;
            }
            anyhow::Ok(())
        });
        // Bounded, or the appender would rightly refuse.
        if tasks.len() >= 32 {
            tasks.join_next().await.context("a task was there")???;
        }
    }
    while let Some(one) = tasks.join_next().await {
        one??;
    }
    Ok(())
}
