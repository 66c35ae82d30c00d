//! Batches appended and settled on the same two hundred chats, by several processes' worth of lanes and workers: the
//! shape in which queues deadlock whose statements lock rows in the order in which they meet them.

use std::time::{Duration, Instant};

use anyhow::ensure;
use sqlx::PgPool;

use super::books::{World, pool};
use super::feed::Feed;
use super::work::Worker;
use super::{Figure, under};

const CHATS: usize = 200;
const LEASE: Duration = Duration::from_secs(30);

pub(super) async fn run(world: &World, length: Duration) -> anyhow::Result<Vec<Figure>> {
    let mut feed = Feed::new(&pool(&world.url)?, 0..CHATS);
    let second = Feed::new(&pool(&world.url)?, 0..CHATS);
    feed.appenders.extend(second.appenders);
    feed.callers = 16;
    feed.batch = 10;
    let mut workers = Vec::new();
    for _ in 0..3 {
        workers.push(Worker::new(pool(&world.url)?, LEASE));
    }
    let before = deadlocks(&world.pool).await?;
    let began = Instant::now();
    let time = async {
        tokio::time::sleep(length).await;
        Ok(())
    };
    let (sent, ..) = under(world, &feed, workers, time).await?;
    let rate = sent.all as f64 / began.elapsed().as_secs_f64();
    let deadlocks = deadlocks(&world.pool).await? - before;
    ensure!(deadlocks == 0, "{deadlocks} deadlocks");
    let name = format!("{CHATS} hot chats, batches of 10");
    Ok(vec![
        Figure::new(format!("{name}: appended and settled"), "events/s", rate),
        Figure::new(format!("{name}: deadlocks"), "", deadlocks as f64),
    ])
}

async fn deadlocks(pool: &PgPool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("select deadlocks from pg_stat_database where datname = current_database()")
        .fetch_one(pool)
        .await
}
