//! When to leave a provider alone. Pure: time comes in as a value.
//!
//! ```text
//!            FAILURES in a row                 rest is over
//!  closed ───────────────────────▶ open ─────────────────────▶ half open
//!    ▲                              ▲                             │ one probe
//!    │ it answers                   │ it fails: rest twice as long│
//!    └──────────────────────────────┴─────────────────────────────┘
//! ```
//! While it is open nobody waits for a timeout that is sure to come, and a provider that is ill is not pressed. Only one
//! call finds out whether it is well again; the others go on being refused until that one has an answer.

use std::time::{Duration, Instant};

/// Failures in a row that open it: more than one bad answer of a provider that trips now and then.
const FAILURES: u32 = 6;
/// The longest rest, as a multiple of the first.
const LONGEST_REST: u32 = 5;

/// The state of one provider.
#[derive(Debug)]
pub(crate) struct Breaker {
    state: State,
    /// How long the first rest is.
    first_rest: Duration,
    /// How long the next rest is.
    rest: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen,
}

/// What a call has shown about the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// It answers, if only to refuse this one question.
    Well,
    /// It does not answer, or not with an answer.
    Ill,
}

impl Breaker {
    /// A closed one, whose first rest is so long.
    pub(crate) fn new(rest: Duration) -> Self {
        Self { state: State::Closed { failures: 0 }, first_rest: rest, rest }
    }

    /// Whether a call could be made now.
    pub(crate) fn admits(&self, now: Instant) -> bool {
        match self.state {
            State::Closed { .. } => true,
            State::Open { until } => now >= until,
            State::HalfOpen => false,
        }
    }

    /// Begins a call, if one may be made now. `true` must be followed by [`Breaker::settle`].
    pub(crate) fn enter(&mut self, now: Instant) -> bool {
        let admitted = self.admits(now);
        if admitted && matches!(self.state, State::Open { .. }) {
            self.state = State::HalfOpen;
        }
        admitted
    }

    /// Takes in what a call has shown. True when that opened it.
    pub(crate) fn settle(&mut self, shown: Shown, now: Instant) -> bool {
        match (shown, self.state) {
            // A call that was made before it opened proves as much as the probe.
            (Shown::Well, State::Closed { .. } | State::Open { .. } | State::HalfOpen) => {
                *self = Self::new(self.first_rest);
                false
            }
            (Shown::Ill, State::Closed { failures }) if failures + 1 < FAILURES => {
                self.state = State::Closed { failures: failures + 1 };
                false
            }
            (Shown::Ill, State::Closed { .. } | State::HalfOpen) => {
                self.state = State::Open { until: now + self.rest };
                self.rest = (self.rest * 2).min(self.first_rest * LONGEST_REST);
                true
            }
            (Shown::Ill, State::Open { .. }) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: Duration = Duration::from_secs(5);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(REST);
        for n in 1..=FAILURES {
            assert!(breaker.enter(now));
            assert_eq!(breaker.settle(Shown::Ill, now), n == FAILURES);
        }
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_between_them_does_not() {
        let now = Instant::now();
        let mut breaker = Breaker::new(REST);
        for _ in 0..3 {
            for _ in 1..FAILURES {
                breaker.settle(Shown::Ill, now);
            }
            breaker.settle(Shown::Well, now);
        }
        assert!(breaker.enter(now));
        assert!(!opened(now).enter(now));
    }

    #[test]
    fn after_the_rest_one_probe_goes_and_its_answer_decides_for_all() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(!breaker.enter(now + REST - Duration::from_millis(1)));
        assert!(breaker.enter(now + REST), "the probe");
        assert!(!breaker.enter(now + REST * 10), "nobody else while the probe is out");
        breaker.settle(Shown::Well, now + REST);
        assert!(breaker.enter(now + REST) && breaker.enter(now + REST));
    }

    #[test]
    fn a_probe_that_fails_makes_the_rest_longer_up_to_a_limit() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        for rest in [5, 10, 20, 25, 25] {
            now += Duration::from_secs(rest);
            assert!(!breaker.enter(now - Duration::from_millis(1)), "{rest}");
            assert!(breaker.enter(now), "{rest}");
            assert!(breaker.settle(Shown::Ill, now));
        }
    }

    #[test]
    fn a_late_failure_does_not_prolong_a_rest() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(!breaker.settle(Shown::Ill, now + Duration::from_secs(4)));
        assert!(breaker.enter(now + REST));
    }
}
