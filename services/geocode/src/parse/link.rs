//! Coordinates in a text: a map link, a `geo:` URI, or two decimals. They are a pin, not an address.

use crate::Point;

/// Parameters of map links that are followed by "latitude,longitude", in the order in which they are trusted: the
/// place that is meant comes before the place that is looked at.
const PAIRS: [&str; 10] =
    ["query=", "destination=", "q=", "ll=", "daddr=", "geo:", "/place/", "/search/", "center=", "/@"];

/// The coordinates in a text, if it is a link that has some or nothing but coordinates.
pub(crate) fn coordinates(text: &str) -> Option<Point> {
    let text = text.replace("%2C", ",").replace("%2c", ",").replace("%20", "").replace("+", "");
    if let Some(point) = between(&text, "!3d", "!4d").or_else(|| between(&text, "mlat=", "mlon=")) {
        return Some(point);
    }
    if text.contains("://") || text.contains("geo:") {
        let pair = PAIRS.iter().find_map(|name| text.split(name).skip(1).find_map(|rest| pair(rest, ',')));
        return pair.or_else(|| text.split_once("#map=").and_then(|(_, map)| pair_after_zoom(map)));
    }
    alone(&text)
}

/// Whether a text holds a link at all.
pub(crate) fn is_link(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("://") || word.starts_with("www.") || word.contains("goo.gl/") || word.starts_with("geo:")
}

fn between(text: &str, latitude: &str, longitude: &str) -> Option<Point> {
    let (_, rest) = text.rsplit_once(latitude)?;
    let north = leading(rest)?;
    let (_, rest) = rest.split_once(longitude)?;
    point(north, leading(rest)?)
}

fn pair(text: &str, separator: char) -> Option<Point> {
    let text = text.trim_start_matches("loc:");
    let north = leading(text)?;
    let rest = text.get(north.len()..)?.strip_prefix(separator)?.trim_start();
    point(north, leading(rest)?)
}

fn pair_after_zoom(map: &str) -> Option<Point> {
    pair(map.split_once('/')?.1, '/')
}

/// Nothing but two decimals, as a phone copies them.
fn alone(text: &str) -> Option<Point> {
    let text = text.trim().trim_matches(['(', ')']);
    let north = leading(text)?;
    let rest = text.get(north.len()..)?.trim_start_matches(['°', ',', ';', ' ']);
    let east = leading(rest)?;
    let whole = rest.get(east.len()..)?.trim_matches(['°', ' ', '.']).is_empty();
    let exact = |number: &str| number.split_once('.').is_some_and(|(_, decimals)| decimals.len() >= 3);
    if whole && exact(north) && exact(east) { point(north, east) } else { None }
}

/// The decimal number that a text begins with.
fn leading(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let number = text.get(..end)?.trim_end_matches('.');
    (number.contains('.') && number.parse::<f64>().is_ok()).then_some(number)
}

fn point(north: &str, east: &str) -> Option<Point> {
    Point::new(north.parse().ok()?, east.parse().ok()?).ok().filter(|point| !point.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_link_is_found_in_every_shape() {
        for text in [
            "https://maps.google.com/?q=42.8467,-2.6727",
            "https://www.google.com/maps?q=loc:42.8467,-2.6727&z=17",
            "https://www.google.com/maps/search/?api=1&query=42.8467%2C-2.6727",
            "https://www.google.com/maps/@42.8467,-2.6727,17z",
            "https://www.google.es/maps/place/X/@42.9,-2.9,17z/data=!3m1!4b1!4m5!3d42.8467!4d-2.6727",
            "https://maps.apple.com/?ll=42.8467,-2.6727&q=Aqui",
            "https://www.openstreetmap.org/?mlat=42.8467&mlon=-2.6727#map=18/42.9/-2.9",
            "https://www.openstreetmap.org/#map=18/42.8467/-2.6727",
            "https://www.google.com/maps/search/42.8467,+-2.6727",
            "geo:42.8467,-2.6727?z=17",
            "42.8467, -2.6727",
            "(42.8467 -2.6727)",
            "mira: https://maps.google.com/?q=42.8467,-2.6727 es ahí",
        ] {
            let found = coordinates(text).map(|p| (p.latitude, p.longitude));
            assert_eq!(found, Some((42.8467, -2.6727)), "{text}");
        }
    }

    #[test]
    fn numbers_of_an_address_are_no_coordinates() {
        for text in [
            "Dato 12, 3",
            "12.5, 3.5",
            "https://maps.app.goo.gl/AbCd12",
            "0.000, 0.000",
            "42.8467",
            "",
            "geo:0.0,0.0",
            "91.000, 10.000",
        ] {
            assert_eq!(coordinates(text), None, "{text}");
        }
    }
}
