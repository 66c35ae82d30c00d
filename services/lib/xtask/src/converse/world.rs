//! What the core looks up, answered by simple rules over the shipped area and streets.
//!
//! Not the geocoder: a street is found by its folded name anywhere in the text, and a number is the last one in it. That
//! is enough to reach every verdict that a person wants to try.

use anyhow::Context;
use dialogue::{Answer, Candidate, Coverage, Language, Lookup, Point, Verdict};
use serde_json::Value;

use crate::tree::ROOT;

const AREA: &str = "services/geocode/areas/vitoria-gasteiz.geojson";
const STREETS: &str = "services/geocode/streets/vitoria-gasteiz.csv";
const AREA_ID: &str = "vitoria-gasteiz";
/// Metres in a degree of latitude.
const DEGREE: f64 = 111_195.0;
/// How far the address of a point may be, in metres.
const NEAR: f64 = 150.0;
/// Towns that a citizen may name.
const OTHER_TOWNS: [&str; 3] = ["Bilbao", "Donostia", "Madrid"];

/// The city.
pub(super) struct World {
    /// Corners of the area.
    ring: Vec<Point>,
    doors: Vec<Door>,
    /// The geocoder does not answer.
    pub(super) away: bool,
}

/// A door, or with an empty number a place.
struct Door {
    kind: String,
    street: String,
    other_name: String,
    number: String,
    point: Point,
}

impl World {
    pub(super) fn load() -> anyhow::Result<Self> {
        let read = |path: &str| {
            std::fs::read_to_string(ROOT.join(path)).with_context(|| format!("cannot read {path}"))
        };
        let area: Value = serde_json::from_str(&read(AREA)?).context("the area is not JSON")?;
        let corners = area["geometry"]["coordinates"][0].as_array().context("the area has no ring")?;
        let corner = |pair: &Value| Some(Point { longitude: pair[0].as_f64()?, latitude: pair[1].as_f64()? });
        let ring = corners.iter().map(corner).collect::<Option<_>>().context("a corner is no point")?;
        let doors = read(STREETS)?.lines().skip(1).filter_map(Door::read).collect();
        Ok(Self { ring, doors, away: false })
    }

    pub(super) fn answer(&self, lookup: &Lookup) -> Answer {
        match lookup {
            Lookup::Covers(point) => Answer::Covers(self.covers(*point)),
            Lookup::Reverse(_) if self.away => Answer::Reverse(None),
            Lookup::Reverse(point) => Answer::Reverse(self.nearest(*point)),
            Lookup::Resolve { .. } if self.away => Answer::Resolve(Verdict::Unavailable),
            Lookup::Resolve { text, language, street } => {
                Answer::Resolve(self.resolve(text, *language, street.as_deref()))
            }
        }
    }

    fn covers(&self, point: Point) -> Coverage {
        let next = self.ring.iter().cycle().skip(1);
        // A ray to the east crosses the border an odd number of times from inside.
        let crossings = self.ring.iter().zip(next).filter(|(a, b)| {
            let between = (a.latitude > point.latitude) != (b.latitude > point.latitude);
            let along = (point.latitude - a.latitude) / (b.latitude - a.latitude);
            between && point.longitude < a.longitude + along * (b.longitude - a.longitude)
        });
        if crossings.count() % 2 == 1 {
            return Coverage::Inside { area_id: AREA_ID.to_owned(), area_version: 1 };
        }
        // To the nearest corner, which is near enough for a conversation.
        let metres = self.ring.iter().map(|corner| distance(*corner, point)).fold(f64::INFINITY, f64::min);
        Coverage::Outside { metres }
    }

    fn nearest(&self, point: Point) -> Option<String> {
        let near = self.doors.iter().map(|door| (distance(door.point, point), door));
        let (metres, door) = near.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (metres <= NEAR).then(|| door.address(Language::Es))
    }

    fn resolve(&self, text: &str, language: Language, street: Option<&str>) -> Verdict {
        let wanted = fold(&format!("{} {text}", street.unwrap_or_default()));
        if let Some(town) = OTHER_TOWNS.iter().find(|town| wanted.contains(&fold(town))) {
            return Verdict::OtherTown((*town).to_owned());
        }
        if wanted.trim().chars().count() < 4 {
            return Verdict::Vague;
        }
        // The longest name counts: “Parque de la Florida” is not the street of that name.
        let named = |door: &Door| door.named_in(&wanted);
        let longest = self.doors.iter().filter_map(named).max();
        let doors: Vec<&Door> =
            self.doors.iter().filter(|door| longest.is_some() && named(door) == longest).collect();
        let Some(first) = doors.first() else { return Verdict::NotFound };
        if first.number.is_empty() {
            return Verdict::Place(first.candidate(language));
        }
        let mut streets: Vec<&&Door> = Vec::new();
        for door in &doors {
            if !streets.iter().any(|known| known.street == door.street && known.kind == door.kind) {
                streets.push(door);
            }
        }
        let asked = wanted.split_whitespace().filter_map(|word| word.parse::<u32>().ok()).next_back();
        match (&streets[..], asked) {
            ([_], None) => Verdict::StreetOnly { street: first.name(language) },
            ([_], Some(asked)) => {
                let away = |door: &Door| door.number.parse::<u32>().unwrap_or(u32::MAX).abs_diff(asked);
                let door = doors.iter().min_by_key(|door| away(door)).unwrap_or(first);
                let candidate = door.candidate(language);
                match away(door) {
                    0 => Verdict::ExactDoor(candidate),
                    _ => Verdict::NearestDoor {
                        candidate,
                        asked: asked.to_string(),
                        found: door.number.clone(),
                    },
                }
            }
            (several, _) => {
                Verdict::Several(several.iter().take(9).map(|door| door.candidate(language)).collect())
            }
        }
    }
}

impl Door {
    /// A line of the file: kind, street, other name, number, extension, latitude, longitude.
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [kind, street, other_name, number, extension, latitude, longitude] = fields[..] else {
            return None;
        };
        let point = Point { latitude: latitude.parse().ok()?, longitude: longitude.parse().ok()? };
        Some(Self {
            kind: kind.to_owned(),
            street: street.to_owned(),
            other_name: other_name.to_owned(),
            number: format!("{number}{extension}"),
            point,
        })
    }

    /// The length of the name by which it is named in a folded text.
    fn named_in(&self, wanted: &str) -> Option<usize> {
        let names = [&self.street, &self.other_name];
        let found = names.iter().filter(|name| !name.is_empty() && wanted.contains(&fold(name)));
        found.map(|name| name.len()).max()
    }

    fn name(&self, language: Language) -> String {
        match language {
            Language::Eu if !self.other_name.is_empty() => format!("{} kalea", self.other_name),
            Language::Es | Language::Eu => format!("{} {}", self.kind, self.street).trim().to_owned(),
        }
    }

    fn address(&self, language: Language) -> String {
        format!("{} {}", self.name(language), self.number).trim().to_owned()
    }

    fn candidate(&self, language: Language) -> Candidate {
        Candidate {
            point: self.point,
            address: self.address(language),
            area_id: AREA_ID.to_owned(),
            area_version: 1,
        }
    }
}

/// Metres, flat: the city is small.
fn distance(a: Point, b: Point) -> f64 {
    let east = (a.longitude - b.longitude) * a.latitude.to_radians().cos();
    DEGREE * east.hypot(a.latitude - b.latitude)
}

/// Small letters without accents.
fn fold(text: &str) -> String {
    let plain = |c: char| match c {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' | 'ü' => 'u',
        other => other,
    };
    text.to_lowercase().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str, street: Option<&str>) -> Verdict {
        World::load().unwrap().resolve(text, Language::Es, street)
    }

    #[test]
    fn the_middle_of_the_city_is_inside_and_another_city_is_not() {
        let world = World::load().unwrap();
        let inside = world.covers(Point { latitude: 42.8467, longitude: -2.6727 });
        assert!(matches!(inside, Coverage::Inside { .. }), "{inside:?}");
        let Coverage::Outside { metres } = world.covers(Point { latitude: 43.263, longitude: -2.935 }) else {
            panic!("Bilbao is not Vitoria");
        };
        assert!((20_000.0..60_000.0).contains(&metres), "{metres}");
    }

    #[test]
    fn every_verdict_can_be_reached() {
        assert!(matches!(resolved("calle Pintoreria 1", None), Verdict::ExactDoor(_)));
        assert!(matches!(resolved("Pintorería 2", None), Verdict::NearestDoor { .. }));
        assert!(matches!(resolved("Pintore kalea", None), Verdict::StreetOnly { .. }));
        assert!(matches!(resolved("1", Some("Calle Pintorería")), Verdict::ExactDoor(_)));
        assert!(matches!(resolved("la catedral de Santa María", None), Verdict::Place(_)));
        assert!(matches!(resolved("Florida 1", None), Verdict::ExactDoor(_) | Verdict::NearestDoor { .. }));
        assert!(matches!(resolved("santa maria 1", None), Verdict::Several(_)));
        assert_eq!(resolved("Gran Vía de Bilbao", None), Verdict::OtherTown("Bilbao".to_owned()));
        assert_eq!(resolved("ab", None), Verdict::Vague);
        assert_eq!(resolved("Calle Inventada 3", None), Verdict::NotFound);
    }
}
