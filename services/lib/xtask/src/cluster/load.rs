//! Signed webhooks at a steady rate, over the Service, each on a connection of its own, and what became of each.
//!
//! They are reactions to old messages: stored, claimed and settled like all events, and answered with silence, so that
//! the load falls on what is tested and not on the simulators.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};
use uuid::Uuid;

use super::site::NUMBER;

/// Webhooks a second.
const RATE: u32 = 200;
/// People who send them.
const PEOPLE: u32 = 500;
/// How long an answer may take. Longer than a provider waits: a call that was sent to a pod that is gone is never answered,
/// and must be told from one that is answered late because two cores carry the cluster, the database and the load.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same for a single call that may fail and is made again.
const LOOK: Duration = Duration::from_secs(5);

/// A load that is under way.
pub(super) struct Load {
    stop: oneshot::Sender<()>,
    task: JoinHandle<anyhow::Result<Outcome>>,
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Ids of the messages that were accepted with a 2xx.
    pub(super) acked: Vec<String>,
    /// How often another status was answered.
    pub(super) refused: BTreeMap<u16, u64>,
    /// What broke off without an answer, by what it was.
    pub(super) broken: BTreeMap<String, u64>,
    /// What never became a connection, so that nothing was sent, by what it was.
    pub(super) unconnected: BTreeMap<String, u64>,
    /// Of the answers with a 2xx.
    pub(super) slowest: Duration,
    pub(super) seconds: f64,
}

enum Answer {
    Acked(String, Duration),
    Refused(u16),
    Broken(String),
    Unconnected(String),
}

impl Load {
    /// Begins at once.
    pub(super) fn start(webhook: &str, secret: &str) -> anyhow::Result<Self> {
        let client = client(PATIENCE)?;
        let (stop, stopped) = oneshot::channel();
        let target = Arc::new((client, webhook.to_owned(), secret.to_owned()));
        Ok(Self { stop, task: tokio::spawn(run(target, stopped)) })
    }

    /// Ends it, and waits for the last answers.
    pub(super) async fn finish(self) -> anyhow::Result<Outcome> {
        let _ = self.stop.send(());
        self.task.await.context("the load ended badly")?
    }
}

/// Makes a new connection each time: so the load falls on all pods, also on those that come. A connection has less time
/// than the answer, so that one that never stood is told from an answer that never came.
fn client(patience: Duration) -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .pool_max_idle_per_host(0)
        .connect_timeout(patience * 4 / 5)
        .timeout(patience)
        .build()
}

async fn run(
    target: Arc<(reqwest::Client, String, String)>,
    mut stopped: oneshot::Receiver<()>,
) -> anyhow::Result<Outcome> {
    let began = Instant::now();
    let mut outcome = Outcome::default();
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    // Late on a busy machine: what was missed is made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut posts = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            _ = ticks.tick() => {
                let target = Arc::clone(&target);
                posts.spawn(async move { post(&target.0, &target.1, &target.2).await });
            }
            Some(answer) = posts.join_next() => outcome.note(answer??),
        }
    }
    outcome.seconds = began.elapsed().as_secs_f64();
    while let Some(answer) = posts.join_next().await {
        outcome.note(answer??);
    }
    Ok(outcome)
}

/// Posts one message of somebody.
async fn post(client: &reqwest::Client, webhook: &str, secret: &str) -> anyhow::Result<Answer> {
    let id = new_id();
    let person = format!("34611{:06}", rand::random_range(0..PEOPLE));
    let body = webhook_of(&message(&id, &person));
    let began = Instant::now();
    let request = client
        .post(webhook)
        .header("content-type", "application/json")
        .header("x-hub-signature-256", sign(secret, &body)?);
    Ok(match request.body(body).send().await {
        Ok(answer) if answer.status().is_success() => match answer.bytes().await {
            Ok(_) => Answer::Acked(id, began.elapsed()),
            Err(error) => Answer::Broken(kind(&error)),
        },
        Ok(answer) => Answer::Refused(answer.status().as_u16()),
        Err(error) if error.is_connect() => Answer::Unconnected(kind(&error)),
        Err(error) => Answer::Broken(kind(&error)),
    })
}

/// Posts so many messages, each of another person, in webhooks of so many, as fast as they are accepted.
pub(super) async fn burst(
    webhook: &str,
    secret: &str,
    messages: usize,
    at_once: usize,
) -> anyhow::Result<()> {
    let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
    for first in (0..messages).step_by(at_once) {
        let people = first..messages.min(first + at_once);
        let one = |person: usize| message(&new_id(), &format!("34622{person:06}"));
        let body = webhook_of(&people.map(one).collect::<Vec<_>>().join(","));
        let signature = sign(secret, &body)?;
        let request = client.post(webhook).header("content-type", "application/json");
        let answer = request.header("x-hub-signature-256", signature).body(body).send().await?;
        ensure!(answer.status().is_success(), "a webhook of the burst was answered with {}", answer.status());
    }
    Ok(())
}

/// Posts one message and returns the status; 0 when there was no answer.
pub(super) async fn post_once(webhook: &str, secret: &str) -> anyhow::Result<u16> {
    let client = client(LOOK)?;
    Ok(match post(&client, webhook, secret).await? {
        Answer::Acked(..) => 200,
        Answer::Refused(status) => status,
        Answer::Broken(_) | Answer::Unconnected(_) => 0,
    })
}

fn new_id() -> String {
    format!("wamid.load{}", Uuid::now_v7().simple())
}

/// A reaction, as it stands in a webhook.
fn message(id: &str, person: &str) -> String {
    format!(
        r#"{{"from":"{person}","id":"{id}","timestamp":"1764500000","type":"reaction","reaction":{{"message_id":"wamid.old","emoji":"👍"}}}}"#
    )
}

/// A webhook of Meta with these messages.
fn webhook_of(messages: &str) -> String {
    format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"900","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"34945000000","phone_number_id":"{NUMBER}"}},"messages":[{messages}]}}}}]}}]}}"#
    )
}

/// The value of the header with the signature.
fn sign(secret: &str, body: &str) -> anyhow::Result<String> {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?.chain_update(body);
    Ok(format!("sha256={}", hex::encode(mac.finalize().into_bytes())))
}

/// The innermost cause, which tells a reset from a time-out.
fn kind(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        let what = if error.is_connect() { "no connection in time" } else { "no answer in time" };
        return what.to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl Outcome {
    fn note(&mut self, answer: Answer) {
        match answer {
            Answer::Acked(id, took) => {
                self.acked.push(id);
                self.slowest = self.slowest.max(took);
            }
            Answer::Refused(status) => *self.refused.entry(status).or_default() += 1,
            Answer::Broken(kind) => *self.broken.entry(kind).or_default() += 1,
            Answer::Unconnected(kind) => *self.unconnected.entry(kind).or_default() += 1,
        }
    }

    /// Refuses a load in which anything else than a 2xx was answered.
    pub(super) fn all_acked(&self) -> anyhow::Result<()> {
        self.all_acked_but(0)
    }

    /// The same, but for so many of a hundred calls that never became a connection.
    pub(super) fn all_acked_but(&self, percent: usize) -> anyhow::Result<()> {
        self.only_refused(&[])?;
        let unconnected: u64 = self.unconnected.values().sum();
        let few = usize::try_from(unconnected)? * 100 <= self.acked.len() * percent;
        ensure!(self.broken.is_empty() && few, "through the Service, {self}");
        Ok(())
    }

    /// Refuses a load in which another status than these was answered, or none at all to most.
    pub(super) fn only_refused(&self, allowed: &[u16]) -> anyhow::Result<()> {
        let stray = self.refused.keys().any(|status| !allowed.contains(status));
        ensure!(!stray, "ingest answered what it should not: {self}");
        ensure!(!self.acked.is_empty(), "nothing was accepted: {self}");
        Ok(())
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rate = self.acked.len() as f64 / self.seconds.max(0.001);
        write!(
            f,
            "{} webhooks accepted ({rate:.0}/s), slowest {} ms",
            self.acked.len(),
            self.slowest.as_millis()
        )?;
        for (status, count) in &self.refused {
            write!(f, ", {count} × {status}")?;
        }
        for (kind, count) in self.broken.iter().chain(&self.unconnected) {
            write!(f, ", {count} × {kind}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_passes() {
        let mut outcome = Outcome { acked: vec!["a".into()], ..Outcome::default() };
        assert!(outcome.all_acked().is_ok());
        outcome.note(Answer::Refused(503));
        assert!(outcome.all_acked().is_err());
        assert!(outcome.only_refused(&[503]).is_ok());
        outcome.note(Answer::Refused(500));
        assert!(outcome.only_refused(&[503]).is_err());
        let broken = Outcome {
            broken: BTreeMap::from([("reset".into(), 1)]),
            acked: vec!["a".into(); 100],
            ..Outcome::default()
        };
        assert!(broken.all_acked().is_err() && broken.all_acked_but(1).is_err());
        let acked = vec!["a".to_owned(); 100];
        let mut unconnected = Outcome { acked, ..Outcome::default() };
        unconnected.note(Answer::Unconnected("no route".into()));
        assert!(unconnected.all_acked().is_err() && unconnected.all_acked_but(1).is_ok());
        unconnected.note(Answer::Unconnected("no route".into()));
        assert!(unconnected.all_acked_but(1).is_err());
    }

    #[test]
    fn a_signature_is_that_of_the_raw_bytes() {
        // A known pair of key, text and HMAC-SHA-256.
        assert_eq!(
            sign("key", "The quick brown fox jumps over the lazy dog").unwrap(),
            "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
        );
    }
}
