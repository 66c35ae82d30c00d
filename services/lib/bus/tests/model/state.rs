//! The state of the world: the database, what the workers remember, and the truth that neither of them sees.

use crate::row::{Outcome, Row, Settlement};

/// Chats, and workers that compete for them.
pub(crate) const CHATS: usize = 2;
pub(crate) const WORKERS: usize = 2;
/// Room for the sequence numbers of a chat, copies included.
pub(crate) const PLACES: usize = 6;

/// What really happened to a chat. No statement reads it; the properties compare it with the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Truth {
    /// Messages that the provider has not delivered yet.
    pub(crate) to_come: u8,
    /// How often the effects of each event were committed.
    pub(crate) written: [u8; PLACES],
    /// Every committed effect followed the one before it.
    pub(crate) in_order: bool,
    /// Every committed effect came from the loan that was the chat's last.
    pub(crate) rightful: bool,
    /// A loan of this chat was neither settled nor taken over.
    pub(crate) held: bool,
    /// A lease or a backoff runs by the clock.
    pub(crate) promised: bool,
    /// Failures and lost leases of the present head.
    pub(crate) charged: i8,
}

/// A chat in the database, with its truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Chat {
    pub(crate) row: Row,
    /// `inbound.event` in sequence: the number of the provider's message, 0 where there is none.
    pub(crate) events: [u8; PLACES],
    pub(crate) truth: Truth,
}

impl Chat {
    pub(crate) fn new(to_come: u8) -> Self {
        let truth = Truth {
            to_come,
            written: [0; PLACES],
            in_order: true,
            rightful: true,
            held: false,
            promised: false,
            charged: 0,
        };
        Self { row: Row::NEW, events: [0; PLACES], truth }
    }

    /// Events that are stored.
    pub(crate) fn stored(&self) -> u8 {
        self.events.iter().map(|message| u8::from(*message != 0)).sum()
    }

    /// The effects of an event are committed.
    pub(crate) fn write(&mut self, seq: u8, rightful: bool) {
        let place = usize::from(seq - 1);
        let next = self.truth.written.iter().take_while(|times| **times > 0).count();
        self.truth.in_order &= place == next;
        self.truth.rightful &= rightful;
        self.truth.written[place] += 1;
    }
}

/// How far a worker is with a loan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    /// The lease is committed, the events are not read.
    Taken,
    /// The events are in memory, up to this place.
    Read(u8),
    /// A settle was sent and no answer came: the same is sent again.
    Unsure(u8, Outcome),
}

/// How a loan stands in truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Standing {
    /// Its lease runs.
    Running,
    /// Its lease is over, but nobody else took the chat.
    Lapsed,
    /// It is settled, or somebody else took the chat.
    Over,
}

/// A loan as its worker remembers it (`bus::mailbox::Claimed`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Loan {
    pub(crate) phase: Phase,
    pub(crate) epoch: u8,
    pub(crate) from_seq: u8,
    pub(crate) to_seq: u8,
    pub(crate) solo: bool,
    /// Its attempts are used up: the head is buried instead of run.
    pub(crate) buries: bool,
    /// 0 unless the settle is broken such that it looks at it.
    pub(crate) seen_next: u8,
    pub(crate) standing: Standing,
}

impl Loan {
    /// The end of this loan, as its worker asks for it.
    pub(crate) fn settlement(&self, done_seq: u8, outcome: Outcome) -> Settlement {
        Settlement {
            epoch: self.epoch,
            from_seq: self.from_seq,
            done_seq,
            outcome,
            seen_next: self.seen_next,
        }
    }
}

/// A process. One that died is at once started again, with nothing in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Worker {
    /// By chat.
    pub(crate) loans: [Option<Loan>; CHATS],
    /// Events in the snapshot of a claim that is broken such that it has only one; by chat, 0 where it was not ready.
    pub(crate) snapshot: [u8; CHATS],
}

/// Everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    pub(crate) chats: [Chat; CHATS],
    pub(crate) workers: [Worker; WORKERS],
    /// Misfortunes that may still happen.
    pub(crate) misfortunes: u8,
    /// Processes that an event has killed.
    pub(crate) killed: u8,
}

impl State {
    /// The loans of a chat.
    pub(crate) fn loans(&self, chat: usize) -> impl Iterator<Item = &Loan> {
        self.workers.iter().filter_map(move |worker| worker.loans[chat].as_ref())
    }

    pub(crate) fn loans_mut(&mut self, chat: usize) -> impl Iterator<Item = &mut Loan> {
        self.workers.iter_mut().filter_map(move |worker| worker.loans[chat].as_mut())
    }

    pub(crate) fn all_done(&self) -> bool {
        self.chats.iter().all(|chat| chat.truth.to_come == 0 && !chat.row.pending())
            && self.workers.iter().all(|worker| worker.loans == [None; CHATS])
    }

    /// Of a loan whose epoch is past nothing matters but that it is there: epochs only rise, so it will be refused
    /// whatever it says. One that must run alone also keeps its worker from others.
    pub(crate) fn forget_refused(&mut self) {
        for chat in 0..CHATS {
            let epoch = self.chats[chat].row.epoch;
            for loan in self.loans_mut(chat).filter(|loan| loan.epoch != epoch && !loan.solo) {
                (loan.phase, loan.epoch) = (Phase::Unsure(0, Outcome::Done), 0);
                (loan.from_seq, loan.to_seq, loan.buries) = (0, 0, false);
            }
        }
    }

    /// One state for all that differ only in names: workers are alike, so are chats where `chats_alike`, and epochs are
    /// only ever compared with one another, so that their rank says everything. A counterexample therefore may swap the
    /// names from one step to the next.
    pub(crate) fn canonical(mut self, chats_alike: bool) -> Self {
        for chat in 0..CHATS {
            self.rank_epochs(chat);
        }
        let mut least = self;
        for swap_chats in [false, true] {
            if swap_chats {
                if !chats_alike {
                    break;
                }
                self.chats.swap(0, 1);
                for worker in &mut self.workers {
                    worker.loans.swap(0, 1);
                    worker.snapshot.swap(0, 1);
                }
                least = least.min(self);
            }
            let mut mirrored = self;
            mirrored.workers.swap(0, 1);
            least = least.min(mirrored);
        }
        least
    }

    fn rank_epochs(&mut self, chat: usize) {
        let of_loan = |worker: usize| self.workers[worker].loans[chat].map(|loan| loan.epoch);
        let epochs = [Some(self.chats[chat].row.epoch), of_loan(0), of_loan(1)];
        // Two equal ones may both count: only the order and equality of ranks is looked at.
        let rank = |epoch: u8| epochs.iter().flatten().map(|other| u8::from(*other < epoch)).sum();
        self.chats[chat].row.epoch = rank(self.chats[chat].row.epoch);
        for loan in self.loans_mut(chat) {
            loan.epoch = rank(loan.epoch);
        }
    }
}
