//! Photos still to be fetched: rows with an epoch of their own, tried for days, without a cap on attempts.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{Error, Lease, secs};

/// A photo to fetch.
#[derive(Debug, Clone)]
pub struct NewFetch<'a> {
    /// The report it belongs to.
    pub report_id: Uuid,
    /// The channel that has it.
    pub channel: &'a str,
    /// The provider's media id.
    pub media_id: &'a str,
    /// SHA-256 as the provider gave it, base64 or hex.
    pub sha256: Option<&'a str>,
    /// When the provider no longer has it.
    pub give_up_at: DateTime<Utc>,
    /// `traceparent` of the completion.
    pub trace_context: Option<&'a str>,
}

/// A fetch on loan.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The report.
    pub report_id: Uuid,
    /// The token of this loan.
    pub epoch: i64,
    /// Attempts so far, this one included.
    pub attempts: i32,
    /// The provider's media id.
    pub media_id: String,
    /// SHA-256 as the provider gave it.
    pub sha256: Option<String>,
    /// When the provider no longer has it.
    pub give_up_at: DateTime<Utc>,
    /// `traceparent` of the completion.
    pub trace_context: Option<String>,
}

/// Adds a photo to fetch. In the transaction that receives the report.
///
/// # Errors
/// The database's.
pub async fn enqueue(tx: &mut PgConnection, fetch: &NewFetch<'_>) -> Result<(), Error> {
    sqlx::query_file!(
        "src/store/insert_photo_fetch.sql",
        fetch.report_id,
        fetch.channel,
        fetch.media_id,
        fetch.sha256,
        fetch.give_up_at,
        fetch.trace_context
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Takes leases on photos that are due.
///
/// # Errors
/// The database's.
pub async fn claim(
    pool: &PgPool,
    channel: &str,
    owner: Uuid,
    limit: i64,
    lease: Lease,
) -> Result<Vec<Claimed>, Error> {
    let claimed = sqlx::query_file_as!(
        Claimed,
        "src/store/claim_photo_fetches.sql",
        channel,
        owner,
        limit,
        secs(lease.length)
    )
    .fetch_all(pool)
    .await?;
    if !claimed.is_empty() {
        runtime::failpoint!("photo.leased");
    }
    Ok(claimed)
}

/// Stores the bytes once per content, gives them to the report and removes the fetch.
///
/// # Errors
/// [`Error::Fenced`] when the fetch is in other hands.
pub async fn store(
    tx: &mut PgConnection,
    claimed: &Claimed,
    sha256: &[u8],
    content_type: &str,
    bytes: &[u8],
) -> Result<(), Error> {
    runtime::failpoint!("photo.fetched");
    let stored = sqlx::query_file!(
        "src/store/store_photo.sql",
        claimed.report_id,
        claimed.epoch,
        sha256,
        content_type,
        bytes
    )
    .execute(tx)
    .await?;
    runtime::failpoint!("photo.stored");
    if stored.rows_affected() == 1 { Ok(()) } else { Err(Error::Fenced) }
}

/// Puts a fetch back, to be tried again after `delay`.
///
/// # Errors
/// [`Error::Fenced`] when it is in other hands.
pub async fn retry(pool: &PgPool, claimed: &Claimed, delay: Duration, error: &str) -> Result<(), Error> {
    let put = sqlx::query_file!(
        "src/store/retry_photo_fetch.sql",
        claimed.report_id,
        claimed.epoch,
        secs(delay),
        error
    )
    .execute(pool)
    .await?;
    if put.rows_affected() == 1 { Ok(()) } else { Err(Error::Fenced) }
}

/// Gives a fetch up: the photo cannot be had. The row stays, with its reason. `asked_until`: the citizen was asked for
/// a new photo and may send it until then.
///
/// # Errors
/// [`Error::Fenced`] when it is in other hands.
pub async fn fail(
    tx: &mut PgConnection,
    claimed: &Claimed,
    error: &str,
    asked_until: Option<DateTime<Utc>>,
) -> Result<(), Error> {
    let failed = sqlx::query_file!(
        "src/store/fail_photo_fetch.sql",
        claimed.report_id,
        claimed.epoch,
        error,
        asked_until
    )
    .execute(tx)
    .await?;
    if failed.rows_affected() == 1 { Ok(()) } else { Err(Error::Fenced) }
}

/// The report of a chat that waits for a new photo, if one does.
///
/// # Errors
/// The database's.
pub async fn awaited(pool: &PgPool, chat_id: Uuid) -> Result<Option<Uuid>, Error> {
    Ok(sqlx::query_file_scalar!("src/store/find_awaited_photo.sql", chat_id).fetch_optional(pool).await?)
}

/// Puts a new photo in the place of one that could not be had. False: none is awaited.
///
/// # Errors
/// The database's.
pub async fn replace(tx: &mut PgConnection, fetch: &NewFetch<'_>) -> Result<bool, Error> {
    let replaced = sqlx::query_file!(
        "src/store/replace_photo_fetch.sql",
        fetch.report_id,
        fetch.media_id,
        fetch.sha256,
        fetch.give_up_at,
        fetch.trace_context
    )
    .execute(tx)
    .await?;
    Ok(replaced.rows_affected() == 1)
}
