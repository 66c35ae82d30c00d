//! Taking leases on ready chats.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{Claimed, Event, MAX_DEFERS, Outcome, Settlement, settle};
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

/// Takes leases on ready chats, oldest first, and reads their next events.
///
/// Two statements: events are read in a snapshot of their own, after the leases, so that what is read does not depend on
/// how the first one found and locked its rows. Both run on one connection, so that a busy pool cannot come between a
/// lease and its work.
///
/// # Errors
/// The database's. Leases that were taken are given back; where that fails too, they expire.
pub async fn claim(pool: &PgPool, claim: &Claim<'_>) -> Result<Vec<Claimed>, Error> {
    claim_above(pool, claim, Floor::Bottom).await
}

/// From where the oldest ready chats are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Floor {
    /// From the very oldest.
    Bottom,
    /// Ready since this time or later.
    Since(DateTime<Utc>),
    /// Ready for so long at most.
    For(Duration),
}

pub(super) async fn claim_above(
    pool: &PgPool,
    claim: &Claim<'_>,
    floor: Floor,
) -> Result<Vec<Claimed>, Error> {
    let (since, ready_for) = match floor {
        Floor::Bottom => (None, None),
        Floor::Since(since) => (Some(since), None),
        Floor::For(ready_for) => (None, Some(secs(ready_for))),
    };
    let mut connection = pool.acquire().await?;
    let chats = sqlx::query_file!(
        "src/store/claim_chats.sql",
        claim.channel,
        claim.owner,
        claim.chats,
        claim.events,
        secs(claim.lease.length),
        claim.solo,
        since,
        ready_for,
    )
    .fetch_all(&mut *connection)
    .await?;
    if chats.is_empty() {
        return Ok(Vec::new());
    }
    runtime::failpoint!("claim.leased");
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
            defers: chat.defers,
            expired: chat.expired,
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
    for chat in claimed.iter().filter(|chat| chat.defers >= MAX_DEFERS) {
        tracing::error!(chat.id = %chat.chat_id, defers = chat.defers, "an event is deferred again and again");
    }
    let places: HashMap<Uuid, usize> =
        claimed.iter().enumerate().map(|(place, chat)| (chat.chat_id, place)).collect();
    for row in events {
        if let Some(&place) = places.get(&row.chat_id) {
            claimed[place].events.push(Event {
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
    runtime::failpoint!("claim.read");
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
