//! The message that asks for what a step awaits. It is built from the step alone, so it can be said again at
//! any time.

use uuid::Uuid;

use crate::press::{self, Choice};
use crate::texts::{Key, say, voiced};
use crate::{Candidate, Language, LocationAsk, Place, Reply, ReplyBody, Session, Step, limits};

/// The prompt of a session, behind a word if there is one; `None` when nothing is awaited.
pub(crate) fn current(session: &Session, word: Option<&str>) -> Option<Reply> {
    let language = tongue(session);
    let body = match &session.step {
        Step::Idle => return None,
        Step::AwaitingLanguage { prompt } => {
            let text = behind(word, &voiced(None, Key::ChooseLanguage, &[]));
            ReplyBody::Buttons { text, buttons: languages(*prompt) }
        }
        Step::AwaitingLocation { prompt, ask } => asking(*prompt, ask, language, word),
        Step::AwaitingForm { place, .. } => form(place, language, word),
    };
    Some(Reply { body, prompt: session.prompt() })
}

/// The first message of a report: a greeting and the language buttons.
pub(crate) fn greeting(token: Uuid) -> Reply {
    let text = voiced(None, Key::Greeting, &[]);
    Reply { body: ReplyBody::Buttons { text, buttons: languages(token) }, prompt: Some(token) }
}

/// The question whether the nearest door is meant; later repeats ask in the simpler words of [`current`].
pub(crate) fn confirm_nearest(
    token: Uuid,
    language: Language,
    candidate: &Candidate,
    asked: &str,
    found: &str,
) -> Reply {
    let (asked, found) = (limits::fit(asked, limits::NUMBER), limits::fit(found, limits::NUMBER));
    let address = limits::fit(&candidate.address, limits::ADDRESS);
    let arguments = [("asked", asked.as_str()), ("found", &found), ("address", &address)];
    let text = say(language, Key::ConfirmNearest, &arguments);
    Reply { body: ReplyBody::Buttons { text, buttons: yes_no(token, language) }, prompt: Some(token) }
}

/// A plain text that awaits nothing.
pub(crate) fn text(text: &str) -> Reply {
    Reply { body: ReplyBody::Text(limits::fit(text, limits::TEXT)), prompt: None }
}

/// The language of a session past its selector. Such a session always has one; should a stored one lack it,
/// it is spoken to in Spanish rather than not at all.
pub(crate) fn tongue(session: &Session) -> Language {
    session.language.unwrap_or(Language::Es)
}

/// How a place is called to the citizen.
pub(crate) fn place_name(place: &Place, language: Language) -> String {
    let name = place.address.as_deref().and_then(|address| limits::line(address, limits::ADDRESS));
    name.unwrap_or_else(|| say(language, Key::PinName, &[]))
}

fn asking(token: Uuid, ask: &LocationAsk, language: Language, word: Option<&str>) -> ReplyBody {
    match ask {
        LocationAsk::Asked => {
            ReplyBody::LocationRequest { text: behind(word, &say(language, Key::AskLocation, &[])) }
        }
        LocationAsk::NumberFor { street } => {
            let street = limits::fit(street, limits::NAME);
            let text = say(language, Key::AskNumber, &[("street", &street)]);
            ReplyBody::LocationRequest { text: behind(word, &text) }
        }
        LocationAsk::Confirm { candidate } => {
            let address = limits::fit(&candidate.address, limits::ADDRESS);
            let text = say(language, Key::Confirm, &[("address", &address)]);
            ReplyBody::Buttons { text: behind(word, &text), buttons: yes_no(token, language) }
        }
        LocationAsk::Choose { options } => ReplyBody::List {
            text: behind(word, &say(language, Key::Choose, &[])),
            button: say(language, Key::ChooseButton, &[]),
            rows: rows(token, options, language),
        },
    }
}

fn form(place: &Place, language: Language, word: Option<&str>) -> ReplyBody {
    let address = place_name(place, language);
    ReplyBody::Form {
        text: behind(word, &say(language, Key::AskForm, &[("address", &address)])),
        cta: say(language, Key::FormButton, &[]),
        language,
        address,
    }
}

fn languages(token: Uuid) -> Vec<(String, String)> {
    Language::ALL
        .map(|language| (press::id(Choice::Language(language), token), say(language, Key::LanguageName, &[])))
        .to_vec()
}

fn yes_no(token: Uuid, language: Language) -> Vec<(String, String)> {
    vec![
        (press::id(Choice::Confirm(true), token), say(language, Key::ConfirmYes, &[])),
        (press::id(Choice::Confirm(false), token), say(language, Key::ConfirmNo, &[])),
    ]
}

/// Rows are numbered, so that two titles never look alike once cut and a typed number can choose.
fn rows(token: Uuid, options: &[Candidate], language: Language) -> Vec<(String, String, String)> {
    let mut rows: Vec<_> = options
        .iter()
        .take(limits::ROWS - 1)
        .enumerate()
        .map(|(index, option)| {
            let title = format!("{}. {}", index + 1, option.address);
            (
                press::id(Choice::Pick(Some(index)), token),
                limits::fit(&title, limits::ROW_TITLE),
                limits::fit(&option.address, limits::ROW_DESCRIPTION),
            )
        })
        .collect();
    rows.push((
        press::id(Choice::Pick(None), token),
        say(language, Key::ChooseNone, &[]),
        say(language, Key::ChooseNoneDescription, &[]),
    ));
    rows
}

fn behind(word: Option<&str>, prompt: &str) -> String {
    let text = word.map_or_else(|| prompt.to_owned(), |word| format!("{word}\n\n{prompt}"));
    limits::fit(&text, limits::BODY)
}
