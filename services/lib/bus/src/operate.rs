//! What a person does to the inbound queue by hand.
//!
//! A change is one statement that locks, checks, changes and notes who did it and why in `inbound.operation`, so that
//! it cannot be done half way, done twice, or meet a worker half way. With the owner's rights only: no service may.
//! What is read here to be looked at holds no personal data; message and raw bytes are asked for apart.

pub mod dead;
pub mod push;
pub mod rejected;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

/// Which rows are meant. What is not said does not narrow.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only these: activity ids of dead events, ids of rejections.
    pub ids: Option<Vec<Uuid>>,
    /// On this channel.
    pub channel: Option<String>,
    /// Given up or rejected at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Part of the error of a dead event, the whole reason of a rejection.
    pub about: Option<String>,
    /// Also what was dealt with.
    pub resolved: bool,
    /// So many at most, oldest first.
    pub limit: i64,
}

/// Who changes something, and why.
#[derive(Debug, Clone, Copy)]
pub struct Act<'a> {
    /// The person.
    pub by: &'a str,
    /// The reason.
    pub because: &'a str,
}

/// One thing that a person did.
#[derive(Debug, Clone)]
pub struct Operation {
    /// When.
    pub at: DateTime<Utc>,
    /// Who.
    pub by: String,
    /// What: `dead_replay`, `dead_discard`, `rejection_replayed`, `rejection_discarded`, `hold_on_dead`.
    pub act: String,
    /// Why.
    pub because: String,
}

/// What was done to a dead event or a rejection, oldest first.
///
/// # Errors
/// The database's.
pub async fn operations(on: &mut PgConnection, target: Uuid) -> Result<Vec<Operation>, sqlx::Error> {
    sqlx::query_as!(
        Operation,
        "select at, by, act, because from inbound.operation where target = $1 order by id",
        target
    )
    .fetch_all(on)
    .await
}
