//! Taking reports that are due, with all that a push needs of them.
//!
//! One statement takes the lease and reads: there is no lease whose report could not be read. What it reads is as old as
//! the statement, which is enough: a report that anybody has let go of since is not due by its clock, and an attempt
//! is opened under the same lock as the lease is checked.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::PgPool;
use uuid::Uuid;

use crate::{Error, Lease, secs};

/// What to claim.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Reports that came by this channel.
    pub channel: &'a str,
    /// The process, whose trial of the breaker it may be.
    pub owner: Uuid,
    /// So many at most.
    pub limit: i64,
    /// For how long they are its own.
    pub lease: Lease,
    /// A report waits for its photo for so long after it was received.
    pub photo_wait: Duration,
    /// The caller has looked at the breaker, and goes by what it says: it keeps to the set rate while a backlog drains,
    /// or has the trial. Without that, nothing is claimed unless the breaker is closed and nothing drains. A pause
    /// stops both.
    pub allowed: bool,
    /// Leave out reports whose last request was refused its path or its right (`misconfigured`): it may be theirs alone, and
    /// then they tell nothing of the others.
    pub unrefused: bool,
}

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

/// Takes leases on reports that are due, oldest first, and reads them.
///
/// # Errors
/// The database's: then nothing was taken, or, where only the answer was lost, the leases expire.
pub async fn claim(pool: &PgPool, claim: &Claim<'_>) -> Result<Vec<Claimed>, Error> {
    let rows = sqlx::query_file!(
        "src/store/claim_reports.sql",
        claim.channel,
        claim.owner,
        claim.limit,
        secs(claim.lease.length),
        secs(claim.photo_wait),
        claim.allowed,
        claim.unrefused
    )
    .fetch_all(pool)
    .await?;
    if !rows.is_empty() {
        runtime::failpoint!("push.leased");
    }
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
