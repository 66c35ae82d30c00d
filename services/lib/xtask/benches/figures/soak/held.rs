//! A transaction elsewhere that stays open: a report, a dump, a forgotten terminal. Nothing that was updated since it
//! began can be cleared away, and every claim reads over it.

use std::time::{Duration, Instant};

use sqlx::{Connection, Executor, PgConnection};

use super::books::{World, pool};
use super::feed::Feed;
use super::work::Worker;
use super::{Figure, under, waiting};
use crate::stats::percentile;

const CHATS: usize = 2_000;
const PER_SECOND: usize = 2_000;
const LEASE: Duration = Duration::from_secs(30);
/// Between two looks at what waits.
const LOOK: Duration = Duration::from_millis(250);

pub(super) async fn run(world: &World, length: Duration) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut feed = Feed::new(&pool(&world.url)?, 0..CHATS);
    feed.per_second = Some(PER_SECOND);
    for (held, length) in [(false, length / 4), (true, length)] {
        let mut workers = Vec::new();
        for _ in 0..2 {
            workers.push(Worker::new(pool(&world.url)?, LEASE));
        }
        let (sent, tally, most) = under(world, &feed, workers, Box::pin(watch(world, held, length))).await?;
        feed.before = sent.all;
        let which =
            if held { format!("snapshot held for {} s", length.as_secs()) } else { "no snapshot".to_owned() };
        let name = format!("{PER_SECOND} events/s, {which}");
        let mut waits = tally.waits_but(None);
        figures.push(Figure::new(format!("{name}: most that waited"), "events", most));
        figures.push(Figure::new(
            format!("{name}: stored → settled, p50"),
            "ms",
            percentile(&mut waits, 0.5),
        ));
        figures.push(Figure::new(
            format!("{name}: stored → settled, p99"),
            "ms",
            percentile(&mut waits, 0.99),
        ));
    }
    Ok(figures)
}

/// The most events that waited at a time, with a snapshot held meanwhile.
async fn watch(world: &World, held: bool, length: Duration) -> anyhow::Result<f64> {
    let mut other = PgConnection::connect(&world.url).await?;
    if held {
        other.execute("begin isolation level repeatable read").await?;
        other.execute("select count(*) from chat.chat").await?;
    }
    let (began, mut most) = (Instant::now(), 0);
    let mut looks = tokio::time::interval(LOOK);
    while began.elapsed() < length {
        looks.tick().await;
        most = most.max(waiting(&world.pool).await?);
    }
    // With the connection ends the transaction.
    other.close().await?;
    Ok(most as f64)
}
