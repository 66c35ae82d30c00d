//! How many requests a second a provider gets from one process. Pure: time comes in as a value.

use std::time::{Duration, Instant};

/// Requests evenly spaced, with room for a few at once after a pause.
#[derive(Debug)]
pub(crate) struct Rate {
    interval: Duration,
    /// How far ahead of its place a request may be.
    slack: Duration,
    /// The place of the next request in an even row.
    next: Option<Instant>,
}

impl Rate {
    /// So many requests a second in the long run, and as many at once after a second of silence.
    pub(crate) fn new(per_second: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, slack: Duration::from_secs(1).saturating_sub(interval), next: None }
    }

    /// Takes a place and says how long to wait for it; `None`, and no place is taken, when that were longer than
    /// `patience`.
    pub(crate) fn take(&mut self, now: Instant, patience: Duration) -> Option<Duration> {
        let place = self.next.map_or(now, |next| next.max(now));
        let wait = place.saturating_duration_since(now).saturating_sub(self.slack);
        (wait <= patience).then(|| {
            self.next = Some(place + self.interval);
            wait
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_burst_goes_at_once_and_the_rest_evenly() {
        let now = Instant::now();
        let mut rate = Rate::new(4);
        let waits: Vec<u128> = (0..6).map(|_| rate.take(now, Duration::MAX).unwrap().as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 250, 500]);
        assert_eq!(rate.take(now + 10_000 * MS, Duration::ZERO), Some(Duration::ZERO), "a pause is forgiven");
    }

    #[test]
    fn one_a_second_never_sends_two_within_a_second() {
        let now = Instant::now();
        let mut rate = Rate::new(1);
        assert_eq!(rate.take(now, Duration::ZERO), Some(Duration::ZERO));
        assert_eq!(rate.take(now + 400 * MS, 1000 * MS), Some(600 * MS));
        assert_eq!(rate.take(now + 5000 * MS, Duration::ZERO), Some(Duration::ZERO));
    }

    #[test]
    fn who_would_wait_too_long_takes_no_place() {
        let now = Instant::now();
        let mut rate = Rate::new(1);
        rate.take(now, Duration::ZERO);
        for _ in 0..10 {
            assert_eq!(rate.take(now, 500 * MS), None);
        }
        assert_eq!(rate.take(now + 600 * MS, 500 * MS), Some(400 * MS));
    }
}
