//! A network between the processes and the server that closes every connection with a reset, or swallows everything for
//! longer than a lease, and heals.

use std::time::{Duration, Instant};

use super::books::{World, pool};
use super::feed::Feed;
use super::proxy::{Proxy, Way};
use super::restart::progress;
use super::work::Worker;
use super::{Figure, under};
use crate::stats::percentile;

const LEASE: Duration = Duration::from_millis(1_500);
/// How long nobody gets through after a cut.
const CUT: Duration = Duration::from_millis(300);
/// How long everything is swallowed.
const HOLE: Duration = Duration::from_millis(2_500);

pub(super) async fn run(world: &World, length: Duration) -> anyhow::Result<Vec<Figure>> {
    let proxy = Proxy::before(&world.url).await?;
    let url = proxy.url(&world.url)?;
    let mut feed = Feed::new(&pool(&url)?, 0..200);
    feed.per_second = Some(1_000);
    let workers = vec![Worker::new(pool(&url)?, LEASE), Worker::new(pool(&url)?, LEASE)];
    let trouble = async {
        let mut back = [Vec::new(), Vec::new()];
        let began = Instant::now();
        while back[1].is_empty() || began.elapsed() < length {
            for (place, (way, time)) in [(Way::Cut, CUT), (Way::Hole, HOLE)].into_iter().enumerate() {
                progress(world).await?;
                proxy.set(way);
                tokio::time::sleep(time).await;
                proxy.set(Way::Open);
                back[place].push(progress(world).await?);
            }
        }
        anyhow::Ok(back)
    };
    let (sent, tally, [mut cut, mut hole]) = under(world, &feed, workers, trouble).await?;
    let name = "network to the server";
    Ok(vec![
        Figure::new(format!("{name}: cuts and holes"), "", (cut.len() + hole.len()) as f64),
        Figure::new(format!("{name}: next event settled, after a cut, p50"), "ms", percentile(&mut cut, 0.5)),
        Figure::new(
            format!("{name}: next event settled, after {:.1} s of silence, p50", HOLE.as_secs_f64()),
            "ms",
            percentile(&mut hole, 0.5),
        ),
        Figure::new(format!("{name}: settles that were fenced"), "", tally.fenced as f64),
        Figure::new(format!("{name}: deliveries that were sent again"), "", sent.repeated as f64),
    ])
}
