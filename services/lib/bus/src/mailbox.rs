//! The mailbox of a chat: claim, renew, settle, bury, and the belt.
//!
//! `ready_at` means *invisible until* and does every job: ready, leased, backing off, deferred. An expired lease comes
//! back through the same claim, counted as lost. A settle ends the lease whatever its outcome, and is conditional on
//! the epoch *and* the watermark as claimed, so that it can be repeated after a commit of unknown outcome and a stale
//! worker writes nothing.

mod belt;
mod claim;
mod claimer;
mod settle_all;

pub use belt::{belt, repair};
pub use claim::{Claim, claim};
pub use claimer::Claimer;
pub use settle_all::settle_all;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use std::time::Duration;
use uuid::Uuid;

use crate::{Error, Lease, secs};

/// Defers of one event after which an alarm is raised at each claim, and it comes back more seldom.
pub const MAX_DEFERS: i32 = 600;

/// The least time until it comes back then.
const SELDOM: Duration = Duration::from_secs(60);

/// A chat on loan, with its next events.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The chat.
    pub chat_id: Uuid,
    /// The token of this loan.
    pub epoch: i64,
    /// Attempts charged to the first event, this one included.
    pub attempts: i16,
    /// The watermark as claimed: everything up to it is settled.
    pub from_seq: i64,
    /// How often its first event was deferred already.
    pub defers: i32,
    /// Its last holder let the lease run out.
    pub expired: bool,
    /// When the chat became ready.
    pub ready_since: DateTime<Utc>,
    /// Its next events in sequence. Empty only if a row is missing, which is corruption.
    pub events: Vec<Event>,
}

/// One event of a chat.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its place in the chat.
    pub seq: i64,
    /// Our id.
    pub activity_id: Uuid,
    /// The provider's id.
    pub message_id: String,
    /// The normalised kind.
    pub kind: String,
    /// The normalised message.
    pub payload: serde_json::Value,
    /// The provider's time.
    pub sent_at: Option<DateTime<Utc>>,
    /// When it was stored.
    pub received_at: DateTime<Utc>,
    /// `traceparent` of the delivery.
    pub trace_context: Option<String>,
}

/// How a loan ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything up to the new watermark is done.
    Done,
    /// The next event failed: it keeps its attempt and waits.
    Retry(Duration),
    /// The next event cannot run now, through no fault of its own: its attempt is given back.
    Defer(Duration),
    /// The worker stops: what was not begun is given back uncharged.
    Release,
}

impl Outcome {
    /// The word that metrics use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retry(_) => "retry",
            Self::Defer(_) => "defer",
            Self::Release => "release",
        }
    }

    fn delay(self) -> Duration {
        match self {
            Self::Retry(delay) | Self::Defer(delay) => delay,
            Self::Done | Self::Release => Duration::ZERO,
        }
    }
}

/// The end of a loan.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// The chat.
    pub chat_id: Uuid,
    /// The token of the loan.
    pub epoch: i64,
    /// The watermark as claimed.
    pub from_seq: i64,
    /// The new watermark.
    pub done_seq: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why the next event failed or waits.
    pub error: Option<String>,
    /// When the last settled event was stored.
    pub last_received_at: Option<DateTime<Utc>>,
}

/// Ends a loan. First in the transaction that also writes session, replies and reports: it takes the chat's row lock.
///
/// # Errors
/// [`Error::Fenced`] when somebody else has the chat, or had it since: then nothing else may be written either.
pub async fn settle(tx: &mut PgConnection, settlement: &Settlement) -> Result<(), Error> {
    let settled = sqlx::query_file_scalar!(
        "src/store/settle_chat.sql",
        settlement.chat_id,
        settlement.epoch,
        settlement.from_seq,
        settlement.done_seq,
        settlement.outcome.name(),
        secs(settlement.outcome.delay()),
        settlement.error,
        settlement.last_received_at,
        MAX_DEFERS,
        secs(SELDOM),
    )
    .fetch_optional(tx)
    .await?;
    runtime::failpoint!("settle.written");
    settled.map(|_| ()).ok_or(Error::Fenced)
}

/// Keeps a copy of an event that is given up. In the transaction of the settle that steps over it, after it.
///
/// Where the channel holds on dead ([`crate::operate::dead::hold_on_dead`]) its chat stops here, with an alarm, until a
/// person replays or discards it.
///
/// # Errors
/// The database's.
pub async fn bury(
    tx: &mut PgConnection,
    chat_id: Uuid,
    event: &Event,
    attempts: i16,
    error: &str,
    by: &str,
) -> Result<(), Error> {
    let held = sqlx::query_file_scalar!(
        "src/store/bury_event.sql",
        chat_id,
        event.seq,
        event.received_at,
        attempts,
        error,
        by
    )
    .fetch_optional(tx)
    .await?;
    if held == Some(true) {
        tracing::error!(event.id = %event.activity_id, "a dead event holds its chat until a person deals with it");
    }
    Ok(())
}

/// Prolongs loans and says which of them still stand. A loan that is not among them is lost: its work must stop.
///
/// # Errors
/// The database's; the loans may then still be good until they expire.
pub async fn renew(
    pool: &PgPool,
    owner: Uuid,
    loans: &[(Uuid, i64)],
    lease: Lease,
) -> Result<Vec<Uuid>, Error> {
    let (chats, epochs): (Vec<Uuid>, Vec<i64>) = loans.iter().copied().unzip();
    Ok(sqlx::query_file_scalar!("src/store/renew_chats.sql", owner, &chats, &epochs, secs(lease.length))
        .fetch_all(pool)
        .await?)
}
