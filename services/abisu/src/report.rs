//! `abisu report show`: one report with its whole life.
//!
//! Shows what the database holds of the report itself; nothing here leads to the citizen's number.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use runtime::config::DatabaseArgs;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::Failure;
use crate::connect::connect;

#[derive(Serialize)]
struct Report {
    id: Uuid,
    channel: String,
    reference: String,
    state: String,
    language: String,
    address: Option<String>,
    latitude: f64,
    longitude: f64,
    area_id: String,
    area_version: i32,
    taxonomy_version: Option<String>,
    route: Option<String>,
    note: Option<String>,
    photo_sha256: Option<String>,
    photo_attempts: Option<i32>,
    photo_failed_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    received_at: Option<DateTime<Utc>>,
    push_state: String,
    push_attempts: i32,
    push_error: Option<String>,
    push_visible_at: DateTime<Utc>,
    push_sent_at: Option<DateTime<Utc>>,
    partner_id: Option<String>,
}

#[derive(Serialize)]
struct Step {
    step: String,
    at: DateTime<Utc>,
    trace_id: Option<String>,
    detail: Value,
}

#[derive(Serialize)]
struct Attempt {
    opened_at: DateTime<Utc>,
    closed_at: Option<DateTime<Utc>>,
    endpoint: String,
    outcome: Option<String>,
    http_status: Option<i32>,
    partner_id: Option<String>,
    evidence: Option<String>,
    trace_id: Option<String>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    report: Report,
    timeline: Vec<Step>,
    attempts: Vec<Attempt>,
}

pub(crate) async fn show(reference: &str, json: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let reference = reference.trim().to_uppercase();
    let mut on = connect(database).await?;
    let report = sqlx::query_file_as!(Report, "src/store/report_by_reference.sql", reference)
        .fetch_optional(&mut on)
        .await?
        .ok_or_else(|| {
            Failure::Failed(anyhow::anyhow!(
                "no report has the reference {reference}; compare it digit by digit"
            ))
        })?;
    let timeline = sqlx::query_as!(
        Step,
        "select step, at, trace_id, detail from report.timeline where report_id = $1 order by id",
        report.id
    )
    .fetch_all(&mut on)
    .await?;
    let attempts =
        sqlx::query_file_as!(Attempt, "src/store/report_attempts.sql", report.id).fetch_all(&mut on).await?;
    let shown = Shown { report, timeline, attempts };
    if json {
        let text = serde_json::to_string_pretty(&shown).map_err(|error| Failure::Failed(error.into()))?;
        return Ok(text + "\n");
    }
    Ok(shown.to_text())
}

impl Shown {
    fn to_text(&self) -> String {
        let Self { report: r, timeline, attempts } = self;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            if !value.is_empty() {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{name:<10} {value}");
            }
        };
        line("reference", r.reference.clone());
        line("state", format!("{}, push {}{}", r.state, r.push_state, tries(r.push_attempts)));
        line("received", r.received_at.map(time).unwrap_or_default());
        line("category", r.route.clone().unwrap_or_default());
        line("place", format!("{:.6}, {:.6} (latitude, longitude)", r.latitude, r.longitude));
        line("address", r.address.clone().unwrap_or_default());
        line("area", format!("{} version {}", r.area_id, r.area_version));
        line("language", r.language.clone());
        line("note", r.note.clone().unwrap_or_default());
        line("photo", self.photo());
        line("partner id", r.partner_id.clone().unwrap_or_default());
        line("push error", r.push_error.clone().unwrap_or_default());
        line("channel", r.channel.clone());
        line("id", r.id.to_string());

        let _ = writeln!(text, "\ntimeline");
        let start = timeline.first().map(|step| step.at);
        for step in timeline {
            let since = start.map_or(0.0, |start| (step.at - start).as_seconds_f64());
            let trace = step.trace_id.as_deref().unwrap_or("-");
            let detail = match &step.detail {
                Value::Object(map) if map.is_empty() => String::new(),
                other => format!("  {other}"),
            };
            let _ = writeln!(
                text,
                "  {}  +{since:>8.3} s  {:<18} trace {trace}{detail}",
                time(step.at),
                step.step
            );
        }
        if !attempts.is_empty() {
            let _ = writeln!(text, "\nattempts");
        }
        for attempt in attempts {
            let outcome = attempt.outcome.as_deref().unwrap_or("open: nobody knows how it ended");
            let status = attempt.http_status.map(|status| format!("  HTTP {status}")).unwrap_or_default();
            let evidence = attempt.evidence.as_deref().map(|text| format!("  {text}")).unwrap_or_default();
            let trace = attempt.trace_id.as_deref().unwrap_or("-");
            let _ =
                writeln!(text, "  {}  {outcome}{status}{evidence}  trace {trace}", time(attempt.opened_at));
        }
        text
    }

    fn photo(&self) -> String {
        let r = &self.report;
        match (&r.photo_sha256, r.photo_attempts, r.photo_failed_at) {
            (Some(hash), _, _) => format!("sha256 {hash}"),
            (None, _, Some(at)) => format!("given up at {}", time(at)),
            (None, Some(attempts), None) => format!("being fetched{}", tries(attempts)),
            (None, None, None) => String::new(),
        }
    }
}

fn tries(attempts: i32) -> String {
    match attempts {
        0 => String::new(),
        1 => " (1 attempt)".to_owned(),
        n => format!(" ({n} attempts)"),
    }
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_in_words() {
        assert_eq!(
            (tries(0), tries(1), tries(3)),
            (String::new(), " (1 attempt)".into(), " (3 attempts)".into())
        );
    }
}
