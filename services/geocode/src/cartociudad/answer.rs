//! CartoCiudad's answers, read with as little trust as they need: fields may be null, types come in any case, zero is
//! "no coordinate", an unknown kind is skipped, and the street must be taken out of a composed text.

use serde_json::Value;

use crate::Point;
use crate::fold::fold;
use crate::parse::Door;
use crate::provider::{Away, Found, FoundKind};

/// A street without a name, as the road network writes it.
const UNNAMED: &str = "-997";

/// Reads a body. Nothing at all, an empty list and an empty callback all say that there is nothing.
pub(super) fn read(body: &[u8]) -> Result<Value, Away> {
    let text = std::str::from_utf8(body).map_err(|_| Away::Unreadable)?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = match text.strip_prefix("callback(") {
        Some(inner) => inner.trim_end_matches(';').trim_end().strip_suffix(')').ok_or(Away::Unreadable)?,
        None => text,
    };
    if text.is_empty() {
        return Ok(Value::Null);
    }
    match serde_json::from_str(text).map_err(|_| Away::Unreadable)? {
        Value::Array(list) if list.is_empty() => Ok(Value::Null),
        answer @ (Value::Null | Value::Array(_) | Value::Object(_)) => Ok(answer),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Away::Unreadable),
    }
}

/// One candidate, if it is of a known kind, has a name and lies in the municipality.
pub(super) fn found(entry: &Value, ine_code: &str) -> Option<Found> {
    let (kind, provider_type) = match fold(text(entry, "type")).as_str() {
        "portal" => (FoundKind::Door, "portal"),
        "callejero" => (FoundKind::Street, "callejero"),
        "carretera" => (FoundKind::Street, "carretera"),
        "toponimo" => (FoundKind::Place, "toponimo"),
        _ => return None,
    };
    if text(entry, "muniCode") != ine_code {
        return None;
    }
    let street_type = text(entry, "tip_via").to_owned();
    let door = door(entry);
    let name = street(text(entry, "address"), &street_type, door.as_ref());
    if name.is_empty() || name.contains(UNNAMED) {
        return None;
    }
    let id = text(entry, "id");
    Some(Found {
        provider: super::NAME,
        kind,
        id: (!id.is_empty()).then(|| (id.to_owned(), provider_type)),
        street_type,
        name,
        door: door.filter(|_| kind == FoundKind::Door),
        locality: text(entry, "poblacion").split(',').next().unwrap_or_default().trim().to_owned(),
        point: point(entry),
        area: None,
    })
}

/// Whether an answer is about the id that was asked for.
pub(super) fn is(answer: &Value, id: &str) -> bool {
    match answer.get("id") {
        Some(Value::String(own)) => own == id,
        Some(Value::Number(own)) => own.to_string() == id,
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// Where it is: the two numbers, else the middle of the geometry.
pub(super) fn point(entry: &Value) -> Option<Point> {
    let number = |name: &str| entry.get(name).and_then(Value::as_f64);
    let named =
        number("lat").zip(number("lng")).and_then(|(latitude, longitude)| checked(latitude, longitude));
    named.or_else(|| middle(text(entry, "geom")))
}

fn checked(latitude: f64, longitude: f64) -> Option<Point> {
    Point::new(latitude, longitude).ok().filter(|point| !point.is_null())
}

/// The vertex in the middle of a well-known text; longitude comes first there.
fn middle(geometry: &str) -> Option<Point> {
    let (_, coordinates) = geometry.split_once('(')?;
    let vertices: Vec<&str> = coordinates.split(',').collect();
    let vertex = vertices.get(vertices.len() / 2)?.trim_matches(['(', ')', ' ']);
    let (longitude, latitude) = vertex.split_once(' ')?;
    checked(latitude.trim().parse().ok()?, longitude.parse().ok()?)
}

fn text<'v>(entry: &'v Value, name: &str) -> &'v str {
    entry.get(name).and_then(Value::as_str).map_or("", str::trim)
}

fn door(entry: &Value) -> Option<Door> {
    if entry.get("noNumber").and_then(Value::as_bool) == Some(true) {
        return Some(Door::Unnumbered);
    }
    let number = match entry.get("portalNumber")? {
        Value::Number(number) => number.as_u64()?,
        Value::String(number) => number.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let number = u32::try_from(number).ok().filter(|number| *number > 0)?;
    let extension = match text(entry, "extension") {
        "" => None,
        letter if letter.chars().count() == 1 => Some(letter.to_uppercase()),
        word => Some(word.to_lowercase()),
    };
    Some(Door::Numbered { number, extension })
}

/// The name of the street out of "CALLE DATO 12 A, Vitoria-Gasteiz (Vitoria-Gasteiz)", or out of a bare "DATO". The
/// name of a town in brackets goes; an article in brackets stays.
fn street(address: &str, street_type: &str, door: Option<&Door>) -> String {
    let mut head = address.split(',').next().unwrap_or_default().trim();
    if let Some((name, bracket)) = head.strip_suffix(')').and_then(|open| open.rsplit_once('('))
        && bracket.chars().count() > 6
    {
        head = name.trim();
    }
    let mut words: Vec<&str> = head.split_whitespace().collect();
    match door {
        Some(Door::Numbered { number, extension }) => {
            let extension = extension.as_deref().unwrap_or_default();
            if words.len() > 1 && words.last().is_some_and(|word| fold(word) == fold(extension)) {
                words.pop();
            }
            let number = number.to_string();
            let is_door = |word: &&str| {
                let digits = word.trim_start_matches('0');
                digits == number || fold(digits) == format!("{number}{}", fold(extension))
            };
            if words.len() > 1 && words.last().is_some_and(is_door) {
                words.pop();
            }
        }
        Some(Door::Unnumbered) => {
            let nothing = ["s-n", "s/n", "sn", "0"];
            if words.len() > 1 && words.last().is_some_and(|word| nothing.contains(&fold(word).as_str())) {
                words.pop();
            }
        }
        None => {}
    }
    let folded: Vec<String> = words.iter().map(|word| fold(word)).collect();
    let kind: Vec<String> = street_type.split_whitespace().map(fold).collect();
    if !kind.is_empty() && words.len() > kind.len() {
        if folded.starts_with(&kind) {
            words.drain(..kind.len());
        } else if folded.ends_with(&kind) {
            words.truncate(words.len() - kind.len());
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_street_is_taken_out_of_every_composition() {
        let door = |number, extension: Option<&str>| {
            Some(Door::Numbered { number, extension: extension.map(str::to_owned) })
        };
        for (address, kind, door, name) in [
            ("CALLE DATO 12, Vitoria-Gasteiz (Vitoria-Gasteiz)", "CALLE", door(12, None), "DATO"),
            ("CALLE DATO 12 A, Vitoria-Gasteiz (Vitoria-Gasteiz)", "CALLE", door(12, Some("A")), "DATO"),
            ("CALLE DATO 12A", "CALLE", door(12, Some("A")), "DATO"),
            ("CALLE DATO 0012", "CALLE", door(12, None), "DATO"),
            ("DATO", "CALLE", door(12, None), "DATO"),
            ("DATO KALEA 12", "KALEA", door(12, None), "DATO"),
            ("CALLE DATO S-N, X", "CALLE", Some(Door::Unnumbered), "DATO"),
            ("ARROYO (DEL)", "CALLE", None, "ARROYO (DEL)"),
            ("CALLE DATO (Vitoria-Gasteiz)", "CALLE", None, "DATO"),
            ("PLAZA", "PLAZA", None, "PLAZA"),
            ("Parque de la Florida, Vitoria-Gasteiz", "", None, "Parque de la Florida"),
        ] {
            assert_eq!(street(address, kind, door.as_ref()), name, "{address}");
        }
    }

    #[test]
    fn every_way_to_say_nothing_is_nothing_and_no_answer_is_none_of_them() {
        for nothing in ["", " ", "[]", "null", "callback([])", "callback([]);"] {
            assert_eq!(read(nothing.as_bytes()), Ok(Value::Null), "{nothing}");
        }
        for broken in ["<html></html>", "[{", "callback([", "true", "\"x\""] {
            assert_eq!(read(broken.as_bytes()), Err(Away::Unreadable), "{broken}");
        }
        assert_eq!(read(&[0xff, 0xfe]), Err(Away::Unreadable));
    }

    #[test]
    fn zero_is_no_coordinate_and_a_geometry_has_longitude_first() {
        let place = |entry: Value| point(&entry).map(|p| (p.latitude, p.longitude));
        assert_eq!(place(json!({"lat": 0.0, "lng": 0.0, "geom": null})), None);
        assert_eq!(place(json!({"lat": 42.8, "lng": -2.6})), Some((42.8, -2.6)));
        for geometry in [
            "POINT(-2.6 42.8)",
            "POINT (-2.6 42.8)",
            "LINESTRING(1 1, -2.6 42.8, 3 3)",
            "MULTILINESTRING((1 1, 2 2),(-2.6 42.8, 3 3))",
        ] {
            assert_eq!(
                place(json!({"lat": 0, "lng": 0, "geom": geometry})),
                Some((42.8, -2.6)),
                "{geometry}"
            );
        }
        assert_eq!(place(json!({"geom": "POINT(x y)"})), None);
    }

    #[test]
    fn other_towns_unnamed_streets_and_unknown_kinds_are_left_out() {
        let entry = |kind: &str, town: &str, address: &str| json!({"type": kind, "muniCode": town, "address": address, "tip_via": null, "lat": 1.0, "lng": 1.0});
        assert!(found(&entry("PORTAL", "01059", "DATO"), "01059").is_some());
        assert!(found(&entry("portal", "17055", "DATO"), "01059").is_none());
        assert!(found(&entry("portal", "01059", "-997"), "01059").is_none());
        assert!(found(&entry("Municipio", "01059", "Vitoria-Gasteiz"), "01059").is_none());
        assert!(found(&entry("something new", "01059", "DATO"), "01059").is_none());
        assert!(found(&json!("text"), "01059").is_none());
    }
}
