//! A database server that is restarted under load: in order, which ends every connection, and at once, after which it
//! recovers as from a crash. A call whose answer was lost is repeated and must not double anything.

use std::time::{Duration, Instant};

use anyhow::ensure;
use xtask::postgres::Cluster;
use xtask::process::Signal;

use super::books::{World, pool};
use super::feed::Feed;
use super::work::Worker;
use super::{Figure, PATIENCE, handled, under};
use crate::stats::percentile;

const LEASE: Duration = Duration::from_secs(2);
/// Between two looks at the database.
const LOOK: Duration = Duration::from_millis(10);

pub(super) async fn run(
    world: &World,
    server: &mut Cluster,
    length: Duration,
) -> anyhow::Result<Vec<Figure>> {
    let mut feed = Feed::new(&pool(&world.url)?, 0..200);
    feed.per_second = Some(1_000);
    let workers = vec![Worker::new(pool(&world.url)?, LEASE), Worker::new(pool(&world.url)?, LEASE)];
    let restarts = async {
        let mut back = [Vec::new(), Vec::new()];
        let began = Instant::now();
        while back[1].is_empty() || began.elapsed() < length {
            for (place, by) in [Signal::INT, Signal::QUIT].into_iter().enumerate() {
                progress(world).await?;
                server.restart(by, async {}).await?;
                back[place].push(progress(world).await?);
            }
        }
        anyhow::Ok(back)
    };
    let (sent, _, [mut fast, mut immediate]) = under(world, &feed, workers, Box::pin(restarts)).await?;
    let name = "server restarted under load";
    Ok(vec![
        Figure::new(format!("{name}: restarts"), "", (fast.len() + immediate.len()) as f64),
        Figure::new(
            format!("{name}: next event settled, after a fast one, p50"),
            "ms",
            percentile(&mut fast, 0.5),
        ),
        Figure::new(
            format!("{name}: next event settled, after an immediate one, p50"),
            "ms",
            percentile(&mut immediate, 0.5),
        ),
        Figure::new(format!("{name}: deliveries that were sent again"), "", sent.repeated as f64),
    ])
}

/// Waits until events are settled that were not when it was called. Returns after how many milliseconds.
pub(super) async fn progress(world: &World) -> anyhow::Result<f64> {
    let began = Instant::now();
    let mut before = None;
    loop {
        ensure!(began.elapsed() < PATIENCE, "no event is settled any more");
        if let Ok(handled) = handled(&world.pool).await
            && handled > *before.get_or_insert(handled)
        {
            return Ok(began.elapsed().as_secs_f64() * 1000.0);
        }
        tokio::time::sleep(LOOK).await;
    }
}
