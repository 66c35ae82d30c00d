//! A typed text as words: what is written together is taken apart, what is no word is dropped, and every word knows
//! whether a comma, a line end or a bracket stands before it.

use unicode_normalization::UnicodeNormalization;

use crate::fold::fold;
use crate::street_type;

/// Longer texts are no addresses; what stands in their beginning decides.
const LONGEST: usize = 400;

/// Words that announce the number of a house.
pub(crate) const MARKERS: [&str; 14] =
    ["nº", "n", "no", "num", "numero", "nro", "nr", "n°", "#", "zk", "zenbakia", "zenbaki", "zenb", "portal"];

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// As typed, without marks at its ends.
    pub(crate) text: String,
    /// The same, folded.
    pub(crate) fold: String,
    /// A comma or the like stands before it.
    pub(crate) apart: bool,
}

/// Takes a text apart.
pub(crate) fn split(text: &str) -> Vec<Word> {
    let clean: String = text.nfc().take(LONGEST).map(plain).collect();
    let mut words = Vec::new();
    let mut apart = false;
    for piece in clean.split_inclusive([' ', ',']) {
        let ends = piece.ends_with(',');
        for token in tokens(piece.trim_end_matches([' ', ','])) {
            if token == "-" {
                apart = true;
                continue;
            }
            let fold = fold(&token);
            words.push(Word { text: token, fold, apart });
            apart = false;
        }
        apart |= ends;
    }
    words
}

/// One sign of the text as a sign that addresses are made of.
fn plain(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '°' => 'º',
        '’' | '`' | '´' => '\'',
        ',' | ';' | ':' | '|' | '(' | ')' | '[' | ']' | '\n' | '\r' | '\u{2028}' => ',',
        c if c.is_alphanumeric() || matches!(c, 'º' | 'ª' | '\'' | '.' | '/' | '-' | '#') => c,
        '&' => 'y',
        _ => ' ',
    }
}

/// What is written without a space, as words.
fn tokens(raw: &str) -> Vec<String> {
    let trimmed = raw.trim_matches(['.', '\'']);
    if trimmed.is_empty() {
        return Vec::new();
    }
    if trimmed.chars().all(|c| c == '-') {
        return vec!["-".to_owned()];
    }
    let trimmed = trimmed.trim_matches('-');
    let folded = fold(trimmed).replace('.', "");
    if matches!(folded.as_str(), "s/n" | "s-n" | "z/g" | "zg" | "s/nº") {
        return vec!["s/n".to_owned()];
    }
    if MARKERS.contains(&folded.as_str()) {
        return vec![folded];
    }
    if matches!(folded.as_str(), "pk" | "kp") {
        return vec!["km".to_owned()];
    }
    if let Some((left, right)) = trimmed.split_once('/') {
        return slashed(left, right);
    }
    if let Some((left, right)) = trimmed.split_once('.') {
        return [tokens(left), tokens(right)].concat();
    }
    if let Some(number) = trimmed.strip_prefix('#') {
        return [vec!["#".to_owned()], tokens(number)].concat();
    }
    glued(trimmed)
}

/// "C/Dato", "64/66", "Dato/Postas", "Vitoria/Gasteiz".
fn slashed(left: &str, right: &str) -> Vec<String> {
    let abbreviated = fold(left).replace('.', "");
    let digits = |text: &str| text.chars().next().is_some_and(|c| c.is_ascii_digit());
    if digits(left) && digits(right) {
        return vec![format!("{left}/{right}")];
    }
    // Behind a slash it is no letter and no other word, wherever it stands.
    if let Some(reading) = street_type::read(&abbreviated).filter(|reading| reading.spanish) {
        return [vec![reading.kind.es.to_lowercase()], tokens(right)].concat();
    }
    // Two names: a junction, or one town in two languages; the slash is kept for the reader to tell.
    [tokens(left), vec!["/".to_owned()], tokens(right)].concat()
}

/// "mayor12", "nº5", "km5"; but "N-1", "N102" and "12A" are one word.
fn glued(word: &str) -> Vec<String> {
    let Some(at) = word.find(|c: char| c.is_ascii_digit()) else {
        return vec![word.to_owned()];
    };
    let (letters, number) = word.split_at(at);
    let folded = fold(letters);
    let name = letters.chars().count() >= 3 && letters.chars().all(char::is_alphabetic);
    let marker = folded != "n" && MARKERS.contains(&folded.as_str()) || folded == "km";
    if name || marker { vec![letters.to_owned(), number.to_owned()] } else { vec![word.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_together_is_taken_apart() {
        for (text, words) in [
            ("C/Dato,12", "calle|Dato|,12"),
            ("C/ Dato nº5", "calle|Dato|nº|5"),
            ("mayor12", "mayor|12"),
            ("Avda.Gasteiz 30", "Avda|Gasteiz|30"),
            ("N-1 km5", "N-1|km|5"),
            ("Dato S/N", "Dato|s/n"),
            ("Dato 64/66", "Dato|64/66"),
            ("Dato / Postas", "Dato|/|Postas"),
            ("Dato — Postas", "Dato|,Postas"),
            ("🏠 Dato\n12", "Dato|,12"),
            ("  ...  ", ""),
            ("n.º 5", "nº|5"),
        ] {
            let found: Vec<String> =
                split(text).iter().map(|w| format!("{}{}", if w.apart { "," } else { "" }, w.text)).collect();
            assert_eq!(found.join("|").to_lowercase(), words.to_lowercase(), "{text}");
        }
    }
}
