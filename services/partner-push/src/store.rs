//! What the service reads and writes besides the outbox itself, whose SQL is in `bus`.

use std::time::Duration;

use bus::outbox::{self, Evidence, Outcome, Step};
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

/// How a push ended, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct Settlement {
    pub(crate) report_id: Uuid,
    pub(crate) epoch: i64,
    /// The attempt that ended with it, if a request left.
    pub(crate) attempt: Option<(Uuid, Evidence)>,
    /// The database did not confirm that the attempt was opened: it may be committed behind our back.
    pub(crate) unconfirmed: bool,
    pub(crate) outcome: Outcome,
    /// How the record's id can still be had, and when to ask first.
    pub(crate) to_come: Option<(ToCome, Duration)>,
    /// Why it was not sent, for the report's row.
    pub(crate) error: Option<String>,
    pub(crate) trace_id: Option<String>,
    /// Of the timeline's step, without personal data.
    pub(crate) detail: Value,
}

/// How the id of a record that exists can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToCome {
    /// The partner tells it for this token.
    ForToken(String),
    /// It is looked up by the external code.
    BySearch,
}

/// A report that is sent and whose record's id is to be asked for now.
#[derive(Debug, Clone)]
pub(crate) struct Nameless {
    pub(crate) report_id: Uuid,
    pub(crate) reference: String,
    pub(crate) how: ToCome,
}

/// The timeline's word for an outcome.
const fn step(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Sent { .. } => "pushed",
        Outcome::Retry(_) => "push_retry",
        Outcome::Defer(_) => DEFERRED,
        Outcome::Review => "push_review",
        Outcome::Dead => "push_dead",
    }
}

const DEFERRED: &str = "push_deferred";
/// The timeline's word for a search that found nothing.
const ABSENT: &str = "push_absent";
/// The timeline's word for a report that goes out again because it was proven absent.
const AGAIN: &str = "push_again";

/// Settles the report, closes the attempt and writes the step, in one statement. False: the report is in other hands;
/// then only the evidence is written, which is true whoever holds it.
pub(crate) async fn settle(on: &mut PgConnection, end: &Settlement) -> Result<bool, bus::Error> {
    let token = end.to_come.as_ref().map(|(to_come, first)| match to_come {
        ToCome::ForToken(token) => (Some(token.as_str()), *first),
        ToCome::BySearch => (None, *first),
    });
    let name = step(&end.outcome);
    let settlement = outbox::Settlement {
        report_id: end.report_id,
        epoch: end.epoch,
        outcome: &end.outcome,
        error: end.error.as_deref(),
        attempt: end.attempt.as_ref().map(|(id, evidence)| (*id, evidence)),
        awaited: token,
        step: Some(Step {
            name,
            once_in_a_row: name == DEFERRED,
            trace_id: end.trace_id.as_deref(),
            detail: &end.detail,
        }),
    };
    match outbox::settle(on, &settlement).await {
        Ok(()) => Ok(true),
        Err(bus::Error::Fenced) => Ok(false),
        Err(error @ bus::Error::Database(_)) => Err(error),
    }
}

/// The same for an attempt that may be committed behind our back: what a statement sees is as old as its beginning, so
/// the attempt is closed by one of its own, once the report's lock is ours.
pub(crate) async fn settle_unconfirmed(tx: &mut PgConnection, end: &Settlement) -> Result<bool, bus::Error> {
    let ours = settle(tx, end).await?;
    if let Some((attempt_id, evidence)) = &end.attempt {
        outbox::close_attempt(tx, *attempt_id, evidence).await?;
    }
    Ok(ours)
}

async fn insert_step(
    tx: &mut PgConnection,
    report_id: Uuid,
    step: &str,
    trace_id: Option<&str>,
    detail: &Value,
) -> Result<(), sqlx::Error> {
    sqlx::query_file!("src/store/insert_step.sql", report_id, step, trace_id, detail).execute(tx).await?;
    Ok(())
}

/// The compiled taxonomy of a version, from any language's release of it.
pub(crate) async fn compiled_taxonomy(pool: &PgPool, version: &str) -> Result<Option<Value>, sqlx::Error> {
    sqlx::query_scalar!("select compiled from flow.release where version = $1 limit 1", version)
        .fetch_optional(pool)
        .await
}

/// Reports whose id is to be asked for now. They are due again after `first`, doubling up to an hour.
pub(crate) async fn take_nameless(
    pool: &PgPool,
    channel: &str,
    first: Duration,
) -> Result<Vec<Nameless>, sqlx::Error> {
    let due =
        sqlx::query_file!("src/store/take_tokens.sql", channel, first.as_secs_f64()).fetch_all(pool).await?;
    let nameless = due.into_iter().map(|row| Nameless {
        report_id: row.report_id,
        reference: row.reference,
        how: row.token.map_or(ToCome::BySearch, ToCome::ForToken),
    });
    Ok(nameless.collect())
}

/// Writes the id that has come.
pub(crate) async fn write_id(pool: &PgPool, report_id: Uuid, id: &str) -> Result<(), sqlx::Error> {
    let trace_id = runtime::trace::current_id();
    sqlx::query_file!("src/store/redeem_token.sql", report_id, id, trace_id).execute(pool).await?;
    Ok(())
}

/// How the outbox of some channels stands.
#[derive(Debug)]
pub(crate) struct Depth {
    /// Received and not handed over yet.
    pub(crate) pending: i64,
    /// Of these, due now.
    pub(crate) ready: i64,
    /// Age of the oldest pending report.
    pub(crate) oldest_seconds: f64,
    /// Waiting for a person.
    pub(crate) review: i64,
    /// Given up.
    pub(crate) dead: i64,
}

pub(crate) async fn depth(pool: &PgPool, channels: &[String]) -> Result<Depth, sqlx::Error> {
    sqlx::query_file_as!(Depth, "src/store/measure_outbox.sql", channels).fetch_one(pool).await
}

/// A report in review whose last request may or may not have made a record.
#[derive(Debug, Clone)]
pub(crate) struct Doubtful {
    pub(crate) report_id: Uuid,
    pub(crate) epoch: i64,
    pub(crate) reference: String,
    pub(crate) attempt_id: Uuid,
    pub(crate) opened_at: DateTime<Utc>,
    /// Searches since then that found nothing.
    pub(crate) absences: i64,
}

/// So many doubtful reports are looked for at once, at most.
pub(crate) const DOUBTFUL_AT_ONCE: usize = 20;

/// Doubtful reports that are due for a search, oldest first: `first` after the request, again `second` after a search that
/// found nothing. Only those whose request left after `after`.
pub(crate) async fn doubtful(
    pool: &PgPool,
    channel: &str,
    first: Duration,
    second: Duration,
    after: Option<DateTime<Utc>>,
) -> Result<Vec<Doubtful>, sqlx::Error> {
    sqlx::query_file_as!(
        Doubtful,
        "src/store/find_doubtful.sql",
        channel,
        first.as_secs_f64(),
        second.as_secs_f64(),
        ABSENT,
        after
    )
    .fetch_all(pool)
    .await
}

/// A search that found nothing, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct Absence {
    pub(crate) report: Doubtful,
    /// So many of these make a proof.
    pub(crate) proof: i64,
    /// While the partner fails, the report lets others go first for so long.
    pub(crate) outage_wait: Duration,
    pub(crate) trace_id: Option<String>,
}

/// Notes a search that found nothing; the last one needed sends the report out again. True: it did. Counted under
/// the report's lock, so that two replicas that search at the same time count as one.
pub(crate) async fn note_absence(tx: &mut PgConnection, absence: &Absence) -> Result<bool, bus::Error> {
    let Absence { report, proof, outage_wait, trace_id } = absence;
    let attempt = report.attempt_id.to_string();
    if !outbox::lock_review(tx, report.report_id, report.epoch).await? {
        return Ok(false);
    }
    let known = sqlx::query_file_scalar!("src/store/count_absences.sql", report.report_id, ABSENT, attempt)
        .fetch_one(&mut *tx)
        .await?;
    if known != report.absences {
        return Ok(false);
    }
    let detail = serde_json::json!({ "attempt_id": attempt });
    let trace_id = trace_id.as_deref();
    insert_step(tx, report.report_id, ABSENT, trace_id, &detail).await?;
    if known + 1 < *proof {
        return Ok(false);
    }
    outbox::send_again(tx, report.report_id, report.epoch, *outage_wait).await?;
    let evidence = Evidence {
        outcome: "absent".to_owned(),
        http_status: None,
        partner_id: None,
        seen: "searched for and not found".to_owned(),
    };
    outbox::close_attempt(tx, report.attempt_id, &evidence).await?;
    insert_step(tx, report.report_id, AGAIN, trace_id, &detail).await?;
    Ok(true)
}
