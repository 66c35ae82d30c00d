//! One citizen's conversation, printed as the two sides see it.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flow_json::Taxonomy;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::photo;
use crate::citizen::{Citizen, Form, Message, Simulator};

/// How long an answer may take before the demo gives up. It is expected in well under a second.
const PATIENCE: Duration = Duration::from_secs(15);
/// Questions about a typed address before the form comes.
const MOST_QUESTIONS: usize = 3;

/// What one citizen does.
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) phone: &'static str,
    pub(super) language: &'static str,
    pub(super) greeting: &'static str,
    pub(super) language_button: &'static str,
    pub(super) place: Place,
    pub(super) route: &'static str,
    pub(super) note: &'static str,
}

/// How the place is told.
pub(super) enum Place {
    Pin { latitude: f64, longitude: f64 },
    Typed(&'static str),
}

/// What must now be true everywhere.
pub(super) struct Reported {
    pub(super) reference: String,
    pub(super) route: &'static str,
    pub(super) note: &'static str,
    pub(super) photo_sha256: String,
    /// Latitude and longitude, where the citizen sent a pin.
    pub(super) pin: Option<(f64, f64)>,
}

/// A conversation under way: what the citizen does, then the answer.
struct Talk {
    citizen: Citizen,
    last: Option<u64>,
    since: Instant,
}

/// Plays a script to its end.
pub(super) async fn play(
    script: &Script,
    simulator: &Simulator,
    taxonomy: &Taxonomy,
) -> anyhow::Result<Reported> {
    let citizen = simulator.citizen(script.name, script.phone, script.language).await?;
    heading(&format!("{} ({})", script.name, script.language_button));
    let mut talk = Talk { citizen, last: None, since: Instant::now() };

    talk.begin(script.greeting);
    talk.citizen.say(script.greeting).await?;
    talk.answer().await?;
    talk.begin(&format!("[{}]", script.language_button));
    talk.citizen.tap(script.language_button).await?;
    talk.answer().await?;
    let pin = match script.place {
        Place::Pin { latitude, longitude } => {
            talk.begin(&format!("⌖ {latitude}, {longitude}"));
            talk.citizen.pin(latitude, longitude).await?;
            Some((latitude, longitude))
        }
        Place::Typed(address) => {
            talk.begin(address);
            talk.citizen.say(address).await?;
            None
        }
    };
    let mut answer = talk.answer().await?;
    for _ in 0..MOST_QUESTIONS {
        // A typed address may be asked back: the first button says yes.
        let Some(yes) = answer.buttons.first().filter(|_| answer.flow.is_none()) else { break };
        talk.begin(&format!("[{}]", yes.title));
        talk.citizen.tap(&yes.title).await?;
        answer = talk.answer().await?;
    }
    if answer.flow.is_none() {
        bail!("{} got no form", script.name);
    }

    let path = taxonomy
        .labels(script.route, script.language)
        .with_context(|| format!("the taxonomy has no leaf {}", script.route))?;
    let shade = u8::try_from(script.name.len() * 7).unwrap_or(u8::MAX);
    let picture = photo::jpeg(shade);
    talk.begin(&format!("☰ {} · “{}” · photo of {} bytes", path.join(" › "), script.note, picture.len()));
    let sent = json!({"base64": STANDARD.encode(&picture), "mime_type": "image/jpeg"});
    talk.citizen.form(&Form { path, note: Some(script.note.to_owned()), photo: sent }).await?;
    let answer = talk.answer().await?;
    let text = answer.text.unwrap_or_default();
    let reference = find_reference(&text).with_context(|| format!("no reference in the answer {text:?}"))?;
    Ok(Reported {
        reference,
        route: script.route,
        note: script.note,
        photo_sha256: hex::encode(Sha256::digest(&picture)),
        pin,
    })
}

impl Talk {
    /// Prints what the citizen does now.
    fn begin(&mut self, what: &str) {
        println!("  {:<7} {what}", self.citizen.name);
        self.since = Instant::now();
    }

    /// Waits for the answer and prints it.
    async fn answer(&mut self) -> anyhow::Result<Message> {
        let message = self.citizen.reply(self.last, PATIENCE).await?;
        self.last = Some(message.index);
        let ms = self.since.elapsed().as_millis();
        let mut text = message.text.clone().unwrap_or_default();
        for button in &message.buttons {
            text.push_str(&format!("  [{}]", button.title));
        }
        if message.kind == "location_request" {
            text.push_str("  [⌖]");
        }
        if let Some(label) = message.flow.as_ref().and_then(|flow| flow["cta"].as_str()) {
            text.push_str(&format!("  [☰ {label}]"));
        }
        text.push_str(&format!("  ({ms} ms)"));
        for (n, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            println!("  {:<7} {line}", if n == 0 { "Abisu" } else { "" });
        }
        Ok(message)
    }
}

/// A line across the terminal with a title in it.
pub(super) fn heading(title: &str) {
    println!("\n── {title} {}", "─".repeat(70_usize.saturating_sub(title.chars().count())));
}

/// `REF-`, the year, and at least five digits.
fn find_reference(text: &str) -> Option<String> {
    let start = text.find("REF-")?;
    let word: String = text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let (year, number) = word.strip_prefix("REF-")?.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    (year.len() == 4 && digits(year) && number.len() >= 5 && digits(number)).then_some(word)
}

/// The value of a key that must be a text.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_reference_is_found() {
        let found = |text: &str| find_reference(text);
        assert_eq!(found("Gracias. Tu referencia es REF-2026-00001.").as_deref(), Some("REF-2026-00001"));
        assert_eq!(found("*REF-2026-123456*").as_deref(), Some("REF-2026-123456"));
        assert_eq!(found("REF-2026-0001"), None);
        assert_eq!(found("REF-26-00001"), None);
        assert_eq!(found("nothing"), None);
    }
}
