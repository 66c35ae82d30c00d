//! The outbox: reports claimed as rows, each with an epoch of its own.
//!
//! The one question is whether a record may exist on the other side. So an attempt is committed *before* its request
//! leaves and closed by its own id afterwards, whoever holds the lease by then. An attempt found open by a claim is
//! ambiguous by definition: that report goes to review and is never sent again by itself. Attempts are counted, but
//! never a fence: a defer gives one back, so the number repeats; the epoch does not.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{Error, Lease, secs};

/// A report on loan.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The report.
    pub report_id: Uuid,
    /// The token of this loan.
    pub epoch: i64,
    /// Attempts charged, this one included.
    pub attempts: i32,
    /// An earlier attempt was never closed: nobody knows whether it arrived.
    pub open_attempt: Option<Uuid>,
    /// Its reference, the partner's external code.
    pub reference: String,
    /// The language it was reported in.
    pub language: String,
    /// WGS 84, degrees north.
    pub latitude: f64,
    /// WGS 84, degrees east.
    pub longitude: f64,
    /// The address, where one is known.
    pub address: Option<String>,
    /// The taxonomy version that the route belongs to.
    pub taxonomy_version: Option<String>,
    /// The category, slash-joined.
    pub route: String,
    /// The citizen's note.
    pub note: Option<String>,
    /// The photo, if it has come.
    pub photo: Option<Photo>,
    /// When the citizen completed the form.
    pub received_at: DateTime<Utc>,
    /// `traceparent` of what made it.
    pub trace_context: Option<String>,
}

/// Photo bytes of a report.
#[derive(Clone)]
pub struct Photo {
    /// By content, not by name.
    pub content_type: String,
    /// The bytes, without metadata.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Photo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Photo({}, {} bytes)", self.content_type, self.bytes.len())
    }
}

/// Takes leases on reports that are due, and reads them. A report waits for its photo for `photo_wait` after it was
/// received.
///
/// # Errors
/// The database's. Leases that were taken are given back; where that fails too, they expire.
pub async fn claim(
    pool: &PgPool,
    channel: &str,
    owner: Uuid,
    limit: i64,
    lease: Lease,
    photo_wait: Duration,
) -> Result<Vec<Claimed>, Error> {
    let mut connection = pool.acquire().await?;
    let due = sqlx::query_file!(
        "src/store/claim_reports.sql",
        channel,
        owner,
        limit,
        secs(lease.length),
        secs(photo_wait)
    )
    .fetch_all(&mut *connection)
    .await?;
    if due.is_empty() {
        return Ok(Vec::new());
    }
    runtime::failpoint!("push.leased");
    let rows = sqlx::query_file!(
        "src/store/read_reports.sql",
        &due.iter().map(|loan| loan.id).collect::<Vec<_>>(),
        &due.iter().map(|loan| loan.epoch).collect::<Vec<_>>(),
    )
    .fetch_all(&mut *connection)
    .await;
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) => {
            for loan in due {
                let unused = Outcome::Defer(Duration::ZERO);
                if let Err(error) = settle(&mut connection, loan.id, loan.epoch, &unused, None).await {
                    tracing::debug!(%error, "a lease that was not used could not be given back");
                }
            }
            return Err(error.into());
        }
    };
    runtime::failpoint!("push.read");
    Ok(rows
        .into_iter()
        .map(|row| Claimed {
            report_id: row.report_id,
            epoch: row.epoch,
            attempts: row.attempts,
            open_attempt: row.open_attempt,
            reference: row.reference,
            language: row.language,
            latitude: row.latitude,
            longitude: row.longitude,
            address: row.address,
            taxonomy_version: row.taxonomy_version,
            route: row.route,
            note: row.note,
            photo: match (row.photo_type, row.photo_bytes) {
                (Some(content_type), Some(bytes)) => Some(Photo { content_type, bytes }),
                _ => None,
            },
            received_at: row.received_at,
            trace_context: row.trace_context,
        })
        .collect())
}

/// What an attempt will send, kept before it is sent.
#[derive(Debug, Clone)]
pub struct NewAttempt<'a> {
    /// The attempt's id.
    pub id: Uuid,
    /// Where the request goes, without credentials.
    pub endpoint: &'a str,
    /// SHA-256 of the body.
    pub body_sha256: &'a [u8],
    /// The trace it belongs to.
    pub trace_id: Option<&'a str>,
}

/// Commits "about to send". True: the request may leave. False: it may not — the lease is lost or ends within
/// `needed`, or an attempt of somebody else is open.
///
/// # Errors
/// The database's: then the request may not leave either.
pub async fn open_attempt(
    pool: &PgPool,
    claimed: &Claimed,
    attempt: &NewAttempt<'_>,
    needed: Duration,
) -> Result<bool, Error> {
    let opened = sqlx::query_file!(
        "src/store/open_attempt.sql",
        attempt.id,
        claimed.report_id,
        claimed.epoch,
        secs(needed),
        attempt.endpoint,
        attempt.body_sha256,
        attempt.trace_id,
    )
    .execute(pool)
    .await?;
    runtime::failpoint!("push.attempted");
    Ok(opened.rows_affected() == 1)
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

/// Closes an attempt by its own id. Never fenced: call it also when [`settle`] was. In the transaction of the settle and
/// after it: reports are locked before attempts.
///
/// # Errors
/// The database's.
pub async fn close_attempt(
    tx: &mut PgConnection,
    attempt_id: Uuid,
    evidence: &Evidence,
) -> Result<(), Error> {
    runtime::failpoint!("push.answered");
    sqlx::query_file!(
        "src/store/close_attempt.sql",
        attempt_id,
        evidence.outcome,
        evidence.http_status,
        evidence.partner_id,
        evidence.seen
    )
    .execute(tx)
    .await?;
    runtime::failpoint!("push.closed");
    Ok(())
}

/// What becomes of a push.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The record exists on the other side.
    Sent {
        /// Its id there, where it could be read.
        partner_id: Option<String>,
    },
    /// Certainly nothing was made: again after a while.
    Retry(Duration),
    /// It cannot go now, through no fault of its own: its attempt is given back.
    Defer(Duration),
    /// A record may exist: a person decides.
    Review,
    /// Refused for good, or out of attempts.
    Dead,
}

impl Outcome {
    /// The word that metrics and timelines use.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "sent",
            Self::Retry(_) => "retry",
            Self::Defer(_) => "defer",
            Self::Review => "review",
            Self::Dead => "dead",
        }
    }
}

/// Ends the loan of a report.
///
/// Fenced by the epoch, with one exception: proof that the record exists also turns a report sent that another worker
/// has claimed since, or has parked in review because it found this attempt open.
///
/// # Errors
/// [`Error::Fenced`] when the report is in other hands and nothing was written.
pub async fn settle(
    tx: &mut PgConnection,
    report_id: Uuid,
    epoch: i64,
    outcome: &Outcome,
    error: Option<&str>,
) -> Result<(), Error> {
    let (state, delay, partner_id, refund) = match outcome {
        Outcome::Sent { partner_id } => ("sent", Duration::ZERO, partner_id.as_deref(), 0),
        Outcome::Retry(delay) => ("pending", *delay, None, 0),
        Outcome::Defer(delay) => ("pending", *delay, None, 1),
        Outcome::Review => ("review", Duration::ZERO, None, 0),
        Outcome::Dead => ("dead", Duration::ZERO, None, 0),
    };
    let settled = sqlx::query_file!(
        "src/store/settle_report.sql",
        report_id,
        epoch,
        state,
        secs(delay),
        partner_id,
        refund,
        error
    )
    .execute(tx)
    .await?;
    runtime::failpoint!("push.settled");
    if settled.rows_affected() == 1 { Ok(()) } else { Err(Error::Fenced) }
}

/// Prolongs the loan of a report. False: it is lost.
///
/// # Errors
/// The database's; the loan may then still be good until it expires.
pub async fn renew(pool: &PgPool, report_id: Uuid, epoch: i64, lease: Lease) -> Result<bool, Error> {
    let renewed = sqlx::query_file!("src/store/renew_report.sql", report_id, epoch, secs(lease.length))
        .execute(pool)
        .await?;
    Ok(renewed.rows_affected() == 1)
}
