//! One chat with very much to do, beside many with one message each: the small ones must not wait for it.

use std::time::Duration;

use anyhow::Context;
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::books::{World, pool};
use super::feed::Feed;
use super::work::{Tally, Worker};
use super::{Figure, PATIENCE};
use crate::stats::percentile;

const LEASE: Duration = Duration::from_secs(30);

pub(super) async fn run(world: &World, length: Duration) -> anyhow::Result<Vec<Figure>> {
    // A hundred thousand beside a thousand in the minute of the bench, less in the seconds of a test.
    let seconds = usize::try_from(length.as_secs())?.clamp(1, 50);
    let (deep, small) = (2_000 * seconds, 20 * seconds);
    // The small ones come within a part of the time that the deep one takes.
    let within = length.min(Duration::from_secs(10)) / 2;
    let mut figures = Vec::new();
    let mut feed = Feed::new(&pool(&world.url)?, 0..1);
    for beside in [0, deep] {
        let filled = feed.fill(beside).await?;
        let chat = deep_chat(world).await?;
        let first = feed.citizens.end;
        let mut small_ones = feed.clone();
        small_ones.citizens = first..first + small;
        small_ones.before = filled.all;
        let (close, closed) = watch::channel(false);
        let mut shift = JoinSet::new();
        for _ in 0..2 {
            shift.spawn(Worker::new(pool(&world.url)?, LEASE).run(closed.clone()));
        }
        let sent = small_ones.each_once(within).await?;
        close.send_replace(true);
        let tallies = tokio::time::timeout(PATIENCE, shift.join_all())
            .await
            .context("the queue does not come to rest")?;
        world.check(&sent).await?;
        let mut waits = Tally::sum(tallies).waits_but(chat);
        let name = match beside {
            0 => format!("{small} chats with one event each, alone"),
            _ => format!("{small} chats with one event each, beside one with {deep}"),
        };
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
        feed.before = sent.all;
        feed.citizens = 0..first + small;
    }
    Ok(figures)
}

/// The chat of the first citizen, once it has written.
async fn deep_chat(world: &World) -> Result<Option<Uuid>, sqlx::Error> {
    sqlx::query_scalar("select chat_id from chat.alias where kind = 'phone' and value = '34600000000'")
        .fetch_optional(&world.pool)
        .await
}
