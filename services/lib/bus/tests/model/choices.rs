//! What can happen next.

use crate::protocol::{Action, Protocol};
use crate::row::{Outcome, ReadyAt};
use crate::rules::Rule;
use crate::state::{CHATS, Loan, Phase, State, Worker};

impl Protocol {
    /// Everything that can happen, affordable or not.
    pub(crate) fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        for (number, chat) in state.chats.iter().enumerate() {
            if chat.truth.to_come > 0 {
                actions.push(Action::Append(number));
            }
            if chat.events[0] != 0 {
                actions.push(Action::Copy(number));
            }
            if chat.row.ready_at == ReadyAt::Later {
                actions.push(Action::Due(number));
            }
        }
        for (number, worker) in state.workers.iter().enumerate() {
            self.possible_claims(state, number, worker, actions);
            for chat in 0..CHATS {
                if let Some(loan) = &worker.loans[chat] {
                    self.possible_ends(state, number, chat, loan, actions);
                }
            }
            if worker.loans.iter().all(Option::is_some) {
                actions.push(Action::Crash(number));
            }
        }
    }

    fn possible_claims(&self, state: &State, number: usize, worker: &Worker, actions: &mut Vec<Action>) {
        // `work_solo` claims nothing else until the chat that runs alone is settled.
        if worker.loans.iter().flatten().any(|loan| loan.solo) {
            return;
        }
        let one_snapshot = !self.rules.hold(Rule::ClaimReadsInNewSnapshot);
        let claiming = |loan: &Loan| matches!(loan.phase, Phase::Taken);
        if one_snapshot && !worker.loans.iter().flatten().any(claiming) {
            actions.push(Action::Look(number));
        }
        for (place, chat) in state.chats.iter().enumerate() {
            let found = !one_snapshot || worker.snapshot[place] > 0;
            if chat.row.ready_at == ReadyAt::Now && worker.loans[place].is_none() && found {
                actions.push(Action::Take(number, place));
            }
        }
    }

    fn possible_ends(
        &self,
        state: &State,
        number: usize,
        chat: usize,
        loan: &Loan,
        actions: &mut Vec<Action>,
    ) {
        let row = &state.chats[chat].row;
        let mut renewed = *row;
        if renewed.renew(loan.epoch) {
            actions.push(Action::Renew(number, chat));
        }
        // Who is refused anyway may say one thing or another, or nothing.
        let refused = !row.accepts(&loan.settlement(loan.from_seq, Outcome::Done), &self.rules);
        if !refused {
            actions.push(Action::Leave(number, chat));
        }
        let read_to = match loan.phase {
            Phase::Taken => {
                actions.push(Action::Read(number, chat));
                if !refused {
                    // The read failed and the loan is given back.
                    actions.push(Action::Settle(number, chat, loan.from_seq, Outcome::Release, true));
                }
                return;
            }
            Phase::Unsure(..) => return actions.push(Action::Repeat(number, chat)),
            Phase::Read(read_to) => read_to,
        };
        let beside = state.workers[number].loans.iter().flatten().count() > 1;
        if loan.solo && beside {
            return;
        }
        if self.kills(chat, loan, read_to) {
            return actions.push(Action::Die(number));
        }
        let done = if loan.buries { loan.from_seq + 1 } else { read_to };
        actions.push(Action::Settle(number, chat, done, Outcome::Done, true));
        if refused {
            return;
        }
        actions.push(Action::Settle(number, chat, done, Outcome::Done, false));
        for seq in loan.from_seq..done {
            for outcome in [Outcome::Retry, Outcome::Defer, Outcome::Release] {
                actions.push(Action::Settle(number, chat, seq, outcome, true));
                actions.push(Action::Settle(number, chat, seq, outcome, false));
            }
        }
    }

    fn kills(&self, chat: usize, loan: &Loan, read_to: u8) -> bool {
        let runs = |poison| poison > loan.from_seq && poison <= read_to;
        chat == 0 && !loan.buries && self.poison.is_some_and(runs)
    }
}
