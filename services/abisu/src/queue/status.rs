//! `abisu queue status`: how every queue stands, per channel, from one query.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use runtime::config::DatabaseArgs;
use serde::Serialize;

use super::{at, to_json};
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
    /// Chats that a dead event stops until a person deals with it.
    held_chats: i64,
    /// Events that are not settled yet.
    pending_events: i64,
    oldest_event_s: Option<i64>,
    pending_outbounds: i64,
    in_flight_outbounds: i64,
    oldest_outbound_s: Option<i64>,
    dead_events: i64,
    rejected_messages: i64,
    pending_pushes: i64,
    in_flight_pushes: i64,
    oldest_push_s: Option<i64>,
    review_pushes: i64,
    dead_pushes: i64,
    last_inbound_at: Option<DateTime<Utc>>,
}

pub(super) async fn status(json: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let channels =
        sqlx::query_file_as!(Status, "src/queue/store/queue_status.sql").fetch_all(&mut on).await?;
    if json {
        return to_json(&channels);
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
        let oldest = |age: Option<i64>| age.map(|age| format!(", oldest {age} s")).unwrap_or_default();
        let held = if self.held_chats > 0 { format!(", {} held", self.held_chats) } else { String::new() };
        let (ready, in_flight, waiting) = (self.ready_chats, self.in_flight_chats, self.waiting_chats);
        line("chats", format!("{ready} ready, {in_flight} in flight, {waiting} waiting{held}"));
        let (pending, dead) = (self.pending_events, self.dead_events);
        line("events", format!("{pending} pending{}, {dead} dead", oldest(self.oldest_event_s)));
        let (pending, in_flight) = (self.pending_outbounds, self.in_flight_outbounds);
        line(
            "replies",
            format!("{pending} pending{}, {in_flight} chats in flight", oldest(self.oldest_outbound_s)),
        );
        let (pending, in_flight) = (self.pending_pushes, self.in_flight_pushes);
        let (review, dead) = (self.review_pushes, self.dead_pushes);
        let waits = oldest(self.oldest_push_s);
        line(
            "pushes",
            format!("{pending} pending{waits}, {in_flight} in flight, {review} in review, {dead} dead"),
        );
        line("rejected", format!("{} messages", self.rejected_messages));
        line("last in", self.last_inbound_at.map_or_else(|| "never".to_owned(), at));
        text
    }
}
