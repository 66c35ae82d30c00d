//! Honest traffic: webhooks at a steady rate, whatever becomes of those before. Each is timed from when it was due, so
//! that a door that stands still is not mistaken for a caller that has nothing to say.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::ingest::door::{PATH, message_id, sign, webhook};
use crate::ingest::wire::Connection;
use crate::stats::percentile;

/// A caller that has heard nothing for so long gives up.
const GIVE_UP: Duration = Duration::from_secs(10);

/// A webhook and what became of it.
pub(super) struct Answer {
    /// Since the traffic began.
    pub(super) due: Duration,
    pub(super) took_ms: f64,
    /// The status, or why there was no whole answer.
    pub(super) ended: Result<u16, String>,
    /// The one message in it.
    pub(super) id: String,
}

/// Sends for so long, and waits for the last answer.
pub(super) async fn traffic(
    address: SocketAddr,
    per_second: u32,
    length: Duration,
) -> anyhow::Result<Vec<Answer>> {
    let idle: Arc<Mutex<Vec<Connection>>> = Arc::default();
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    let mut answers = Vec::new();
    for n in 0..u32::try_from(length.as_secs())? * per_second {
        let due = Duration::from_secs(1) * n / per_second;
        tokio::time::sleep_until((began + due).into()).await;
        let idle = Arc::clone(&idle);
        tasks.spawn(async move {
            let id = message_id();
            let status = tokio::time::timeout(GIVE_UP, post(address, &idle, &id)).await;
            let took_ms = (began.elapsed().saturating_sub(due)).as_secs_f64() * 1000.0;
            let ended = match status {
                Ok(status) => status.map_err(|error| format!("{error:#}")),
                Err(_) => Err(format!("no answer within {} s", GIVE_UP.as_secs())),
            };
            Answer { due, took_ms, ended, id }
        });
        while let Some(answer) = tasks.try_join_next() {
            answers.push(answer?);
        }
    }
    while let Some(answer) = tasks.join_next().await {
        answers.push(answer?);
    }
    Ok(answers)
}

/// Posts one message on a connection that is free, or on a new one.
async fn post(address: SocketAddr, idle: &Mutex<Vec<Connection>>, id: &str) -> anyhow::Result<u16> {
    let body = webhook(&[id.to_owned()]);
    let signature = sign(&body)?;
    // The service closes what has been idle for long.
    let free = || idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut connection = match std::iter::from_fn(free).find(Connection::is_open) {
        Some(connection) => connection,
        None => Connection::open(address).await?,
    };
    let status = connection.post(PATH, &signature, &body).await?;
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    Ok(status)
}

/// The milliseconds below which a share of the answers lies.
pub(super) fn latency(answers: &[Answer], share: f64) -> f64 {
    percentile(&mut answers.iter().map(|answer| answer.took_ms).collect::<Vec<_>>(), share)
}

/// How many had another status.
pub(super) fn other_than(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.ended != Ok(status)).count()
}

/// How the answers ended that did not as they should, and how many of each.
pub(super) fn otherwise<'a>(answers: impl IntoIterator<Item = &'a Answer>, status: u16) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for answer in answers {
        match &answer.ended {
            Ok(found) if *found == status => {}
            Ok(found) => *counts.entry(format!("status {found}")).or_default() += 1,
            Err(why) => *counts.entry(why.clone()).or_default() += 1,
        }
    }
    let told: Vec<String> = counts.into_iter().map(|(how, count)| format!("{count} × {how}")).collect();
    (!told.is_empty()).then(|| told.join(", "))
}
