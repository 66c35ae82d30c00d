//! Claim, do nothing, settle.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::bus::mailbox::{Claim, Claimed, Claimer, Outcome, Settlement, settle_all};
use ::bus::metrics::QueueMetrics;
use ::bus::{Error, Lease};
use anyhow::ensure;
use futures::{StreamExt, TryStreamExt};
use runtime::database::with_tx;
use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::order::{Handled, Verdict, judge};
use super::{CHANNEL, fill};

pub(super) const LEASE: Lease = Lease { length: Duration::from_secs(30) };
/// Events that one claim has in hand at most, as the peers have.
const IN_HAND: usize = 1_000;
/// Events of one chat in a claim.
const EVENTS: usize = 10;
/// Transactions of one worker at once where each chat has its own.
const AT_ONCE: usize = 8;
/// When an event that failed is tried again; the peers wait as long.
const RETRY: Duration = Duration::from_secs(1);

/// How a worker settles what it claimed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Settling {
    /// All in one transaction, in the order of their ids.
    Together,
    /// Each chat in a transaction of its own, as the service does, whose transactions also write what the chat did.
    Apart,
}

/// What is worked off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) chats: usize,
    pub(super) depth: usize,
    pub(super) workers: usize,
    pub(super) settling: Settling,
    /// Every so many-th event fails at its first attempt; none where this is 0.
    pub(super) fail_every: usize,
}

/// Events a second while `chats` × `depth` are worked off; filled anew, untimed, until `length` was timed.
///
/// # Errors
/// An event was handled out of order, twice, or beside another of its chat.
pub(super) async fn rate(pool: &PgPool, load: Load, length: Duration) -> anyhow::Result<f64> {
    let (began, mut timed, mut events) = (Instant::now(), Duration::ZERO, 0);
    // Filling may take longer than working; a measurement is not to take for ever.
    while timed < length && (events == 0 || began.elapsed() < 3 * length) {
        fill(pool, load.chats, load.depth).await?;
        let start = Instant::now();
        let mut handled = drain(pool, load.chats * load.depth, load).await?;
        timed += start.elapsed();
        events += load.chats * load.depth;
        let verdict = judge(&mut handled);
        ensure!(verdict.is_clean(), "{load:?}: {verdict:?}");
    }
    Ok(events as f64 / timed.as_secs_f64())
}

/// Works `chats` × `depth` off once, and says whether the order was kept.
pub(super) async fn order(pool: &PgPool, load: Load) -> anyhow::Result<Verdict> {
    fill(pool, load.chats, load.depth).await?;
    Ok(judge(&mut drain(pool, load.chats * load.depth, load).await?))
}

/// What the workers of a drain share.
struct Shift {
    claimer: Claimer,
    pool: PgPool,
    load: Load,
    left: AtomicI64,
    began: Instant,
    /// Events that have failed already.
    failed: Mutex<HashSet<(Uuid, i64)>>,
}

/// Works off exactly `events` events. Returns what the handlers noted.
pub(super) async fn drain(pool: &PgPool, events: usize, load: Load) -> anyhow::Result<Vec<Handled>> {
    let shift = Arc::new(Shift {
        claimer: Claimer::new(pool.clone(), QueueMetrics::default()),
        pool: pool.clone(),
        load,
        left: AtomicI64::new(i64::try_from(events)?),
        began: Instant::now(),
        failed: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    for _ in 0..load.workers {
        tasks.spawn(work(Arc::clone(&shift)));
    }
    let mut handled = Vec::new();
    while let Some(one) = tasks.join_next().await {
        handled.extend(one??);
    }
    Ok(handled)
}

async fn work(shift: Arc<Shift>) -> anyhow::Result<Vec<Handled>> {
    let owner = Uuid::now_v7();
    let events = shift.load.depth.min(EVENTS);
    let (chats, events) = (i64::try_from(IN_HAND / events)?, i64::try_from(events)?);
    let mut noted = Vec::new();
    while shift.left.load(Ordering::Acquire) > 0 {
        let claim = Claim { channel: CHANNEL, owner, chats, events, lease: LEASE, solo: false };
        let loans = shift.claimer.claim(&claim).await?;
        if loans.is_empty() {
            // Others have the rest. A service would wait for its wake-up.
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        }
        let before = noted.len();
        let settlements: Vec<Settlement> = loans.iter().map(|loan| shift.handle(loan, &mut noted)).collect();
        match shift.load.settling {
            Settling::Together => settle(&shift.pool, settlements).await?,
            Settling::Apart => {
                let each = futures::stream::iter(settlements).map(|one| settle(&shift.pool, vec![one]));
                each.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            }
        }
        shift.left.fetch_sub(i64::try_from(noted.len() - before)?, Ordering::AcqRel);
    }
    Ok(noted)
}

impl Shift {
    /// The handler: notes each event, up to one that fails.
    fn handle(&self, loan: &Claimed, noted: &mut Vec<Handled>) -> Settlement {
        let chat = loan.chat_id.as_u128();
        let mut last = None;
        for event in &loan.events {
            let start = self.nanos();
            if self.fails(loan.chat_id, event.seq) {
                return Settlement {
                    error: Some("to be tried again".to_owned()),
                    ..end(loan, last, Outcome::Retry(RETRY))
                };
            }
            noted.push(Handled { chat, seq: event.seq, start, end: self.nanos() });
            last = Some(event);
        }
        end(loan, last, Outcome::Done)
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Whether this is the first attempt of an event that is to fail.
    fn fails(&self, chat: Uuid, seq: i64) -> bool {
        let Some(every) = u128::try_from(self.load.fail_every).ok().filter(|every| *every > 0) else {
            return false;
        };
        let place = (chat.as_u128() % every) * 31 + u128::try_from(seq).unwrap_or_default() * 17;
        place.is_multiple_of(every)
            && self.failed.lock().unwrap_or_else(PoisonError::into_inner).insert((chat, seq))
    }
}

/// Ends a loan after its last handled event.
fn end(loan: &Claimed, last: Option<&::bus::mailbox::Event>, outcome: Outcome) -> Settlement {
    Settlement {
        chat_id: loan.chat_id,
        epoch: loan.epoch,
        from_seq: loan.from_seq,
        done_seq: last.map_or(loan.from_seq, |event| event.seq),
        outcome,
        error: None,
        last_received_at: last.map(|event| event.received_at),
    }
}

/// Settles loans in one transaction, all their events done.
pub(super) async fn settle_done(pool: &PgPool, loans: &[Claimed]) -> anyhow::Result<()> {
    let done = loans.iter().map(|loan| end(loan, loan.events.last(), Outcome::Done)).collect();
    settle(pool, done).await
}

/// Ends loans in one transaction. Nobody else works here, so each must still stand.
async fn settle(pool: &PgPool, settlements: Vec<Settlement>) -> anyhow::Result<()> {
    let count = settlements.len();
    let settled = with_tx(pool, settlements, |tx, settlements| {
        Box::pin(async move { Ok::<_, Error>(settle_all(tx, settlements).await?.len()) })
    });
    ensure!(settled.await? == count, "a loan was lost");
    Ok(())
}
