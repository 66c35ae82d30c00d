//! Names compared as people hear them: no case, no accents, no articles, and none of the spellings in which Basque
//! and Spanish differ (k/c, tx/ch, tz/z, b/v, h).
//!
//! The provider matches fuzzily and does not say so; whether a name is the one that was typed is decided here.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words that carry no difference between two street names.
const ARTICLES: [&str; 8] = ["de", "del", "la", "el", "los", "las", "y", "eta"];

/// Days of a month, as streets named by a date spell them.
const DAYS: [&str; 31] = [
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciseis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidos",
    "veintitres",
    "veinticuatro",
    "veinticinco",
    "veintiseis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
    "treinta",
    "treinta y uno",
];

/// A match of this or more needs no confirmation.
pub(crate) const STRONG: f64 = 0.85;
/// A match below this is none.
pub(crate) const WEAK: f64 = 0.5;

/// Lower case without accents.
pub(crate) fn fold(text: &str) -> String {
    text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

/// The day of a month in words.
pub(crate) fn spell_day(number: &str) -> Option<&'static str> {
    let day: usize = number.trim_end_matches(['º', 'ª', '°']).parse().ok()?;
    DAYS.get(day.checked_sub(1)?).copied()
}

/// A name reduced to what is heard: its words, without articles. Two spellings of one name have equal keys.
pub(crate) fn key(name: &str) -> Vec<String> {
    let folded = fold(name);
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let spelt = |word| if word == "primero" { DAYS[0] } else { spell_day(word).unwrap_or(word) };
    let mut words: Vec<&str> = words.flat_map(|word| spelt(word).split(' ')).collect();
    let telling = words.iter().any(|word| !ARTICLES.contains(word));
    if telling {
        words.retain(|word| !ARTICLES.contains(word));
    }
    words.into_iter().map(sound).filter(|word| !word.is_empty()).collect()
}

/// One word as it sounds.
fn sound(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut heard = String::with_capacity(letters.len());
    let mut at = 0;
    while at < letters.len() {
        let next = letters.get(at + 1).copied();
        let after = letters.get(at + 2).copied();
        let soft = |c: Option<char>| matches!(c, Some('e' | 'i'));
        let (out, used) = match (letters[at], next) {
            // One sign of its own for the sound of ch and tx.
            ('c', Some('h')) | ('t', Some('x')) => (Some('ç'), 2),
            ('t', Some('s' | 'z')) => (Some('s'), 2),
            ('c', next) if soft(next) => (Some('s'), 1),
            ('q', Some('u')) => (Some('k'), 2),
            ('c' | 'q', _) => (Some('k'), 1),
            ('g', Some('u')) if soft(after) => (Some('g'), 2),
            ('g', next) if soft(next) => (Some('j'), 1),
            ('z' | 'x', _) => (Some('s'), 1),
            ('v' | 'w', _) => (Some('b'), 1),
            ('y', _) => (Some('i'), 1),
            ('h', _) => (None, 1),
            (other, _) => (Some(other), 1),
        };
        // Doubled letters are heard once.
        if let Some(out) = out.filter(|out| out.is_ascii_digit() || !heard.ends_with(*out)) {
            heard.push(out);
        }
        at += used;
    }
    heard
}

/// How well a known name fits the one that was asked for, from 0 to 1. At least [`STRONG`]: the same name, perhaps
/// shortened to the surname. Between [`WEAK`] and that: a slip of the keyboard, or a part of the name; to be confirmed.
pub(crate) fn similarity(asked: &[String], known: &[String]) -> f64 {
    if asked.is_empty() || known.is_empty() {
        return 0.0;
    }
    let (asked_whole, known_whole) = (asked.concat(), known.concat());
    if asked_whole == known_whole {
        return 1.0;
    }
    let shortened = in_order(asked, known);
    if shortened && asked.last() == known.last() && asked_whole.chars().count() >= 4 {
        return 0.88;
    }
    match edits_within(&asked_whole, &known_whole) {
        Some(1) => return 0.8,
        Some(_) => return 0.7,
        None => {}
    }
    let long_enough = asked_whole.chars().count().min(known_whole.chars().count()) >= 4;
    if long_enough && (shortened || in_order(known, asked)) { 0.72 } else { 0.0 }
}

/// Whether every word of `part` is in `whole`, in the same order.
fn in_order(part: &[String], whole: &[String]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|word| rest.any(|other| other == word))
}

/// The number of edits between two names, if it is small enough for their length: one for up to six letters, two for
/// longer ones, none for very short ones.
fn edits_within(left: &str, right: &str) -> Option<usize> {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let allowed = match left.len().min(right.len()) {
        0..=2 => 0,
        3..=6 => 1,
        _ => 2,
    };
    if left.len().abs_diff(right.len()) > allowed {
        return None;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().filter(|edits| *edits <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(asked: &str, known: &str) -> f64 {
        similarity(&key(asked), &key(known))
    }

    #[test]
    fn spellings_of_one_name_are_the_same_name() {
        for (left, right) in [
            ("San Pedro", "DE SAN PEDRO"),
            ("Etxeberria", "Echeverría"),
            ("Gasteis", "Gasteiz"),
            ("cuchilleria", "Cuchillería"),
            ("8 de marzo", "Ocho de Marzo"),
            ("1º de mayo", "Primero de Mayo"),
            ("1 de mayo", "UNO DE MAYO"),
            ("Peña", "PENA"),
            ("Karmelo", "Carmelo"),
            ("Vitoria Gasteiz", "vitoriagasteiz"),
            ("La", "LA"),
        ] {
            assert!((compare(left, right) - 1.0).abs() < f64::EPSILON, "{left} {right}");
        }
    }

    #[test]
    fn a_surname_alone_is_strong_and_any_other_part_is_weak() {
        assert!(compare("Moraza", "Mateo Benigno de Moraza") >= STRONG);
        assert!(compare("Mateo Moraza", "Mateo Benigno de Moraza") >= STRONG);
        let part = compare("Mateo Benigno", "Mateo Benigno de Moraza");
        assert!((WEAK..STRONG).contains(&part), "{part}");
        let more = compare("Pintorería casco viejo", "Pintorería");
        assert!((WEAK..STRONG).contains(&more), "{more}");
    }

    #[test]
    fn a_slip_is_weak_and_another_name_is_none() {
        for (left, right) in [("Dado", "Dato"), ("Santa Marta", "Santa María"), ("Colomera", "Colomers")] {
            assert!((WEAK..STRONG).contains(&compare(left, right)), "{left} {right}");
        }
        for (left, right) in [("Dato", "Postas"), ("Sol", "Sal y más"), ("", "Dato"), ("Gorbea", "Florida")]
        {
            assert!(compare(left, right) < WEAK, "{left} {right}");
        }
    }
}
