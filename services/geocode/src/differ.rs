//! What is not as it was asked for. Pure. Other spellings of one name differ in nothing, nor do its two languages.

use crate::alias::Aliases;
use crate::fold::key;
use crate::parse::{Address, Door};
use crate::provider::{Found, FoundKind};
use crate::{street_type, tidy};

/// What can differ, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The kind of street.
    Kind,
    /// Its name.
    Name,
    /// The number with its letter.
    Door,
}

/// One thing that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What.
    pub part: Part,
    /// As it was asked for; empty when it was not.
    pub asked: String,
    /// As it is known.
    pub found: String,
}

/// Everything that differs between what was asked and what is known.
pub(crate) fn differences(asked: &Address, found: &Found, aliases: &Aliases) -> Vec<Difference> {
    let mut list = Vec::new();
    let known_kind = street_type::named(&found.street_type);
    if let (Some(asked), Some(known)) = (asked.kind, known_kind)
        && asked != known
    {
        list.push(Difference { part: Part::Kind, asked: asked.es.to_owned(), found: known.es.to_owned() });
    }
    let known = key(&found.name).concat();
    let same = |name: &str| key(name).concat() == known;
    if !same(&asked.name) && !aliases.other(&asked.name).is_some_and(same) {
        let (asked, found) = (tidy::name(&asked.name), tidy::name(&found.name));
        list.push(Difference { part: Part::Name, asked, found });
    }
    if let (Some(door), FoundKind::Door) = (&found.door, found.kind)
        && asked.door.as_ref() != Some(door)
    {
        let asked = asked.door.as_ref().map(Door::to_string).unwrap_or_default();
        list.push(Difference { part: Part::Door, asked, found: door.to_string() });
    }
    list
}
