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
//!
//! **Doubts.** Where creates have left reports in doubt, a login that works says little, so the trial also reads where
//! creates go; while that fails, no report is risked, and what was on its way when it opened is all that a person has to
//! look up, however long it lasts. Two things are left over:
//!
//! * *Login and read work, and creates alone fail.* Nothing but a create can tell that it is over, and each costs a person
//!   a look. Never to try would cost less in such an outage and far more after it: nothing would go out until somebody
//!   came, after every hiccup of half a minute. So they are tried and spaced out: each waits four times as long as the one
//!   before, five in ten hours, and a pause that the platform asks for (`Retry-After`) is kept. What they cost is never a
//!   second record. Where the platform can be searched, a doubt ends by itself and they come every quarter of an hour at
//!   least.
//! * *The read fails in good times too*, as some frameworks answer 500 to a method that they do not have. A process that
//!   has seen that beside a create that worked takes no notice of reads ([`crate::worker`]). One that has not, since it was
//!   started in the outage, would wait for ever: after [`BLIND`] trials in a row it risks a create all the same.

use std::time::Duration;

use runtime::backoff::Backoff;

/// Failures in a row that open it.
const FAILURES: u32 = 3;
/// Trials in a row after which a read that fails is no reason any more: twelve hours, a minute each.
const BLIND: u32 = 720;

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
    /// `told`: the pause that was asked for all the same.
    Failed {
        cause: Cause,
        told: Duration,
    },
}

impl Signal {
    /// A failure that says nothing of how long it lasts.
    pub(crate) const fn failed(cause: Cause) -> Self {
        Self::Failed { cause, told: Duration::ZERO }
    }
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

/// Where it stands. `doubts`: how many trials in a row have left a report in doubt, what opened it counting as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed {
        /// Failures in a row.
        streak: u32,
        doubts: u32,
    },
    Open {
        /// Until its trial.
        left: Duration,
        /// How often it has opened in a row.
        trips: u32,
        doubts: u32,
    },
    Trial {
        trips: u32,
        doubts: u32,
    },
}

/// How long a breaker waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breaker {
    /// The wait after a first failure; all others are multiples of it.
    pub(crate) first: Duration,
    /// A doubt is cleared up by a search, and costs nobody anything.
    pub(crate) searchable: bool,
}

impl Breaker {
    /// Whether a trial goes on although the read has failed, after `trips` that opened it in a row.
    pub(crate) const fn tries_blindly(trips: u32) -> bool {
        trips > 0 && trips.is_multiple_of(BLIND)
    }

    /// So long may what was held back have to wait, however long the breaker itself does.
    pub(crate) fn longest(self) -> Duration {
        self.first * 180
    }

    /// Where it stands after a signal. An open breaker takes notice of nothing but a doubt, which its trial has to know of:
    /// what still comes in then left before it opened. `jitter` in `[0, 1)`.
    pub(crate) fn record(self, state: State, signal: Signal, jitter: f64) -> (State, Recorded) {
        let (next, opened) = self.next(state, signal, jitter);
        let (outage, hold) = match next {
            State::Closed { streak, .. } => (false, self.wait(Cause::Unreachable, streak, 0, jitter)),
            State::Trial { .. } => (true, self.first),
            State::Open { left, .. } => (true, left.clamp(self.first, self.longest())),
        };
        (next, Recorded { outage, hold, opened })
    }

    fn next(self, state: State, signal: Signal, jitter: f64) -> (State, Option<Cause>) {
        let open = |cause, told: Duration, trips, doubts| {
            let left = self.wait(cause, trips, doubts, jitter).max(told);
            (State::Open { left, trips, doubts }, Some(cause))
        };
        let pause = |pause: Duration, trips, doubts| {
            (State::Open { left: pause.max(self.first), trips, doubts }, Some(Cause::Throttled))
        };
        match (state, signal) {
            (State::Open { left, trips, doubts: 0 }, Signal::Failed { cause: Cause::Uncertain, .. }) => {
                (State::Open { left, trips, doubts: 1 }, None)
            }
            (State::Open { .. }, _) => (state, None),
            (_, Signal::Answered) => (State::Closed { streak: 0, doubts: 0 }, None),
            (State::Closed { doubts, .. }, Signal::Throttled(told)) => pause(told, 0, doubts),
            (State::Trial { trips, doubts }, Signal::Throttled(told)) => pause(told, trips, doubts),
            (State::Trial { trips, doubts }, Signal::Failed { cause, told }) => {
                open(cause, told, trips + 1, doubts + u32::from(cause == Cause::Uncertain))
            }
            (State::Closed { streak, doubts }, Signal::Failed { cause, told }) => {
                let doubts = doubts.max(u32::from(cause == Cause::Uncertain));
                if cause == Cause::Misconfigured || streak + 1 >= FAILURES {
                    return open(cause, told, 1, doubts);
                }
                (State::Closed { streak: streak + 1, doubts }, None)
            }
        }
    }

    /// 5 to 60 s for a partner that is away, 30 s to 5 min where somebody must act, 30 s to 15 min where a try leaves a
    /// doubt for a search and 30 s to 8 h where it leaves one for a person (with `first` = 5 s).
    fn wait(self, cause: Cause, times: u32, doubts: u32, jitter: f64) -> Duration {
        let (first, longest, times) = match cause {
            Cause::Unreachable | Cause::Throttled => (1, 12, times),
            Cause::Misconfigured => (6, 60, times),
            Cause::Uncertain if self.searchable => (6, 180, doubts),
            Cause::Uncertain => (6, 5760, doubts.saturating_mul(2).saturating_sub(1)),
        };
        Backoff { first: self.first * first, longest: self.first * longest }.after(times, jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKER: Breaker = Breaker { first: Duration::from_secs(5), searchable: false };
    const AWAY: Signal = Signal::failed(Cause::Unreachable);

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn after(state: State, signals: &[Signal]) -> (State, Recorded) {
        let start = (state, Recorded { outage: false, hold: seconds(0), opened: None });
        signals.iter().fold(start, |(state, _), &signal| BREAKER.record(state, signal, 0.5))
    }

    const CLOSED: State = State::Closed { streak: 0, doubts: 0 };

    #[test]
    fn the_third_failure_in_a_row_opens_it() {
        let once = after(CLOSED, &[AWAY]);
        assert_eq!(once.1, Recorded { outage: false, hold: seconds(5), opened: None });
        assert_eq!(
            after(CLOSED, &[AWAY, AWAY]).1,
            Recorded { outage: false, hold: seconds(10), opened: None }
        );
        assert_eq!(
            after(CLOSED, &[AWAY, AWAY, Signal::Answered, AWAY, AWAY]).0,
            State::Closed { streak: 2, doubts: 0 }
        );
        let (open, third) = after(CLOSED, &[AWAY, AWAY, AWAY]);
        assert_eq!(third, Recorded { outage: true, hold: seconds(5), opened: Some(Cause::Unreachable) });
        assert_eq!(open, State::Open { left: seconds(5), trips: 1, doubts: 0 });
    }

    #[test]
    fn what_was_in_flight_when_it_opened_says_nothing_new() {
        let open = State::Open { left: seconds(3), trips: 2, doubts: 0 };
        for signal in [AWAY, Signal::Answered, Signal::failed(Cause::Misconfigured)] {
            let (still, recorded) = BREAKER.record(open, signal, 0.5);
            assert_eq!((still, recorded.opened, recorded.outage), (open, None, true));
        }
    }

    /// Else its trial would begin with a login alone, and leave one more report in doubt.
    #[test]
    fn a_doubt_that_comes_in_when_it_is_open_is_remembered_and_changes_nothing_else() {
        let open = State::Open { left: seconds(3), trips: 2, doubts: 0 };
        let (still, recorded) = BREAKER.record(open, Signal::failed(Cause::Uncertain), 0.5);
        assert_eq!(still, State::Open { left: seconds(3), trips: 2, doubts: 1 });
        assert_eq!((recorded.opened, recorded.hold), (None, seconds(5)));
        let (more, _) = after(still, &[Signal::failed(Cause::Uncertain); 3]);
        assert_eq!(more, still, "what was in flight counts as one");
    }

    #[test]
    fn every_failed_trial_waits_longer_up_to_a_limit() {
        let (mut trips, mut waits) = (1, Vec::new());
        for _ in 0..5 {
            let trial = State::Trial { trips, doubts: 0 };
            let (State::Open { left, trips: next, doubts: 0 }, _) = after(trial, &[AWAY]) else {
                panic!("a failed trial opens it")
            };
            waits.push(left.as_secs());
            trips = next;
        }
        assert_eq!(waits, [10, 20, 40, 60, 60]);
        assert_eq!(after(State::Trial { trips, doubts: 3 }, &[Signal::Answered]).0, CLOSED);
    }

    #[test]
    fn a_misconfiguration_opens_it_at_once_and_longer() {
        let (open, _) = after(CLOSED, &[Signal::failed(Cause::Misconfigured)]);
        assert_eq!(open, State::Open { left: seconds(30), trips: 1, doubts: 0 });
    }

    #[test]
    fn a_throttle_holds_for_as_long_as_it_says() {
        let (open, recorded) = after(CLOSED, &[Signal::Throttled(seconds(70))]);
        assert_eq!(recorded, Recorded { outage: true, hold: seconds(70), opened: Some(Cause::Throttled) });
        assert_eq!(open, State::Open { left: seconds(70), trips: 0, doubts: 0 });
    }

    /// Trials in ten hours in which the login and the read work and creates do not.
    fn risked_in_ten_hours(breaker: Breaker) -> (u32, Duration) {
        let doubt = Signal::failed(Cause::Uncertain);
        let (mut state, mut spent, mut trials, mut longest) = (CLOSED, seconds(0), 0, seconds(0));
        for _ in 0..FAILURES {
            state = breaker.record(state, doubt, 0.5).0;
        }
        while let State::Open { left, trips, doubts } = state {
            spent += left;
            longest = longest.max(left);
            if spent > seconds(36_000) {
                break;
            }
            trials += 1;
            let recorded;
            (state, recorded) = breaker.record(State::Trial { trips, doubts }, doubt, 0.5);
            assert!(recorded.hold <= seconds(900), "nobody waits so long for that");
        }
        (trials, longest)
    }

    #[test]
    fn ten_hours_in_which_only_creates_fail_risk_five_reports() {
        assert_eq!(risked_in_ten_hours(BREAKER).0, 5);
        let searchable = Breaker { searchable: true, ..BREAKER };
        assert_eq!(risked_in_ten_hours(searchable), (43, seconds(900)), "each is cleared up by a search");
    }

    #[test]
    fn failed_logins_and_reads_in_between_space_nothing_out() {
        let doubtful = State::Trial { trips: 1, doubts: 1 };
        let (mut state, mut waits) = (doubtful, Vec::new());
        for _ in 0..5 {
            let (State::Open { left, trips, doubts: 1 }, _) = after(state, &[AWAY]) else {
                panic!("the doubt stays until a create is answered")
            };
            waits.push(left.as_secs());
            state = State::Trial { trips, doubts: 1 };
        }
        assert_eq!(waits, [10, 20, 40, 60, 60]);
        let (open, _) = after(state, &[Signal::failed(Cause::Uncertain)]);
        assert_eq!(open, State::Open { left: seconds(120), trips: 7, doubts: 2 });
    }

    #[test]
    fn a_pause_that_is_asked_for_is_kept_also_where_a_doubt_is_left() {
        let doubt = Signal::Failed { cause: Cause::Uncertain, told: seconds(600) };
        let (open, recorded) = after(CLOSED, &[doubt, doubt, doubt]);
        assert_eq!(open, State::Open { left: seconds(600), trips: 1, doubts: 1 });
        assert_eq!(recorded.hold, seconds(600));
        let short = Signal::Failed { cause: Cause::Uncertain, told: seconds(1) };
        let (open, _) = after(State::Trial { trips: 1, doubts: 1 }, &[short]);
        assert_eq!(open, State::Open { left: seconds(120), trips: 2, doubts: 2 });
    }

    #[test]
    fn a_read_that_never_works_is_believed_for_ten_hours_and_not_for_ever() {
        let (mut state, mut spent) = (State::Open { left: seconds(30), trips: 1, doubts: 1 }, seconds(0));
        while let State::Open { left, trips, doubts } = state {
            spent += left;
            if Breaker::tries_blindly(trips) {
                break;
            }
            // The least that a wait can be.
            state = BREAKER.record(State::Trial { trips, doubts }, AWAY, 0.0).0;
        }
        assert!(spent > seconds(36_000) && spent < seconds(2 * 36_000), "{spent:?}");
        assert!(!Breaker::tries_blindly(0));
    }

    #[test]
    fn a_doubt_among_the_failures_that_open_it_is_remembered() {
        let (open, _) = after(CLOSED, &[Signal::failed(Cause::Uncertain), AWAY, AWAY]);
        assert_eq!(open, State::Open { left: seconds(5), trips: 1, doubts: 1 });
    }
}
