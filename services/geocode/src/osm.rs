//! What is common to providers that answer from OpenStreetMap: names in two languages, house numbers as people tag
//! them, and streets whose kind is a part of their name.

use serde_json::Value;

use crate::Point;
use crate::fold::fold;
use crate::parse::Door;
use crate::provider::{Found, FoundKind};
use crate::street_type;

/// One thing of the map, as far as it matters here. Texts may be empty.
#[derive(Debug, Default)]
pub(crate) struct Thing<'a> {
    /// Its own name.
    pub(crate) name: &'a str,
    /// Its house number, and the road that this belongs to.
    pub(crate) house_number: &'a str,
    /// The road of its address.
    pub(crate) road: &'a str,
    /// The village or quarter.
    pub(crate) locality: &'a str,
    /// Whether it is a way or a square, not something that stands at one.
    pub(crate) is_street: bool,
    /// Whether it is a mere house, whatever its name.
    pub(crate) is_house: bool,
    /// Every town that it is said to lie in.
    pub(crate) towns: Vec<&'a str>,
    /// Where it is.
    pub(crate) point: Option<Point>,
}

impl Thing<'_> {
    /// What it is to a citizen of a city; `None` for what lies elsewhere, has no name, or has no place.
    pub(crate) fn found(self, provider: &'static str, city_name: &str) -> Option<Found> {
        let here = |town: &&str| forms(town).any(|form| forms(city_name).any(|own| own == form));
        if !self.towns.iter().any(here) {
            return None;
        }
        let point = Some(self.point.filter(|point| !point.is_null())?);
        let door = door(self.house_number).filter(|_| !self.road.is_empty());
        let kind = match &door {
            Some(_) if self.is_house || self.name.is_empty() => FoundKind::Door,
            Some(_) | None if self.is_street => FoundKind::Street,
            Some(_) | None => FoundKind::Place,
        };
        let name = if kind == FoundKind::Door { self.road } else { self.name };
        let (street_type, name) = match kind {
            FoundKind::Door | FoundKind::Street => split(first(name)),
            FoundKind::Place => (String::new(), first(name).to_owned()),
        };
        let door = door.filter(|_| kind == FoundKind::Door);
        let locality = first(self.locality).to_owned();
        (!name.is_empty()).then_some(Found {
            provider,
            kind,
            id: None,
            street_type,
            name,
            door,
            locality,
            point,
            area: None,
        })
    }
}

/// A text of an object; empty when it is absent or something else.
pub(crate) fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).map_or("", str::trim)
}

/// The first of the names that a bilingual town writes as one: "Calle Dato / Dato kalea". The Spanish one by custom.
fn first(name: &str) -> &str {
    name.split(" / ").next().unwrap_or_default().trim()
}

/// The forms of a town's name, folded: "Vitoria-Gasteiz" also as it is written with a slash.
fn forms(name: &str) -> impl Iterator<Item = String> {
    let whole = fold(name).replace(" / ", "-").replace('/', "-");
    std::iter::once(whole).chain(name.split(" / ").map(fold).collect::<Vec<_>>())
}

/// The kind of a street and the rest of its name.
pub(crate) fn split(name: &str) -> (String, String) {
    if let Some((kind, rest)) = name.split_once(' ')
        && street_type::named(kind).is_some()
    {
        return (kind.to_owned(), rest.trim().to_owned());
    }
    if let Some((rest, kind)) = name.rsplit_once(' ')
        && street_type::named(kind).is_some()
    {
        return (kind.to_owned(), rest.trim().to_owned());
    }
    (String::new(), name.to_owned())
}

/// "12", "12A", "12 bis"; of "12-14" and "12;14" the first.
fn door(tag: &str) -> Option<Door> {
    let folded = fold(tag);
    let folded = folded.trim();
    if matches!(folded, "s/n" | "sn" | "z/g") {
        return Some(Door::Unnumbered);
    }
    let end = folded.find(|c: char| !c.is_ascii_digit()).unwrap_or(folded.len());
    let (digits, rest) = folded.split_at(end);
    let number = digits.parse().ok().filter(|number| *number > 0)?;
    let rest = rest.trim();
    let extension = match rest.chars().next() {
        Some(letter) if letter.is_alphabetic() && rest.chars().count() == 1 => Some(rest.to_uppercase()),
        Some(letter) if letter.is_alphabetic() => Some(rest.to_owned()),
        Some(_) | None => None,
    };
    Some(Door::Numbered { number, extension })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing<'a>(name: &'a str, house_number: &'a str, road: &'a str) -> Thing<'a> {
        let point = Point::new(42.85, -2.67).ok();
        Thing { name, house_number, road, towns: vec!["Vitoria-Gasteiz"], point, ..Thing::default() }
    }

    fn shown(thing: Thing<'_>) -> Option<String> {
        let found = thing.found("test", "Vitoria-Gasteiz")?;
        let door = found.door.map(|door| door.to_string()).unwrap_or_default();
        Some(format!("{:?} {}|{}|{door}", found.kind, found.street_type, found.name))
    }

    #[test]
    fn a_thing_of_the_map_is_a_door_a_street_or_a_place() {
        let street = |name| Thing { is_street: true, ..thing(name, "", "") };
        for (thing, expected) in [
            (thing("", "12", "Calle Dato"), "Door Calle|Dato|12"),
            (thing("", "12 A", "Calle Dato / Dato kalea"), "Door Calle|Dato|12 A"),
            (thing("", "12bis", "Dato kalea"), "Door kalea|Dato|12 bis"),
            (thing("", "12-14", "Portal de Foronda"), "Door Portal|de Foronda|12"),
            (Thing { is_house: true, ..thing("Casa X", "1", "Calle Dato") }, "Door Calle|Dato|1"),
            (street("Plaza de la Virgen Blanca"), "Street Plaza|de la Virgen Blanca|"),
            (street("N-1"), "Street |N-1|"),
            (thing("Parque de la Florida", "", ""), "Place |Parque de la Florida|"),
            (thing("Bar X", "12", "Calle Dato"), "Place |Bar X|"),
        ] {
            assert_eq!(shown(thing).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_lies_elsewhere_or_nowhere_is_nothing() {
        assert_eq!(shown(Thing { towns: vec!["Burgos"], ..thing("", "12", "Calle Dato") }), None);
        assert_eq!(shown(Thing { point: None, ..thing("", "12", "Calle Dato") }), None);
        assert_eq!(shown(Thing { point: Point::new(0.0, 0.0).ok(), ..thing("", "12", "Calle Dato") }), None);
        assert_eq!(shown(thing("", "12", "")), None, "a number without a road");
        let slashed = Thing { towns: vec!["Vitoria / Gasteiz"], ..thing("", "1", "Calle Dato") };
        assert!(shown(slashed).is_some());
    }
}
