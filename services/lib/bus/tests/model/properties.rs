//! What must hold in every state that can be reached, and what must be reached for that to mean something. Numbers are
//! those of the design's invariants.

use bus::MAX_ATTEMPTS;
use stateright::Property;

use crate::protocol::Protocol;
use crate::row::ReadyAt;
use crate::state::{Chat, Loan, Phase, Standing, State};

/// Invariant 2: a message has one place, and places have no holes.
pub(crate) const STORED_ONCE: &str = "each message is stored once";
/// Invariant 4.
pub(crate) const ONE_WORKER: &str = "no two leases of a chat run at once";
/// Invariant 4.
pub(crate) const CURRENT_EPOCH: &str = "only the last loan of a chat writes";
/// Invariant 4.
pub(crate) const IN_ORDER: &str = "events are handled one after the other";
/// Invariant 5: the effects of an event are committed once, with the watermark that passes over it.
pub(crate) const ONCE: &str = "each settled event has its effects once and no other has any";
/// A chat with work is found by a claim, now or when its time comes.
pub(crate) const NO_LOST_WAKE_UP: &str = "a chat with work has a time at which it is ready";
/// A chat without work costs no claim.
pub(crate) const NO_EMPTY_WAKE_UP: &str = "a chat without work sleeps";
/// Invariant 4, and the backoff of a failure.
pub(crate) const NOT_CUT_SHORT: &str = "no lease and no backoff is cut short";
/// A lease hides a chat only for who holds it.
pub(crate) const NOT_HIDDEN: &str = "nobody hides a chat that is ready";
/// An owner that is found at a claim means a lost lease, and nothing else does.
pub(crate) const OWNER_IS_LOAN: &str = "a chat has an owner while its loan is open";
/// Invariant 9: attempts are failures and lost leases of this head, and the present loan.
pub(crate) const ATTEMPTS: &str = "attempts are what happened to the head";
/// A crash is charged to what ran. Once to all who were there, once more until the poison runs alone; and a misfortune
/// may make it look harmless again, or let it die beside a chat that waits to run alone.
pub(crate) const INNOCENT: &str =
    "what crashes beside a poison is charged twice, and once more for each misfortune";
/// A poison is found.
pub(crate) const KILLS_FEW: &str = "an event kills a bounded number of processes";
/// The locked row may be newer than the snapshot that found it.
pub(crate) const HAS_HEAD: &str = "a loan comes with its next event";
/// Where nothing more can happen, all is done. That it comes to this is in `Protocol::way_to_go`.
pub(crate) const ENDS_DONE: &str = "when misfortunes end, everything gets done";

fn chats(state: &State, holds: impl Fn(&Chat) -> bool) -> bool {
    state.chats.iter().all(holds)
}

/// What must hold always.
pub(crate) fn promises() -> Vec<Property<Protocol>> {
    vec![
        Property::always(STORED_ONCE, |_, state: &State| {
            chats(state, |chat| {
                let stored = chat.events.iter().filter(|message| **message != 0);
                let ascending =
                    chat.events[..usize::from(chat.row.next_seq) - 1].is_sorted_by(|a, b| 0 < *a && a < b);
                ascending && stored.count() == usize::from(chat.row.next_seq) - 1
            })
        }),
        Property::always(ONE_WORKER, |_, state: &State| {
            (0..state.chats.len())
                .all(|chat| state.loans(chat).filter(|loan| loan.standing == Standing::Running).count() <= 1)
        }),
        Property::always(CURRENT_EPOCH, |_, state: &State| chats(state, |chat| chat.truth.rightful)),
        Property::always(IN_ORDER, |_, state: &State| chats(state, |chat| chat.truth.in_order)),
        Property::always(ONCE, |_, state: &State| {
            chats(state, |chat| {
                let (settled, others) = chat.truth.written.split_at(usize::from(chat.row.done_seq));
                settled.iter().all(|times| *times == 1) && others.iter().all(|times| *times == 0)
            })
        }),
        Property::always(NO_LOST_WAKE_UP, |_, state: &State| {
            chats(state, |chat| !chat.row.pending() || chat.row.ready_at != ReadyAt::Null)
        }),
        Property::always(NO_EMPTY_WAKE_UP, |_, state: &State| {
            chats(state, |chat| chat.row.pending() || chat.row.ready_at == ReadyAt::Null)
        }),
        Property::always(NOT_CUT_SHORT, |_, state: &State| {
            chats(state, |chat| !chat.truth.promised || chat.row.ready_at == ReadyAt::Later)
        }),
        Property::always(NOT_HIDDEN, |_, state: &State| {
            chats(state, |chat| chat.truth.promised || chat.row.ready_at != ReadyAt::Later)
        }),
        Property::always(OWNER_IS_LOAN, |_, state: &State| {
            chats(state, |chat| chat.row.owned == chat.truth.held)
        }),
        Property::always(ATTEMPTS, |_, state: &State| {
            chats(state, |chat| chat.row.head_attempts == chat.truth.charged + i8::from(chat.truth.held))
        }),
        Property::always(INNOCENT, |protocol: &Protocol, state: &State| {
            let guilty = |number| number == 0 && protocol.poison == Some(state.chats[0].row.done_seq + 1);
            let charged = 2 + protocol.misfortunes - state.misfortunes;
            let spared = |number: usize| state.chats[number].truth.charged <= charged.cast_signed();
            protocol.poison.is_none() || (0..state.chats.len()).all(|number| guilty(number) || spared(number))
        }),
        Property::always(KILLS_FEW, |_, state: &State| i32::from(state.killed) <= MAX_ATTEMPTS + 1),
        Property::always(HAS_HEAD, |_, state: &State| {
            state.workers.iter().flat_map(|worker| worker.loans).flatten().all(|loan| match loan.phase {
                Phase::Read(read_to) => read_to > loan.from_seq,
                Phase::Taken | Phase::Unsure(..) => true,
            })
        }),
        Property::always(ENDS_DONE, |protocol: &Protocol, state: &State| {
            state.all_done() || protocol.goes_on(state)
        }),
    ]
}

/// What must happen somewhere, or the promises would be kept for want of a temptation.
pub(crate) fn situations(protocol: &Protocol) -> Vec<Property<Protocol>> {
    let mut situations = Vec::new();
    if protocol.misfortunes >= 1 {
        situations.push(Property::sometimes(
            "a worker has lost its chat to another and goes on",
            |_, state| {
                standing(state, |chat, loan| {
                    let taken_over = state.loans(chat).any(|other| other.standing == Standing::Running);
                    loan.standing == Standing::Over && loan.epoch < state.chats[chat].row.epoch && taken_over
                })
            },
        ));
        situations.push(Property::sometimes(
            "a worker does not know whether its settle was committed",
            |_, state| standing(state, |_, loan| matches!(loan.phase, Phase::Unsure(..))),
        ));
        situations.push(Property::sometimes("an event comes while its chat is lent", |_, state| {
            standing(state, |chat, loan| {
                loan.standing == Standing::Running && state.chats[chat].row.next_seq - 1 > loan.to_seq
            })
        }));
    }
    if protocol.misfortunes >= 2 || protocol.poison.is_some() {
        situations
            .push(Property::sometimes("a chat runs alone", |_, state| standing(state, |_, loan| loan.solo)));
    }
    if protocol.poison.is_some() {
        situations.push(Property::sometimes("an event is buried", |_, state| {
            standing(state, |_, loan| loan.buries)
        }));
        situations.push(Property::sometimes("a poison has killed what it may", |_, state: &State| {
            i32::from(state.killed) == MAX_ATTEMPTS
        }));
    }
    situations
}

/// There is a loan of which this is so.
fn standing(state: &State, is_so: impl Fn(usize, &Loan) -> bool) -> bool {
    (0..state.chats.len()).any(|chat| state.loans(chat).any(|loan| is_so(chat, loan)))
}
