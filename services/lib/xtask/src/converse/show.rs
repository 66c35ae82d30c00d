//! How a conversation looks in the terminal.

use dialogue::{Answer, Coverage, Effect, Lookup, ReplyBody, Verdict};

/// A message as a phone shows it, with what can be tapped under it.
pub(super) fn bubble(body: &ReplyBody) -> String {
    let (text, under) = match body {
        ReplyBody::Text(text) => (text, Vec::new()),
        ReplyBody::Buttons { text, buttons } => {
            (text, numbered(buttons.iter().map(|(_, title)| title.clone())))
        }
        ReplyBody::List { text, button, rows } => {
            let rows = rows.iter().map(|(_, title, description)| format!("{title}  {description}"));
            (text, [format!("[{button}]")].into_iter().chain(numbered(rows)).collect())
        }
        ReplyBody::LocationRequest { text } => (text, vec!["[⌖ /pin]".to_owned()]),
        ReplyBody::Form { text, cta, address, language } => {
            (text, vec![format!("[form “{cta}”, {}: {address}]", language.as_str())])
        }
    };
    let lines = text.lines().map(str::to_owned).chain(under);
    lines.map(|line| format!("  │ {}\n", line.trim_end())).collect()
}

fn numbered(titles: impl Iterator<Item = String>) -> Vec<String> {
    titles.zip(1..).map(|(title, number)| format!("[{number}] {title}")).collect()
}

/// What was looked up, and the answer.
pub(super) fn looked_up(lookup: &Lookup, answer: &Answer) -> String {
    let question = match lookup {
        Lookup::Covers(_) => "covers?",
        Lookup::Reverse(_) => "reverse?",
        Lookup::Resolve { .. } => "resolve?",
    };
    let said = match answer {
        Answer::Covers(Coverage::Inside { area_id, .. }) => format!("inside {area_id}"),
        Answer::Covers(Coverage::Outside { metres }) => format!("outside by {metres:.0} m"),
        Answer::Reverse(address) => address.clone().unwrap_or_else(|| "nobody knows".to_owned()),
        Answer::Resolve(verdict) => resolved(verdict),
    };
    format!("{question} {said}")
}

fn resolved(verdict: &Verdict) -> String {
    match verdict {
        Verdict::ExactDoor(candidate) => format!("exact door {}", candidate.address),
        Verdict::NearestDoor { candidate, asked, found } => {
            format!("nearest door {} ({asked} asked, {found} found)", candidate.address)
        }
        Verdict::StreetOnly { street } => format!("street only: {street}"),
        Verdict::Place(candidate) => format!("place {}", candidate.address),
        Verdict::Several(candidates) => format!("{} candidates", candidates.len()),
        Verdict::Vague => "vague".to_owned(),
        Verdict::Outside => "outside".to_owned(),
        Verdict::OtherTown(town) => format!("another town: {town}"),
        Verdict::NotFound => "not found".to_owned(),
        Verdict::Unavailable => "unavailable".to_owned(),
    }
}

/// A change to a report.
pub(super) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::OpenDraft { place, .. } => format!("draft opened at {}", address(place.address.as_deref())),
        Effect::MoveDraft { place, .. } => format!("draft moved to {}", address(place.address.as_deref())),
        Effect::DropDraft { .. } => "draft dropped".to_owned(),
        Effect::Receive { route, note, .. } => {
            format!("received: {route}, note {}", note.as_deref().unwrap_or("-"))
        }
        Effect::TakePhoto { .. } => "photo taken".to_owned(),
        Effect::RepeatReference { .. } => "the same reference again".to_owned(),
    }
}

fn address(known: Option<&str>) -> &str {
    known.unwrap_or("a point without address")
}
