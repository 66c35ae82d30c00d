//! `abisu outbox reconcile`: our books against the contractor's, report by report, by external code.
//!
//! Only reads, on both sides. A contractor that can only be asked for one code at a time shows what we know of; what it
//! has under codes that we never gave out stays unseen, and the command says so.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, Utc};
use partner::{Found, NoPass, Partner, Timeouts};
use serde::Serialize;

use super::args::ReconcileArgs;
use crate::Failure;
use crate::connect::connect;

const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    send: Duration::from_secs(30),
    login: Duration::from_secs(10),
};

/// A report in our books.
struct Booked {
    reference: String,
    push_state: String,
    partner_id: Option<String>,
}

/// How one report differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Difference {
    /// Sent by our books, not there.
    Missing,
    /// There more than once.
    Doubled,
    /// There, but not sent by our books.
    Unknown,
    /// There under another id than in our books.
    OtherId,
    /// The contractor gave no answer that proves anything.
    Unclear,
}

#[derive(Serialize)]
struct Finding {
    reference: String,
    difference: Difference,
    push_state: String,
    partner_id: Option<String>,
    seen: String,
}

#[derive(Serialize)]
struct Reconciliation {
    since: DateTime<Utc>,
    compared: usize,
    findings: Vec<Finding>,
}

pub(crate) async fn run(args: ReconcileArgs) -> Result<String, Failure> {
    let ReconcileArgs { since, json, channel, partner, database } = args;
    let partner =
        partner::connect(&partner.config()?, TIMEOUTS).context("the HTTP client cannot be set up")?;
    if !partner.searchable() {
        return Err(Failure::Failed(anyhow::anyhow!(
            "the contractor cannot be searched by external code (ABISU_PARTNER_SEARCH is off): nothing can be compared"
        )));
    }
    let mut on = connect(database).await?;
    let books = sqlx::query_file_as!(Booked, "src/outbox/store/list_books.sql", channel.channel, since)
        .fetch_all(&mut on)
        .await?;
    // The comparison can take long; nothing is held open meanwhile.
    drop(on);
    let compared = books.len();
    let mut findings = Vec::new();
    for booked in books {
        findings.extend(compare(partner.as_ref(), booked).await?);
    }
    let result = Reconciliation { since, compared, findings };
    let text = if json {
        serde_json::to_string_pretty(&result).map_err(|error| Failure::Failed(error.into()))? + "\n"
    } else {
        result.to_text()
    };
    if result.findings.is_empty() {
        return Ok(text);
    }
    // The findings are the answer, and the exit code says that there are some. A reader that has gone away has read
    // what it wanted.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let problem =
        format!("{} of {compared} reports differ from the contractor's books", result.findings.len());
    Err(Failure::Failed(anyhow::Error::msg(problem)))
}

async fn compare(partner: &dyn Partner, booked: Booked) -> Result<Option<Finding>, Failure> {
    let pass = partner.pass().await.map_err(|why| {
        Failure::Failed(match why {
            NoPass::Refused(status) => anyhow::anyhow!("the contractor refuses our login (http {status})"),
            NoPass::Throttled(_) => anyhow::anyhow!("the contractor asks for a pause: try again later"),
            NoPass::Unavailable(seen) => anyhow::anyhow!("the contractor cannot be asked: {seen}"),
        })
    })?;
    let found = partner.find(&pass, &booked.reference).await;
    let verdict = judge(&booked.push_state, booked.partner_id.as_deref(), &found);
    Ok(verdict.map(|(difference, seen)| {
        let Booked { reference, push_state, partner_id } = booked;
        Finding { reference, difference, push_state, partner_id, seen }
    }))
}

fn judge(push_state: &str, partner_id: Option<&str>, found: &Found) -> Option<(Difference, String)> {
    let sent = push_state == "sent";
    match found {
        Found::Unclear(seen) => Some((Difference::Unclear, seen.clone())),
        Found::Absent if sent => Some((Difference::Missing, "no record".to_owned())),
        Found::Absent => None,
        Found::Record { count, .. } if *count > 1 => Some((Difference::Doubled, format!("{count} records"))),
        Found::Record { id, .. } => {
            let there = id.as_deref().unwrap_or("without a readable id");
            if !sent {
                Some((Difference::Unknown, format!("record {there}")))
            } else if let (Some(ours), Some(theirs)) = (partner_id, id)
                && ours != theirs
            {
                Some((Difference::OtherId, format!("record {theirs}")))
            } else {
                None
            }
        }
    }
}

impl Reconciliation {
    fn to_text(&self) -> String {
        let mut text = String::new();
        for Finding { reference, difference, push_state, partner_id, seen } in &self.findings {
            let what = match difference {
                Difference::Missing => "missing",
                Difference::Doubled => "doubled",
                Difference::Unknown => "unknown to our books",
                Difference::OtherId => "other id",
                Difference::Unclear => "unclear",
            };
            let ours = partner_id.as_deref().map(|id| format!(" as {id}")).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{reference}  {what}: ours {push_state}{ours}, theirs {seen}");
        }
        let _ = writeln!(text, "{} reports compared, {} differ", self.compared, self.findings.len());
        text.push_str("records there under codes that we never gave out cannot be seen by a search\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_has_its_name() {
        let record = |id: &str, count| Found::Record { id: Some(id.to_owned()), count };
        for (state, ours, found, expected) in [
            ("sent", Some("1"), record("1", 1), None),
            ("sent", None, record("1", 1), None),
            ("sent", Some("2"), record("1", 1), Some(Difference::OtherId)),
            ("sent", Some("1"), record("1", 2), Some(Difference::Doubled)),
            ("review", None, record("1", 1), Some(Difference::Unknown)),
            ("sent", Some("1"), Found::Absent, Some(Difference::Missing)),
            ("dead", None, Found::Absent, None),
            ("sent", None, Found::Unclear("http 500".to_owned()), Some(Difference::Unclear)),
        ] {
            assert_eq!(
                judge(state, ours, &found).map(|(difference, _)| difference),
                expected,
                "{state} {found:?}"
            );
        }
    }
}
