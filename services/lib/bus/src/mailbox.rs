//! The mailbox of a chat: claim, renew, settle, bury.
//!
//! `ready_at` means *invisible until* and does every job: ready, leased, backing off, deferred. An expired lease comes
//! back through the same claim, counted as lost. A settle ends the lease whatever its outcome, and is conditional on
//! the epoch *and* the watermark as claimed, so that it can be repeated after a commit of unknown outcome and a stale
//! worker writes nothing.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use std::time::Duration;
use uuid::Uuid;

use crate::{Error, Lease, secs};

/// What to claim.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// Claims go channel by channel.
    pub channel: &'a str,
    /// Unique to this process start.
    pub owner: Uuid,
    /// At most so many chats.
    pub chats: i64,
    /// At most so many events of each; one where a lease was lost or the head failed before.
    pub events: i64,
    /// The lease.
    pub lease: Lease,
    /// Chats that lost two leases in a row, which must run alone in their process, or all others.
    pub solo: bool,
}

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

/// Takes leases on ready chats, oldest first, and reads their next events.
///
/// Two statements: events are read in a snapshot of their own, because the locked chat row may be newer than the
/// snapshot that found it. Both run on one connection, so that a busy pool cannot come between a lease and its work.
///
/// # Errors
/// The database's. Leases that were taken are given back; where that fails too, they expire.
pub async fn claim(pool: &PgPool, claim: &Claim<'_>) -> Result<Vec<Claimed>, Error> {
    let mut connection = pool.acquire().await?;
    let chats = sqlx::query_file!(
        "src/store/claim_chats.sql",
        claim.channel,
        claim.owner,
        claim.chats,
        claim.events,
        secs(claim.lease.length),
        claim.solo,
    )
    .fetch_all(&mut *connection)
    .await?;
    if chats.is_empty() {
        return Ok(Vec::new());
    }
    let events = sqlx::query_file!(
        "src/store/read_events.sql",
        &chats.iter().map(|chat| chat.chat_id).collect::<Vec<_>>(),
        &chats.iter().map(|chat| chat.from_seq).collect::<Vec<_>>(),
        &chats.iter().map(|chat| chat.to_seq).collect::<Vec<_>>(),
        // A chat with something pending has a time; without one every day is searched.
        &chats.iter().map(|chat| chat.oldest_at.unwrap_or(DateTime::UNIX_EPOCH)).collect::<Vec<_>>(),
    )
    .fetch_all(&mut *connection)
    .await;
    let mut claimed: Vec<Claimed> = chats
        .into_iter()
        .map(|chat| Claimed {
            chat_id: chat.chat_id,
            epoch: chat.epoch,
            attempts: chat.attempts,
            from_seq: chat.from_seq,
            ready_since: chat.ready_since,
            events: Vec::new(),
        })
        .collect();
    let events = match events {
        Ok(events) => events,
        Err(error) => {
            give_back(&mut connection, &claimed).await;
            return Err(error.into());
        }
    };
    claimed.sort_by_key(|chat| chat.ready_since);
    for row in events {
        if let Some(chat) = claimed.iter_mut().find(|chat| chat.chat_id == row.chat_id) {
            chat.events.push(Event {
                seq: row.seq,
                activity_id: row.activity_id,
                message_id: row.message_id,
                kind: row.kind,
                payload: row.payload,
                sent_at: row.sent_at,
                received_at: row.received_at,
                trace_context: row.trace_context,
            });
        }
    }
    Ok(claimed)
}

/// Ends loans that nobody will work on, uncharged. What cannot be given back expires.
async fn give_back(connection: &mut PgConnection, claimed: &[Claimed]) {
    for chat in claimed {
        let release = Settlement {
            chat_id: chat.chat_id,
            epoch: chat.epoch,
            from_seq: chat.from_seq,
            done_seq: chat.from_seq,
            outcome: Outcome::Release,
            error: None,
            last_received_at: None,
        };
        if let Err(error) = settle(connection, &release).await {
            tracing::debug!(%error, "a lease that was not used could not be given back");
        }
    }
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
    )
    .fetch_optional(tx)
    .await?;
    settled.map(|_| ()).ok_or(Error::Fenced)
}

/// Keeps a copy of an event that is given up. In the transaction of the settle that steps over it.
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
    sqlx::query_file!("src/store/bury_event.sql", chat_id, event.seq, event.received_at, attempts, error, by)
        .execute(tx)
        .await?;
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
