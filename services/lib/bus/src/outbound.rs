//! Replies: the outgoing mailbox of a chat.
//!
//! A reply is a row, numbered under the sender row's lock in the transaction that caused it, and sent in that order. It
//! may be sent twice, when the provider's answer was lost; it never vanishes before its window closes. What a provider
//! answered is evidence and is recorded whoever holds the lease by then.

use std::time::Duration;

pub mod pace;
pub mod pause;
mod repair;

pub use repair::repair;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use crate::mailbox::Outcome;
use crate::{Error, Lease, secs};

/// A reply to send.
#[derive(Debug, Clone)]
pub struct NewOutbound {
    /// Our id; it travels to the provider and comes back in receipts.
    pub id: Uuid,
    /// What to send, as the sender reads it.
    pub payload: serde_json::Value,
    /// The token of the prompt, if an answer is expected.
    pub prompt: Option<Uuid>,
    /// The report it speaks of.
    pub report_id: Option<Uuid>,
}

/// A reply of a claimed chat.
#[derive(Debug, Clone)]
pub struct Outbound {
    /// Our id.
    pub id: Uuid,
    /// Its place among the replies of the chat.
    pub seq: i64,
    /// What to send.
    pub payload: serde_json::Value,
    /// The token of the prompt.
    pub prompt: Option<Uuid>,
    /// The report it speaks of.
    pub report_id: Option<Uuid>,
    /// When its window closes.
    pub expires_at: DateTime<Utc>,
    /// Already sent or dropped, by a worker that could not settle.
    pub finished: bool,
    /// `traceparent` of the work that caused it.
    pub trace_context: Option<String>,
}

/// A chat's outgoing mailbox on loan.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The chat.
    pub chat_id: Uuid,
    /// The token of this loan.
    pub epoch: i64,
    /// Attempts charged to the first reply.
    pub attempts: i16,
    /// Its last holder let the lease run out.
    pub expired: bool,
    /// Why the first reply was put off last time, in the words of that settle.
    pub head_error: Option<String>,
    /// The watermark as claimed.
    pub from_seq: i64,
    /// The next replies in order.
    pub outbounds: Vec<Outbound>,
}

/// Adds replies to a chat, in order. In the transaction that settles what caused them, after the chat's lock.
///
/// # Errors
/// The database's.
pub async fn enqueue(
    tx: &mut PgConnection,
    channel: &str,
    chat_id: Uuid,
    expires_at: DateTime<Utc>,
    trace_context: Option<&str>,
    outbounds: &[NewOutbound],
) -> Result<(), Error> {
    if outbounds.is_empty() {
        return Ok(());
    }
    let count = i64::try_from(outbounds.len()).unwrap_or(i64::MAX);
    let next: i64 = sqlx::query_file_scalar!("src/store/number_outbounds.sql", chat_id, channel, count)
        .fetch_one(&mut *tx)
        .await?;
    sqlx::query_file!(
        "src/store/insert_outbounds.sql",
        chat_id,
        channel,
        next - count,
        expires_at,
        trace_context,
        &outbounds.iter().map(|outbound| outbound.id).collect::<Vec<_>>(),
        &outbounds.iter().map(|outbound| outbound.payload.clone()).collect::<Vec<_>>(),
        &outbounds.iter().map(|outbound| outbound.prompt).collect::<Vec<_>>() as &[Option<Uuid>],
        &outbounds.iter().map(|outbound| outbound.report_id).collect::<Vec<_>>() as &[Option<Uuid>],
    )
    .execute(tx)
    .await?;
    runtime::failpoint!("settle.replied");
    Ok(())
}

/// Takes leases on chats with replies to send, oldest first, unless the channel is [paused](pause), and reads their next
/// replies: the two statements of [`mailbox::claim`](crate::mailbox::claim), for the same reason.
///
/// # Errors
/// The database's. Leases that were taken are given back; where that fails too, they expire.
pub async fn claim(
    pool: &PgPool,
    channel: &str,
    owner: Uuid,
    chats: i64,
    per_chat: i64,
    lease: Lease,
) -> Result<Vec<Claimed>, Error> {
    let mut connection = pool.acquire().await?;
    let mut senders =
        sqlx::query_file!("src/store/claim_senders.sql", channel, owner, chats, per_chat, secs(lease.length))
            .fetch_all(&mut *connection)
            .await?;
    if senders.is_empty() {
        return Ok(Vec::new());
    }
    runtime::failpoint!("send.leased");
    senders.sort_by_key(|sender| sender.ready_since);
    let rows = sqlx::query_file!(
        "src/store/read_outbounds.sql",
        &senders.iter().map(|sender| sender.chat_id).collect::<Vec<_>>(),
        &senders.iter().map(|sender| sender.from_seq).collect::<Vec<_>>(),
        &senders.iter().map(|sender| sender.to_seq).collect::<Vec<_>>(),
    )
    .fetch_all(&mut *connection)
    .await;
    let mut claimed: Vec<Claimed> = senders
        .into_iter()
        .map(|sender| Claimed {
            chat_id: sender.chat_id,
            epoch: sender.epoch,
            attempts: sender.attempts,
            expired: sender.expired,
            head_error: sender.head_error,
            from_seq: sender.from_seq,
            outbounds: Vec::new(),
        })
        .collect();
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            for unused in &claimed {
                let given = settle_on(&mut connection, unused, unused.from_seq, Outcome::Release, None).await;
                if let Err(error) = given {
                    tracing::debug!(%error, "a lease that was not used could not be given back");
                }
            }
            return Err(error.into());
        }
    };
    for row in rows {
        if let Some(chat) = claimed.iter_mut().find(|chat| chat.chat_id == row.chat_id) {
            chat.outbounds.push(Outbound {
                id: row.id,
                seq: row.seq,
                payload: row.payload,
                prompt: row.prompt,
                report_id: row.report_id,
                expires_at: row.expires_at,
                finished: row.finished,
                trace_context: row.trace_context,
            });
        }
    }
    runtime::failpoint!("send.read");
    Ok(claimed)
}

/// Evidence that a provider took a reply. Never fenced.
///
/// # Errors
/// The database's.
pub async fn record_sent(
    executor: impl PgExecutor<'_>,
    channel: &str,
    outbound_id: Uuid,
    provider_ids: &[String],
) -> Result<(), Error> {
    runtime::failpoint!("send.accepted");
    sqlx::query_file!("src/store/record_sent.sql", outbound_id, channel, provider_ids)
        .execute(executor)
        .await?;
    Ok(())
}

/// The provider's ids of a reply whose answer was lost, from the receipts that came for it. None: it is not known to
/// have arrived.
///
/// # Errors
/// The database's.
pub async fn receipts_of(pool: &PgPool, outbound_id: Uuid) -> Result<Vec<String>, Error> {
    Ok(sqlx::query_file_scalar!("src/store/find_receipts.sql", outbound_id).fetch_all(pool).await?)
}

/// Gives a reply up, with the reason. False: its end was known before.
///
/// # Errors
/// The database's.
pub async fn record_dropped(
    executor: impl PgExecutor<'_>,
    outbound_id: Uuid,
    reason: &str,
) -> Result<bool, Error> {
    let dropped =
        sqlx::query_file!("src/store/record_dropped.sql", outbound_id, reason).execute(executor).await?;
    Ok(dropped.rows_affected() == 1)
}

/// Adds one reply to a chat unless the same was added before: `outbound.id` is made from what causes it, so that it is
/// said once however often that happens. True: it was added now.
///
/// Takes the sender's lock, so it may run in a transaction that has none, or that has the chat's.
///
/// # Errors
/// The database's.
pub async fn enqueue_once(
    tx: &mut PgConnection,
    channel: &str,
    chat_id: Uuid,
    expires_at: DateTime<Utc>,
    trace_context: Option<&str>,
    outbound: NewOutbound,
) -> Result<bool, Error> {
    // The lock first, in a statement of its own and on a row that is there: of two who say the same, the second sees what
    // the first did, also where it is the first that the chat ever hears.
    sqlx::query!(
        "insert into chat.sender (id, channel) values ($1, $2) on conflict (id) do nothing",
        chat_id,
        channel
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!("select id from chat.sender where id = $1 for no key update", chat_id)
        .fetch_one(&mut *tx)
        .await?;
    let said = sqlx::query_scalar!(
        r#"select exists (select from chat.outbound where id = $1) as "said!""#,
        outbound.id
    )
    .fetch_one(&mut *tx)
    .await?;
    if said {
        return Ok(false);
    }
    enqueue(tx, channel, chat_id, expires_at, trace_context, &[outbound]).await?;
    Ok(true)
}

/// Ends the loan of an outgoing mailbox.
///
/// # Errors
/// [`Error::Fenced`] when somebody else has it.
pub async fn settle(
    pool: &PgPool,
    claimed: &Claimed,
    done_seq: i64,
    outcome: Outcome,
    error: Option<&str>,
) -> Result<(), Error> {
    let mut connection = pool.acquire().await?;
    settle_on(&mut connection, claimed, done_seq, outcome, error).await
}

async fn settle_on(
    connection: &mut PgConnection,
    claimed: &Claimed,
    done_seq: i64,
    outcome: Outcome,
    error: Option<&str>,
) -> Result<(), Error> {
    let delay = match outcome {
        Outcome::Retry(delay) | Outcome::Defer(delay) => delay,
        Outcome::Done | Outcome::Release => Duration::ZERO,
    };
    let settled = sqlx::query_file_scalar!(
        "src/store/settle_sender.sql",
        claimed.chat_id,
        claimed.epoch,
        claimed.from_seq,
        done_seq,
        outcome.name(),
        secs(delay),
        error,
    )
    .fetch_optional(connection)
    .await?;
    runtime::failpoint!("send.settled");
    settled.map(|_| ()).ok_or(Error::Fenced)
}

/// The prompt that a message of ours carried, found by any id that a provider knows it by.
///
/// # Errors
/// The database's.
pub async fn prompt_of(pool: &PgPool, channel: &str, provider_id: &str) -> Result<Option<Uuid>, Error> {
    Ok(sqlx::query_file_scalar!("src/store/find_prompt.sql", channel, provider_id)
        .fetch_optional(pool)
        .await?
        .flatten())
}
