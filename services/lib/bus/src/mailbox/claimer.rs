//! Claims with a moving floor.
//!
//! A claim reads the index of ready chats from its left edge, where those stand that were claimed a moment ago. While a
//! long transaction elsewhere keeps them from being cleared away, every claim walks over all of them. So most claims
//! begin where the last look from the bottom found its oldest chat. A fixed distance would starve the old ones under a
//! backlog; this floor moves on only as the oldest are served. What appears below it (a chat that was locked at the
//! wrong moment, an append that took long to commit) is found by the next look from the bottom: every second, and
//! whenever a claim found less than it asked for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use sqlx::PgPool;

use super::claim::{Floor, claim_above};
use super::{Claim, Claimed};
use crate::Error;
use crate::metrics::QueueMetrics;

/// How long a floor holds.
const HOLDS: Duration = Duration::from_secs(1);
/// How much later than its time a chat may become visible. An append waits for locks and for its commit.
const MARGIN: Duration = Duration::from_secs(2);

/// Claims chats for a process.
pub struct Claimer {
    pool: PgPool,
    metrics: QueueMetrics,
    holds: Duration,
    /// By channel and solo.
    floors: Mutex<HashMap<(String, bool), Seen>>,
}

/// What a look from the bottom found.
#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    /// `None`: nothing was ready.
    oldest: Option<DateTime<Utc>>,
}

impl Claimer {
    /// Counts in `metrics` what its claims tell.
    pub fn new(pool: PgPool, metrics: QueueMetrics) -> Self {
        Self { pool, metrics, holds: HOLDS, floors: Mutex::default() }
    }

    /// With another time that a floor holds.
    #[must_use]
    pub fn looking_down_every(mut self, holds: Duration) -> Self {
        self.holds = holds;
        self
    }

    /// As [`claim`](super::claim), above the floor.
    ///
    /// # Errors
    /// The database's, as there.
    pub async fn claim(&self, claim: &Claim<'_>) -> Result<Vec<Claimed>, Error> {
        let key = (claim.channel.to_owned(), claim.solo);
        let now = Instant::now();
        let seen = self.floors.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        let seen = seen.filter(|seen| now.duration_since(seen.at) < self.holds);
        let floor = match seen {
            None => Floor::Bottom,
            Some(Seen { oldest: Some(oldest), .. }) => Floor::Since(oldest),
            Some(Seen { oldest: None, at }) => Floor::For(now.duration_since(at) + MARGIN),
        };
        let claimed = claim_above(&self.pool, claim, floor).await?;
        let all = i64::try_from(claimed.len()).is_ok_and(|len| len >= claim.chats);
        let mut floors = self.floors.lock().unwrap_or_else(PoisonError::into_inner);
        match seen {
            None => {
                floors.insert(key, Seen { at: now, oldest: claimed.first().map(|chat| chat.ready_since) });
            }
            Some(_) if !all => {
                floors.remove(&key);
            }
            Some(_) => {}
        }
        drop(floors);
        self.metrics.claimed(claim.channel, &claimed);
        Ok(claimed)
    }
}
