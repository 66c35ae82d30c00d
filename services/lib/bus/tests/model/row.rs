//! The mailbox row of a chat (`chat.chat`) and the statements that change it, column by column as in their SQL.
//!
//! Each function is one statement under the row's lock. Under READ COMMITTED an update sees the newest version of the
//! row that it locks, so a statement that reads only that row is one step here.

use crate::rules::{Rule, Rules};

/// `ready_at`, of which only its side of the clock matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ReadyAt {
    Null,
    /// Past: to be claimed.
    Now,
    /// In the future: leased, backing off or deferred.
    Later,
}

/// How a loan ends (`bus::mailbox::Outcome`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Outcome {
    Done,
    Retry,
    Defer,
    Release,
}

impl Outcome {
    pub(crate) fn waits(self) -> bool {
        match self {
            Self::Retry | Self::Defer => true,
            Self::Done | Self::Release => false,
        }
    }
}

/// What a settle is told (`bus::mailbox::Settlement`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settlement {
    pub(crate) epoch: u8,
    pub(crate) from_seq: u8,
    pub(crate) done_seq: u8,
    pub(crate) outcome: Outcome,
    /// `next_seq` as the claim saw it. Only a broken settle looks at it.
    pub(crate) seen_next: u8,
}

/// What a claim returns of a chat (`claim_chats.sql`, returning).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lent {
    pub(crate) epoch: u8,
    pub(crate) attempts: i8,
    pub(crate) from_seq: u8,
    pub(crate) to_seq: u8,
}

/// A row of `chat.chat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row {
    pub(crate) next_seq: u8,
    pub(crate) done_seq: u8,
    pub(crate) lent_to: u8,
    pub(crate) ready_at: ReadyAt,
    /// `owner is not null`.
    pub(crate) owned: bool,
    pub(crate) epoch: u8,
    pub(crate) head_attempts: i8,
    pub(crate) lost: u8,
}

impl Row {
    pub(crate) const NEW: Self = Self {
        next_seq: 1,
        done_seq: 0,
        lent_to: 0,
        ready_at: ReadyAt::Null,
        owned: false,
        epoch: 0,
        head_attempts: 0,
        lost: 0,
    };

    pub(crate) fn pending(&self) -> bool {
        self.next_seq - 1 > self.done_seq
    }

    /// `inbound.append_v1`, step 3: numbers one event and returns its place.
    pub(crate) fn append(&mut self, rules: &Rules) -> u8 {
        self.next_seq += 1;
        if self.ready_at == ReadyAt::Null || !rules.hold(Rule::AppendWakesOnlyTheIdle) {
            self.ready_at = ReadyAt::Now;
        }
        self.next_seq - 1
    }

    /// The `where` of `claim_chats.sql`: `lost + (owner is not null)::int >= 2`.
    pub(crate) fn is_solo(&self, rules: &Rules) -> bool {
        rules.hold(Rule::LostTwiceRunsAlone) && self.lost + u8::from(self.owned) >= 2
    }

    /// `claim_chats.sql`, on a chat that it picked.
    pub(crate) fn claim(&mut self, batch: u8, rules: &Rules) -> Lent {
        let alone = self.lost > 0 || self.owned || self.head_attempts > 0;
        let to_seq = (self.next_seq - 1).min(self.done_seq + if alone { 1 } else { batch });
        self.ready_at = ReadyAt::Later;
        if rules.hold(Rule::ClaimRaisesEpoch) {
            self.epoch += 1;
        }
        self.head_attempts += 1;
        self.lost += u8::from(self.owned);
        self.owned = true;
        self.lent_to = self.lent_to.max(to_seq);
        Lent { epoch: self.epoch, attempts: self.head_attempts, from_seq: self.done_seq, to_seq }
    }

    /// `renew_chats.sql`. True where it changed the row.
    pub(crate) fn renew(&mut self, epoch: u8) -> bool {
        let ours = self.epoch == epoch && self.owned && self.ready_at != ReadyAt::Later;
        if ours {
            self.ready_at = ReadyAt::Later;
        }
        ours
    }

    /// The `where` of `settle_chat.sql`.
    pub(crate) fn accepts(&self, end: &Settlement, rules: &Rules) -> bool {
        (self.epoch == end.epoch || !rules.hold(Rule::SettleFencedByEpoch))
            && (self.done_seq == end.from_seq || !rules.hold(Rule::SettleFencedByWatermark))
    }

    /// `settle_chat.sql`. False: fenced, nothing is changed.
    pub(crate) fn settle(&mut self, end: &Settlement, rules: &Rules) -> bool {
        if !self.accepts(end, rules) {
            return false;
        }
        let nothing_done = end.done_seq == end.from_seq;
        let next_seq = if rules.hold(Rule::SettleReadsLockedRow) { self.next_seq } else { end.seen_next };
        self.done_seq = end.done_seq;
        if rules.hold(Rule::SettleEndsLease) {
            self.owned = false;
            self.epoch += 1;
        }
        self.ready_at = if next_seq - 1 <= end.done_seq {
            ReadyAt::Null
        } else if end.outcome.waits() {
            ReadyAt::Later
        } else {
            ReadyAt::Now
        };
        self.head_attempts = match end.outcome {
            Outcome::Retry if nothing_done => self.head_attempts,
            Outcome::Retry => 1,
            Outcome::Release if nothing_done && !rules.hold(Rule::ReleaseRefunds) => self.head_attempts,
            Outcome::Defer if nothing_done && !rules.hold(Rule::DeferRefunds) => self.head_attempts,
            Outcome::Defer | Outcome::Release if nothing_done => self.head_attempts - 1,
            Outcome::Defer | Outcome::Release | Outcome::Done => 0,
        };
        if end.done_seq >= self.lent_to || nothing_done && end.outcome.waits() {
            self.lost = 0;
        }
        true
    }
}
