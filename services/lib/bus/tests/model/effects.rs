//! What comes of a step.

use bus::MAX_ATTEMPTS;

use crate::protocol::{Action, Protocol};
use crate::row::{Outcome, ReadyAt};
use crate::rules::Rule;
use crate::state::{CHATS, Chat, Loan, Phase, Standing, State};

impl Protocol {
    pub(crate) fn apply(&self, state: &mut State, action: Action) {
        match action {
            Action::Append(chat) => self.append(&mut state.chats[chat]),
            Action::Copy(chat) => {
                if !self.rules.hold(Rule::AppendDropsCopies) {
                    let chat = &mut state.chats[chat];
                    let message = chat.events[usize::from(chat.row.next_seq) - 2];
                    let seq = chat.row.append(&self.rules);
                    chat.events[usize::from(seq) - 1] = message;
                }
            }
            Action::Due(chat) => {
                state.chats[chat].row.ready_at = ReadyAt::Now;
                state.chats[chat].truth.promised = false;
                for loan in state.loans_mut(chat).filter(|loan| loan.standing == Standing::Running) {
                    loan.standing = Standing::Lapsed;
                }
            }
            Action::Look(worker) => {
                for (chat, seen) in state.chats.iter().zip(&mut state.workers[worker].snapshot) {
                    *seen = if chat.row.ready_at == ReadyAt::Now { chat.stored() } else { 0 };
                }
            }
            Action::Take(worker, chat) => self.take(state, worker, chat),
            Action::Read(worker, chat) => {
                let newest = state.chats[chat].stored();
                let worker = &mut state.workers[worker];
                let visible = if self.rules.hold(Rule::ClaimReadsInNewSnapshot) {
                    newest
                } else {
                    worker.snapshot[chat]
                };
                worker.snapshot[chat] = 0;
                if let Some(loan) = &mut worker.loans[chat] {
                    loan.phase = Phase::Read(loan.to_seq.min(visible));
                }
            }
            Action::Settle(worker, chat, done, outcome, answered) => {
                self.settle(state, worker, chat, done, outcome, answered);
            }
            Action::Repeat(worker, chat) => {
                if let Some(Phase::Unsure(done, outcome)) =
                    state.workers[worker].loans[chat].map(|loan| loan.phase)
                {
                    self.settle(state, worker, chat, done, outcome, true);
                }
            }
            Action::Renew(worker, chat) => {
                if let Some(loan) = &mut state.workers[worker].loans[chat] {
                    state.chats[chat].row.renew(loan.epoch);
                    if loan.standing != Standing::Over {
                        loan.standing = Standing::Running;
                        state.chats[chat].truth.promised = true;
                    }
                }
            }
            Action::Leave(worker, chat) => state.workers[worker].loans[chat] = None,
            Action::Crash(worker) => state.workers[worker].loans = [None; CHATS],
            Action::Die(worker) => {
                state.workers[worker].loans = [None; CHATS];
                state.killed += 1;
            }
        }
    }

    /// `inbound.append_v1`, whose locks make it one step.
    fn append(&self, chat: &mut Chat) {
        chat.truth.to_come -= 1;
        let message = chat.events.iter().max().map_or(1, |last| last + 1);
        let seq = chat.row.append(&self.rules);
        chat.events[usize::from(seq) - 1] = message;
    }

    /// `claim_chats.sql` for one chat. That it may take several at once is one order of such steps.
    fn take(&self, state: &mut State, worker: usize, chat: usize) {
        for loan in state.loans_mut(chat).filter(|loan| loan.standing == Standing::Lapsed) {
            loan.standing = Standing::Over;
        }
        let Chat { row, truth, .. } = &mut state.chats[chat];
        truth.charged += i8::from(truth.held);
        truth.held = true;
        truth.promised = true;
        let solo = row.is_solo(&self.rules);
        let lent = row.claim(self.batch, &self.rules);
        state.workers[worker].loans[chat] = Some(Loan {
            phase: Phase::Taken,
            epoch: lent.epoch,
            from_seq: lent.from_seq,
            to_seq: lent.to_seq,
            solo,
            buries: i32::from(lent.attempts) > MAX_ATTEMPTS && self.rules.hold(Rule::SixthClaimBuries),
            seen_next: if self.rules.hold(Rule::SettleReadsLockedRow) { 0 } else { row.next_seq },
            standing: Standing::Running,
        });
    }

    /// The transaction of a loan's end: `settle_chat.sql`, then session, replies and reports.
    fn settle(
        &self,
        state: &mut State,
        worker: usize,
        chat: usize,
        done: u8,
        outcome: Outcome,
        answered: bool,
    ) {
        let Some(mut loan) = state.workers[worker].loans[chat] else { return };
        let Chat { row, truth, .. } = &mut state.chats[chat];
        let settled = row.settle(&loan.settlement(done, outcome), &self.rules);
        let rightful = loan.standing != Standing::Over;
        if settled {
            let nothing_done = done == loan.from_seq;
            truth.held &= !rightful;
            truth.promised = row.ready_at == ReadyAt::Later;
            truth.charged =
                if nothing_done { truth.charged } else { 0 } + i8::from(outcome == Outcome::Retry);
        }
        if settled || !self.rules.hold(Rule::FenceBeforeEffects) {
            for seq in loan.from_seq + 1..=done {
                state.chats[chat].write(seq, rightful);
            }
        }
        loan.phase = Phase::Unsure(done, outcome);
        if settled {
            loan.standing = Standing::Over;
        }
        state.workers[worker].loans[chat] = if answered { None } else { Some(loan) };
    }
}
