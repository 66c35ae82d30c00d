//! The words of the conversation, from the key `chat` of the catalogs.
//!
//! The table below is the list of keys, each with the room it may take and the placeholders it must have.
//! [`check`] compares both catalogs with it, so a missing, orphaned or over-long entry is found before a
//! citizen meets it. The room is so dealt out that a word and a prompt, in both languages, fit one message.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

use crate::{Language, limits};

/// What an entry is for, which says how long it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A short word before a prompt.
    Word,
    /// What asks for an answer.
    Prompt,
    /// A plain text.
    Text,
    /// The title of a button.
    Button,
    /// The title of a list row.
    RowTitle,
    /// The description of a list row.
    RowDescription,
}

impl Kind {
    fn limit(self) -> usize {
        match self {
            Self::Word => 200,
            Self::Prompt => 300,
            Self::Text => 600,
            Self::Button => limits::BUTTON,
            Self::RowTitle => limits::ROW_TITLE,
            Self::RowDescription => limits::ROW_DESCRIPTION,
        }
    }
}

macro_rules! keys {
    ($($name:ident $text:literal $kind:ident [$($argument:literal),*];)*) => {
        /// An entry of the catalogs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Key { $($name),* }

        impl Key {
            const ALL: &[Self] = &[$(Self::$name),*];

            fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            fn kind(self) -> Kind {
                match self { $(Self::$name => Kind::$kind),* }
            }

            fn arguments(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($argument),*]),* }
            }
        }
    };
}

keys! {
    Greeting "greeting" Prompt [];
    ChooseLanguage "choose_language" Prompt [];
    LanguageName "language_name" Button [];
    AskLocation "ask_location" Prompt [];
    AskNumber "ask_number" Prompt ["street"];
    ConfirmNearest "confirm_nearest" Prompt ["asked", "found", "address"];
    Confirm "confirm" Prompt ["address"];
    ConfirmYes "confirm_yes" Button [];
    ConfirmNo "confirm_no" Button [];
    Choose "choose" Prompt [];
    ChooseButton "choose_button" Button [];
    ChooseNone "choose_none" RowTitle [];
    ChooseNoneDescription "choose_none_description" RowDescription [];
    AskForm "ask_form" Prompt ["address"];
    FormButton "form_button" Button [];
    PinName "pin_name" RowDescription [];

    Stale "stale" Word [];
    PhotoInForm "photo_in_form" Word [];
    LiveLocation "live_location" Word [];
    Unreadable "unreadable" Word [];
    BadPoint "bad_point" Word [];
    Vague "vague" Word [];
    Outside "outside" Word [];
    OtherTown "other_town" Word ["town"];
    NotFound "not_found" Word [];
    Unavailable "unavailable" Word [];
    FormUnreadable "form_unreadable" Word [];
    Help "help" Word [];
    GaveUp "gave_up" Word [];

    FormReminder "form_reminder" Text ["button"];
    PlaceKept "place_kept" Text ["address"];
    Cancelled "cancelled" Text [];
    NothingToCancel "nothing_to_cancel" Text [];
    Thanks "thanks" Text [];
    PhotoTaken "photo_taken" Text [];
    Informational "informational" Text [];
    WriteToStart "write_to_start" Text [];
    Received "received" Text ["reference"];
    ReceivedCategory "received_category" Text ["category"];
    ReceivedAddress "received_address" Text ["address"];
    ReceivedMore "received_more" Text [];
    OneMoment "one_moment" Text [];
    FormDelayed "form_delayed" Text [];
    UpdateApp "update_app" Text [];
    PhotoAgain "photo_again" Text [];
    DraftGone "draft_gone" Text [];
}

/// Something wrong in a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Not readable as YAML of the expected shape.
    #[error("catalogs/{language}.yaml is not readable: {reason}")]
    NotReadable {
        /// Which catalog.
        language: &'static str,
        /// The parser's words.
        reason: String,
    },
    /// An entry is needed and not there.
    #[error("catalogs/{language}.yaml: chat.{key} is missing")]
    Missing {
        /// Which catalog.
        language: &'static str,
        /// Which entry.
        key: &'static str,
    },
    /// An entry is there and nobody says it.
    #[error("catalogs/{language}.yaml: chat.{key} is used nowhere; remove it")]
    Orphan {
        /// Which catalog.
        language: &'static str,
        /// Which entry.
        key: String,
    },
    /// An entry is empty or surrounded by space.
    #[error("catalogs/{language}.yaml: chat.{key} is empty or has space around it")]
    Ragged {
        /// Which catalog.
        language: &'static str,
        /// Which entry.
        key: &'static str,
    },
    /// An entry is too long in UTF-16 units.
    #[error("catalogs/{language}.yaml: chat.{key} is {length} long; at most {limit} are possible")]
    TooLong {
        /// Which catalog.
        language: &'static str,
        /// Which entry.
        key: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// An entry has other placeholders than it must.
    #[error("catalogs/{language}.yaml: chat.{key} must have the placeholders {expected:?}, each once")]
    Placeholders {
        /// Which catalog.
        language: &'static str,
        /// Which entry.
        key: &'static str,
        /// What it must have.
        expected: &'static [&'static str],
    },
}

#[derive(Deserialize)]
struct Catalog {
    chat: BTreeMap<String, String>,
}

fn source(language: Language) -> &'static str {
    match language {
        Language::Es => include_str!("../../../../catalogs/es.yaml"),
        Language::Eu => include_str!("../../../../catalogs/eu.yaml"),
    }
}

/// Checks both embedded catalogs; services call it at start, a test at build time.
///
/// # Errors
/// Everything that is wrong, not only the first.
pub fn check() -> Result<(), Vec<Problem>> {
    let embedded = Language::ALL.map(|language| (language, source(language).to_owned()));
    let problems = check_all(&embedded);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Everything that is wrong with the catalogs of a city.
#[must_use]
pub fn check_all(catalogs: &[(Language, String)]) -> Vec<Problem> {
    catalogs.iter().flat_map(|(language, text)| check_catalog(language.as_str(), text)).collect()
}

/// Speaks by the catalogs of a city, one for each language, from now on. Once, at the start, before anything is said:
/// what was said once in this process keeps its words.
///
/// # Errors
/// Everything that is wrong; then nothing changes.
pub fn install(catalogs: &[(Language, String)]) -> Result<(), Vec<Problem>> {
    let problems = check_all(catalogs);
    if !problems.is_empty() {
        return Err(problems);
    }
    let of = |language| {
        let found = catalogs.iter().find(|(known, _)| *known == language);
        parse(found.map_or_else(|| source(language), |(_, text)| text.as_str()))
    };
    // A second call changes nothing.
    let _ = LOADED.set(Language::ALL.map(of));
    Ok(())
}

fn check_catalog(language: &'static str, yaml: &str) -> Vec<Problem> {
    let entries = match serde_saphyr::from_str::<Catalog>(yaml) {
        Ok(catalog) => catalog.chat,
        Err(error) => return vec![Problem::NotReadable { language, reason: error.to_string() }],
    };
    let mut problems = Vec::new();
    for &key in Key::ALL {
        let name = key.name();
        let Some(text) = entries.get(name) else {
            problems.push(Problem::Missing { language, key: name });
            continue;
        };
        if text.trim() != text || text.is_empty() {
            problems.push(Problem::Ragged { language, key: name });
        }
        let (length, limit) = (limits::length(text), key.kind().limit());
        if length > limit {
            problems.push(Problem::TooLong { language, key: name, length, limit });
        }
        let mut found: Vec<&str> = pieces(text).filter_map(|(_, argument)| argument).collect();
        let mut expected = key.arguments().to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected {
            problems.push(Problem::Placeholders { language, key: name, expected: key.arguments() });
        }
    }
    let known: Vec<&str> = Key::ALL.iter().map(|key| key.name()).collect();
    let orphans = entries.into_keys().filter(|key| !known.contains(&key.as_str()));
    problems.extend(orphans.map(|key| Problem::Orphan { language, key }));
    problems
}

/// A template as pieces of plain text, each followed by a placeholder, the last by none.
fn pieces(template: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    template.split_inclusive('}').map(|piece| {
        match piece.strip_suffix('}').and_then(|open| open.rsplit_once('{')) {
            Some((plain, argument)) => (plain, Some(argument)),
            None => (piece, None),
        }
    })
}

/// By language, in the order of [`Language::ALL`].
static LOADED: OnceLock<[BTreeMap<String, String>; 2]> = OnceLock::new();

fn parse(yaml: &str) -> BTreeMap<String, String> {
    serde_saphyr::from_str::<Catalog>(yaml)
        .expect("the embedded catalogs are checked by a test of this crate, others before they are taken")
        .chat
}

fn entries(language: Language) -> &'static BTreeMap<String, String> {
    let [spanish, basque] = LOADED.get_or_init(|| Language::ALL.map(|language| parse(source(language))));
    match language {
        Language::Es => spanish,
        Language::Eu => basque,
    }
}

/// An entry in one language, its placeholders filled in. What is filled in is never read as a template.
pub(crate) fn say(language: Language, key: Key, arguments: &[(&str, &str)]) -> String {
    let template = entries(language).get(key.name()).map_or("", String::as_str);
    let mut text = String::with_capacity(template.len());
    for (plain, argument) in pieces(template) {
        text.push_str(plain);
        if let Some(name) = argument {
            text.push_str(arguments.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
        }
    }
    text
}

/// An entry in the voice of a session: one language, or both under each other.
pub(crate) fn voiced(voice: Option<Language>, key: Key, arguments: &[(&str, &str)]) -> String {
    match voice {
        Some(language) => say(language, key, arguments),
        None => Language::ALL.map(|language| say(language, key, arguments)).join("\n\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_catalogs_have_every_entry_within_its_limits() {
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn what_is_wrong_in_a_catalog_is_named() {
        let good = source(Language::Es);
        let problems = |from: &str, to: &str| check_catalog("es", &good.replacen(from, to, 1));
        assert!(matches!(
            problems("  choose:", "  chosen:")[..],
            [Problem::Missing { key: "choose", .. }, Problem::Orphan { .. }]
        ));
        let long = format!("  choose_button: \"{}\"\n  unused_button:", "👍".repeat(11));
        assert!(matches!(
            problems("  choose_button:", &long)[..],
            [Problem::TooLong { key: "choose_button", length: 22, limit: 20, .. }, Problem::Orphan { .. }]
        ));
        assert!(matches!(
            problems("{street}", "{calle}")[..],
            [Problem::Placeholders { key: "ask_number", .. }]
        ));
        assert!(matches!(check_catalog("es", "chat: [")[..], [Problem::NotReadable { .. }]));
    }

    #[test]
    fn what_is_filled_in_is_never_read_as_a_template() {
        let text = say(
            Language::Es,
            Key::ConfirmNearest,
            &[("asked", "{found}"), ("found", "3"), ("address", "{asked} } {")],
        );
        assert!(text.contains("{found}") && text.contains("{asked} } {"), "{text}");
    }
}
