//! The records that a platform has of a time, where it can list them: the only way to see what is there under codes that
//! we know nothing of.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::answer::{at, usable_id};
use crate::{NoPass, Partner};

/// How a platform lists its records by date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    /// An answer of so many records may have been cut.
    pub most: usize,
    /// No longer time may be asked for at once.
    pub longest: Duration,
}

/// A record, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// The external code that it was made under, where it shows one.
    pub external_code: Option<String>,
    /// The platform's id, where it can be read.
    pub id: Option<String>,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// What there is, perhaps cut.
    Records(Vec<Record>),
    /// No answer, or one that makes no sense. What was seen.
    Unclear(String),
}

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlisted {
    /// The platform does not let us in.
    NoPass(NoPass),
    /// What was seen instead of a list.
    Unclear(String),
}

/// All records between two moments, each once. A time whose list may have been cut is asked for in halves.
///
/// # Errors
/// The platform cannot list, cannot be asked, or has more records in one second than it shows.
pub async fn all(
    partner: &dyn Partner,
    from: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Result<Vec<Record>, Unlisted> {
    let unable = || Unlisted::Unclear("the platform cannot list its records".to_owned());
    let Listing { most, longest } = partner.listing().ok_or_else(unable)?;
    let mut windows = vec![(from, until)];
    // Neighbours share a moment, so a record may come twice.
    let mut records = BTreeSet::new();
    while let Some((from, until)) = windows.pop() {
        let length = (until - from).to_std().unwrap_or_default();
        let half = from + (until - from) / 2;
        if length > longest {
            windows.extend([(half, until), (from, half)]);
            continue;
        }
        match ask(partner, from, until).await? {
            Listed::Unclear(seen) => return Err(Unlisted::Unclear(seen)),
            Listed::Records(found) if found.len() < most => records.extend(found),
            Listed::Records(_) if length > Duration::from_secs(1) => {
                windows.extend([(half, until), (from, half)]);
            }
            Listed::Records(_) => {
                return Err(Unlisted::Unclear(format!("{most} records or more in one second")));
            }
        }
    }
    Ok(records.into_iter().collect())
}

/// One question. A pass may end among many, so one that told nothing is asked again with a new one.
async fn ask(partner: &dyn Partner, from: DateTime<Utc>, until: DateTime<Utc>) -> Result<Listed, Unlisted> {
    let pass = partner.pass().await.map_err(Unlisted::NoPass)?;
    let told = partner.list(&pass, from, until).await;
    if matches!(told, Listed::Records(_)) {
        return Ok(told);
    }
    partner.forget(&pass).await;
    match partner.pass().await {
        Ok(pass) => Ok(partner.list(&pass, from, until).await),
        Err(_) => Ok(told),
    }
}

/// A list of records, whose code and id are read by `code` and at `id`.
pub(crate) fn read(records: Option<Vec<Value>>, id: &str, code: impl Fn(&Value) -> Option<String>) -> Listed {
    let record = |one: &Value| Record { external_code: code(one), id: at(one, id).and_then(usable_id) };
    match records {
        Some(records) => Listed::Records(records.iter().map(record).collect()),
        None => Listed::Unclear("the question was not answered by a list".to_owned()),
    }
}
