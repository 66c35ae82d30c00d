//! Claim, do nothing, settle.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use ::bus::mailbox::{Claim, Claimed, Claimer, Outcome, Settlement, settle};
use ::bus::metrics::QueueMetrics;
use ::bus::{Error, Lease};
use futures::{StreamExt, TryStreamExt};
use runtime::database::with_tx;
use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{CHANNEL, fill};

pub(super) const LEASE: Lease = Lease { length: Duration::from_secs(30) };
/// Chats of one claim, and events of each.
const CHATS: i64 = 32;
const EVENTS: i64 = 10;
/// Transactions of one worker at once where each chat has its own.
const AT_ONCE: usize = 8;

/// How a worker settles what it claimed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Settling {
    /// All in one transaction, in the order of their ids.
    Together,
    /// Each chat in a transaction of its own, as the service does, whose transactions also write what the chat did.
    Apart,
}

/// Events a second while `chats` × `depth` are worked off; filled anew, untimed, until `length` was timed.
pub(super) async fn rate(
    pool: &PgPool,
    chats: usize,
    depth: usize,
    workers: usize,
    settling: Settling,
    length: Duration,
) -> anyhow::Result<f64> {
    let (began, mut timed, mut events) = (Instant::now(), Duration::ZERO, 0);
    // Filling may take longer than working; a measurement is not to take for ever.
    while timed < length && (events == 0 || began.elapsed() < 3 * length) {
        fill(pool, chats, depth).await?;
        let start = Instant::now();
        drain(pool, chats * depth, workers, settling).await?;
        timed += start.elapsed();
        events += chats * depth;
    }
    Ok(events as f64 / timed.as_secs_f64())
}

/// Works off exactly `events` events.
pub(super) async fn drain(
    pool: &PgPool,
    events: usize,
    workers: usize,
    settling: Settling,
) -> anyhow::Result<()> {
    let claimer = Arc::new(Claimer::new(pool.clone(), QueueMetrics::default()));
    let left = Arc::new(AtomicI64::new(i64::try_from(events)?));
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        let (pool, claimer, left) = (pool.clone(), Arc::clone(&claimer), Arc::clone(&left));
        tasks.spawn(async move {
            let owner = Uuid::now_v7();
            while left.load(Ordering::Acquire) > 0 {
                let claim = Claim {
                    channel: CHANNEL,
                    owner,
                    chats: CHATS,
                    events: EVENTS,
                    lease: LEASE,
                    solo: false,
                };
                let loans = claimer.claim(&claim).await?;
                let handled: usize = loans.iter().map(|loan| loan.events.len()).sum();
                if handled == 0 {
                    // Others have the rest. A service would wait for its wake-up.
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                }
                match settling {
                    Settling::Together => settle_all(&pool, loans).await?,
                    Settling::Apart => {
                        let each = futures::stream::iter(loans).map(|loan| settle_all(&pool, vec![loan]));
                        each.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
                    }
                }
                left.fetch_sub(i64::try_from(handled)?, Ordering::AcqRel);
            }
            anyhow::Ok(())
        });
    }
    while let Some(one) = tasks.join_next().await {
        one??;
    }
    Ok(())
}

/// Settles loans in one transaction, all their events done.
pub(super) async fn settle_all(pool: &PgPool, mut loans: Vec<Claimed>) -> Result<(), Error> {
    loans.sort_by_key(|loan| loan.chat_id);
    with_tx(pool, loans, |tx, loans| {
        Box::pin(async move {
            for loan in loans {
                let last = loan.events.last();
                let settlement = Settlement {
                    chat_id: loan.chat_id,
                    epoch: loan.epoch,
                    from_seq: loan.from_seq,
                    done_seq: last.map_or(loan.from_seq, |event| event.seq),
                    outcome: Outcome::Done,
                    error: None,
                    last_received_at: last.map(|event| event.received_at),
                };
                settle(tx, &settlement).await?;
            }
            Ok(())
        })
    })
    .await
}
