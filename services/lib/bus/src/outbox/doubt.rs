//! Reports in review that a search proves absent on the other side.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, secs};

/// Locks a report that still stands in review as it was found. False: somebody has dealt with it since.
///
/// # Errors
/// The database's.
pub async fn lock_review(tx: &mut PgConnection, report_id: Uuid, epoch: i64) -> Result<bool, Error> {
    let locked =
        sqlx::query_file_scalar!("src/store/lock_review.sql", report_id, epoch).fetch_optional(tx).await?;
    Ok(locked.is_some())
}

/// Puts a report in review whose record is proven absent back to pending. Its attempt stays charged, or a report that
/// breaks the partner would be sent for ever; but what was lost in an outage is given back, and lets others go first for
/// `outage_wait` while that lasts. False: it does not stand in review as it was found.
///
/// # Errors
/// The database's.
pub async fn send_again(
    tx: &mut PgConnection,
    report_id: Uuid,
    epoch: i64,
    outage_wait: Duration,
) -> Result<bool, Error> {
    let sent = sqlx::query_file!("src/store/send_again.sql", report_id, epoch, secs(outage_wait))
        .execute(tx)
        .await?;
    Ok(sent.rows_affected() == 1)
}
