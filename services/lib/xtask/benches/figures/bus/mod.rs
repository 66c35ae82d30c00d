//! The queue in this process: append by many callers, claim and settle by several workers, and what a claim costs beside
//! much that is settled.

mod history;
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
use work::Settling;

pub(crate) const CHANNEL: &str = "whatsapp";
/// How long a delivery may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(20);
/// Chats that the appends go to.
const CHATS: usize = 5_000;
const CALLERS: [usize; 3] = [1, 8, 64];
const BATCHES: [usize; 2] = [1, 10];
/// Chats at once, each with one or ten events, taken by so many workers.
const WAITING: [usize; 3] = [1, 200, 2_000];
const DEPTHS: [usize; 2] = [1, 10];
const WORKERS: [usize; 3] = [1, 2, 4];

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let appended = bench.database("appended").await?;
    let worked = bench.database("worked").await?;
    let few = History::prepare(bench.database("few").await?, 0).await?;
    let many = History::prepare(bench.database("many").await?, bench.args.settled).await?;
    for _ in bench.rounds() {
        for callers in CALLERS {
            bench.yardstick(board, callers).await?;
            for batch in BATCHES {
                let rate = append(&appended, callers, batch, bench.length).await?;
                board.add(&append_name(callers, batch), "events/s", rate);
            }
        }
        for chats in WAITING {
            for depth in DEPTHS {
                for workers in WORKERS {
                    let rate = work::rate(&worked, chats, depth, workers, Settling::Together, bench.length);
                    let name = format!("claim → settle, {chats} chats × {depth}, {workers} workers");
                    board.add(&name, "events/s", rate.await?);
                }
            }
        }
        for depth in DEPTHS {
            let rate = work::rate(&worked, 200, depth, 2, Settling::Apart, bench.length).await?;
            let name = format!("claim → settle, 200 chats × {depth}, 2 workers, a transaction each");
            board.add(&name, "events/s", rate);
        }
        board.add(&History::name(0), "ms", few.claim(bench.length).await?);
        board.add(&History::name(bench.args.settled), "ms", many.claim(bench.length).await?);
    }
    for callers in CALLERS {
        let name = format!("append of 1 / pgbench, {callers}");
        board.ratio(&name, &append_name(callers, 1), &crate::yardstick::name(callers));
    }
    board.ratio(
        "claim beside many settled / beside few",
        &History::name(bench.args.settled),
        &History::name(0),
    );
    Ok(())
}

fn append_name(callers: usize, batch: usize) -> String {
    format!("append, {callers} callers, {batch} a delivery")
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
                stored += appender.append(&delivery(events)).await?.created.len();
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
                appender.append(&delivery(rows.iter().map(|&chat| event(chat)).collect())).await?;
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
