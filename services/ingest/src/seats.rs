//! Who may stay when there are more connections than can be served.
//!
//! A connection costs its owner nothing, so a crowd that only holds them open must not keep others out. When the house
//! is full and one more comes, one has to go: whoever has been silent longest in the middle of a head or a body; if all
//! of these have only just begun, whoever has been idle longest; and only then one that has just begun. A call that has
//! arrived whole is never interrupted.
//!
//! While there is room, a head has its time from its first byte, and a connection at rest may stay for much longer: a
//! proxy keeps it for the next call, and if we were the first to close it the proxy would have sent that call into a
//! closed connection and would answer 502 for us.
//!
//! Looking at thousands takes half a millisecond, in which nobody is let in; so several of a kind go at once. Until all of
//! these have gone nobody else is asked: on a busy machine they take a while, and a crowd at the door would empty the
//! whole house meanwhile, the honest at last.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// An honest caller has sent its head by then.
const TIME_FOR_HEAD: Duration = Duration::from_millis(300);
/// And most of its body by then.
const TIME_FOR_BODY: Duration = Duration::from_secs(1);
/// Of so many one goes at once.
const SHARE: usize = 64;

/// How long a connection may be silent while there is room for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// From the first byte of a head, or from the beginning of the connection, to the end of the head.
    pub(crate) head: Duration,
    /// From the last byte of an answer to the first of the next call.
    pub(crate) idle: Duration,
}

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

    /// Bytes have come: who was at rest begins a head, which has its time from here and not from its last byte.
    pub(crate) fn heard(&self) {
        if self.at() == At::Rest as u64 {
            self.is(At::Door);
        }
    }

    /// Bytes of an answer have left: rest begins with the last of them.
    pub(crate) fn told(&self) {
        if self.at() == At::Rest as u64 {
            self.is(At::Rest);
        }
    }

    /// Resolves when the connection must go.
    pub(crate) async fn asked_to_leave(&self) {
        self.leave.cancelled().await;
    }

    /// Resolves when the connection has been silent for longer than it may. To be polled after the connection itself,
    /// whenever that was polled: what it has heard may bring the end nearer.
    pub(crate) async fn outstays(&self, patience: Patience) {
        let mut look = pin!(sleep_until(Instant::now() + patience.head));
        poll_fn(|context| {
            loop {
                let (due, now) = (self.due(patience), Instant::now());
                if due.is_some_and(|due| due <= now) {
                    return Poll::Ready(());
                }
                let due = due.unwrap_or(now + patience.head);
                if look.is_elapsed() || look.deadline() > due {
                    look.as_mut().reset(due);
                }
                // Too early where the end has moved away meanwhile, which costs less than moving it with every call.
                ready!(look.as_mut().poll(context));
            }
        })
        .await;
    }

    /// When it has been silent for too long, if nothing moves. A call that is under way has bounds of its own.
    fn due(&self, patience: Patience) -> Option<Instant> {
        let state = self.state.load(Ordering::Relaxed);
        let allowed = match state & 3 {
            at if at == At::Door as u64 => patience.head,
            at if at == At::Rest as u64 => patience.idle,
            _ => return None,
        };
        Some(self.opened + Duration::from_millis(state >> 2) + allowed)
    }

    fn at(&self) -> u64 {
        self.state.load(Ordering::Relaxed) & 3
    }

    fn now(&self) -> u64 {
        // Milliseconds of a process's life fit.
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or_default()
    }

    /// Who goes first has the smallest; who stays has none.
    fn rank(&self) -> Option<(u8, u64)> {
        let state = self.state.load(Ordering::Relaxed);
        let since = state >> 2;
        let begins = if state & 3 == At::Door as u64 { TIME_FOR_HEAD } else { TIME_FOR_BODY };
        let young = Duration::from_millis(self.now().saturating_sub(since)) < begins;
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
    /// Who was asked to leave and has not left yet.
    leaving: usize,
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

    /// Asks one connection to leave, of a crowd several of the same kind. Returns how many: none if all are at work, or if
    /// somebody is leaving.
    pub(crate) fn make_room(&self) -> usize {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.leaving > 0 {
            return 0;
        }
        let ranked = taken.seats.iter().filter_map(|(number, seat)| Some((seat.rank()?, *number)));
        let mut ranked: Vec<((u8, u64), u64)> = ranked.collect();
        let Some(&((kind, _), _)) = ranked.iter().min() else { return 0 };
        ranked.retain(|((other, _), _)| *other == kind);
        let most = (taken.seats.len() / SHARE).max(1).min(ranked.len());
        ranked.select_nth_unstable(most - 1);
        ranked.truncate(most);
        // Taken off at once, so that the next one to come does not ask the same.
        let leaving = ranked.iter().filter_map(|(_, number)| taken.seats.remove(number));
        taken.leaving = leaving.map(|seat| seat.leave.cancel()).count();
        taken.leaving
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
        let mut taken = self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.seats.remove(&self.number).is_none() {
            taken.leaving -= 1;
        }
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
        let mut guards: Vec<Option<Guard>> = states.iter().map(|_| Some(seats.take())).collect();
        for (guard, (at, ago)) in guards.iter().flatten().zip(states) {
            guard.seat.state.store(((guard.seat.now() - ago) << 2) | at as u64, Ordering::Relaxed);
        }
        for place in [4, 3, 2, 1, 5, 6] {
            let asked =
                |guard: &Option<Guard>| guard.as_ref().is_some_and(|guard| guard.seat.leave.is_cancelled());
            assert!(!guards.iter().any(asked));
            assert_eq!(seats.make_room(), 1);
            assert!(asked(&guards[place]), "{place}");
            assert_eq!(seats.make_room(), 0, "nobody else, until it has left");
            guards[place] = None;
        }
        assert_eq!(seats.make_room(), 0, "the one at work stays");
        drop(guards);
        assert!(seats.taken.lock().unwrap().seats.is_empty());
    }

    #[test]
    fn a_head_has_its_time_from_its_first_byte_and_rest_from_the_last_byte_of_an_answer() {
        let seats =
            Arc::new(Seats { opened: Instant::now() - Duration::from_secs(600), taken: Mutex::default() });
        let patience = Patience { head: Duration::from_secs(10), idle: Duration::from_secs(100) };
        let guard = seats.take();
        let seat = &guard.seat;
        let since =
            |at: At, ago: u64| seat.state.store(((seat.now() - ago) << 2) | at as u64, Ordering::Relaxed);
        let stays = |at: At, ago: u64| {
            since(at, ago);
            seat.due(patience).is_none_or(|due| due > Instant::now())
        };
        assert!(stays(At::Door, 9_000) && !stays(At::Door, 10_001));
        assert!(stays(At::Rest, 99_000) && !stays(At::Rest, 100_001));
        // Nobody is closed in the middle of a call, however long it takes.
        assert!(stays(At::Body, 500_000) && stays(At::Work, 500_000));

        // A byte now and then is no reason for more time.
        since(At::Door, 10_001);
        seat.heard();
        assert!(seat.due(patience).is_some_and(|due| due <= Instant::now()));
        since(At::Rest, 99_000);
        seat.heard();
        assert!(
            seat.due(patience).is_some_and(|due| due <= Instant::now() + patience.head),
            "a head has begun"
        );
        seat.told();
        assert_eq!(seat.at(), At::Door as u64, "what is left of the last answer ends no head");
        since(At::Rest, 99_000);
        seat.told();
        assert!(
            seat.due(patience).is_some_and(|due| due > Instant::now() + Duration::from_secs(90)),
            "an answer is under way"
        );
        for at in [At::Body, At::Work] {
            since(at, 1);
            seat.heard();
            seat.told();
            assert_eq!(seat.at(), at as u64);
        }
    }

    #[test]
    fn of_a_crowd_several_go_at_once_and_only_of_one_kind() {
        let seats = Arc::new(Seats::new());
        let guards: Vec<Guard> = (0..640).map(|_| seats.take()).collect();
        let silent = |guard: &Guard, at: At, ago: u64| {
            let seat = &guard.seat;
            seat.state.store((seat.now().saturating_sub(ago) << 2) | at as u64, Ordering::Relaxed);
        };
        guards.iter().for_each(|guard| silent(guard, At::Rest, 0));
        guards[..4].iter().for_each(|guard| guard.seat.state.store(At::Work as u64, Ordering::Relaxed));
        let left = || guards.iter().filter(|guard| guard.seat.leave.is_cancelled()).count();
        assert_eq!((seats.make_room(), left()), (10, 10));
        assert!(guards[..4].iter().all(|guard| !guard.seat.leave.is_cancelled()));
    }
}
