//! How a text is searched: which branch it takes, which words must match, and how sloppily.

use super::record::Record;
use crate::streets::{IRUNA, PLACES, STREETS, Street, VITORIA};

/// The server failed: a query that breaks its JSON, or a number it cannot hold.
pub(super) struct Broken;

const STOP_WORDS: [&str; 17] = [
    "de", "la", "el", "del", "los", "las", "y", "en", "por", "un", "una", "sin", "entre", "sobre", "con",
    "no", "a",
];
/// Words that stand in no portal's searchable text.
const NOT_SEARCHABLE: [&str; 9] =
    ["alava", "araba", "arabaalava", "espana", "spain", "euskadi", "pais", "vasco", "provincia"];
/// Portals of one answer.
const MOST_PORTALS: usize = 6;
const MOST_STREETS: usize = 7;

pub(super) fn search(q: &str) -> Result<Vec<Record>, Broken> {
    if q.contains(['"', '\\', '\n', '\r']) {
        return Err(Broken);
    }
    let trimmed = q.trim();
    let all_digits = !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits && (2..=5).contains(&trimmed.len()) {
        return Ok(postcodes(trimmed));
    }
    if trimmed.chars().any(|one| one.is_ascii_digit()) {
        return portals(trimmed);
    }
    if trimmed.to_uppercase().split_whitespace().any(|token| token.contains("S-N")) {
        let words = words(&trimmed.to_uppercase().replace("S-N", " "));
        let found = matching(&words, portal_text).into_iter();
        return Ok(found
            .flat_map(|street| street.portals.iter().map(move |portal| (street, portal)))
            .filter(|(_, portal)| portal.number == 0)
            .map(|(street, portal)| Record::Portal(street, portal))
            .collect());
    }
    Ok(streets_and_places(trimmed))
}

/// The record with this id. A door's id asked for as a street breaks the query.
pub(super) fn by_id(id: &str, kind: &str) -> Result<Option<Record>, Broken> {
    let street = STREETS.iter().find(|street| id.starts_with(street.id));
    match (kind, street) {
        ("callejero", Some(street)) if street.id == id => Ok(Some(Record::Street(street))),
        ("callejero", Some(_)) => Err(Broken),
        ("callejero", None) if !id.bytes().all(|byte| byte.is_ascii_digit()) => Err(Broken),
        ("portal", Some(street)) => {
            let number = id.strip_prefix(street.id).and_then(|number| number.parse::<u32>().ok());
            let portal = street.portals.iter().find(|portal| Some(portal.number) == number);
            Ok(portal.map(|portal| Record::Portal(street, portal)))
        }
        ("toponimo", _) => Ok(PLACES.iter().find(|place| place.id == id).map(Record::Place)),
        ("Municipio", _) => Ok([&VITORIA, &IRUNA].into_iter().find(|town| town.code == id).map(Record::Town)),
        _ => Ok(None),
    }
}

fn postcodes(prefix: &str) -> Vec<Record> {
    let mut codes: Vec<&str> =
        STREETS.iter().map(|street| street.postcode).filter(|code| code.starts_with(prefix)).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(Record::Postcode).collect()
}

/// The last number is the house number; every other word must be found in the street.
fn portals(q: &str) -> Result<Vec<Record>, Broken> {
    let mut words = words(q);
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let Some(at) = words.iter().rposition(is_number) else { return Ok(Vec::new()) };
    // A postcode is no word of a portal; alone at the end it would be taken for the house number.
    let postcode = |word: &String| is_number(word) && word.len() == 5;
    let hopeless = words.iter().any(|word| postcode(word) || NOT_SEARCHABLE.contains(&word.as_str()));
    // The scoring script holds 32 bits.
    let number: i64 = words.remove(at).parse::<i32>().map_err(|_| Broken)?.into();
    if hopeless || words.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: Vec<(i64, Record)> = matching(&words, portal_text)
        .into_iter()
        .flat_map(|street| street.portals.iter().map(move |portal| (street, portal)))
        .filter(|(_, portal)| portal.number > 0)
        .map(|(street, portal)| {
            let distance = (i64::from(portal.number) - number).saturating_pow(2);
            // The other side of the street counts twice as far.
            let sides = if (i64::from(portal.number) - number) % 2 == 0 { 1 } else { 2 };
            (distance.saturating_mul(sides), Record::Portal(street, portal))
        })
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    Ok(found.into_iter().take(MOST_PORTALS).map(|(_, record)| record).collect())
}

fn streets_and_places(q: &str) -> Vec<Record> {
    let words = words(q);
    let mut found: Vec<Record> = [&VITORIA, &IRUNA]
        .into_iter()
        .filter(|town| matches(&words, &self::words(town.name)))
        .map(Record::Town)
        .collect();
    let named = matching(&words, street_text).into_iter().take(MOST_STREETS);
    found.extend(named.map(Record::Street));
    let places = PLACES.iter().filter(|place| matches(&words, &self::words(place.name)));
    found.extend(places.map(Record::Place));
    found
}

/// What is searched for a door: type, name and town, in Spanish only.
fn portal_text(street: &Street) -> Vec<String> {
    words(&format!("{} {} {}", street.kind, street.name, street.town.name))
}

/// For a street the other language counts as well.
fn street_text(street: &Street) -> Vec<String> {
    words(&format!("{} {} {} {}", street.kind, street.name, street.alias, street.town.name))
}

fn matching(words: &[String], text: fn(&Street) -> Vec<String>) -> Vec<&'static Street> {
    STREETS.iter().filter(|street| matches(words, &text(street))).collect()
}

/// All words must be found; of more than three, one may miss.
fn matches(words: &[String], text: &[String]) -> bool {
    if words.is_empty() {
        return false;
    }
    let missing = words.iter().filter(|word| !text.iter().any(|other| alike(word, other))).count();
    missing == 0 || (words.len() > 3 && missing == 1)
}

/// Folded words without stop words. A hyphen is deleted, not a separator, and so is "km".
fn words(text: &str) -> Vec<String> {
    let text: String = text.to_lowercase().replace('-', "").replace("km", "").chars().map(fold).collect();
    let mut words: Vec<String> = Vec::new();
    for token in text.split(|one: char| !one.is_alphanumeric()) {
        // "12a" is a number and its extension.
        let digits = token.find(|one: char| !one.is_ascii_digit()).unwrap_or(token.len());
        let (number, rest) = token.split_at(digits);
        for word in [number, rest] {
            if !word.is_empty()
                && !STOP_WORDS.contains(&word)
                && (number.is_empty() || rest.len() != 1 || word != rest)
            {
                words.push(canonical(word).to_owned());
            }
        }
    }
    words
}

/// Abbreviated road types. The Basque word for street is not among them: it hurts.
fn canonical(word: &str) -> &str {
    match word {
        "c" | "cl" => "calle",
        "av" | "avda" | "etorbidea" => "avenida",
        "pl" | "pza" | "plz" | "enparantza" => "plaza",
        "pso" | "pº" => "paseo",
        other => other,
    }
}

fn fold(character: char) -> char {
    match character {
        'á' | 'à' | 'â' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'í' | 'ì' | 'î' => 'i',
        'ó' | 'ò' | 'ô' => 'o',
        'ú' | 'ù' | 'ü' => 'u',
        'ñ' => 'n',
        other => other,
    }
}

/// One edit for words of two to six letters, two from seven.
fn alike(one: &str, other: &str) -> bool {
    let number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    if one == other || number(one) || number(other) {
        return one == other;
    }
    let most = match one.chars().count() {
        0 | 1 => 0,
        2..=6 => 1,
        _ => 2,
    };
    edits(one, other) <= most
}

/// Insertions, deletions, replacements and swaps of neighbours.
fn edits(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != against);
            let mut best = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped = row > 0 && column > 0 && *letter == other[column - 1] && one[row - 1] == *against;
            if swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            next.push(best);
        }
        before_last = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_count_swaps_once() {
        assert_eq!(edits("gasteiz", "gasteis"), 1);
        assert_eq!(edits("alcla", "alcala"), 1);
        assert_eq!(edits("dato", "dtao"), 1);
        assert_eq!(edits("", "ab"), 2);
    }
}
