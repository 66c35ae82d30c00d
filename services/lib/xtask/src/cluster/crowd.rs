//! Citizens who report while something happens to the system, and citizens who talk fast to see whether their words are
//! taken in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::json;
use tokio::task::JoinSet;

use crate::citizen::{Citizen, Form, Message, Simulator};

/// Citizens who report at the same time.
pub(super) const CROWD: usize = 50;
/// How long a citizen waits for an answer: what happens to the system is over long before.
const PATIENCE: Duration = Duration::from_secs(150);
/// What the fast talkers say; each is answered whatever came before, in words that tell what came before.
const WORDS: [&str; 3] = ["castellano", "euskara", "ayuda"];
/// The longest wait between two words of a talker: some come before the last is answered, all span the whole step.
const PAUSE_MS: u64 = 1_200;
/// Words of one talker. Answers beyond the burst that a pair is allowed (45) come one in six seconds.
const MOST_WORDS: usize = 40;

/// A new citizen.
pub(super) async fn citizen(simulator: &Simulator) -> anyhow::Result<Citizen> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    simulator.citizen(&format!("Citizen {number}"), &format!("3460000{number:04}"), "es").await
}

/// Lets so many citizens report, each beginning at another moment within `spread`, and returns their references.
pub(super) async fn report(
    simulator: &Simulator,
    citizens: usize,
    spread: Duration,
) -> anyhow::Result<Vec<String>> {
    let mut reports = JoinSet::new();
    for n in 0..citizens {
        let simulator = simulator.clone();
        let begin = spread * u32::try_from(n)? / u32::try_from(citizens)?;
        reports.spawn(async move {
            tokio::time::sleep(begin).await;
            report_once(&citizen(&simulator).await?).await
        });
    }
    let mut references = Vec::new();
    while let Some(report) = reports.join_next().await {
        references.push(report??);
    }
    Ok(references)
}

/// The four messages of a report, with a photo. Returns the reference.
async fn report_once(citizen: &Citizen) -> anyhow::Result<String> {
    citizen.say("Hola").await?;
    answer(citizen, "the language buttons", |message| message.buttons.len() == 2).await?;
    citizen.tap("Castellano").await?;
    answer(citizen, "the location request", |message| message.kind.contains("location")).await?;
    citizen.pin(42.8467, -2.6727).await?;
    answer(citizen, "the form", |message| message.flow.is_some()).await?;
    let taxonomy = flow_json::Taxonomy::builtin().map_err(|problems| anyhow::anyhow!("{}", problems[0]))?;
    let path = taxonomy.labels("container/overflowing/glass", "es").context("no such leaf")?;
    let form = Form { path, note: Some(format!("Lo vio {}", citizen.name)), photo: json!(true) };
    citizen.form(&form).await?;
    let told = answer(citizen, "the reference", |message| text(message).contains("REF-")).await?;
    let start = text(&told).find("REF-").unwrap_or_default();
    Ok(text(&told)[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect())
}

/// Waits for an answer of a kind. A reply may repeat, so the newest message is not always the next one.
async fn answer(citizen: &Citizen, what: &str, is: impl Fn(&Message) -> bool) -> anyhow::Result<Message> {
    let mut after = None;
    loop {
        let message = citizen.reply(after, PATIENCE).await.with_context(|| what.to_owned())?;
        if is(&message) {
            return Ok(message);
        }
        after = Some(message.index);
    }
}

fn text(message: &Message) -> &str {
    message.text.as_deref().unwrap_or_default()
}

/// Citizens who each say many words without waiting for answers, while something goes on, and what they should hear.
pub(super) struct Talkers {
    lessons: Lessons,
    talkers: JoinSet<anyhow::Result<(Citizen, Vec<usize>)>>,
}

/// What is answered to each word, by the language that was spoken before.
type Lessons = BTreeMap<(usize, usize), String>;

impl Talkers {
    /// Learns from a calm conversation what the answers are, then lets so many talk for this long.
    pub(super) async fn start(
        simulator: &Simulator,
        citizens: usize,
        length: Duration,
    ) -> anyhow::Result<Self> {
        let lessons = learn(&citizen(simulator).await?).await?;
        let mut talkers = JoinSet::new();
        for _ in 0..citizens {
            let citizen = citizen(simulator).await?;
            talkers.spawn(async move {
                let said = talk(&citizen, length).await?;
                anyhow::Ok((citizen, said))
            });
        }
        Ok(Self { lessons, talkers })
    }

    /// Waits for the last answers and compares. Returns how many words were said.
    pub(super) async fn finish(mut self) -> anyhow::Result<usize> {
        let mut words = 0;
        while let Some(talked) = self.talkers.join_next().await {
            let (citizen, said) = talked??;
            words += said.len();
            let expected = expected(&said, &self.lessons)?;
            heard(&citizen, &expected).await?;
        }
        Ok(words)
    }
}

/// Says every word after every language, slowly.
async fn learn(citizen: &Citizen) -> anyhow::Result<Lessons> {
    let mut lessons = Lessons::new();
    let mut after = None;
    let mut hear = async |word: usize| {
        citizen.say(WORDS[word]).await?;
        let message = citizen.reply(after, PATIENCE).await?;
        after = Some(message.index);
        anyhow::Ok(text(&message).to_owned())
    };
    for language in [0, 1] {
        for word in 0..WORDS.len() {
            hear(language).await?;
            lessons.insert((language, word), hear(word).await?);
        }
    }
    Ok(lessons)
}

/// Says words for a while, each after the one before was accepted. Never the same twice in a row, so that a reply that
/// comes twice can be told from two replies.
async fn talk(citizen: &Citizen, length: Duration) -> anyhow::Result<Vec<usize>> {
    let end = tokio::time::Instant::now() + length;
    let mut said = vec![0];
    citizen.say(WORDS[0]).await?;
    while tokio::time::Instant::now() < end && said.len() < MOST_WORDS {
        tokio::time::sleep(Duration::from_millis(rand::random_range(0..PAUSE_MS))).await;
        let last = said[said.len() - 1];
        let word = (last + rand::random_range(1..WORDS.len())) % WORDS.len();
        citizen.say(WORDS[word]).await?;
        said.push(word);
    }
    Ok(said)
}

/// The answers to these words, in order.
fn expected(said: &[usize], lessons: &Lessons) -> anyhow::Result<Vec<String>> {
    let mut language = 0;
    let mut answers = Vec::new();
    for &word in said {
        answers.push(lessons.get(&(language, word)).context("a word that was not learned")?.clone());
        // The first two words choose a language.
        language = if word < 2 { word } else { language };
    }
    Ok(answers)
}

/// Waits until the last answer is there, and compares all of them.
async fn heard(citizen: &Citizen, expected: &[String]) -> anyhow::Result<()> {
    let mut after = None;
    let mut heard: Vec<String> = Vec::new();
    while heard.len() < expected.len() {
        let message = citizen.reply(after, PATIENCE).await.with_context(|| {
            format!("{} heard {} of {} answers", citizen.name, heard.len(), expected.len())
        })?;
        after = Some(message.index);
        // A reply may repeat when the provider's answer was lost.
        if heard.last().is_none_or(|last| last != text(&message)) {
            heard.push(text(&message).to_owned());
        }
    }
    if let Some(place) = heard.iter().zip(expected).position(|(heard, expected)| heard != expected) {
        bail!("{}: answer {} of {} is out of order", citizen.name, place + 1, expected.len());
    }
    Ok(())
}

/// Checks that the contractor has each of these reports, once.
pub(super) async fn at_the_contractor(simulator: &Simulator, references: &[String]) -> anyhow::Result<()> {
    super::kube::until("every report is at the contractor's", PATIENCE, async || {
        let incidents = simulator.incidents().await?;
        let there = |reference: &&String| incidents.iter().any(|one| one.external_code == **reference);
        Ok(references.iter().all(|reference| there(&reference)).then_some(()))
    })
    .await?;
    let mut seen = BTreeMap::<String, usize>::new();
    for incident in simulator.incidents().await? {
        *seen.entry(incident.external_code).or_default() += 1;
    }
    let twice: Vec<_> = seen.iter().filter(|(_, count)| **count > 1).map(|(code, _)| code.as_str()).collect();
    ensure!(twice.is_empty(), "more than once at the contractor's: {}", twice.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard_depends_on_the_language_spoken_before() {
        let mut lessons = Lessons::new();
        for language in [0, 1] {
            for word in 0..3 {
                lessons.insert((language, word), format!("{language}{word}"));
            }
        }
        let heard = expected(&[0, 2, 1, 2, 0, 1], &lessons).unwrap();
        assert_eq!(heard, ["00", "02", "01", "12", "10", "01"]);
    }
}
