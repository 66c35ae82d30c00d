//! `abisu outbox reconcile`: our books against the contractor's, by external code. Only reads, on both sides.
//!
//! * A contractor that can list its records by date is asked for all of them. That alone shows what it has under
//!   references that we know nothing of.
//! * One that can be searched by external code is asked for each report that no list has shown.
//! * One that can do neither cannot be compared with; the command says so.
//!
//! Exit codes: 0 the books agree, 2 they do not, 1 they could not be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, anyhow};
use chrono::{DateTime, Utc};
use partner::list::{self, Unlisted};
use partner::{Found, NoPass, Partner, Timeouts};
use serde::Serialize;

use super::args::ReconcileArgs;
use super::compare::{Booked, Difference, Finding, compare, is_reference};
use crate::Failure;
use crate::connect::connect;

const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    send: Duration::from_secs(30),
    login: Duration::from_secs(10),
};

/// The contractor's records by external code: of each its id, where it can be read.
type Listed = BTreeMap<String, Vec<Option<String>>>;

#[derive(Serialize)]
struct Reconciliation {
    since: DateTime<Utc>,
    compared: usize,
    /// The contractor listed its records, so that unknown ones would have been seen.
    listed: bool,
    /// Records in the list under codes that are not of our form.
    foreign: usize,
    findings: Vec<Finding>,
}

pub(crate) async fn run(args: ReconcileArgs) -> Result<String, Failure> {
    let ReconcileArgs { since, json, channel, partner, database } = args;
    let channel = channel.channel;
    let partner =
        partner::connect(&partner.config()?, TIMEOUTS).context("the HTTP client cannot be set up")?;
    if !partner.searchable() && partner.listing().is_none() {
        return Err(Failure::Failed(anyhow!(
            "the contractor cannot be searched by external code (ABISU_PARTNER_SEARCH is off) and has no list of its \
             records (`list` in ABISU_PARTNER_PLATFORM_FILE): nothing can be compared"
        )));
    }
    let mut on = connect(database.clone()).await?;
    let mut books = sqlx::query_file_as!(Booked, "src/outbox/store/list_books.sql", channel, since)
        .fetch_all(&mut on)
        .await?;
    // The contractor may take long; nothing is held open meanwhile.
    drop(on);
    let (listed, foreign) = match partner.listing() {
        Some(_) => {
            let (listed, foreign) = ask_for_list(partner.as_ref(), since).await?;
            (Some(listed), foreign)
        }
        None => (None, 0),
    };
    let strangers = listed.as_ref().map(|listed| strangers(listed, &books)).unwrap_or_default();
    let mut on = connect(database).await?;
    let older = sqlx::query_file_as!(Booked, "src/outbox/store/find_booked.sql", &strangers)
        .fetch_all(&mut on)
        .await?;
    drop(on);
    let mut findings = unknown(listed.as_ref(), &strangers, &older);
    books.extend(older);
    let compared = books.len();
    for booked in books {
        let found = match listed.as_ref().and_then(|listed| listed.get(&booked.reference)) {
            Some(ids) => Found::Record { id: ids.iter().flatten().next().cloned(), count: ids.len() },
            None if partner.searchable() => search(partner.as_ref(), &booked.reference).await?,
            None => Found::Absent,
        };
        findings.extend(compare(booked, &found));
    }
    let result = Reconciliation { since, compared, listed: listed.is_some(), foreign, findings };
    let text = if json {
        serde_json::to_string_pretty(&result).map_err(|error| Failure::Failed(error.into()))? + "\n"
    } else {
        result.to_text()
    };
    if result.findings.is_empty() { Ok(text) } else { Err(Failure::Findings(text)) }
}

/// Everything that the contractor has of the time, and how many records of others are among it.
async fn ask_for_list(partner: &dyn Partner, since: DateTime<Utc>) -> Result<(Listed, usize), Failure> {
    let records = list::all(partner, since, Utc::now()).await.map_err(|why| match why {
        Unlisted::NoPass(why) => no_pass(why),
        Unlisted::Unclear(seen) => Failure::Failed(anyhow!("the contractor's list cannot be had: {seen}")),
    })?;
    let (mut listed, mut foreign) = (Listed::new(), 0);
    for record in records {
        match record.external_code.filter(|code| is_reference(code)) {
            Some(code) => listed.entry(code).or_default().push(record.id),
            None => foreign += 1,
        }
    }
    Ok((listed, foreign))
}

/// References in the list that are not among the books of this time.
fn strangers(listed: &Listed, books: &[Booked]) -> Vec<String> {
    let known: BTreeSet<&str> = books.iter().map(|booked| booked.reference.as_str()).collect();
    listed.keys().filter(|code| !known.contains(code.as_str())).cloned().collect()
}

/// Those of the strangers that are not in older books either.
fn unknown(listed: Option<&Listed>, strangers: &[String], older: &[Booked]) -> Vec<Finding> {
    let known: BTreeSet<&str> = older.iter().map(|booked| booked.reference.as_str()).collect();
    let unknown = strangers.iter().filter(|code| !known.contains(code.as_str()));
    unknown
        .map(|code| {
            let ids = listed.and_then(|listed| listed.get(code)).map(Vec::as_slice).unwrap_or_default();
            let named: Vec<&str> = ids.iter().flatten().map(String::as_str).collect();
            let seen = match named.as_slice() {
                [] => "record without a readable id".to_owned(),
                ids => format!("record {}", ids.join(", ")),
            };
            Finding {
                reference: code.clone(),
                difference: Difference::Unknown,
                push_state: None,
                partner_id: None,
                seen,
            }
        })
        .collect()
}

/// Looks one report up. A pass may end among thousands of questions, so one that told nothing is asked again with a new one.
async fn search(partner: &dyn Partner, reference: &str) -> Result<Found, Failure> {
    let pass = partner.pass().await.map_err(no_pass)?;
    match partner.find(&pass, reference).await {
        Found::Unclear(_) => {}
        told @ (Found::Record { .. } | Found::Absent) => return Ok(told),
    }
    partner.forget(&pass).await;
    let pass = partner.pass().await.map_err(no_pass)?;
    Ok(partner.find(&pass, reference).await)
}

fn no_pass(why: NoPass) -> Failure {
    Failure::Failed(match why {
        NoPass::Refused(status) => anyhow!("the contractor refuses our login (http {status})"),
        NoPass::Throttled(_) => anyhow!("the contractor asks for a pause: try again later"),
        NoPass::Unavailable(seen) => anyhow!("the contractor cannot be asked: {seen}"),
    })
}

impl Reconciliation {
    fn to_text(&self) -> String {
        let mut text = String::new();
        for Finding { reference, difference, push_state, partner_id, seen } in &self.findings {
            let state = push_state.as_deref().unwrap_or("no such report");
            let ours = partner_id.as_deref().map(|id| format!(" as {id}")).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{reference}  {}: ours {state}{ours}, theirs {seen}", difference.words());
        }
        let _ = writeln!(text, "{} reports compared, {} differ", self.compared, self.findings.len());
        if self.foreign > 0 {
            let _ = writeln!(text, "{} records there are not of our reports", self.foreign);
        }
        if !self.listed {
            text.push_str(
                "the contractor has no list: records there under references that we know nothing of stay unseen\n",
            );
        }
        text
    }
}
