//! Who may stay when there are more connections than can be served.
//!
//! A connection costs its owner nothing, so a crowd that only holds them open must not keep others out. When the house
//! is full and one more comes, one has to go: whoever has been silent longest in the middle of a head or a body; if all
//! of these have only just begun, whoever has been idle longest; and only then one that has just begun. A call that has
//! arrived whole is never interrupted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// An honest caller has sent its head and most of its body by then.
const TIME_TO_BEGIN: Duration = Duration::from_secs(1);

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// It has never sent a whole head.
    Door = 0,
    /// A body is being read.
    Body = 1,
    /// It has been answered and may call again.
    Rest = 2,
    /// A call is being worked.
    Work = 3,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Seat {
    /// Milliseconds after `opened` since when it is where it is, times four, plus where that is.
    state: AtomicU64,
    opened: Instant,
    leave: CancellationToken,
}

impl Seat {
    pub(crate) fn is(&self, at: At) {
        self.state.store((self.now() << 2) | at as u64, Ordering::Relaxed);
    }

    /// Resolves when the connection must go.
    pub(crate) async fn asked_to_leave(&self) {
        self.leave.cancelled().await;
    }

    fn now(&self) -> u64 {
        // Milliseconds of a process's life fit.
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or_default()
    }

    /// Who goes first has the smallest; who stays has none.
    fn rank(&self) -> Option<(u8, u64)> {
        let state = self.state.load(Ordering::Relaxed);
        let since = state >> 2;
        let young = Duration::from_millis(self.now().saturating_sub(since)) < TIME_TO_BEGIN;
        match state & 3 {
            at if at == At::Work as u64 => None,
            at if at == At::Rest as u64 => Some((1, since)),
            _ => Some((if young { 2 } else { 0 }, since)),
        }
    }
}

/// All connections, by the order in which they came.
#[derive(Debug)]
pub(crate) struct Seats {
    opened: Instant,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    seats: BTreeMap<u64, Arc<Seat>>,
}

impl Seats {
    pub(crate) fn new() -> Self {
        Self { opened: Instant::now(), taken: Mutex::default() }
    }

    /// Takes a seat; it is free again when the guard is dropped.
    pub(crate) fn take(self: &Arc<Self>) -> Guard {
        let seat = Seat { state: AtomicU64::default(), opened: self.opened, leave: CancellationToken::new() };
        seat.is(At::Door);
        let seat = Arc::new(seat);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let number = taken.next;
        taken.next += 1;
        taken.seats.insert(number, Arc::clone(&seat));
        Guard { seats: Arc::clone(self), number, seat }
    }

    /// Asks one connection to leave. False if all are at work.
    pub(crate) fn make_room(&self) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let first = taken.seats.iter().filter_map(|(number, seat)| Some((seat.rank()?, *number))).min();
        // Taken off at once, so that the next one to come does not ask the same.
        match first.and_then(|(_, number)| taken.seats.remove(&number)) {
            Some(seat) => {
                seat.leave.cancel();
                true
            }
            None => false,
        }
    }
}

/// A taken seat.
pub(crate) struct Guard {
    seats: Arc<Seats>,
    number: u64,
    pub(crate) seat: Arc<Seat>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner).seats.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_been_silent_longest_goes_first_and_who_works_never() {
        let seats =
            Arc::new(Seats { opened: Instant::now() - Duration::from_secs(60), taken: Mutex::default() });
        // Where each is, and how many milliseconds ago it came there.
        let states = [
            (At::Work, 50_000),
            (At::Rest, 9_000),
            (At::Rest, 20_000),
            (At::Body, 3_000),
            (At::Door, 4_000),
            (At::Body, 10),
            (At::Door, 0),
        ];
        let guards: Vec<Guard> = states.iter().map(|_| seats.take()).collect();
        for (guard, (at, ago)) in guards.iter().zip(states) {
            guard.seat.state.store(((guard.seat.now() - ago) << 2) | at as u64, Ordering::Relaxed);
        }
        let left = |place: usize| guards[place].seat.leave.is_cancelled();
        for place in [4, 3, 2, 1, 5, 6] {
            assert!(!left(place));
            assert!(seats.make_room());
            assert!(left(place), "{place}");
        }
        assert!(!seats.make_room(), "the one at work stays");
        drop(guards);
        assert!(seats.taken.lock().unwrap().seats.is_empty());
    }
}
