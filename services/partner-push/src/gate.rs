//! Whether anything may be sent now: the pause switch and the breaker, two rows that all replicas share.
//!
//! The statements that claim and that open an attempt (`bus::outbox`) read them too and do nothing where they forbid it;
//! here is asked what may be done instead. Nothing is remembered in between: a pause works at once, on every replica, and
//! outlives them all. Times are the database's. Where it cannot be asked, nothing is sent.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::{NoContext, Timestamp, Uuid};

use crate::breaker::{Breaker, Recorded, Signal, State};
use crate::metrics::Metrics;

/// What may go at once after a quiet moment while a backlog drains.
const BURST: Duration = Duration::from_millis(250);

/// How long a refusal of a path or a right is remembered: whatever is refused so comes again after minutes.
const MEMORY: TimeDelta = TimeDelta::days(1);

/// What may be done now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Allowance {
    /// Send as many as there are slots, at most so many. `pacing`: a backlog is being drained, tell what was claimed.
    Send { most: usize, pacing: bool },
    /// One at a time: the trial is ours.
    One,
    /// The trial has just become ours: log in first, and record it if that fails.
    Knock(Trial),
    /// Nothing, for so long at least. Look again earlier all the same: people and other replicas change it.
    Wait(Duration),
}

/// A trial that has just begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Creates have left reports in doubt, so a login alone is no sign.
    pub(crate) doubtful: bool,
    /// It has been shut for so long that a create is risked without any further sign.
    pub(crate) blind: bool,
}

/// What questions are worth, which make no record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reach {
    Normal,
    /// Its creates leave doubts; it may answer questions all the same.
    Doubtful,
    /// Nothing is answered.
    Away,
}

/// Whether a request may leave now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Leave {
    Granted,
    /// Somebody has paused the outbox.
    Paused,
    /// The breaker is open, or on trial elsewhere.
    Held(Duration),
}

/// The gate of one channel, seen by one process.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) pool: PgPool,
    pub(crate) channel: String,
    /// This process.
    pub(crate) owner: Uuid,
    pub(crate) breaker: Breaker,
    /// How long others leave a trial of ours alone; longer than a login and a send.
    pub(crate) trial: Duration,
    /// Reports a second while a backlog drains.
    pub(crate) drain_rate: f64,
    pub(crate) metrics: Metrics,
}

/// Both rows, as read.
struct Look {
    paused: bool,
    state: String,
    mine: bool,
    left: f64,
    doubtful: bool,
    draining: bool,
    ahead: f64,
}

impl Look {
    fn left(&self) -> Duration {
        Duration::from_secs_f64(self.left.max(0.0))
    }
}

impl Gate {
    /// What may be claimed now. Takes the trial of an open breaker whose time is over.
    pub(crate) async fn allowance(&self, slots: usize) -> Result<Allowance, sqlx::Error> {
        let look = self.look().await?;
        if look.paused {
            return Ok(Allowance::Wait(Duration::ZERO));
        }
        match look.state.as_str() {
            "closed" if look.draining => Ok(paced(self.drain_rate, look.ahead, slots)),
            "closed" => Ok(Allowance::Send { most: slots, pacing: false }),
            "trial" if look.mine => {
                self.keep_trial().await?;
                Ok(Allowance::One)
            }
            _ if look.left > 0.0 => Ok(Allowance::Wait(look.left())),
            _ => Ok(match self.take_trial().await? {
                Some(trial) => Allowance::Knock(trial),
                None => Allowance::Wait(Duration::ZERO),
            }),
        }
    }

    /// Whether a request may leave at this moment.
    pub(crate) async fn leave(&self) -> Result<Leave, sqlx::Error> {
        let look = self.look().await?;
        Ok(if look.paused {
            Leave::Paused
        } else if look.state == "closed" || look.state == "trial" && look.mine {
            Leave::Granted
        } else if look.state == "trial" {
            // It ends with one answer; how long its owner may keep it says nothing about that.
            Leave::Held(self.breaker.first)
        } else {
            Leave::Held(look.left().clamp(self.breaker.first, self.breaker.longest()))
        })
    }

    /// Whether it makes sense to ask the partner anything.
    pub(crate) async fn reach(&self) -> Result<Reach, sqlx::Error> {
        let look = self.look().await?;
        Ok(match (look.state.as_str(), look.doubtful) {
            ("open", false) => Reach::Away,
            ("open", true) => Reach::Doubtful,
            _ => Reach::Normal,
        })
    }

    /// Nothing is paused and the breaker is closed, as a claim has found.
    pub(crate) fn seen_open(&self) {
        self.metrics.gate(&self.channel, false, false);
    }

    /// What is recorded of an answer while nothing has failed.
    pub(crate) const fn quiet(&self) -> Recorded {
        Recorded { outage: false, hold: self.breaker.first, opened: None }
    }

    /// What is recorded of a failure that is one report's own: that one waits as long as it can.
    pub(crate) fn aside(&self) -> Recorded {
        Recorded { outage: false, hold: self.breaker.longest(), opened: None }
    }

    /// Takes notice of what a request or a login said. What cannot be written is said and forgotten: then nothing can
    /// be claimed either.
    pub(crate) async fn record(&self, signal: Signal) -> Recorded {
        let quiet = self.quiet();
        let written = match signal {
            Signal::Answered => self.answered().await.map(|()| quiet),
            Signal::Throttled(_) | Signal::Failed { .. } => self.failed(signal).await,
        };
        written.unwrap_or_else(|error| {
            tracing::warn!(%error, "the breaker was not told");
            quiet
        })
    }

    async fn look(&self) -> Result<Look, sqlx::Error> {
        let look = sqlx::query_file_as!(Look, "src/store/look_at_gate.sql", self.channel, self.owner)
            .fetch_one(&self.pool)
            .await?;
        self.metrics.gate(&self.channel, look.paused, look.state != "closed");
        Ok(look)
    }

    /// Some: the trial is ours.
    async fn take_trial(&self) -> Result<Option<Trial>, sqlx::Error> {
        let length = self.trial.as_secs_f64();
        let taken = sqlx::query_file!("src/store/take_trial.sql", self.channel, self.owner, length)
            .fetch_optional(&self.pool)
            .await?;
        Ok(taken.map(|row| Trial {
            doubtful: row.doubts > 0,
            blind: Breaker::tries_blindly(u32::try_from(row.trips).unwrap_or_default()),
        }))
    }

    /// Whether a refusal of a path or a right is this report's own, by what became of it and of others for a day.
    pub(crate) async fn is_its_own(&self, report_id: Uuid) -> Result<bool, sqlx::Error> {
        let since = Utc::now() - MEMORY;
        let seconds = u64::try_from(since.timestamp()).unwrap_or_default();
        let since = Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, 0));
        sqlx::query_file_scalar!("src/store/is_its_own.sql", report_id, self.channel, since)
            .fetch_one(&self.pool)
            .await
    }

    async fn keep_trial(&self) -> Result<(), sqlx::Error> {
        let length = self.trial.as_secs_f64();
        sqlx::query_file!("src/store/keep_trial.sql", self.channel, self.owner, length)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Lets another process take the trial at once. For the end of this one.
    pub(crate) async fn give_up_trial(&self) {
        let given = sqlx::query_file!("src/store/give_up_trial.sql", self.channel, self.owner);
        if let Err(error) = given.execute(&self.pool).await {
            tracing::debug!(%error, "the trial was not given up; it ends by itself");
        }
    }

    /// Notes that `claimed` reports were let out while a backlog drains; none: it is gone.
    pub(crate) async fn let_out(&self, claimed: usize) -> Result<(), sqlx::Error> {
        // A claim takes a handful at a time.
        let count = i32::try_from(claimed).unwrap_or(i32::MAX);
        let takes = f64::from(count) / self.drain_rate;
        sqlx::query_file!("src/store/charge_pace.sql", self.channel, count, takes)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn answered(&self) -> Result<(), sqlx::Error> {
        let closed = sqlx::query_file_scalar!("src/store/close_breaker.sql", self.channel)
            .fetch_optional(&self.pool)
            .await?;
        if closed == Some(true) {
            tracing::info!("the partner answers again: what gathered goes out at the set rate");
        }
        Ok(())
    }

    async fn failed(&self, signal: Signal) -> Result<Recorded, sqlx::Error> {
        let input = (self.channel.clone(), self.breaker, signal, rand::random::<f64>());
        runtime::with_tx(&self.pool, input, |tx, (channel, breaker, signal, jitter)| {
            Box::pin(record_failure(tx, channel, *breaker, *signal, *jitter))
        })
        .await
    }
}

async fn record_failure(
    tx: &mut PgConnection,
    channel: &str,
    breaker: Breaker,
    signal: Signal,
    jitter: f64,
) -> Result<Recorded, sqlx::Error> {
    sqlx::query!("insert into report.push_breaker (channel) values ($1) on conflict do nothing", channel)
        .execute(&mut *tx)
        .await?;
    let row = sqlx::query_file!("src/store/lock_breaker.sql", channel).fetch_one(&mut *tx).await?;
    let count = |number: i32| u32::try_from(number).unwrap_or_default();
    let doubts = count(row.doubts);
    let state = match row.state.as_str() {
        "open" => State::Open { left: Duration::from_secs_f64(row.left), trips: count(row.trips), doubts },
        "trial" => State::Trial { trips: count(row.trips), doubts },
        _ => State::Closed { streak: count(row.streak), doubts },
    };
    let (next, recorded) = breaker.record(state, signal, jitter);
    if next != state {
        let (name, streak, trips, left, doubts) = match next {
            State::Closed { streak, doubts } => ("closed", streak, 0, Duration::ZERO, doubts),
            State::Open { left, trips, doubts } => ("open", 0, trips, left, doubts),
            State::Trial { trips, doubts } => ("trial", 0, trips, Duration::ZERO, doubts),
        };
        let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let cause = recorded.opened.map(crate::breaker::Cause::name);
        sqlx::query_file!(
            "src/store/write_breaker.sql",
            channel,
            name,
            count(streak),
            count(trips),
            left.as_secs_f64(),
            cause,
            count(doubts)
        )
        .execute(tx)
        .await?;
    }
    Ok(recorded)
}

/// How many may go at `rate` a second when those already let out reach `ahead` seconds into the future.
fn paced(rate: f64, ahead: f64, slots: usize) -> Allowance {
    let one = 1.0 / rate;
    let burst = BURST.as_secs_f64().max(one);
    let ahead = ahead.max(0.0);
    // The small excess makes up for what division lost.
    let most = ((burst - ahead) * rate + 1e-6).floor();
    if most < 1.0 {
        return Allowance::Wait(Duration::from_secs_f64((ahead - burst + one).max(0.001)));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, and more than the slots is as good as the slots"
    )]
    let most = most as usize;
    Allowance::Send { most: most.min(slots), pacing: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_drains_at_its_rate() {
        let (mut now, mut reaches, mut sent) = (0.0, 0.0_f64, 0);
        while now < 10.0 {
            match paced(20.0, reaches - now, 16) {
                Allowance::Send { most, pacing: true } => {
                    sent += most;
                    reaches = reaches.max(now) + most as f64 / 20.0;
                }
                Allowance::Wait(wait) => now += wait.as_secs_f64(),
                other => panic!("{other:?}"),
            }
        }
        assert!((200..=206).contains(&sent), "{sent}");
    }

    #[test]
    fn a_slow_rate_lets_one_out_at_a_time() {
        assert_eq!(paced(0.5, 0.0, 4), Allowance::Send { most: 1, pacing: true });
        assert_eq!(paced(0.5, 1.5, 4), Allowance::Wait(Duration::from_millis(1500)));
    }
}
