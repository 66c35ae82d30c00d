//! One row for each request: committed before it leaves, closed by its own id after the answer.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::Claimed;
use crate::{Error, secs};

/// What an attempt will send, kept before it is sent.
#[derive(Debug, Clone)]
pub struct NewAttempt<'a> {
    /// The attempt's id.
    pub id: Uuid,
    /// The process that sends, whose trial of the breaker it may be.
    pub owner: Uuid,
    /// Where the request goes, without credentials.
    pub endpoint: &'a str,
    /// SHA-256 of the body.
    pub body_sha256: &'a [u8],
    /// The trace it belongs to.
    pub trace_id: Option<&'a str>,
}

/// An attempt that is committed: its request may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// The partner has failed since it last answered, or is on trial: the breaker wants to hear of an answer.
    pub troubled: bool,
}

/// Commits "about to send". None: the request may not leave — the outbox is paused, the breaker is open or on another's
/// trial, the lease is lost or ends within `needed`, or an attempt of somebody else is open.
///
/// # Errors
/// The database's: then the request may not leave either.
pub async fn open_attempt(
    pool: &PgPool,
    claimed: &Claimed,
    attempt: &NewAttempt<'_>,
    needed: Duration,
) -> Result<Option<Opened>, Error> {
    let opened = sqlx::query_file!(
        "src/store/open_attempt.sql",
        attempt.id,
        claimed.report_id,
        claimed.epoch,
        secs(needed),
        attempt.endpoint,
        attempt.body_sha256,
        attempt.trace_id,
        attempt.owner
    )
    .fetch_optional(pool)
    .await?;
    runtime::failpoint!("push.attempted");
    Ok(opened.map(|row| Opened { troubled: row.troubled }))
}

/// How an attempt ended, as the client could prove it.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The class of the outcome, e.g. `accepted`, `ambiguous`.
    pub outcome: String,
    /// The status of the answer, if there was one.
    pub http_status: Option<i32>,
    /// The record's id on the other side.
    pub partner_id: Option<String>,
    /// What was seen, without personal data.
    pub seen: String,
}

/// Closes an attempt by its own id, where the report's loan goes on. Never fenced. In a transaction, after the report:
/// reports are locked before attempts.
///
/// # Errors
/// The database's.
pub async fn close_attempt(
    on: &mut PgConnection,
    attempt_id: Uuid,
    evidence: &Evidence,
) -> Result<(), Error> {
    sqlx::query_file!(
        "src/store/close_attempt.sql",
        attempt_id,
        evidence.outcome,
        evidence.http_status,
        evidence.partner_id,
        evidence.seen
    )
    .execute(on)
    .await?;
    Ok(())
}
