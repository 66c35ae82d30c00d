//! How long to wait before the next attempt. The numbers are the design's: 2, 4, 8, 16, 32 s for events and
//! 30, 60, 120, 240, 480 s for pushes, ±10 % so that what failed together does not come back together.

use std::time::Duration;

/// A doubling backoff.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// The wait after the first failed attempt.
    pub first: Duration,
    /// No wait is longer than this.
    pub longest: Duration,
}

impl Backoff {
    /// The wait after the `attempt`-th failed attempt (from 1), scaled by `jitter` in `[0, 1)` to ±10 %.
    pub fn after(&self, attempt: u32, jitter: f64) -> Duration {
        let doubled =
            self.first.saturating_mul(1u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.longest).mul_f64(0.9 + 0.2 * jitter.clamp(0.0, 1.0))
    }
}

/// A random number in `[0, 1)`, for [`Backoff::after`].
pub fn jitter() -> f64 {
    rand::random()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let events = Backoff { first: Duration::from_secs(2), longest: Duration::from_secs(32) };
        let waits: Vec<u64> = (1..=6).map(|n| events.after(n, 0.5).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 32]);
        assert_eq!(events.after(u32::MAX, 0.5), Duration::from_secs(32));
    }

    #[test]
    fn jitter_stays_within_a_tenth() {
        let push = Backoff { first: Duration::from_secs(30), longest: Duration::from_secs(480) };
        assert_eq!(push.after(1, 0.0), Duration::from_secs(27));
        assert_eq!(push.after(1, 1.0), Duration::from_secs(33));
    }
}
