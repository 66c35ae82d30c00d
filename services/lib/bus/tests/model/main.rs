//! The mailbox protocol as a model, explored to its end: every order of the steps of two workers, two chats and three
//! events each, with misfortunes of every kind at every place. The tests in `tests/it` force single interleavings on a
//! real database; this says that none was forgotten, for the protocol as it is written down here.
//!
//! What stands for what (`row` has the statements, column by column, `choices` and `effects` the steps):
//!
//! | Step | Code |
//! | --- | --- |
//! | `Append`, `Copy` | `inbound.append_v1`, a new message and one that was stored before |
//! | `Take` | `store/claim_chats.sql`: the first statement of `bus::mailbox::claim` |
//! | `Read` | `store/read_events.sql`: its second; where it fails, `give_back` is a `Settle` with release |
//! | `Settle` | the plan of a loan (`conversation`'s `plan.rs`), then its transaction (`write.rs`): first `store/settle_chat.sql`, then session, replies and reports, here one effect per event. A burial is the effect of an event that is given up |
//! | `Settle` without answer, `Repeat` | `conversation`'s `patiently`: the same transaction again until somebody answers |
//! | `Renew` | `store/renew_chats.sql`, also when its loan is over |
//! | `Due` | the clock passes `ready_at`: the end of a backoff, of the lease of a worker that died, or of one that slept for longer than its lease and then goes on |
//! | `Leave`, `Crash`, `Die` | a loan is dropped, a process is killed with all of its loans, or by one of its events |
//!
//! A claim of several chats is several `Take`s in a row, which is one of the orders explored, and so is the fair one.
//! Every run may meet a bounded number of misfortunes, of any kinds: copies, crashes, pauses longer than the lease, lost
//! answers, retries, defers, releases. All that is no misfortune brings a run nearer to its end (`Protocol::way_to_go`,
//! checked at each step), and where nothing more can happen all is done: that is why *eventually all done* needs no
//! temporal logic here.
//!
//! Left out, with the reason:
//! * Locks and snapshots within a statement. Append, renew and settle touch one mailbox row, under its lock, and READ
//!   COMMITTED shows them its newest version; a claim skips what is locked. So each is one step, at its commit. Where a
//!   second snapshot matters (events of a claim, `next_seq` in a settle) the broken rules bring it back.
//! * The length of time: a moment is past or to come. Which ready chat is oldest, how long a backoff is.
//! * Commits that did not happen: a settle that is repeated after one is the settle that was not sent yet.
//! * Handling is no step of its own: it changes nothing before the settle, so only where it ends is chosen.
//! * Two loans of one chat in one process: no statement tells the process from another but the belt in the renewal.
//! * Aliases, merges, holds, replays, channels, partitions and `oldest_at`, `head_error` and `head_defers`, which no
//!   decision of the protocol reads. The wake-up by NOTIFY, beside which there is always a poll.
//!
//! `chat.sender` is the same protocol with other columns beside it. Reports and photos are not modelled.

mod choices;
mod effects;
mod mutants;
mod properties;
mod protocol;
mod row;
mod rules;
mod state;

use stateright::{Checker, Model};

use crate::protocol::Protocol;
use crate::rules::Rules;

/// The protocol as it is.
const WHOLE: Rules = Rules { broken: &[] };

/// Two workers, two chats, three events each.
const WORLD: Protocol = Protocol { messages: [3, 3], batch: 2, misfortunes: 2, poison: None, rules: WHOLE };

/// Explores every state and checks every promise in each.
fn explore(protocol: Protocol) {
    let checker = protocol.checker().spawn_bfs().join();
    println!("{} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
    checker.assert_properties();
}

#[test]
fn two_workers_keep_every_promise_to_two_chats_whatever_two_things_go_wrong() {
    explore(WORLD);
}

#[test]
fn two_workers_keep_every_promise_to_one_chat_whatever_five_things_go_wrong() {
    explore(Protocol { messages: [3, 0], misfortunes: 5, ..WORLD });
}

#[test]
fn all_events_of_a_chat_in_one_loan_or_one_by_one_make_no_difference() {
    for batch in [1, 3] {
        explore(Protocol { messages: [3, 0], batch, misfortunes: 3, ..WORLD });
    }
}

#[test]
fn an_event_that_kills_its_process_is_found_and_its_neighbours_are_spared_wherever_it_stands() {
    for place in 1..=3 {
        explore(Protocol { misfortunes: 0, poison: Some(place), ..WORLD });
    }
}

#[test]
fn a_poison_is_found_and_its_neighbours_are_spared_even_when_something_else_goes_wrong() {
    for place in 1..=2 {
        explore(Protocol { messages: [2, 1], misfortunes: 1, poison: Some(place), ..WORLD });
    }
}

#[test]
#[ignore = "takes half a minute in a debug build"]
fn two_workers_keep_every_promise_to_two_chats_whatever_three_things_go_wrong() {
    explore(Protocol { misfortunes: 3, ..WORLD });
}

#[test]
#[ignore = "takes minutes in a debug build"]
fn a_poison_is_found_and_its_neighbours_are_spared_even_when_two_things_go_wrong() {
    for place in 1..=2 {
        explore(Protocol { messages: [2, 2], misfortunes: 2, poison: Some(place), ..WORLD });
    }
}
