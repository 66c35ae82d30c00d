//! The world of the model: its bounds, its steps, and why every run ends. What can happen is in `choices`, what comes of
//! it in `effects`.

use stateright::{Model, Property};

use crate::properties;
use crate::row::{Outcome, ReadyAt};
use crate::rules::Rules;
use crate::state::{CHATS, Chat, Phase, Standing, State, WORKERS, Worker};

/// A bounded world in which the protocol runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Protocol {
    /// Messages that each chat gets.
    pub(crate) messages: [u8; CHATS],
    /// Events handed out at most in one loan.
    pub(crate) batch: u8,
    /// Misfortunes in one run at most, of whatever kinds and whenever.
    pub(crate) misfortunes: u8,
    /// The place in the first chat of an event that kills every process that runs it.
    pub(crate) poison: Option<u8>,
    pub(crate) rules: Rules,
}

/// A step. Workers and chats by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The provider delivers the next message of a chat, and it is stored.
    Append(usize),
    /// The provider delivers the last message of a chat again.
    Copy(usize),
    /// The time in `ready_at` has come: a backoff or a lease is over.
    Due(usize),
    /// A claim that is broken takes the snapshot for both of its statements.
    Look(usize),
    /// The first statement of a claim takes a chat.
    Take(usize, usize),
    /// The second statement of a claim reads the chat's events.
    Read(usize, usize),
    /// A worker ends a loan at this watermark; false: the answer to its commit is lost.
    Settle(usize, usize, u8, Outcome, bool),
    /// A settle whose answer was lost is sent again.
    Repeat(usize, usize),
    /// A lease that is over, or a loan that is settled, is renewed by who still believes in it.
    Renew(usize, usize),
    /// A loan is left to its lease: the database was away for too long, or the process held nothing else and died.
    Leave(usize, usize),
    /// A process dies with all of its loans.
    Crash(usize),
    /// A process runs the event that kills it.
    Die(usize),
}

impl Protocol {
    /// Misfortunes are bounded; whatever else can happen, may happen for ever.
    pub(crate) fn is_misfortune(&self, state: &State, action: Action) -> bool {
        match action {
            Action::Copy(_) | Action::Leave(..) | Action::Crash(_) => true,
            // A live worker slept through its lease.
            Action::Due(chat) => state.loans(chat).any(|loan| loan.standing == Standing::Running),
            Action::Settle(.., Outcome::Retry | Outcome::Defer | Outcome::Release, _) => true,
            Action::Settle(.., Outcome::Done, answered) => !answered,
            Action::Append(_)
            | Action::Look(_)
            | Action::Take(..)
            | Action::Read(..)
            | Action::Repeat(..)
            | Action::Renew(..)
            | Action::Die(_) => false,
        }
    }

    /// What can still happen without a misfortune.
    pub(crate) fn goes_on(&self, state: &State) -> bool {
        let mut actions = Vec::new();
        self.possible(state, &mut actions);
        actions.into_iter().any(|action| !self.is_misfortune(state, action))
    }

    /// Falls with every step that is no misfortune, which is why every run ends once misfortunes do.
    fn way_to_go(&self, state: &State) -> i32 {
        let mut left = -100 * i32::from(state.killed);
        for (number, chat) in state.chats.iter().enumerate() {
            left += 10 * i32::from(self.messages[number] - chat.row.done_seq + chat.truth.to_come);
            left += match chat.row.ready_at {
                ReadyAt::Null => 0,
                ReadyAt::Now => 5,
                ReadyAt::Later if state.loans(number).any(|loan| loan.standing == Standing::Running) => 0,
                ReadyAt::Later => 6,
            };
            for loan in state.loans(number) {
                left += match loan.phase {
                    Phase::Taken => 3,
                    Phase::Read(_) => 2,
                    Phase::Unsure(..) => 1,
                };
            }
        }
        left
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let worker = Worker { loans: [None; CHATS], snapshot: [0; CHATS] };
        vec![State {
            chats: self.messages.map(Chat::new),
            workers: [worker; WORKERS],
            misfortunes: self.misfortunes,
            killed: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.possible(state, actions);
        if state.misfortunes == 0 {
            actions.retain(|action| !self.is_misfortune(state, *action));
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = *state;
        self.apply(&mut next, action);
        if self.is_misfortune(state, action) {
            next.misfortunes -= 1;
        } else if self.rules.broken.is_empty() {
            assert!(self.way_to_go(&next) < self.way_to_go(state), "{action:?} leads nowhere from {state:?}");
        }
        if self.poison.is_none() && self.rules.broken.is_empty() {
            next.forget_refused();
        }
        let next = next.canonical(self.poison.is_none() && self.messages[0] == self.messages[1]);
        // A misfortune without effect leads only to what can be reached without it.
        (State { misfortunes: state.misfortunes, ..next } != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = properties::promises();
        if self.rules.broken.is_empty() {
            properties.extend(properties::situations(self));
        }
        properties
    }
}
