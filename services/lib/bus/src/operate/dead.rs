//! Events that were given up: look, replay, discard; and whether they stop their chats.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Act, Filter};

/// An event that was given up, without what it says.
#[derive(Debug, Clone)]
pub struct Dead {
    /// Its id.
    pub activity_id: Uuid,
    /// The channel's id.
    pub channel: String,
    /// Its chat.
    pub chat_id: Uuid,
    /// Its place there.
    pub seq: i64,
    /// The normalised kind.
    pub kind: String,
    /// When it was stored.
    pub received_at: DateTime<Utc>,
    /// When it was given up.
    pub dead_at: DateTime<Utc>,
    /// Who gave it up: a service.
    pub dead_by: String,
    /// Attempts that were made.
    pub attempts: i16,
    /// Why.
    pub error: String,
    /// `traceparent` of its delivery.
    pub trace_context: Option<String>,
    /// Its chat waits for a person.
    pub held: bool,
    /// When it was appended again.
    pub replayed_at: Option<DateTime<Utc>>,
    /// Its new place.
    pub replay_seq: Option<i64>,
    /// When it was given up for good.
    pub discarded_at: Option<DateTime<Utc>>,
}

/// What a dead event says. Personal data.
#[derive(Debug, Clone)]
pub struct Content {
    /// The provider's id, which may hold a number.
    pub message_id: String,
    /// The normalised message.
    pub payload: serde_json::Value,
}

/// Dead events, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(on: &mut PgConnection, filter: &Filter) -> Result<Vec<Dead>, sqlx::Error> {
    sqlx::query_file_as!(
        Dead,
        "src/store/list_dead.sql",
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

/// What a dead event says.
///
/// # Errors
/// The database's.
pub async fn content(on: &mut PgConnection, activity_id: Uuid) -> Result<Option<Content>, sqlx::Error> {
    sqlx::query_as!(
        Content,
        "select message_id, payload from inbound.dead where activity_id = $1",
        activity_id
    )
    .fetch_optional(on)
    .await
}

/// Appends it again at the tail of its chat, or of the chat that its person has now, and returns its place there.
/// `None`: there is nothing to replay, it is dealt with already. The original stays dead.
///
/// # Errors
/// The database's; 40001 when somebody else deals with it at this moment.
pub async fn replay(
    on: &mut PgConnection,
    activity_id: Uuid,
    act: Act<'_>,
) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar!(
        "select inbound.replay_v1($1, $2, $3, $4)",
        activity_id,
        Uuid::now_v7(),
        act.by,
        act.because
    )
    .fetch_one(on)
    .await
}

/// Gives it up for good. False: it is dealt with already.
///
/// # Errors
/// The database's; 40001 when somebody else deals with it at this moment.
pub async fn discard(on: &mut PgConnection, activity_id: Uuid, act: Act<'_>) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select inbound.discard_v1($1, $2, $3) as "done!""#,
        activity_id,
        act.by,
        act.because
    )
    .fetch_one(on)
    .await
}

/// Says whether a dead event of this channel stops its chat until a person replays or discards it. Chats that are
/// stopped already stay so. False: it was so before.
///
/// # Errors
/// The database's.
pub async fn hold_on_dead(
    on: &mut PgConnection,
    channel: &str,
    hold: bool,
    act: Act<'_>,
) -> Result<bool, sqlx::Error> {
    sqlx::query_file_scalar!("src/store/switch_hold.sql", channel, hold, act.by, act.because)
        .fetch_one(on)
        .await
}
