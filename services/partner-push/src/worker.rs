//! Claims one report per free send slot, so that no lease runs while its report waits in here.
//!
//! Woken by a notification, by a push that ended, and by a poll, which is what finds reports whose time has come.

use std::sync::Arc;
use std::time::Duration;

use bus::outbox::{self, Claimed};
use bus::wake::{Listener, Queue};
use partner::Photos;
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;

use crate::gate::Allowance;
use crate::push::Pusher;
use crate::signal::login_signal;

/// The loop of one process.
pub(crate) struct Worker {
    pub(crate) pusher: Arc<Pusher>,
    pub(crate) listener: Listener,
    pub(crate) poll: Duration,
}

impl Worker {
    /// Claims and pushes until the service stops; then waits for what is in flight.
    pub(crate) async fn run(self) {
        let stopping = self.pusher.stopping.clone();
        let mut pushes = JoinSet::new();
        let mut told = 0;
        while !stopping.is_cancelled() {
            let pause = self.claim(&mut pushes).await;
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

    /// Claims for the free slots and starts the pushes. None: there may be more to claim at once.
    async fn claim(&self, pushes: &mut JoinSet<()>) -> Option<Pause> {
        while let Some(ended) = pushes.try_join_next() {
            report_panic(ended);
        }
        let free = self.pusher.sending.parallel.saturating_sub(pushes.len());
        if free == 0 {
            return Some(Pause::UntilOneEnds);
        }
        let (free, pacing) = match self.pusher.gate.allowance(free).await {
            Ok(Allowance::Send { most, pacing }) => (most, pacing),
            Ok(Allowance::One) if pushes.is_empty() => (1, false),
            Ok(Allowance::One) => return Some(Pause::UntilOneEnds),
            // Looked at again after a poll at the latest: people and other replicas change it.
            Ok(Allowance::Wait(wait)) if wait.is_zero() => return Some(Pause::For(self.poll)),
            Ok(Allowance::Wait(wait)) => return Some(Pause::For(wait.min(self.poll))),
            Ok(Allowance::Knock) => {
                let knock = self.pusher.partner.knock().instrument(tracing::info_span!("log in"));
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
        let sending = &self.pusher.sending;
        let photo_wait = match self.pusher.partner.photos() {
            Photos::Inline | Photos::Linked => sending.photo_wait,
            Photos::Unwanted => Duration::ZERO,
        };
        let limit = i64::try_from(free).unwrap_or(i64::MAX);
        let claimed = outbox::claim(
            &self.pusher.ledger.pool,
            &self.pusher.gate.channel,
            self.pusher.gate.owner,
            limit,
            sending.lease,
            photo_wait,
        )
        .await;
        let claimed: Vec<Claimed> = match claimed {
            Ok(claimed) => claimed,
            Err(error) => {
                let error = anyhow::Error::from(error);
                tracing::warn!(error = format!("{error:#}"), "no report could be claimed");
                return Some(Pause::For(self.poll));
            }
        };
        let more = claimed.len() == free;
        if pacing && let Err(error) = self.pusher.gate.let_out(claimed.len()).await {
            tracing::warn!(%error, "the pace of the backlog was not noted");
        }
        for one in claimed {
            pushes.spawn(Arc::clone(&self.pusher).push(one));
        }
        (!more).then_some(Pause::UntilNews)
    }

    async fn rest(&self, pause: Pause) {
        match pause {
            Pause::UntilNews => self.listener.wait(Queue::Push, self.poll).await,
            Pause::UntilOneEnds => std::future::pending().await,
            Pause::For(wait) => tokio::time::sleep(wait).await,
        }
    }
}

/// Why nothing is claimed now. Every pause also ends when a push ends.
enum Pause {
    UntilNews,
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
