//! Messages that could never be handled: look, and say what became of them.
//!
//! To replay one is to take its raw bytes apart again and to append what is in them, which the caller does: reading a
//! provider's payload is not this crate's affair. The append drops what was stored meanwhile, so a replay that was cut
//! before it was noted is simply made again.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Act, Filter};

/// A rejection, without what it says.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// Its id.
    pub id: Uuid,
    /// The channel's id.
    pub channel: String,
    /// A stable word.
    pub reason: String,
    /// What exactly is wrong. Quotes nothing.
    pub detail: String,
    /// Length of the raw bytes.
    pub raw_bytes: i32,
    /// The call it came with.
    pub delivery_id: Uuid,
    /// When it was kept.
    pub received_at: DateTime<Utc>,
    /// `traceparent` of its delivery.
    pub trace_context: Option<String>,
    /// When it was dealt with.
    pub resolved_at: Option<DateTime<Utc>>,
    /// How: `replayed` or `discarded`.
    pub resolution: Option<String>,
}

/// What a rejection says. Personal data.
#[derive(Debug, Clone)]
pub struct Content {
    /// The provider's id, where there is one.
    pub message_id: Option<String>,
    /// The bytes as received.
    pub raw: Vec<u8>,
}

/// What became of a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// What is in it was appended.
    Replayed,
    /// Nothing will be done with it.
    Discarded,
}

impl Resolution {
    const fn word(self) -> &'static str {
        match self {
            Self::Replayed => "replayed",
            Self::Discarded => "discarded",
        }
    }
}

/// Rejections, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(on: &mut PgConnection, filter: &Filter) -> Result<Vec<Rejected>, sqlx::Error> {
    sqlx::query_file_as!(
        Rejected,
        "src/store/list_rejected.sql",
        filter.ids.as_deref() as Option<&[Uuid]>,
        filter.channel.as_deref(),
        filter.since,
        filter.about.as_deref(),
        filter.resolved,
        filter.limit
    )
    .fetch_all(on)
    .await
}

/// What a rejection says.
///
/// # Errors
/// The database's.
pub async fn content(on: &mut PgConnection, id: Uuid) -> Result<Option<Content>, sqlx::Error> {
    sqlx::query_as!(Content, "select message_id, raw from inbound.rejection where id = $1", id)
        .fetch_optional(on)
        .await
}

/// Notes what became of it. False: it is dealt with already.
///
/// # Errors
/// The database's.
pub async fn resolve(
    on: &mut PgConnection,
    id: Uuid,
    resolution: Resolution,
    act: Act<'_>,
) -> Result<bool, sqlx::Error> {
    sqlx::query_file_scalar!("src/store/resolve_rejection.sql", id, resolution.word(), act.by, act.because)
        .fetch_one(on)
        .await
}
