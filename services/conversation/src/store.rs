//! What conversation writes beside the queue: sessions, reports and their timeline.

use bus::outbound::Outbound;
use chrono::{DateTime, Utc};
use dialogue::{Place, PromptFate, Session};
use runtime::with_tx;
use serde_json::{Value, json};
use sqlx::{PgConnection, PgExecutor, PgPool};
use uuid::Uuid;

use crate::Context;
use crate::translate::Release;

/// Why there is no session to work with.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It was written by a version that knows more, or it is damaged. What is wrong with it is not said: that would
    /// quote it.
    #[error("the stored session cannot be read by this version")]
    Unreadable,
    /// The database did not answer.
    #[error("the session cannot be had")]
    Database(#[from] sqlx::Error),
}

/// The session of a chat; a new one where there is none yet.
///
/// # Errors
/// See [`SessionError`].
pub async fn load_session(pool: &PgPool, chat_id: Uuid) -> Result<Session, SessionError> {
    let state: Option<Value> =
        sqlx::query_scalar!("select state from chat.session where chat_id = $1", chat_id)
            .fetch_optional(pool)
            .await?;
    match state {
        Some(state) => serde_json::from_value(state).map_err(|_| SessionError::Unreadable),
        None => Ok(Session::default()),
    }
}

/// The session of a chat inside a transaction, for a word that is said in its language. One that cannot be read is like
/// a new one: the word is then said in both.
///
/// # Errors
/// The database's.
pub async fn session_in(tx: &mut PgConnection, chat_id: Uuid) -> Result<Session, sqlx::Error> {
    let state: Option<Value> =
        sqlx::query_scalar!("select state from chat.session where chat_id = $1", chat_id)
            .fetch_optional(tx)
            .await?;
    Ok(state.and_then(|state| serde_json::from_value(state).ok()).unwrap_or_default())
}

/// What became of the newest message that carries a prompt.
///
/// # Errors
/// The database's.
pub async fn prompt_fate(pool: &PgPool, chat_id: Uuid, prompt: Uuid) -> Result<PromptFate, sqlx::Error> {
    let row = sqlx::query_file!("src/store/prompt_fate.sql", chat_id, prompt).fetch_optional(pool).await?;
    Ok(match row {
        Some(row) if row.delayed => PromptFate::Delayed,
        Some(row) if row.dropped == Some(true) || row.failed => PromptFate::Lost,
        Some(_) | None => PromptFate::Standing,
    })
}

/// When the 24-hour window of a chat closes, by all that was ever to be answered in it; `None` for a chat that was never
/// answered. Every message of the citizen opens it anew, also for replies to older ones.
///
/// # Errors
/// The database's.
pub async fn newest_window(
    executor: impl PgExecutor<'_>,
    chat_id: Uuid,
) -> Result<Option<DateTime<Utc>>, sqlx::Error> {
    sqlx::query_scalar!("select max(expires_at) from chat.outbound where chat_id = $1", chat_id)
        .fetch_one(executor)
        .await
}

/// The chat of a report.
///
/// # Errors
/// The database's.
pub async fn chat_of(tx: &mut PgConnection, report_id: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
    sqlx::query_scalar!("select chat_id from report.report where id = $1", report_id).fetch_optional(tx).await
}

/// Writes the session. In the transaction that settles the event, after the chat's lock.
///
/// # Errors
/// The database's.
pub async fn save_session(
    tx: &mut PgConnection,
    chat_id: Uuid,
    session: &Session,
) -> Result<(), sqlx::Error> {
    let state = serde_json::to_value(session).map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query_file!(
        "src/store/save_session.sql",
        chat_id,
        session.step.name(),
        session.language.map(dialogue::Language::as_str),
        session.report_id(),
        session.prompt(),
        state
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// A draft at its beginning.
pub struct NewDraft<'a> {
    /// Its id.
    pub report_id: Uuid,
    /// The channel it came by.
    pub channel: &'a str,
    /// Its conversation.
    pub chat_id: Uuid,
    /// The language of the conversation.
    pub language: &'a str,
    /// Where it is.
    pub place: &'a Place,
    /// `traceparent` of the event.
    pub trace_context: Option<&'a str>,
}

/// Opens a draft.
///
/// # Errors
/// The database's.
pub async fn open_draft(tx: &mut PgConnection, draft: &NewDraft<'_>) -> Result<(), sqlx::Error> {
    sqlx::query_file!(
        "src/store/open_draft.sql",
        draft.report_id,
        draft.channel,
        draft.chat_id,
        draft.language,
        draft.place.point.longitude,
        draft.place.point.latitude,
        draft.place.address,
        draft.place.area_id,
        draft.place.area_version,
        draft.trace_context
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Moves a draft to another place.
///
/// # Errors
/// The database's.
pub async fn move_draft(tx: &mut PgConnection, report_id: Uuid, place: &Place) -> Result<(), sqlx::Error> {
    sqlx::query_file!(
        "src/store/move_draft.sql",
        report_id,
        place.point.longitude,
        place.point.latitude,
        place.address,
        place.area_id,
        place.area_version
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Forgets a draft. A received report is no draft and stays.
///
/// # Errors
/// The database's.
pub async fn drop_draft(tx: &mut PgConnection, report_id: Uuid) -> Result<bool, sqlx::Error> {
    let dropped = sqlx::query!("delete from report.report where id = $1 and state = 'draft'", report_id)
        .execute(tx)
        .await?;
    Ok(dropped.rows_affected() == 1)
}

/// What a completed form says.
pub struct Completed<'a> {
    /// The draft it completes.
    pub report_id: Uuid,
    /// The category, slash-joined.
    pub route: &'a str,
    /// The note.
    pub note: Option<&'a str>,
    /// The taxonomy version that the route belongs to.
    pub version: Option<&'a str>,
    /// The prompt whose form this was.
    pub prompt: Uuid,
    /// `traceparent` of the event.
    pub trace_context: Option<&'a str>,
    /// A photo is to come.
    pub has_photo: bool,
    /// Time zone that the year of the reference is taken in.
    pub time_zone: &'a str,
}

/// A report that holds a reference.
pub struct Received {
    /// The reference.
    pub reference: String,
    /// The address, where one is known.
    pub address: Option<String>,
    /// The category, slash-joined.
    pub route: String,
    /// The taxonomy version that the route belongs to.
    pub version: Option<String>,
}

/// The one transition that mints a reference. `None`: the draft is gone or was received before.
///
/// # Errors
/// The database's.
pub async fn receive(
    tx: &mut PgConnection,
    completed: &Completed<'_>,
) -> Result<Option<Received>, sqlx::Error> {
    sqlx::query_file_as!(
        Received,
        "src/store/receive_report.sql",
        completed.report_id,
        completed.time_zone,
        completed.route,
        completed.note,
        completed.version,
        completed.prompt,
        completed.trace_context,
        completed.has_photo
    )
    .fetch_optional(tx)
    .await
}

/// A report that was received before.
///
/// # Errors
/// The database's.
pub async fn received(tx: &mut PgConnection, report_id: Uuid) -> Result<Option<Received>, sqlx::Error> {
    sqlx::query_file_as!(Received, "src/store/read_received.sql", report_id).fetch_optional(tx).await
}

/// Adds a step to a report's timeline. `detail` holds no personal data.
///
/// # Errors
/// The database's.
pub async fn add_step(
    connection: &mut PgConnection,
    report_id: Uuid,
    step: &str,
    trace_id: Option<&str>,
    detail: Value,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into report.timeline (report_id, step, trace_id, detail) values ($1, $2, $3, $4)",
        report_id,
        step,
        trace_id,
        detail
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The detail of a step that has none.
pub fn nothing() -> Value {
    json!({})
}

/// The addresses of a chat: kind and value.
///
/// # Errors
/// The database's.
pub async fn aliases(pool: &PgPool, chat_id: Uuid) -> Result<Vec<(String, String)>, sqlx::Error> {
    let rows = sqlx::query!("select kind, value from chat.alias where chat_id = $1 order by kind", chat_id)
        .fetch_all(pool)
        .await?;
    Ok(rows.into_iter().map(|row| (row.kind, row.value)).collect())
}

/// The newest form of a language, published or, with `drafts`, a draft.
///
/// # Errors
/// The database's.
pub async fn newest_release(
    pool: &PgPool,
    channel: &str,
    language: &str,
    drafts: bool,
) -> Result<Option<Release>, sqlx::Error> {
    sqlx::query_file_as!(Release, "src/store/newest_release.sql", channel, language, drafts)
        .fetch_optional(pool)
        .await
}

/// The compiled taxonomy of a version, as the channel's release keeps it. A channel whose client draws its forms itself
/// has none; a version is a hash of what it means, so any other channel's says the same.
///
/// # Errors
/// The database's.
pub async fn compiled_taxonomy(
    executor: impl PgExecutor<'_>,
    channel: &str,
    version: &str,
) -> Result<Option<Value>, sqlx::Error> {
    sqlx::query_scalar!(
        "select compiled from flow.release where version = $2 order by channel = $1 desc, created_at desc limit 1",
        channel,
        version
    )
    .fetch_optional(executor)
    .await
}

/// When the 24-hour window of a chat closes, counted from the citizen's message.
pub fn window_end(sent_at: Option<DateTime<Utc>>, received_at: DateTime<Utc>) -> DateTime<Utc> {
    // A provider's clock ahead of ours must not open the window longer.
    sent_at.map_or(received_at, |sent_at| sent_at.min(received_at)) + chrono::TimeDelta::hours(24)
}

/// Records that the provider took a reply and, where it moves a report on, the step of its timeline.
///
/// # Errors
/// The database's.
pub async fn record_sent(
    context: &Context,
    reply: &Outbound,
    provider_ids: &[String],
) -> Result<(), bus::Error> {
    let step = reply.report_id.map(|report_id| {
        // A prompt of a report is its form; what expects no answer is its reference.
        let step = if reply.prompt.is_some() { "form_sent" } else { "citizen_told" };
        (report_id, step, runtime::trace::current_id())
    });
    let input = (context.channel.clone(), reply.id, provider_ids.to_vec(), step);
    with_tx(&context.pool, input, |tx, (channel, id, provider_ids, step)| {
        Box::pin(async move {
            bus::outbound::record_sent(&mut *tx, channel, *id, provider_ids).await?;
            if let Some((report_id, step, trace_id)) = step {
                sqlx::query_file!("src/store/add_sent_step.sql", *report_id, *step, trace_id.as_deref(), *id)
                    .execute(tx)
                    .await?;
            }
            Ok::<_, bus::Error>(())
        })
    })
    .await
}
