//! Stops claiming replies while the provider is not well, so that an outage does not cost every chat an attempt.
//!
//! In this process only: what lasts until a person acts is a pause, which all replicas share
//! ([`bus::outbound::pause`]).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The breaker of the number. The default is closed.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Breaker {
    /// Whether nothing may be sent now.
    pub fn is_open(&self) -> bool {
        self.is_open_at(Instant::now())
    }

    /// Whether the last send failed for the whole number: then one chat is tried before the others.
    pub fn is_doubted(&self) -> bool {
        self.state().failures > 0
    }

    /// A send failed for a reason that all others share. `after` gives the wait from the number of failures in a row.
    pub fn failed(&self, after: impl FnOnce(u32) -> Duration) {
        self.failed_at(Instant::now(), after);
    }

    /// The provider took a message.
    pub fn succeeded(&self) {
        *self.state() = State::default();
    }

    fn is_open_at(&self, now: Instant) -> bool {
        self.state().until.is_some_and(|until| until > now)
    }

    fn failed_at(&self, now: Instant, after: impl FnOnce(u32) -> Duration) {
        let mut state = self.state();
        // Sends that were under way when it opened say the same thing once more.
        if state.until.is_none_or(|until| until <= now) {
            state.failures = state.failures.saturating_add(1);
            state.until = Some(now + after(state.failures));
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_for_as_long_as_it_is_told_counts_failures_in_a_row_and_closes_at_a_success() {
        let breaker = Breaker::default();
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        assert!(!breaker.is_open() && !breaker.is_doubted());
        breaker.failed_at(start, |failures| second * failures);
        breaker.failed_at(start, |_| unreachable!("it is open"));
        assert!(breaker.is_open_at(start) && !breaker.is_open_at(start + second));
        assert!(breaker.is_doubted());
        breaker.failed_at(start + second, |failures| second * failures);
        assert!(breaker.is_open_at(start + second * 5 / 2) && !breaker.is_open_at(start + second * 3));
        breaker.succeeded();
        assert!(!breaker.is_open_at(start + second) && !breaker.is_doubted());
    }
}
