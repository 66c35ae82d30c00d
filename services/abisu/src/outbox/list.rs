//! What stands in the outbox, and what stands in doubt.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use runtime::config::DatabaseArgs;
use serde::Serialize;

use super::args::ChannelArgs;
use crate::Failure;
use crate::connect::connect;

#[derive(Serialize)]
struct Waiting {
    reference: String,
    received_at: DateTime<Utc>,
    route: String,
    has_photo: bool,
    /// It stays until its photo has come, or until its time to wait for it is over.
    awaits_photo: bool,
    push_attempts: i32,
    push_error: Option<String>,
    push_visible_at: DateTime<Utc>,
    /// An earlier report of the same category close by: perhaps of the same thing.
    near_reference: Option<String>,
    near_push_state: Option<String>,
    near_metres: Option<f64>,
}

#[derive(Serialize)]
struct Standing {
    paused: bool,
    paused_by: Option<String>,
    paused_because: Option<String>,
    breaker: String,
    breaker_cause: Option<String>,
    /// When an open breaker tries again.
    breaker_until: Option<DateTime<Utc>>,
    /// Creates in a row that have left a report in doubt.
    breaker_doubts: i32,
    total: i64,
}

#[derive(Serialize)]
struct Backlog {
    channel: String,
    #[serde(flatten)]
    standing: Standing,
    reports: Vec<Waiting>,
}

#[derive(Serialize)]
struct Doubt {
    reference: String,
    channel: String,
    received_at: DateTime<Utc>,
    push_error: Option<String>,
    attempted_at: Option<DateTime<Utc>>,
    outcome: Option<String>,
    http_status: Option<i32>,
    evidence: Option<String>,
}

#[derive(Serialize)]
struct Act {
    at: DateTime<Utc>,
    by: String,
    act: String,
    because: String,
    detail: serde_json::Value,
}

pub(crate) async fn backlog(
    channel: ChannelArgs,
    limit: u32,
    json: bool,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let channel = channel.channel;
    let mut on = connect(database).await?;
    let standing = sqlx::query_file_as!(Standing, "src/outbox/store/read_standing.sql", channel)
        .fetch_one(&mut on)
        .await?;
    let reports =
        sqlx::query_file_as!(Waiting, "src/outbox/store/list_backlog.sql", channel, i64::from(limit))
            .fetch_all(&mut on)
            .await?;
    let backlog = Backlog { channel, standing, reports };
    if json { to_json(&backlog) } else { Ok(backlog.to_text()) }
}

impl Backlog {
    fn to_text(&self) -> String {
        let Standing { paused, paused_by, paused_because, total, .. } = &self.standing;
        let mut text = format!("channel {}: {total} reports wait\n", self.channel);
        // Writing to a String cannot fail.
        if *paused {
            let (by, because) =
                (paused_by.as_deref().unwrap_or("?"), paused_because.as_deref().unwrap_or("?"));
            let _ = writeln!(text, "  paused by {by}: {because}");
        }
        text.push_str(&self.standing.breaker_line());
        for one in &self.reports {
            let photo = match (one.has_photo, one.awaits_photo) {
                (true, _) => "",
                (false, true) => ", no photo yet",
                (false, false) => ", goes without a photo",
            };
            let error = one.push_error.as_deref().map(|error| format!(", {error}")).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {}  {}  {}  {} attempts{photo}{error}{}",
                one.reference,
                at(one.received_at),
                one.route,
                one.push_attempts,
                one.like_another()
            );
        }
        let shown = i64::try_from(self.reports.len()).unwrap_or(i64::MAX);
        if shown < *total {
            let _ = writeln!(text, "  and {} more (--limit)", total - shown);
        }
        text
    }
}

impl Waiting {
    fn like_another(&self) -> String {
        match (&self.near_reference, &self.near_push_state, self.near_metres) {
            (Some(reference), Some(state), Some(metres)) => {
                format!(", perhaps the same as {reference} ({state}), {metres:.0} m away")
            }
            _ => String::new(),
        }
    }
}

impl Standing {
    /// Nothing while it is closed.
    fn breaker_line(&self) -> String {
        if self.breaker == "closed" {
            return String::new();
        }
        let cause = self.breaker_cause.as_deref().unwrap_or("unknown");
        let next = match self.breaker_until {
            Some(until) => format!(", tried again at {} or by `abisu outbox resume`", at(until)),
            None => String::new(),
        };
        format!("  the breaker is {}: {cause}{next}\n", self.breaker)
    }
}

pub(crate) async fn review(json: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let doubts = sqlx::query_file_as!(Doubt, "src/outbox/store/list_review.sql").fetch_all(&mut on).await?;
    if json {
        return to_json(&doubts);
    }
    if doubts.is_empty() {
        return Ok("no report is in review\n".to_owned());
    }
    let mut text = String::new();
    for one in doubts {
        let _ = writeln!(
            text,
            "{}  received {}  {}",
            one.reference,
            at(one.received_at),
            one.push_error.as_deref().unwrap_or("no reason noted")
        );
        let Some(attempted_at) = one.attempted_at else { continue };
        let outcome = one.outcome.as_deref().unwrap_or("open: nobody knows how it ended");
        let evidence = one.evidence.map(|evidence| format!(" ({evidence})")).unwrap_or_default();
        let _ = writeln!(text, "  last request {}: {outcome}{evidence}", at(attempted_at));
    }
    Ok(text)
}

pub(crate) async fn show(reference: &str, json: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let mut text = crate::report::show(reference, json, database.clone()).await?;
    let mut on = connect(database).await?;
    let acts = sqlx::query_file_as!(Act, "src/outbox/store/list_acts.sql", reference.trim().to_uppercase())
        .fetch_all(&mut on)
        .await?;
    if json {
        let mut shown: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| Failure::Failed(error.into()))?;
        shown["acts"] = serde_json::to_value(acts).map_err(|error| Failure::Failed(error.into()))?;
        return to_json(&shown);
    }
    for Act { at: when, by, act, because, detail: _ } in acts {
        let _ = writeln!(text, "{}  {act} by {by}: {because}", at(when));
    }
    Ok(text)
}

fn at(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn to_json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Failed(error.into()))?;
    Ok(text + "\n")
}
