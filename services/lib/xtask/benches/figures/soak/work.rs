//! A worker: claims, writes its books and settles in one transaction, and goes on whatever the database says.

use std::sync::Arc;
use std::time::Duration;

use bus::mailbox::{self, Claim, Claimed, Claimer, Outcome, Settlement};
use bus::metrics::QueueMetrics;
use bus::{Error, Lease};
use chrono::Utc;
use runtime::database::with_tx;
use sqlx::PgPool;
use tokio::sync::watch;
use uuid::Uuid;

use super::feed::CHANNEL;

/// How often a transaction is tried: what is left by then comes back with the end of the lease.
const TRIES: u32 = 5;
/// Between two looks at a queue that is empty or away.
const PAUSE: Duration = Duration::from_millis(5);

pub(super) struct Worker {
    pub(super) pool: PgPool,
    pub(super) owner: Uuid,
    pub(super) lease: Lease,
}

/// What workers came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Loans that somebody else had by the time they were to be settled.
    pub(super) fenced: usize,
    /// Of each event the chat, and the milliseconds from its storing to its settling.
    pub(super) waits: Vec<(Uuid, f64)>,
}

impl Tally {
    pub(super) fn sum(tallies: Vec<Self>) -> Self {
        tallies.into_iter().fold(Self::default(), |mut all, one| {
            all.fenced += one.fenced;
            all.waits.extend(one.waits);
            all
        })
    }

    /// The waits of all chats but one.
    pub(super) fn waits_but(&self, chat: Option<Uuid>) -> Vec<f64> {
        self.waits.iter().filter(|wait| Some(wait.0) != chat).map(|wait| wait.1).collect()
    }
}

impl Worker {
    pub(super) fn new(pool: PgPool, lease: Duration) -> Self {
        Self { pool, owner: Uuid::now_v7(), lease: Lease { length: lease } }
    }

    /// Works until it is closed and nothing is left.
    pub(super) async fn run(self, closed: watch::Receiver<bool>) -> Tally {
        let claimer = Claimer::new(self.pool.clone(), QueueMetrics::default());
        let mut tally = Tally::default();
        loop {
            let last = *closed.borrow();
            let mut idle = true;
            for solo in [false, true] {
                let claim = Claim {
                    channel: CHANNEL,
                    owner: self.owner,
                    chats: 20,
                    events: 10,
                    lease: self.lease,
                    solo,
                };
                if let Ok(loans) = claimer.claim(&claim).await
                    && !loans.is_empty()
                {
                    idle = false;
                    self.settle(loans, &mut tally).await;
                }
            }
            if idle {
                if last && super::waiting(&self.pool).await.is_ok_and(|waiting| waiting == 0) {
                    return tally;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Settles all loans in one transaction, with their lines in the books. A repeat after an answer that was lost finds
    /// nothing to settle, and writes nothing.
    async fn settle(&self, loans: Vec<Claimed>, tally: &mut Tally) {
        let loans = Arc::new(loans);
        for _ in 0..TRIES {
            match with_tx(&self.pool, Arc::clone(&loans), |tx, loans| Box::pin(write(tx, loans))).await {
                Ok(settled) => {
                    let now = Utc::now();
                    for loan in loans.iter() {
                        if !settled.contains(&loan.chat_id) {
                            tally.fenced += 1;
                            continue;
                        }
                        let waits = loan
                            .events
                            .iter()
                            .map(|event| (loan.chat_id, (now - event.received_at).as_seconds_f64() * 1000.0));
                        tally.waits.extend(waits);
                    }
                    return;
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn write(tx: &mut sqlx::PgConnection, loans: &[Claimed]) -> Result<Vec<Uuid>, Error> {
    let settlements: Vec<Settlement> = loans.iter().map(done).collect();
    let settled = mailbox::settle_all(tx, &settlements).await?;
    let lines = loans
        .iter()
        .filter(|loan| settled.contains(&loan.chat_id))
        .flat_map(|loan| loan.events.iter().map(|event| (loan.chat_id, event.seq, loan.epoch)));
    let (mut chats, mut seqs, mut epochs) = (Vec::new(), Vec::new(), Vec::new());
    for (chat, seq, epoch) in lines {
        chats.push(chat);
        seqs.push(seq);
        epochs.push(epoch);
    }
    let insert = "insert into public.handled (chat_id, seq, epoch) \
                  select * from unnest($1::uuid[], $2::bigint[], $3::bigint[])";
    sqlx::query(insert).bind(chats).bind(seqs).bind(epochs).execute(tx).await?;
    Ok(settled)
}

/// A loan with all its events done.
fn done(loan: &Claimed) -> Settlement {
    let last = loan.events.last();
    Settlement {
        chat_id: loan.chat_id,
        epoch: loan.epoch,
        from_seq: loan.from_seq,
        done_seq: last.map_or(loan.from_seq, |event| event.seq),
        outcome: Outcome::Done,
        error: None,
        last_received_at: last.map(|event| event.received_at),
    }
}
