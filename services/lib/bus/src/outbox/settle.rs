//! The end of a loan: what becomes of the report, what was seen of its request, and the step on its timeline, in one
//! statement.

use std::time::Duration;

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Evidence;
use crate::{Error, secs};

/// What becomes of a push.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The record exists on the other side.
    Sent {
        /// Its id there, where it could be read.
        partner_id: Option<String>,
    },
    /// Certainly nothing was made: again after a while.
    Retry(Duration),
    /// It cannot go now, through no fault of its own: its attempt is given back.
    Defer(Duration),
    /// A record may exist: a person decides.
    Review,
    /// Refused for good, or out of attempts.
    Dead,
}

impl Outcome {
    /// The word that metrics and timelines use.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sent { .. } => "sent",
            Self::Retry(_) => "retry",
            Self::Defer(_) => "defer",
            Self::Review => "review",
            Self::Dead => "dead",
        }
    }
}

/// A step of the timeline.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The word for it.
    pub name: &'a str,
    /// Left out where the last step is the same.
    pub once_in_a_row: bool,
    /// The trace it belongs to.
    pub trace_id: Option<&'a str>,
    /// What more there is to say, without personal data.
    pub detail: &'a Value,
}

/// How a loan ends.
#[derive(Debug, Clone, Copy)]
pub struct Settlement<'a> {
    /// The report.
    pub report_id: Uuid,
    /// The token of the loan.
    pub epoch: i64,
    /// What becomes of it.
    pub outcome: &'a Outcome,
    /// Why it was not sent.
    pub error: Option<&'a str>,
    /// The attempt that ended with it.
    pub attempt: Option<(Uuid, &'a Evidence)>,
    /// The id of the record is still to come: the token it will be told for, or none where it is searched for, and when
    /// to ask first.
    pub awaited: Option<(Option<&'a str>, Duration)>,
    /// What the timeline says of it.
    pub step: Option<Step<'a>>,
}

/// Ends the loan of a report.
///
/// Fenced by the epoch, with one exception: proof that the record exists also turns a report sent that another worker
/// has claimed since, or has parked in review because it found this attempt open. The attempt is closed in either case.
///
/// # Errors
/// [`Error::Fenced`] when the report is in other hands: then nothing but the evidence was written.
pub async fn settle(on: &mut PgConnection, end: &Settlement<'_>) -> Result<(), Error> {
    runtime::failpoint!("push.answered");
    let (state, delay, partner_id, refund) = match end.outcome {
        Outcome::Sent { partner_id } => ("sent", Duration::ZERO, partner_id.as_deref(), 0),
        Outcome::Retry(delay) => ("pending", *delay, None, 0),
        Outcome::Defer(delay) => ("pending", *delay, None, 1),
        Outcome::Review => ("review", Duration::ZERO, None, 0),
        Outcome::Dead => ("dead", Duration::ZERO, None, 0),
    };
    let (attempt, evidence) = end.attempt.unzip();
    let token = end.awaited.map(|(token, _)| token.unwrap_or_default());
    let settled = sqlx::query_file!(
        "src/store/settle_report.sql",
        end.report_id,
        end.epoch,
        state,
        secs(delay),
        partner_id,
        refund,
        end.error,
        attempt,
        evidence.map(|evidence| evidence.outcome.as_str()),
        evidence.and_then(|evidence| evidence.http_status),
        evidence.and_then(|evidence| evidence.partner_id.as_deref()),
        evidence.map(|evidence| evidence.seen.as_str()),
        token,
        end.awaited.map(|(_, first)| secs(first)),
        end.step.map(|step| step.name),
        end.step.and_then(|step| step.trace_id),
        end.step.map(|step| step.detail),
        end.step.is_some_and(|step| step.once_in_a_row)
    )
    .fetch_one(on)
    .await?;
    runtime::failpoint!("push.settled");
    if settled.ours { Ok(()) } else { Err(Error::Fenced) }
}
