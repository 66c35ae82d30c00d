//! The gate for what providers know: the same points come again and again, so what was decided is kept in memory for as
//! long as the database says that no other version has come.
//!
//! What is kept belongs to a generation, which ends with every notice of a change and with every loss of the connection
//! that notices come by. Without that connection nothing is kept and the database is asked each time. Pins do not come
//! this way: of a pin the database is always asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::future::Cache;
use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio_util::sync::CancellationToken;

use crate::coverage::{Area, cover};
use crate::{Error, Point};

/// The channel of the database's notices.
const CHANNEL: &str = "geo_area";
/// Decisions kept; one takes about a hundred bytes.
const MOST: u64 = 100_000;
/// How long to wait before the next attempt to listen.
const PAUSE: Duration = Duration::from_secs(1);

/// A generation and a point, by its bits.
type Key = (u64, u64, u64);

/// The gate. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    pool: PgPool,
    kept: Cache<Key, Option<Area>>,
    /// Even while nobody listens, odd while notices come.
    generation: Arc<AtomicU64>,
}

impl Gate {
    /// A gate that keeps nothing until [`Gate::watch`] runs.
    pub fn new(pool: PgPool) -> Self {
        Self {
            pool,
            kept: Cache::builder().max_capacity(MOST).build(),
            generation: Arc::new(AtomicU64::new(0)),
        }
    }

    /// The areas that cover points, in their order; `None` for a point that no area covers.
    ///
    /// # Errors
    /// No area is loaded, or the database is away, and not all of it is known.
    pub async fn areas(&self, points: &[Point]) -> Result<Vec<Option<Area>>, Error> {
        // Read before the database is: what is decided by an old version goes to the old generation.
        let generation = self.generation.load(Ordering::Acquire);
        if generation.is_multiple_of(2) {
            return cover(&self.pool, points).await;
        }
        let key = |point: &Point| (generation, point.latitude.to_bits(), point.longitude.to_bits());
        let known =
            futures::future::join_all(points.iter().map(|point| async { self.kept.get(&key(point)).await }));
        if let Some(known) = known.await.into_iter().collect() {
            return Ok(known);
        }
        let areas = cover(&self.pool, points).await?;
        for (point, area) in points.iter().zip(&areas) {
            self.kept.insert(key(point), area.clone()).await;
        }
        Ok(areas)
    }

    /// Listens for other versions until it is told to stop.
    pub(crate) async fn watch(self, stopping: CancellationToken) {
        let listening = async {
            loop {
                if let Err(error) = self.listen().await {
                    tracing::debug!(%error, "no notice of areas comes, so none is kept: {error}");
                }
                self.generation.fetch_add(self.generation.load(Ordering::Acquire) % 2, Ordering::AcqRel);
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = listening => {}
            () = stopping.cancelled() => {}
        }
    }

    /// Ends with the connection.
    async fn listen(&self) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(CHANNEL).await?;
        self.generation.fetch_add(1, Ordering::AcqRel);
        while listener.try_recv().await?.is_some() {
            self.generation.fetch_add(2, Ordering::AcqRel);
        }
        Ok(())
    }
}
