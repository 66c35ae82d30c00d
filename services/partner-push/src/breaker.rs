//! Stops sending while it makes no sense, so that an outage spends no attempts and leaves few reports in doubt.
//!
//! ```text
//!              3 failures in a row, 1 misconfiguration, a throttle
//!   closed ─────────────────────────────────────────────────────────▶ open
//!     ▲                                                              ▲   │ its time is over
//!     │ a report got an answer                             a failure │   ▼
//!     └──────────────────────────────────────────────────────────── trial: a login, then one report at a time
//! ```
//! In the process: each replica finds out for itself, at the price of three failures. The trial is a login because
//! it makes no record. A row that is refused for its own sake (a 422) counts as an answer: the partner works.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runtime::backoff::Backoff;
use tokio::time::Instant;

/// Failures in a row that open it.
const FAILURES: u32 = 3;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// Nothing arrives there.
    Unreachable,
    /// It arrives and nobody knows what became of it: each further try may cost a person's time.
    Uncertain,
    /// It will not take anything from us until somebody acts.
    Misconfigured,
    /// It asked for a pause.
    Throttled,
}

/// What one request, or one login, says about the partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Answered,
    Throttled(Duration),
    Failed(Cause),
}

/// What may be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// Send as many as there are slots.
    All,
    /// One at a time.
    One,
    /// Log in first, and [`Breaker::record`] it if that fails.
    Knock,
    /// Nothing, for so long.
    Wait(Duration),
}

/// What recording a signal led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The partner is failing for everybody.
    pub(crate) outage: bool,
    /// How long it makes no sense to try again.
    pub(crate) hold: Duration,
    /// It was this signal that opened the breaker.
    pub(crate) opened: Option<Cause>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Closed { streak: u32 },
    Open { until: Instant, trips: u32 },
    Trial { trips: u32 },
}

/// One partner's breaker.
pub(crate) struct Breaker {
    first: Duration,
    state: Mutex<State>,
}

impl Breaker {
    /// Closed. `first` is the wait after a first failure; all others are multiples of it.
    pub(crate) const fn new(first: Duration) -> Self {
        Self { first, state: Mutex::new(State::Closed { streak: 0 }) }
    }

    /// What may be done at `now`. An open breaker whose time is over goes on trial by this call.
    pub(crate) fn allowance(&self, now: Instant) -> Allowance {
        let mut state = self.lock();
        match *state {
            State::Closed { .. } => Allowance::All,
            State::Trial { .. } => Allowance::One,
            State::Open { until, .. } if until > now => Allowance::Wait(until - now),
            State::Open { trips, .. } => {
                *state = State::Trial { trips };
                Allowance::Knock
            }
        }
    }

    /// Takes notice of what a request or a login said. An open breaker takes no notice: what still comes in then
    /// left before it opened.
    pub(crate) fn record(&self, signal: Signal, now: Instant, jitter: f64) -> Recorded {
        let mut state = self.lock();
        let (next, opened) = self.next(*state, signal, now, jitter);
        *state = next;
        let (outage, hold) = match next {
            State::Closed { streak } => (false, self.wait(Cause::Unreachable, streak, jitter)),
            State::Trial { .. } => (true, self.first),
            State::Open { until, .. } => (true, until.saturating_duration_since(now).max(self.first)),
        };
        Recorded { outage, hold, opened }
    }

    /// Whether nothing is sent at present.
    pub(crate) fn is_open(&self) -> bool {
        match *self.lock() {
            State::Open { .. } => true,
            State::Closed { .. } | State::Trial { .. } => false,
        }
    }

    fn next(&self, state: State, signal: Signal, now: Instant, jitter: f64) -> (State, Option<Cause>) {
        let open = |cause, trips| {
            let until = now + self.wait(cause, trips, jitter);
            (State::Open { until, trips }, Some(cause))
        };
        match (state, signal) {
            (State::Open { .. }, _) => (state, None),
            (_, Signal::Answered) => (State::Closed { streak: 0 }, None),
            (State::Closed { .. }, Signal::Throttled(pause)) => {
                (State::Open { until: now + pause.max(self.first), trips: 0 }, Some(Cause::Throttled))
            }
            (State::Trial { trips }, Signal::Throttled(pause)) => {
                (State::Open { until: now + pause.max(self.first), trips }, Some(Cause::Throttled))
            }
            (State::Trial { trips }, Signal::Failed(cause)) => open(cause, trips + 1),
            (State::Closed { .. }, Signal::Failed(cause @ Cause::Misconfigured)) => open(cause, 1),
            (State::Closed { streak }, Signal::Failed(cause)) if streak + 1 >= FAILURES => open(cause, 1),
            (State::Closed { streak }, Signal::Failed(_)) => (State::Closed { streak: streak + 1 }, None),
        }
    }

    /// 5 to 60 s for a partner that is away, 30 s to 5 min where somebody must act, 30 s to 15 min where every try
    /// may leave one more report in doubt (with `first` = 5 s).
    fn wait(&self, cause: Cause, times: u32, jitter: f64) -> Duration {
        let (first, longest) = match cause {
            Cause::Unreachable | Cause::Throttled => (1, 12),
            Cause::Misconfigured => (6, 60),
            Cause::Uncertain => (6, 180),
        };
        Backoff { first: self.first * first, longest: self.first * longest }.after(times, jitter)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(5);
    const AWAY: Signal = Signal::Failed(Cause::Unreachable);

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn the_third_failure_in_a_row_opens_it() {
        let (breaker, now) = (Breaker::new(FIRST), Instant::now());
        let record = |signal| breaker.record(signal, now, 0.5);
        assert_eq!(record(AWAY), Recorded { outage: false, hold: seconds(5), opened: None });
        assert_eq!(record(AWAY), Recorded { outage: false, hold: seconds(10), opened: None });
        assert_eq!(record(Signal::Answered).opened, None);
        assert!(!record(AWAY).outage && !record(AWAY).outage);
        let third = record(AWAY);
        assert_eq!(third, Recorded { outage: true, hold: seconds(5), opened: Some(Cause::Unreachable) });
        assert_eq!(breaker.allowance(now), Allowance::Wait(seconds(5)));
        // What was in flight says nothing new.
        assert_eq!(record(AWAY).opened, None);
        assert!(breaker.is_open());
    }

    #[test]
    fn it_knocks_then_tries_one_then_sends_all() {
        let (breaker, now) = (Breaker::new(FIRST), Instant::now());
        breaker.record(Signal::Failed(Cause::Misconfigured), now, 0.5);
        assert_eq!(breaker.allowance(now), Allowance::Wait(seconds(30)));
        let later = now + seconds(30);
        assert_eq!(breaker.allowance(later), Allowance::Knock);
        assert_eq!(breaker.allowance(later), Allowance::One);
        breaker.record(Signal::Answered, later, 0.5);
        assert_eq!(breaker.allowance(later), Allowance::All);
    }

    #[test]
    fn every_failed_trial_waits_longer_up_to_a_limit() {
        let (breaker, mut now) = (Breaker::new(FIRST), Instant::now());
        for _ in 0..3 {
            breaker.record(AWAY, now, 0.5);
        }
        let mut waits = Vec::new();
        for _ in 0..6 {
            let Allowance::Wait(wait) = breaker.allowance(now) else { panic!("it is open") };
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(breaker.allowance(now), Allowance::Knock);
            breaker.record(AWAY, now, 0.5);
        }
        assert_eq!(waits, [5, 10, 20, 40, 60, 60]);
    }

    #[test]
    fn a_throttle_holds_for_as_long_as_it_says() {
        let (breaker, now) = (Breaker::new(FIRST), Instant::now());
        let recorded = breaker.record(Signal::Throttled(seconds(70)), now, 0.5);
        assert_eq!(recorded, Recorded { outage: true, hold: seconds(70), opened: Some(Cause::Throttled) });
        assert_eq!(breaker.allowance(now), Allowance::Wait(seconds(70)));
    }
}
