//! Reports that could not be given to the partner: look, and give up for good. To send one again is
//! [`crate::outbox::operate::resend`].

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::{Act, Filter, Operation};

/// A push that was given up, without what the report says.
#[derive(Debug, Clone)]
pub struct DeadPush {
    /// The citizen's reference.
    pub reference: String,
    /// The channel's id.
    pub channel: String,
    /// The path in the taxonomy.
    pub route: String,
    /// When the report was received.
    pub received_at: DateTime<Utc>,
    /// When the last thing happened to its push.
    pub dead_at: DateTime<Utc>,
    /// Attempts that were made.
    pub attempts: i32,
    /// Why.
    pub error: String,
    /// `traceparent` of its last message.
    pub trace_context: Option<String>,
    /// A person gave it up for good.
    pub discarded: bool,
}

/// Dead pushes, oldest first. Of the filter all counts but the ids; `references` stand in their place.
///
/// # Errors
/// The database's.
pub async fn list(
    on: &mut PgConnection,
    references: Option<&[String]>,
    filter: &Filter,
) -> Result<Vec<DeadPush>, sqlx::Error> {
    sqlx::query_file_as!(
        DeadPush,
        "src/store/list_dead_pushes.sql",
        references as Option<&[String]>,
        filter.channel.as_deref(),
        filter.since,
        filter.about.as_deref(),
        filter.resolved,
        filter.limit
    )
    .fetch_all(on)
    .await
}

/// Gives a dead push up for good: it stays dead and is asked about no more. False: it is not dead, or dealt with already.
///
/// # Errors
/// The database's.
pub async fn discard(on: &mut PgConnection, reference: &str, act: Act<'_>) -> Result<bool, sqlx::Error> {
    sqlx::query_file_scalar!("src/store/discard_dead_push.sql", reference, act.by, act.because)
        .fetch_one(on)
        .await
}

/// What was done to the push of a report by hand, oldest first.
///
/// # Errors
/// The database's.
pub async fn operations(on: &mut PgConnection, reference: &str) -> Result<Vec<Operation>, sqlx::Error> {
    sqlx::query_as!(
        Operation,
        "select a.at, a.by, a.act, a.because from report.push_act a join report.report r on r.id = a.report_id \
         where r.reference = $1 order by a.id",
        reference
    )
    .fetch_all(on)
    .await
}
