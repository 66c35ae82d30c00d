//! Stops sending while it makes no sense, so that an outage spends no attempts and leaves few reports in doubt.
//!
//! ```text
//!              3 failures in a row, 1 misconfiguration, a throttle
//!   closed ─────────────────────────────────────────────────────────▶ open
//!     ▲                                                              ▲   │ its time is over
//!     │ a report got an answer                             a failure │   ▼
//!     └──────────────────────────────────────────────────────────── trial: a login, then one report at a time
//! ```
//! Pure: the state is a row that all replicas share ([`crate::gate`]), so a partner that is away costs three failures
//! in all. The trial belongs to one replica and begins with a login, because a login makes no record. A report that
//! is refused for its own sake (a 422) counts as an answer: the partner works.

use std::time::Duration;

use runtime::backoff::Backoff;

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

impl Cause {
    /// The word in the breaker's row.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Uncertain => "uncertain",
            Self::Misconfigured => "misconfigured",
            Self::Throttled => "throttled",
        }
    }
}

/// What one request, or one login, says about the partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Answered,
    Throttled(Duration),
    Failed(Cause),
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

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed {
        /// Failures in a row.
        streak: u32,
    },
    Open {
        /// Until its trial.
        left: Duration,
        /// How often it has opened in a row.
        trips: u32,
    },
    Trial {
        trips: u32,
    },
}

/// How long a breaker waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breaker {
    /// The wait after a first failure; all others are multiples of it.
    pub(crate) first: Duration,
}

impl Breaker {
    /// Where it stands after a signal. An open breaker takes no notice: what still comes in then left before it
    /// opened. `jitter` in `[0, 1)`.
    pub(crate) fn record(self, state: State, signal: Signal, jitter: f64) -> (State, Recorded) {
        let (next, opened) = self.next(state, signal, jitter);
        let (outage, hold) = match next {
            State::Closed { streak } => (false, self.wait(Cause::Unreachable, streak, jitter)),
            State::Trial { .. } => (true, self.first),
            State::Open { left, .. } => (true, left.max(self.first)),
        };
        (next, Recorded { outage, hold, opened })
    }

    fn next(self, state: State, signal: Signal, jitter: f64) -> (State, Option<Cause>) {
        let open = |cause, trips| (State::Open { left: self.wait(cause, trips, jitter), trips }, Some(cause));
        let pause = |pause: Duration, trips| {
            (State::Open { left: pause.max(self.first), trips }, Some(Cause::Throttled))
        };
        match (state, signal) {
            (State::Open { .. }, _) => (state, None),
            (_, Signal::Answered) => (State::Closed { streak: 0 }, None),
            (State::Closed { .. }, Signal::Throttled(told)) => pause(told, 0),
            (State::Trial { trips }, Signal::Throttled(told)) => pause(told, trips),
            (State::Trial { trips }, Signal::Failed(cause)) => open(cause, trips + 1),
            (State::Closed { .. }, Signal::Failed(cause @ Cause::Misconfigured)) => open(cause, 1),
            (State::Closed { streak }, Signal::Failed(cause)) if streak + 1 >= FAILURES => open(cause, 1),
            (State::Closed { streak }, Signal::Failed(_)) => (State::Closed { streak: streak + 1 }, None),
        }
    }

    /// 5 to 60 s for a partner that is away, 30 s to 5 min where somebody must act, 30 s to 15 min where every try
    /// may leave one more report in doubt (with `first` = 5 s).
    fn wait(self, cause: Cause, times: u32, jitter: f64) -> Duration {
        let (first, longest) = match cause {
            Cause::Unreachable | Cause::Throttled => (1, 12),
            Cause::Misconfigured => (6, 60),
            Cause::Uncertain => (6, 180),
        };
        Backoff { first: self.first * first, longest: self.first * longest }.after(times, jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKER: Breaker = Breaker { first: Duration::from_secs(5) };
    const AWAY: Signal = Signal::Failed(Cause::Unreachable);

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn after(state: State, signals: &[Signal]) -> (State, Recorded) {
        let start = (state, Recorded { outage: false, hold: seconds(0), opened: None });
        signals.iter().fold(start, |(state, _), &signal| BREAKER.record(state, signal, 0.5))
    }

    const CLOSED: State = State::Closed { streak: 0 };

    #[test]
    fn the_third_failure_in_a_row_opens_it() {
        let once = after(CLOSED, &[AWAY]);
        assert_eq!(once.1, Recorded { outage: false, hold: seconds(5), opened: None });
        assert_eq!(
            after(CLOSED, &[AWAY, AWAY]).1,
            Recorded { outage: false, hold: seconds(10), opened: None }
        );
        assert_eq!(after(CLOSED, &[AWAY, AWAY, Signal::Answered, AWAY, AWAY]).0, State::Closed { streak: 2 });
        let (open, third) = after(CLOSED, &[AWAY, AWAY, AWAY]);
        assert_eq!(third, Recorded { outage: true, hold: seconds(5), opened: Some(Cause::Unreachable) });
        assert_eq!(open, State::Open { left: seconds(5), trips: 1 });
    }

    #[test]
    fn what_was_in_flight_when_it_opened_says_nothing_new() {
        let open = State::Open { left: seconds(3), trips: 2 };
        for signal in [AWAY, Signal::Answered, Signal::Failed(Cause::Misconfigured)] {
            let (still, recorded) = BREAKER.record(open, signal, 0.5);
            assert_eq!((still, recorded.opened, recorded.outage), (open, None, true));
        }
    }

    #[test]
    fn every_failed_trial_waits_longer_up_to_a_limit() {
        let (mut trips, mut waits) = (1, Vec::new());
        for _ in 0..5 {
            let (State::Open { left, trips: next }, _) = after(State::Trial { trips }, &[AWAY]) else {
                panic!("a failed trial opens it")
            };
            waits.push(left.as_secs());
            trips = next;
        }
        assert_eq!(waits, [10, 20, 40, 60, 60]);
        assert_eq!(after(State::Trial { trips }, &[Signal::Answered]).0, CLOSED);
    }

    #[test]
    fn a_misconfiguration_opens_it_at_once_and_longer() {
        let (open, _) = after(CLOSED, &[Signal::Failed(Cause::Misconfigured)]);
        assert_eq!(open, State::Open { left: seconds(30), trips: 1 });
    }

    #[test]
    fn a_throttle_holds_for_as_long_as_it_says() {
        let (open, recorded) = after(CLOSED, &[Signal::Throttled(seconds(70))]);
        assert_eq!(recorded, Recorded { outage: true, hold: seconds(70), opened: Some(Cause::Throttled) });
        assert_eq!(open, State::Open { left: seconds(70), trips: 0 });
    }
}
