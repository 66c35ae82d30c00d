//! Whole conversations from `flows/conversations`, as a person would read them: what the citizen does, what the
//! map knows, what Abisu says. `UPDATE=1` rewrites what Abisu says; what the citizen does is written by hand.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::TimeDelta;
use dialogue::{
    Answer, Coverage, Effect, Event, EventKind, FormAnswer, Fresh, Language, Place, PromptFate, Reply,
    ReplyBody, Session, Verdict, received,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::kept::same_or_update;
use crate::scene::{self, settle};
use crate::table::assert_sound;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conversation {
    about: String,
    turns: Vec<Turn>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds_later: Option<i64>,
    citizen: Act,
    /// What became of the open prompt on its way, where it did not arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt_was: Option<Fate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    map: Vec<MapSays>,
    #[serde(default)]
    abisu: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    report: Vec<String>,
    #[serde(default)]
    now: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Act {
    Writes(String),
    /// The newest button or row that begins with these words.
    Taps(String),
    /// The oldest one.
    TapsOld(String),
    /// The name the client gives to the place, often empty.
    SendsPin(String),
    FillsForm(Filled),
    FillsOldForm(Filled),
    /// The newest form, from a client that drops the token and keeps the quote.
    FillsFormWithoutToken(Filled),
    Sends(Thing),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Filled {
    Category(Vec<String>),
    Informational,
    UnknownRoute,
    Malformed,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fate {
    Lost,
    Delayed,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Thing {
    Photo,
    /// While the report received last waits for a new photo.
    AskedPhoto,
    LiveLocation,
    Contacts,
    Unsupported,
    Reaction,
    Group,
    Revoke,
    System,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum MapSays {
    Inside,
    Outside,
    PinIsAt(String),
    PinHasNoName,
    ExactDoor(String),
    NearestDoor { address: String, asked: String, found: String },
    StreetOnly(String),
    Place(String),
    Several(Vec<String>),
    Vague,
    AddressOutside,
    OtherTown(String),
    NotFound,
    Unavailable,
}

impl MapSays {
    fn answer(&self) -> Answer {
        Answer::Resolve(match self {
            Self::Inside => return scene::inside(),
            Self::Outside => return Answer::Covers(Coverage::Outside { metres: 900.0 }),
            Self::PinIsAt(address) => return Answer::Reverse(Some(address.clone())),
            Self::PinHasNoName => return Answer::Reverse(None),
            Self::ExactDoor(address) => Verdict::ExactDoor(scene::candidate(address)),
            Self::NearestDoor { address, asked, found } => Verdict::NearestDoor {
                candidate: scene::candidate(address),
                asked: asked.clone(),
                found: found.clone(),
            },
            Self::StreetOnly(street) => Verdict::StreetOnly { street: street.clone() },
            Self::Place(name) => Verdict::Place(scene::candidate(name)),
            Self::Several(all) => Verdict::Several(all.iter().map(|one| scene::candidate(one)).collect()),
            Self::Vague => Verdict::Vague,
            Self::AddressOutside => Verdict::Outside,
            Self::OtherTown(town) => Verdict::OtherTown(town.clone()),
            Self::NotFound => Verdict::NotFound,
            Self::Unavailable => Verdict::Unavailable,
        })
    }
}

/// A telephone and a shell in one: what was shown, and the books of the reports.
#[derive(Default)]
struct Player {
    session: Session,
    /// Id and title of every button and row shown, oldest first.
    shown: Vec<(String, String)>,
    /// Token of every form shown, oldest first.
    forms: Vec<Uuid>,
    places: BTreeMap<Uuid, Place>,
    received: BTreeMap<Uuid, (Language, String, Vec<String>)>,
}

impl Player {
    fn event(&self, act: &Act) -> Event {
        match act {
            Act::Writes(words) => scene::text(words),
            Act::Taps(title) => self.tap(self.shown.iter().rev(), title),
            Act::TapsOld(title) => self.tap(self.shown.iter(), title),
            Act::SendsPin(name) => scene::pin(Some(name)),
            Act::FillsForm(filled) => scene::form(self.forms.last().copied(), filled.answer()),
            Act::FillsOldForm(filled) => scene::form(self.forms.first().copied(), filled.answer()),
            Act::FillsFormWithoutToken(filled) => {
                Event { in_reply_to: self.forms.last().copied(), ..scene::form(None, filled.answer()) }
            }
            Act::Sends(thing) => scene::event(match thing {
                Thing::Photo => EventKind::Photo,
                Thing::AskedPhoto => {
                    let report = self.session.last_report.as_ref().expect("a report was received");
                    EventKind::AwaitedPhoto { report_id: report.report_id, photo: scene::photo() }
                }
                Thing::LiveLocation => EventKind::LiveLocation,
                Thing::Contacts => EventKind::Contacts,
                Thing::Unsupported => EventKind::Unsupported,
                Thing::Reaction => EventKind::Reaction,
                Thing::Group => EventKind::Group,
                Thing::Revoke => EventKind::Revoke,
                Thing::System => EventKind::System,
            }),
        }
    }

    fn tap<'a>(&self, mut shown: impl Iterator<Item = &'a (String, String)>, title: &str) -> Event {
        let (id, title) = shown
            .find(|(_, shown)| shown.starts_with(title))
            .unwrap_or_else(|| panic!("no button begins with {title}"));
        scene::event(EventKind::Button { id: id.clone(), title: title.clone() })
    }

    fn apply(&mut self, effect: &Effect) -> (String, Vec<Reply>) {
        match effect {
            Effect::OpenDraft { report_id, place, .. } => {
                self.places.insert(*report_id, place.clone());
                ("draft opened".to_owned(), Vec::new())
            }
            Effect::MoveDraft { report_id, place } => {
                self.places.insert(*report_id, place.clone());
                ("draft moved".to_owned(), Vec::new())
            }
            Effect::DropDraft { .. } => ("draft dropped".to_owned(), Vec::new()),
            Effect::Receive { report_id, category, language, .. } => {
                let reference = format!("REF-2026-{:05}", self.received.len() + 1);
                self.received.insert(*report_id, (*language, reference.clone(), category.clone()));
                (format!("received as {reference}"), self.told(*report_id))
            }
            Effect::TakePhoto { .. } => ("photo added".to_owned(), Vec::new()),
            Effect::RepeatReference { report_id, .. } => {
                ("reference told again".to_owned(), self.told(*report_id))
            }
        }
    }

    fn told(&self, report_id: Uuid) -> Vec<Reply> {
        let (language, reference, category) = &self.received[&report_id];
        received(*language, reference, category, self.places[&report_id].address.as_deref())
    }

    fn look(&mut self, reply: &Reply) -> String {
        match &reply.body {
            ReplyBody::Text(text) => text.clone(),
            ReplyBody::Buttons { text, buttons } => {
                self.shown.extend(buttons.iter().cloned());
                let titles: Vec<_> = buttons.iter().map(|(_, title)| format!("[{title}]")).collect();
                format!("{text}\n{}", titles.join(" "))
            }
            ReplyBody::List { text, button, rows } => {
                self.shown.extend(rows.iter().map(|(id, title, _)| (id.clone(), title.clone())));
                let rows: Vec<_> =
                    rows.iter().map(|(_, title, more)| format!("  ({title}) {more}")).collect();
                format!("{text}\n[{button}]\n{}", rows.join("\n"))
            }
            ReplyBody::LocationRequest { text } => format!("{text}\n[send location]"),
            ReplyBody::Form { text, cta, .. } => {
                self.forms.extend(reply.prompt);
                format!("{text}\n[{cta}]")
            }
        }
    }
}

impl Filled {
    fn answer(&self) -> FormAnswer {
        match self {
            Self::Category(labels) => FormAnswer::Report {
                route: "any/leaf".to_owned(),
                category: labels.clone(),
                note: None,
                photo: None,
                more_photos: 0,
                version: None,
            },
            Self::Informational => FormAnswer::Informational,
            Self::UnknownRoute => FormAnswer::UnknownRoute,
            Self::Malformed => FormAnswer::Malformed,
        }
    }
}

fn play(conversation: &mut Conversation) {
    let (mut player, mut now, mut counter) = (Player::default(), scene::noon(), 0);
    for turn in &mut conversation.turns {
        now += TimeDelta::seconds(turn.seconds_later.unwrap_or(5));
        counter += 1;
        let fresh = Fresh { token: Uuid::from_u128(counter), report_id: Uuid::from_u128(counter << 64) };
        let prompt = match turn.prompt_was {
            None => PromptFate::Standing,
            Some(Fate::Lost) => PromptFate::Lost,
            Some(Fate::Delayed) => PromptFate::Delayed,
        };
        let event = Event { prompt, ..player.event(&turn.citizen) };
        let mut map = turn.map.iter();
        let transition = settle(&player.session, &event, &fresh, now, |lookup| {
            map.next().unwrap_or_else(|| panic!("the map must say something to {lookup:?}")).answer()
        });
        assert!(map.next().is_none(), "the map says more than was asked");
        assert_sound(&player.session, &transition);
        player.session = transition.session;
        let mut replies = Vec::new();
        turn.report.clear();
        for effect in &transition.effects {
            let (word, told) = player.apply(effect);
            turn.report.push(word);
            replies.extend(told);
        }
        replies.extend(transition.replies);
        turn.abisu = replies.iter().map(|reply| player.look(reply)).collect();
        turn.now = scene::name(&player.session.step).to_owned();
    }
}

#[test]
fn every_kept_conversation_goes_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../flows/conversations");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kept = std::fs::read_to_string(&path).unwrap();
        let mut conversation: Conversation =
            serde_saphyr::from_str(&kept).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        play(&mut conversation);
        same_or_update(&path, &kept, &serde_saphyr::to_string(&conversation).unwrap());
        played += 1;
    }
    assert!(played >= 10, "the conversations were found");
}
