//! `abisu queue status`: how every queue stands, per channel, from one query.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use runtime::config::DatabaseArgs;
use serde::Serialize;

use crate::Failure;
use crate::connect::connect;

/// One channel.
#[derive(Serialize)]
struct Status {
    channel: String,
    /// Chats with work that a worker may take now.
    ready_chats: i64,
    /// Chats whose work waits: backing off or deferred.
    waiting_chats: i64,
    /// Chats that a worker holds.
    in_flight_chats: i64,
    /// Events that are not settled yet.
    pending_events: i64,
    oldest_event_s: Option<i64>,
    pending_outbounds: i64,
    dead_events: i64,
    rejected_messages: i64,
    pending_pushes: i64,
    review_pushes: i64,
    dead_pushes: i64,
    last_inbound_at: Option<DateTime<Utc>>,
}

pub(crate) async fn status(json: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let channels = sqlx::query_file_as!(Status, "src/store/queue_status.sql").fetch_all(&mut on).await?;
    if json {
        let text = serde_json::to_string_pretty(&channels).map_err(|error| Failure::Failed(error.into()))?;
        return Ok(text + "\n");
    }
    if channels.is_empty() {
        return Ok("no channel has been used yet\n".to_owned());
    }
    Ok(channels.iter().map(Status::to_text).collect::<Vec<_>>().join("\n"))
}

impl Status {
    fn to_text(&self) -> String {
        let mut text = format!("channel {}\n", self.channel);
        let mut line = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {name:<10} {value}");
        };
        let oldest = self.oldest_event_s.map(|age| format!(", oldest {age} s")).unwrap_or_default();
        let (ready, in_flight, waiting) = (self.ready_chats, self.in_flight_chats, self.waiting_chats);
        line("chats", format!("{ready} ready, {in_flight} in flight, {waiting} waiting"));
        line("events", format!("{} pending{oldest}, {} dead", self.pending_events, self.dead_events));
        line("replies", format!("{} pending", self.pending_outbounds));
        let (pending, review, dead) = (self.pending_pushes, self.review_pushes, self.dead_pushes);
        line("pushes", format!("{pending} pending, {review} in review, {dead} dead"));
        line("rejected", format!("{} messages", self.rejected_messages));
        let last = self.last_inbound_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
        line("last in", last.unwrap_or_else(|| "never".to_owned()));
        text
    }
}
