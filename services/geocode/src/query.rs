//! What to ask a provider, in which order, until something fits.
//!
//! A query is the words of the street and one number, which comes last: CartoCiudad takes the last number for the
//! house, and a town, a postcode or a province only makes it find nothing.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::alias::Aliases;
use crate::fold::spell_day;
use crate::parse::{Address, Door};

/// Longer streets are refused or slow, and a number comes behind them.
const LONGEST: usize = 114;

/// What a provider is asked: the words of a street, and at most one door. Displayed as CartoCiudad wants it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    /// The street with its kind, without anything else.
    pub street: String,
    /// The door, without a letter.
    pub door: Option<Door>,
}

impl Query {
    /// As a map search wants it: for a house without a number, the street alone.
    pub(crate) fn plain(&self) -> String {
        match &self.door {
            Some(Door::Unnumbered) => self.street.clone(),
            Some(Door::Numbered { .. }) | None => self.to_string(),
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.door {
            None => f.write_str(&self.street),
            Some(Door::Numbered { number, .. }) => write!(f, "{} {number}", self.street),
            Some(Door::Unnumbered) => write!(f, "{} S-N", self.street),
        }
    }
}

/// The queries for an address: as it was typed, without the kind of street, under the other name of the street, and
/// the street without its number.
pub(crate) fn plan(asked: &Address, aliases: &Aliases) -> Vec<Query> {
    let name = spelled(&asked.name);
    let other = aliases.other(&asked.name);
    let mut plan: Vec<Query> = Vec::new();
    let mut add = |street: &str, door: Option<&Door>| {
        let street: String = street.nfc().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        let query = Query { street: cut(&street, LONGEST).to_owned(), door: door.cloned() };
        if !query.street.is_empty() && !plan.contains(&query) {
            plan.push(query);
        }
    };
    // The letter is not sent: it is compared, and a letter the provider lacks would hide the house.
    let door = asked.door.as_ref().map(|door| match door {
        Door::Unnumbered => Door::Unnumbered,
        Door::Numbered { number, .. } => Door::Numbered { number: *number, extension: None },
    });
    if door.is_some() {
        add(&typed(asked, &name), door.as_ref());
        add(&name, door.as_ref());
        if let Some(other) = other {
            add(&spanish(asked, other), door.as_ref());
            add(other, door.as_ref());
        }
    }
    add(&typed(asked, &name), None);
    add(&name, None);
    if let Some(other) = other {
        add(&spanish(asked, other), None);
    }
    plan
}

/// The street in the order in which it was typed, its kind written out.
fn typed(asked: &Address, name: &str) -> String {
    match asked.kind {
        None => name.to_owned(),
        Some(kind) => match kind.eu.filter(|_| asked.kind_last) {
            Some(basque) => format!("{name} {basque}"),
            None => format!("{} {name}", kind.es),
        },
    }
}

fn spanish(asked: &Address, name: &str) -> String {
    asked.kind.map_or_else(|| name.to_owned(), |kind| format!("{} {name}", kind.es))
}

/// The name with its numbers in words, so that none is taken for a house, and without hyphens that would join words.
fn spelled(name: &str) -> String {
    let words = name.split([' ', '\'']).map(|word| {
        let road = word.chars().filter(char::is_ascii_digit).count() > 0 && word.contains('-');
        spell_day(word)
            .map_or_else(|| if road { word.to_owned() } else { word.replace('-', " ") }, str::to_owned)
    });
    words.collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, length: usize) -> &str {
    text.char_indices().nth(length).map_or(text, |(end, _)| text.get(..end).unwrap_or(text)).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gazetteer::Gazetteer;
    use crate::parse::{Parsed, parse};

    fn queries(text: &str) -> String {
        match parse(text, &Gazetteer::of("Vitoria-Gasteiz", "01")) {
            Parsed::Address(address) => {
                let plan = plan(&address, &Aliases::of("01059"));
                plan.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_number_is_the_last_and_only_one() {
        for (text, expected) in [
            ("C/ Dato 12, 3º B, 01005 Vitoria", "Calle Dato 12 | Dato 12 | Calle Dato | Dato"),
            ("dato 13-15", "dato 13 | dato"),
            ("Calle Dato s/n", "Calle Dato S-N | Dato S-N | Calle Dato | Dato"),
            (
                "Pintore kalea 1",
                "Pintore kalea 1 | Pintore 1 | Calle Pintorería 1 | Pintorería 1 | Pintore kalea | Pintore | \
                 Calle Pintorería",
            ),
            (
                "Calle 8 de Marzo 3",
                "Calle ocho de Marzo 3 | ocho de Marzo 3 | Calle ocho de Marzo | ocho de Marzo",
            ),
            ("Portal de Foronda 4", "Portal de Foronda 4 | de Foronda 4 | Portal de Foronda | de Foronda"),
        ] {
            assert_eq!(queries(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_cut_before_its_number() {
        let text = format!("calle {} 12", "abcdefghij".repeat(20));
        let Parsed::Address(address) = parse(&text, &Gazetteer::of("Vitoria-Gasteiz", "01")) else {
            panic!("an address");
        };
        for query in plan(&address, &Aliases::of("01059")) {
            assert!(query.to_string().chars().count() <= 120, "{query}");
        }
    }
}
