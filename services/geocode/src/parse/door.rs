//! Numbers of houses: 12, 12A, 12 bis, 12-14, 5 zk., s/n; and what looks like one and is not: floors, postcodes, days.

use std::fmt;

use super::words::{MARKERS, Word};

/// No house has a higher number.
const HIGHEST: u32 = 9999;

/// Endings of Basque cases that are written on a number: "12an", at number 12.
const CASES: [&str; 10] = ["an", "ean", "ko", "eko", "aren", "ren", "tik", "ra", "zk", "zenbakia"];

/// Words that say where in a house somebody lives.
pub(super) const INDOORS: [&str; 43] = [
    "piso",
    "planta",
    "puerta",
    "pta",
    "esc",
    "escalera",
    "bajo",
    "bajos",
    "bj",
    "atico",
    "entresuelo",
    "entreplanta",
    "principal",
    "pral",
    "izda",
    "izq",
    "izqda",
    "izquierda",
    "dcha",
    "der",
    "dch",
    "derecha",
    "centro",
    "ctro",
    "ext",
    "int",
    "lonja",
    "local",
    "oficina",
    "bloque",
    "ezk",
    "ezkerra",
    "ezkerrean",
    "esk",
    "eskuina",
    "eskuinean",
    "eskuma",
    "solairua",
    "solairuan",
    "behea",
    "behean",
    "beheko",
    "atea",
];

/// The door of a house.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Door {
    /// A number, with a letter or "bis".
    Numbered {
        /// The number.
        number: u32,
        /// "A", "bis"; letters are capitals.
        extension: Option<String>,
    },
    /// The address has no number, and says so: "s/n", "z/g".
    Unnumbered,
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbered { number, extension: None } => write!(f, "{number}"),
            Self::Numbered { number, extension: Some(extension) } => write!(f, "{number} {extension}"),
            Self::Unnumbered => f.write_str("s/n"),
        }
    }
}

/// A door that is written at a place of the words, and the place behind it. Words that announce it are skipped.
pub(super) fn at(words: &[Word], start: usize) -> Option<(Door, usize)> {
    let mut place = start;
    while words.get(place).is_some_and(|word| MARKERS.contains(&word.fold.as_str())) {
        place += 1;
    }
    let word = words.get(place)?;
    if word.fold == "s/n" {
        return Some((Door::Unnumbered, place + 1));
    }
    let (number, mut extension) = read(&word.fold)?;
    place += 1;
    // "zenbakirik gabe" has no digit; "5 zk." has its marker behind it.
    if words
        .get(place)
        .is_some_and(|next| !next.apart && matches!(&next.fold[..], "zk" | "zenbakia" | "zenb"))
    {
        place += 1;
    }
    if extension.is_none()
        && let Some(next) = words.get(place).filter(|next| !next.apart)
    {
        extension = extension_of(next, words.get(place + 1));
        place += usize::from(extension.is_some());
    }
    Some((Door::Numbered { number, extension }, place))
}

/// A number with what is written on it.
fn read(word: &str) -> Option<(u32, Option<String>)> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (digits, rest) = word.split_at(end);
    if digits.is_empty() || is_postcode(word) {
        return None;
    }
    let number = digits.parse::<u32>().ok().filter(|number| (1..=HIGHEST).contains(number))?;
    let range = rest.strip_prefix(['-', '/']).unwrap_or(rest);
    if range.starts_with(|c: char| c.is_ascii_digit()) && range.len() < rest.len() {
        // Of a range the first number is known to the provider, if any.
        return Some((number, None));
    }
    if range.is_empty() || CASES.contains(&range) {
        return Some((number, None));
    }
    Some((number, Some(extension(range)?)))
}

fn extension(text: &str) -> Option<String> {
    match text {
        "bis" | "dup" => Some(text.to_owned()),
        "duplicado" => Some("dup".to_owned()),
        // º and ª are letters to Unicode, and floors to people.
        _ => {
            let mut letters = text.chars();
            let letter = letters.next().filter(char::is_ascii_alphabetic)?;
            letters.next().is_none().then(|| letter.to_ascii_uppercase().to_string())
        }
    }
}

/// A letter that stands by itself behind a number. "y", "e", "o" and a small "a" that something follows are words.
fn extension_of(word: &Word, next: Option<&Word>) -> Option<String> {
    let ends = next.is_none_or(|next| next.apart);
    match word.fold.as_str() {
        "y" | "e" | "o" if !ends => None,
        "a" if word.text == "a" && !ends => None,
        fold => extension(fold),
    }
}

/// Five digits of which the first two are a province.
pub(super) fn is_postcode(word: &str) -> bool {
    word.len() == 5
        && word.bytes().all(|b| b.is_ascii_digit())
        && word.get(..2).and_then(|code| code.parse::<u8>().ok()).is_some_and(|code| (1..=52).contains(&code))
}

/// Whether a word only says where in the house: a floor, a side, a letter.
pub(super) fn is_indoors(word: &Word) -> bool {
    let fold = word.fold.as_str();
    INDOORS.contains(&fold)
        || fold.contains(['º', 'ª'])
        || fold.chars().count() == 1
        || fold.starts_with(|c: char| c.is_ascii_digit())
}

/// Drops telephone numbers: nine digits or more, written together or in groups, and any other run of digits that is
/// longer than a postcode. The provider fails on them, and they are nobody's business.
pub(super) fn without_telephones(words: Vec<Word>) -> Vec<Word> {
    let digits = |word: &Word| word.fold.bytes().all(|b| b.is_ascii_digit());
    let mut kept: Vec<Word> = Vec::with_capacity(words.len());
    for run in words.chunk_by(|left, right| digits(left) && digits(right) && !right.apart) {
        let length = |run: &[Word]| run.iter().map(|word| word.fold.len()).sum::<usize>();
        let all = length(run);
        let telephone = run.iter().all(digits) && (all >= 9 || all > 5 && run.len() == 1);
        if !telephone {
            kept.extend_from_slice(run);
            continue;
        }
        // A house may stand right before it: "12 600 123 456".
        let national =
            |at: &usize| length(&run[*at..]) == 9 && run[*at].fold.starts_with(['6', '7', '8', '9']);
        let house = (1..run.len()).find(national).map_or(&run[..0], |at| &run[..at]);
        kept.extend(house.iter().filter(|word| !matches!(word.fold.as_str(), "34" | "0034")).cloned());
    }
    kept
}
