//! The street in a run of words: where its name begins and ends, what kind it is, and which door.

use super::door::{self, Door};
use super::lists::{BASQUE_MONTHS, BUILDINGS, JOINTS, LEADS, MONTHS, SHORT, STOPS, TELLING, VAGUELY};
use super::words::{MARKERS, Word};
use super::{Address, Parsed};
use crate::gazetteer::{Gazetteer, Locality};
use crate::street_type::{self, Reading, StreetType};

/// A name with more words is a story.
const LONGEST_NAME: usize = 8;
/// More words than this without a kind or a door are a story too.
const LONGEST_BARE: usize = 5;

fn is(word: Option<&Word>, list: &[&str]) -> bool {
    word.is_some_and(|word| list.contains(&word.fold.as_str()))
}

/// A door, if the words are one and say nothing of a street.
pub(super) fn number_only(words: &[Word]) -> Option<Door> {
    let words = unnumbered(words);
    let start = words.iter().take_while(|word| is(Some(word), &LEADS) || is(Some(word), &JOINTS)).count();
    let (door, end) = door::at(&words, start)?;
    words[end..].iter().all(door::is_indoors).then_some(door)
}

/// Understands words that are more than a number.
pub(super) fn understand(words: &[Word], names: &Gazetteer, question: bool) -> Parsed {
    let words = unnumbered(words);
    let (before, words) = words.split_at(lead(&words));
    let told = told(words);
    let words = told.unwrap_or(words);
    let Some(found) = find(words) else {
        return Parsed::Vague;
    };
    let Found { kind, kind_last, mut name, end, door: leading } = found;
    if let Some(town) = town_behind(words, end, names) {
        return Parsed::OtherTown(town.to_owned());
    }
    let kilometre = words.iter().position(|word| word.fold == "km").and_then(|at| door::at(words, at + 1));
    let door = kilometre.clone().or_else(|| behind(words, end)).map(|(door, _)| door).or(leading);
    let door = door.or_else(|| in_both_languages(words, end, kind?, kind_last));
    drop_own_town(&mut name, names);
    // "Entre Dato y Postas": the first of the two.
    if before.iter().any(|word| word.fold == "entre")
        && let Some(and) = name.iter().position(|word| is(Some(word), &["y", "eta"])).filter(|and| *and > 0)
    {
        name.truncate(and);
    }
    while name.last().is_some_and(|word| is(Some(word), &JOINTS)) && name.len() > 1 {
        name.pop();
    }
    let empty = |word: &Word| is(Some(word), &JOINTS) || kind.is_none() && is(Some(word), &LEADS);
    let says_something = name.iter().any(|word| !empty(word) && word.fold.chars().count() > 1);
    if !says_something || name.len() > LONGEST_NAME {
        return Parsed::Vague;
    }
    let telling = name.iter().any(|word| is(Some(word), &TELLING));
    if kind.is_none() && (telling || door.is_none() && (question || words.len() > LONGEST_BARE)) {
        return Parsed::Vague;
    }
    let many = name.len() > 1;
    let mut name: Vec<&str> =
        name.iter().map(|word| if many { written_out(word) } else { &word.text }).collect();
    if let (Some(kind), true, Some(last)) = (kind, kind_last, name.last_mut()) {
        *last = kind.bare(last);
    }
    Parsed::Address(Address { kind, kind_last, name: name.join(" "), door, kilometre: kilometre.is_some() })
}

/// A word of a name without its abbreviation: "Sta" is Santa.
fn written_out(word: &Word) -> &str {
    SHORT.iter().find(|(short, _)| *short == word.fold).map_or(&word.text, |(_, long)| long)
}

/// "sin número", "zenbakirik gabe" and an "sn" that no name follows ("Sn Francisco" is San) as one word.
fn unnumbered(words: &[Word]) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let name = |next: &Word| !next.apart && !door::is_indoors(next) && !is(Some(next), &STOPS);
        if word.fold == "sn" && !words.get(at + 1).is_some_and(name) {
            out.push(Word { fold: "s/n".to_owned(), ..word.clone() });
            continue;
        }
        match out.last_mut() {
            Some(last)
                if last.fold == "sin" && is(Some(word), &["numero", "num", "nº"])
                    || last.fold == "zenbakirik" && word.fold == "gabe" =>
            {
                "s/n".clone_into(&mut last.fold);
            }
            Some(_) | None => out.push(word.clone()),
        }
    }
    out
}

/// How many words lead to the address.
fn lead(words: &[Word]) -> usize {
    let mut at = 0;
    loop {
        let joints = words[at..].iter().take_while(|word| is(Some(word), &JOINTS)).count();
        let next = words.get(at + joints);
        if is(next, &LEADS) && joints + 1 < words.len() - at {
            at += joints + 1;
        } else if joints > 0
            && (at > 0 || kind_at(words, at + joints).is_some() || starts_with_en(&words[at..]))
        {
            return at + joints;
        } else {
            return at;
        }
    }
}

fn starts_with_en(words: &[Word]) -> bool {
    is(words.first(), &["en", "al", "es"]) && words.len() > 1
}

/// A kind of street that stands before a name.
fn kind_at(words: &[Word], at: usize) -> Option<&'static StreetType> {
    let word = words.get(at)?;
    if word.fold == "portal" {
        let named = words.get(at + 1).is_some_and(|next| !next.apart) && door::at(words, at + 1).is_none();
        return named.then(street_type::portal);
    }
    street_type::read(&word.fold)
        .filter(|reading| reading.spanish || reading.plain)
        .map(|reading| reading.kind)
}

struct Found {
    kind: Option<&'static StreetType>,
    kind_last: bool,
    name: Vec<Word>,
    /// The place behind the name, its kind included.
    end: usize,
    /// A door that stood before the street.
    door: Option<Door>,
}

/// The part that is the address where others are not: a quarter stands before its street ("Zabalgana, Derechos Humanos
/// 5"), and what is wrong before where ("hay un colchón en los Herrán 27").
fn told(words: &[Word]) -> Option<&[Word]> {
    let first = find(words);
    let names_door = |at: usize| {
        let (name, end) = name_from(words, at);
        let telling = name.iter().any(|word| is(Some(word), &TELLING) || is(Some(word), &VAGUELY));
        let says = !telling && (1..=LONGEST_BARE).contains(&name.len()) && !is(name.first(), &BUILDINGS);
        says && door::at(words, end).is_some_and(|(_, end)| words.get(end).is_none_or(|next| next.apart))
    };
    let bare = |first: &&Found| {
        let quarter = first.kind.is_none_or(StreetType::is_quarter) && first.door.is_none();
        quarter && behind(words, first.end).is_none() && !is(words.get(first.end), &STOPS)
    };
    if first.as_ref().filter(bare).is_some() {
        let street =
            |at: &usize| kind_at(words, *at).is_some_and(|kind| !kind.is_quarter()) || names_door(*at);
        let mut starts = (1..words.len()).filter(|at| words[*at].apart);
        return starts.find(street).map(|at| &words[at..]);
    }
    let kind = first.as_ref().and_then(|first| first.kind);
    let telling = kind.is_none() && words.iter().any(|word| is(Some(word), &TELLING));
    let mut places = (1..words.len()).filter(|at| telling && words[at - 1].fold == "en");
    places.find(|at| names_door(*at)).map(|at| &words[at..])
}

fn find(words: &[Word]) -> Option<Found> {
    // "12 de la calle Dato", "km 5 N-1"
    let leading =
        if is_day(words, 0) { None } else { door::at(words, usize::from(is(words.first(), &["km"]))) };
    let (door, start) = leading.map_or((None, 0), |(door, end)| (Some(door), end));
    let joints = words[start..].iter().take_while(|word| door.is_some() && is(Some(word), &JOINTS)).count();
    let start = start + joints;
    if let Some(kind) = kind_at(words, start) {
        let (mut name, end) = name_from(words, start + 1);
        let twice =
            |word: &Word| street_type::read(&word.fold).is_some_and(|r| r.basque && !r.spanish && r.plain);
        // "Calle Pintore kalea" says it twice; "Senda pasealekua" is a name and a kind.
        if name.len() > 1 && name.last().is_some_and(twice) {
            name.pop();
        }
        if !name.is_empty() && !name.iter().all(twice) {
            return Some(Found { kind: Some(kind), kind_last: false, name, end, door });
        }
    }
    if let Some((at, reading)) = inner_kind(words, start) {
        let found = from_inner(words, start, at, reading);
        return found.map(|(name, end, kind_last)| Found {
            kind: Some(reading.kind),
            kind_last,
            name,
            end,
            door,
        });
    }
    if kind_at(words, start).is_some() {
        return None;
    }
    let (name, end) = name_from(words, start);
    (!name.is_empty()).then_some(Found { kind: None, kind_last: false, name, end, door })
}

/// The first word for a kind that stands inside of the text.
fn inner_kind(words: &[Word], start: usize) -> Option<(usize, Reading)> {
    (start + 1..words.len()).find_map(|at| {
        let word = &words[at];
        if word.fold == "portal" && kind_at(words, at).is_some() && is(words.get(at - 1), &JOINTS) {
            let kind = street_type::portal();
            return Some((at, Reading { kind, spanish: true, basque: false, plain: true }));
        }
        let reading = street_type::read(&word.fold).filter(|_| !is(words.get(at - 1), &VAGUELY))?;
        let last = ends_name(words, at + 1) || at + 1 == words.len();
        (reading.plain || reading.basque && last).then_some((at, reading))
    })
}

/// The name that belongs to a kind inside of the text: behind it in Spanish, before it in Basque.
fn from_inner(words: &[Word], start: usize, at: usize, reading: Reading) -> Option<(Vec<Word>, usize, bool)> {
    let article = is(words.get(at - 1), &JOINTS) || words[at].apart || is(words.get(at - 1), &STOPS);
    let (after, end) = name_from(words, at + 1);
    if reading.spanish && !after.is_empty() && (article || !reading.basque) {
        return Some((after, end, false));
    }
    let from = (start..at)
        .rev()
        .take_while(|i| !is(words.get(*i), &STOPS) && !is(words.get(*i), &TELLING))
        .last()
        .unwrap_or(at);
    // A comma inside parts the name from what was said before.
    let from = (from + 1..at).rev().find(|i| words[*i].apart).unwrap_or(from);
    (from < at).then(|| (words[from..at].to_vec(), at + 1, true))
}

/// The words of a name, from a place to where it ends.
fn name_from(words: &[Word], start: usize) -> (Vec<Word>, usize) {
    let mut end = start;
    while end < words.len() && !(ends_name(words, end) || end > start && words[end].apart) {
        end += 1;
    }
    (words[start.min(end)..end].to_vec(), end)
}

fn ends_name(words: &[Word], at: usize) -> bool {
    let Some(word) = words.get(at) else {
        return true;
    };
    let joined = matches!(word.fold.as_str(), "y" | "eta") && kind_at(words, at + 1).is_some();
    let announced = MARKERS.contains(&word.fold.as_str()) && door::at(words, at).is_some();
    let number = door::at(words, at).is_some() && !is_day(words, at);
    is(Some(word), &STOPS) || word.fold == "km" || joined || announced || number
}

/// A number that is part of a name: "8 de Marzo", "Martxoaren 3".
fn is_day(words: &[Word], at: usize) -> bool {
    let day = words.get(at).and_then(|word| word.fold.trim_end_matches('a').parse::<u8>().ok());
    day.is_some_and(|day| (1..=31).contains(&day))
        && (is(words.get(at + 1), &["de"]) && is(words.get(at + 2), &MONTHS)
            || at > 0 && is(words.get(at - 1), &BASQUE_MONTHS))
}

/// The door behind a name: at once, behind a comma, or announced.
fn behind(words: &[Word], end: usize) -> Option<(Door, usize)> {
    (end..words.len()).find_map(|at| {
        let expected = at == end || words[at].apart || is(words.get(at), &MARKERS);
        let beside =
            at > end && is(words.get(at - 1), &["al", "del"]) && is(words.get(at.wrapping_sub(2)), &LEADS);
        if expected || beside { door::at(words, at) } else { None }
    })
}

/// The door of a street that is written in one language and, behind a slash, in the other: "Calle Dato / Dato kalea 12".
fn in_both_languages(words: &[Word], end: usize, kind: &StreetType, kind_last: bool) -> Option<Door> {
    let other = words.get(end + 1..).filter(|_| is(words.get(end), &["/"]))?;
    let found = find(other).filter(|found| found.kind == Some(kind) && found.kind_last != kind_last)?;
    behind(other, found.end).map(|(door, _)| door)
}

/// Another town behind the name: "Gran Vía 1 Bilbao", "Gran Vía en Bilbao".
fn town_behind<'n>(words: &[Word], end: usize, names: &'n Gazetteer) -> Option<&'n str> {
    let last = (end + 1..words.len()).find(|at| words[*at].apart).unwrap_or(words.len());
    (end..last).find_map(|at| {
        let folds: Vec<&str> = words[at..last].iter().map(|word| word.fold.as_str()).collect();
        match names.read(&folds) {
            Some(Locality::Other(name)) => Some(name),
            Some(Locality::Own) | None => None,
        }
    })
}

/// The city behind a name: "Calle Dato Vitoria", but not "Avenida de Vitoria".
fn drop_own_town(name: &mut Vec<Word>, names: &Gazetteer) {
    let cut = (1..name.len()).find(|at| {
        let folds: Vec<&str> = name[*at..].iter().map(|word| word.fold.as_str()).collect();
        names.names_city(&folds) && !is(name.get(at - 1), &JOINTS)
    });
    name.truncate(cut.unwrap_or(name.len()));
}
