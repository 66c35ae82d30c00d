//! What a claim costs in a database that has settled little or much.

use std::time::{Duration, Instant};

use ::bus::mailbox::{Claim, Claimer};
use ::bus::metrics::QueueMetrics;
use sqlx::{Executor, PgPool};
use uuid::Uuid;

use super::work::{LEASE, Load, Settling, drain, settle_done};
use super::{CHANNEL, fill};
use crate::stats::percentile;

/// Chats that there are in either database, so that only the settled events differ.
const CHATS: usize = 2_000;
/// Chats that are ready while claims are timed, and chats of one claim.
const READY: usize = 200;
const TAKEN: i64 = 10;

/// A database in which something was settled.
pub(super) struct History {
    pool: PgPool,
}

impl History {
    /// How its figure is called on the board.
    pub(super) fn name(settled: usize) -> String {
        format!("claim of {TAKEN} chats beside {settled} settled events, p50")
    }

    /// Appends and settles about so many events, at least one in each chat.
    pub(super) async fn prepare(pool: PgPool, settled: usize) -> anyhow::Result<Self> {
        let depth = (settled / CHATS).max(1);
        fill(&pool, CHATS, depth).await?;
        let load = Load { chats: CHATS, depth, workers: 2, settling: Settling::Together, fail_every: 0 };
        drain(&pool, CHATS * depth, load).await?;
        // As autovacuum would have left it by the time that there is so much.
        pool.execute("vacuum (analyze)").await?;
        Ok(Self { pool })
    }

    /// The median of a claim in milliseconds. What was claimed is settled, untimed.
    pub(super) async fn claim(&self, length: Duration) -> anyhow::Result<f64> {
        let claimer = Claimer::new(self.pool.clone(), QueueMetrics::default());
        let owner = Uuid::now_v7();
        let (began, mut samples) = (Instant::now(), Vec::new());
        while began.elapsed() < length {
            fill(&self.pool, READY, 1).await?;
            loop {
                let claim =
                    Claim { channel: CHANNEL, owner, chats: TAKEN, events: 1, lease: LEASE, solo: false };
                let start = Instant::now();
                let loans = claimer.claim(&claim).await?;
                if loans.is_empty() {
                    break;
                }
                samples.push(start.elapsed().as_secs_f64() * 1000.0);
                settle_done(&self.pool, &loans).await?;
            }
        }
        Ok(percentile(&mut samples, 0.5))
    }
}
