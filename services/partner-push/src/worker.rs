//! Claims one report per free send slot, so that no lease runs while its report waits in here.
//!
//! Woken by a notification, by a send or a push that ended, and by a poll, which is what finds reports whose time has
//! come. While there is more than can be sent, a claim is one statement for all slots that are free; the gate is looked
//! at by itself only where that brought less, and at rest after every other poll: the claim heeds a pause without it.

use std::sync::Arc;
use std::time::Duration;

use bus::outbox::{self, Claim};
use bus::wake::{Listener, Queue};
use partner::{NoPass, Photos};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;

use crate::gate::{Allowance, Trial};
use crate::push::Pusher;
use crate::signal::login_signal;

/// A poll that is longer is followed by a look at the gate each time, so that a change is seen within two seconds.
const SHORT_POLL: Duration = Duration::from_secs(1);

/// The loop of one process.
pub(crate) struct Worker {
    pub(crate) pusher: Arc<Pusher>,
    pub(crate) listener: Listener,
    pub(crate) poll: Duration,
    /// One permit for each send.
    pub(crate) slots: Arc<Semaphore>,
}

impl Worker {
    /// Claims and pushes until the service stops; then waits for what is in flight.
    pub(crate) async fn run(self) {
        let stopping = self.pusher.stopping.clone();
        let mut pushes = JoinSet::new();
        let (mut told, mut at_rest) = (0, false);
        while !stopping.is_cancelled() {
            let pause = self.work(&mut pushes, &mut at_rest).await;
            // The channels share one gauge.
            let in_flight = i64::try_from(pushes.len()).unwrap_or(i64::MAX);
            self.pusher.ledger.metrics.in_flight.inc_by(in_flight - told);
            told = in_flight;
            let Some(pause) = pause else { continue };
            tokio::select! {
                () = stopping.cancelled() => {}
                Some(ended) = pushes.join_next() => report_panic(ended),
                () = self.rest(pause) => {}
            }
        }
        while let Some(ended) = pushes.join_next().await {
            report_panic(ended);
        }
        self.pusher.gate.give_up_trial().await;
    }

    /// Claims for the free slots and starts the pushes. None: there may be more to claim at once. `at_rest`: the last look
    /// found the gate wide open and nothing to send.
    async fn work(&self, pushes: &mut JoinSet<()>, at_rest: &mut bool) -> Option<Pause> {
        while let Some(ended) = pushes.try_join_next() {
            report_panic(ended);
        }
        // Books that are not written yet hold no slot, but there is an end to how many may pile up.
        let most = 2 * self.pusher.sending.parallel;
        if pushes.len() >= most {
            return Some(Pause::UntilOneEnds);
        }
        let mut slots = self.free_slots(most - pushes.len());
        if slots.is_empty() {
            return Some(Pause::UntilSlot);
        }
        let free = slots.len();
        match self.claim(&mut slots, Leave::None, pushes).await {
            Ok(claimed) => {
                if claimed > 0 {
                    self.pusher.gate.seen_open();
                }
                if claimed == free {
                    return None;
                }
                if std::mem::take(at_rest) && claimed == 0 && self.poll <= SHORT_POLL {
                    return Some(Pause::UntilNews);
                }
            }
            Err(pause) => return Some(pause),
        }
        // The outbox is empty, or the gate is not wide open.
        let (most, leave) = match self.pusher.gate.allowance(slots.len()).await {
            Ok(Allowance::Send { pacing: false, .. }) => {
                *at_rest = true;
                return Some(Pause::UntilNews);
            }
            Ok(Allowance::Send { most, pacing: true }) => (most, Leave::Paced),
            Ok(Allowance::One) if pushes.is_empty() => (1, Leave::Trial),
            Ok(Allowance::One) => return Some(Pause::UntilOneEnds),
            // Looked at again after a poll at the latest: people and other replicas change it.
            Ok(Allowance::Wait(wait)) if wait.is_zero() => return Some(Pause::For(self.poll)),
            Ok(Allowance::Wait(wait)) => return Some(Pause::For(wait.min(self.poll))),
            Ok(Allowance::Knock(trial)) => {
                let knock = self.knock(trial).instrument(tracing::info_span!("log in"));
                if let Err(why) = knock.await {
                    self.pusher.record(login_signal(&why)).await;
                }
                return None;
            }
            Err(error) => {
                tracing::warn!(%error, "the gate cannot be read");
                return Some(Pause::For(self.poll));
            }
        };
        slots.truncate(most);
        let claimed = match self.claim(&mut slots, leave, pushes).await {
            // There is nothing better to try it with.
            Ok(0) if leave == Leave::Trial => self.claim(&mut slots, Leave::Paced, pushes).await,
            other => other,
        };
        let claimed = match claimed {
            Ok(claimed) => claimed,
            Err(pause) => return Some(pause),
        };
        if leave == Leave::Paced
            && let Err(error) = self.pusher.gate.let_out(claimed).await
        {
            tracing::warn!(%error, "the pace of the backlog was not noted");
        }
        (claimed < most).then_some(Pause::UntilNews)
    }

    /// Permits for all slots that are free, so many at most.
    fn free_slots(&self, most: usize) -> Vec<OwnedSemaphorePermit> {
        let one = || Arc::clone(&self.slots).try_acquire_owned().ok();
        std::iter::from_fn(one).take(most).collect()
    }

    /// Claims a report for each slot and starts its push. Tells how many there were.
    async fn claim(
        &self,
        slots: &mut Vec<OwnedSemaphorePermit>,
        leave: Leave,
        pushes: &mut JoinSet<()>,
    ) -> Result<usize, Pause> {
        let (pusher, sending) = (&self.pusher, &self.pusher.sending);
        let photo_wait = match pusher.partner.photos() {
            Photos::Inline | Photos::Linked => sending.photo_wait,
            Photos::Unwanted => Duration::ZERO,
        };
        let claim = Claim {
            channel: &pusher.gate.channel,
            owner: pusher.gate.owner,
            limit: i64::try_from(slots.len()).unwrap_or(i64::MAX),
            lease: sending.lease,
            photo_wait,
            allowed: leave != Leave::None,
            unrefused: leave == Leave::Trial,
        };
        let claimed = outbox::claim(&pusher.ledger.pool, &claim).await.map_err(|error| {
            let error = anyhow::Error::from(error);
            tracing::warn!(error = format!("{error:#}"), "no report could be claimed");
            Pause::For(self.poll)
        })?;
        let count = claimed.len();
        // No more of them than slots: the limit was their number.
        for (one, slot) in claimed.into_iter().zip(slots.drain(..count.min(slots.len()))) {
            pushes.spawn(Arc::clone(pusher).push(one, slot));
        }
        Ok(count)
    }

    /// A sign of life that makes no record. Where creates have left doubts, a login is too little of one.
    async fn knock(&self, trial: Trial) -> Result<(), NoPass> {
        let partner = &self.pusher.partner;
        partner.knock().await?;
        if !trial.doubtful || self.pusher.reads.are_useless() {
            return Ok(());
        }
        let pass = partner.pass().await?;
        match partner.browse(&pass).await {
            Err(NoPass::Unavailable(seen)) if trial.blind => {
                tracing::warn!(seen, "reads have failed for so long that one report is tried without them");
                Ok(())
            }
            other => other,
        }
    }

    async fn rest(&self, pause: Pause) {
        match pause {
            Pause::UntilNews => self.listener.wait(Queue::Push, self.poll).await,
            Pause::UntilSlot => drop(self.slots.acquire().await),
            Pause::UntilOneEnds => std::future::pending().await,
            Pause::For(wait) => tokio::time::sleep(wait).await,
        }
    }
}

/// What the gate has allowed a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// Nothing yet: it is for the claim to see.
    None,
    /// So many.
    Paced,
    /// One, to see whether others may follow: none that may be refused by itself.
    Trial,
}

/// Why nothing is claimed now. Every pause also ends when a push ends.
enum Pause {
    UntilNews,
    UntilSlot,
    UntilOneEnds,
    For(Duration),
}

/// A push that panicked keeps its lease until it expires; if its request had left, the next claim finds the attempt
/// open.
fn report_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(panicked = error.is_panic(), "a push ended by a fault of ours");
    }
}
