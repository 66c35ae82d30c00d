//! The rules that hold the protocol together, each of which a test can take away.

/// A rule of the protocol, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `settle_chat.sql`: `where … c.epoch = $2`.
    SettleFencedByEpoch,
    /// `settle_chat.sql`: `where … c.done_seq = $3`.
    SettleFencedByWatermark,
    /// `settle_chat.sql`: `owner = null, epoch = c.epoch + 1`.
    SettleEndsLease,
    /// `settle_chat.sql`: `c.next_seq - 1 <= $4` reads the row that it has locked, not what the claim saw.
    SettleReadsLockedRow,
    /// `settle_chat.sql`: `head_attempts - 1` on a release with nothing done.
    ReleaseRefunds,
    /// `settle_chat.sql`: `head_attempts - 1` on a defer with nothing done.
    DeferRefunds,
    /// `bus::mailbox::settle` is first in the transaction of the work, and `Fenced` rolls the rest back.
    FenceBeforeEffects,
    /// `claim_chats.sql`: `epoch = c.epoch + 1`.
    ClaimRaisesEpoch,
    /// `bus::mailbox::claim` reads the events in a statement of its own, after the leases.
    ClaimReadsInNewSnapshot,
    /// `claim_chats.sql`: `(lost + (owner is not null)::int >= 2) = $6`; `conversation`'s `work_solo`.
    LostTwiceRunsAlone,
    /// `conversation`'s `Plan::add`: `attempts > MAX_ATTEMPTS` is buried instead of run.
    SixthClaimBuries,
    /// `inbound.append_v1`: `coalesce(c.ready_at, excluded.ready_at)`.
    AppendWakesOnlyTheIdle,
    /// `inbound.append_v1`, step 1: `inbound.dedup`.
    AppendDropsCopies,
}

/// The protocol without some of its rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) broken: &'static [Rule],
}

impl Rules {
    pub(crate) fn hold(&self, rule: Rule) -> bool {
        !self.broken.contains(&rule)
    }
}
