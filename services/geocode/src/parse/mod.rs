//! What people type as an address, in Spanish and Basque, taken apart. Pure: text in, meaning out.
//!
//! The provider reads the last number it gets as the house, drops hyphens and fails on quotes; so it is sent nothing
//! but a street and one number, and everything else is understood here.

mod door;
mod link;
mod lists;
mod street;
#[cfg(test)]
mod tests;
mod words;

pub use door::Door;

use crate::Point;
use crate::gazetteer::{Gazetteer, Locality};
use crate::street_type::StreetType;
use words::Word;

/// Shorter texts are never looked up.
const SHORTEST: usize = 4;

/// What a text is.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// An address to look up.
    Address(Address),
    /// A number and nothing else.
    Number(Door),
    /// Coordinates, in a link or bare.
    Pin(Point),
    /// Another town is named outright.
    OtherTown(String),
    /// Too little to look up, or no address.
    Vague,
}

/// An address as it was typed, without what says nothing about the street and the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The kind of street, where one was named.
    pub(crate) kind: Option<&'static StreetType>,
    /// Whether the kind stood behind the name, as in Basque.
    pub(crate) kind_last: bool,
    /// The name without its kind.
    pub(crate) name: String,
    /// The door, where one was named.
    pub(crate) door: Option<Door>,
    /// The number is a kilometre of a road.
    pub(crate) kilometre: bool,
}

/// Understands a text as a citizen of a city means it.
pub fn parse(text: &str, names: &Gazetteer) -> Parsed {
    if let Some(point) = link::coordinates(text) {
        return Parsed::Pin(point);
    }
    let unlinked: Vec<&str> = text.split(' ').filter(|word| !link::is_link(word)).collect();
    let words = door::without_telephones(words::split(&unlinked.join(" ")));
    let words = match localities(words, names) {
        Ok(words) => words,
        Err(parsed) => return parsed,
    };
    if let Some(door) = street::number_only(&words) {
        return Parsed::Number(door);
    }
    let typed: usize = words.iter().map(|word| word.text.chars().count()).sum();
    if typed < SHORTEST {
        return Parsed::Vague;
    }
    let question = text.contains(['?', '¿']);
    street::understand(&words, names, question)
}

/// Drops the parts of a text that name the city, its province or a postcode; a part that names another town ends it.
fn localities(words: Vec<Word>, names: &Gazetteer) -> Result<Vec<Word>, Parsed> {
    let mut kept: Vec<Word> = Vec::with_capacity(words.len());
    let mut elsewhere: Option<(&'static str, Vec<Word>)> = None;
    let mut postcode = None;
    for part in words.chunk_by(|_, next| !next.apart) {
        let starts_apart = part.first().is_some_and(|word| word.apart);
        let (codes, rest): (Vec<Word>, Vec<Word>) =
            part.iter().cloned().partition(|word| door::is_postcode(&word.fold));
        postcode = postcode.or_else(|| codes.iter().find_map(|code| names.foreign_postcode(&code.fold)));
        let folds: Vec<&str> =
            rest.iter().map(|word| word.fold.as_str()).filter(|fold| *fold != "/").collect();
        match names.read(&folds) {
            Some(Locality::Own) => {}
            Some(Locality::Other(name)) => elsewhere = elsewhere.or(Some((name, rest))),
            None => {
                let first = kept.len();
                kept.extend(rest);
                if let Some(word) = kept.get_mut(first) {
                    word.apart |= starts_apart;
                }
            }
        }
    }
    match elsewhere {
        // "Madrid, 12" is a street called Madrid.
        Some((_, mut street)) if street::number_only(&kept).is_some() => {
            street.append(&mut kept);
            Ok(street)
        }
        Some((name, _)) => Err(Parsed::OtherTown(name.to_owned())),
        None => match postcode {
            Some(province) => Err(Parsed::OtherTown(province.to_owned())),
            None => Ok(kept),
        },
    }
}
