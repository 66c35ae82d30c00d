//! The streets and doors that `abisu geocoder load` has put into the city's own database: no service outside is needed.
//!
//! The search by sound and by trigrams is generous, as that of any provider; [`crate::rank`] judges. A database that is
//! away is a provider that is away, though then coverage has no answer either.

use futures::future::BoxFuture;
use sqlx::PgPool;

use crate::Point;
use crate::osm;
use crate::parse::Door;
use crate::provider::{Away, Found, FoundKind, Provider};
use crate::query::Query;
use crate::street_type;

/// The name that answers carry.
pub const NAME: &str = "offline";

/// The provider for one municipality.
pub struct Offline {
    pool: PgPool,
    city_ine_code: String,
}

impl Offline {
    /// Searches what is loaded for the municipality with this code.
    pub fn new(pool: PgPool, city_ine_code: &str) -> Self {
        Self { pool, city_ine_code: city_ine_code.to_owned() }
    }
}

/// The name without a kind, which the table keeps apart. "Portal" is a kind only in front of a name.
fn without_kind(street: &str) -> &str {
    let first = street.split_once(' ').filter(|(kind, _)| street_type::named(kind).is_some());
    let last = street.rsplit_once(' ').filter(|(_, kind)| street_type::named(kind).is_some());
    match (first, last) {
        (Some((_, name)), _) | (None, Some((name, _))) => name,
        (None, None) => street,
    }
}

/// A door as the table keeps it: 0 is a house without a number.
fn door(number: i32, extension: &str) -> Option<Door> {
    let number = u32::try_from(number).ok()?;
    Some(match number {
        0 => Door::Unnumbered,
        _ => {
            let extension = (!extension.is_empty()).then(|| extension.to_owned());
            Door::Numbered { number, extension }
        }
    })
}

/// Refusals of the database are logged by the pool's own errors elsewhere; here only the kind of outage counts.
fn away(error: &sqlx::Error) -> Away {
    match error {
        sqlx::Error::PoolTimedOut => Away::Timeout,
        _ => Away::Unreachable,
    }
}

impl Provider for Offline {
    fn name(&self) -> &'static str {
        NAME
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            let number = query.door.as_ref().map(|door| match door {
                Door::Unnumbered => 0,
                Door::Numbered { number, .. } => i32::try_from(*number).unwrap_or(i32::MAX),
            });
            let name = without_kind(&query.street);
            let rows = sqlx::query_file!("src/store/search_doors.sql", self.city_ine_code, name, number)
                .fetch_all(&self.pool)
                .await
                .map_err(|error| away(&error))?;
            let found = rows.into_iter().map(|row| {
                let door = row.number.and_then(|number| door(number, row.extension.as_deref().unwrap_or("")));
                let point = row.latitude.zip(row.longitude);
                // Of a place "Parque" is a part of the name.
                let name = match row.is_place {
                    true => nearer_name(&query.street, row.name, row.other_name),
                    false => nearer_name(name, row.name, without_kind(&row.other_name).to_owned()),
                };
                let (street_type, name) = parted(row.kind, name, row.is_place);
                Found {
                    provider: NAME,
                    kind: match (&door, row.is_place) {
                        (Some(_), _) => FoundKind::Door,
                        (None, true) => FoundKind::Place,
                        (None, false) => FoundKind::Street,
                    },
                    id: None,
                    street_type,
                    name,
                    door,
                    locality: row.locality,
                    point: point.and_then(|(latitude, longitude)| Point::new(latitude, longitude).ok()),
                    area: None,
                }
            });
            Ok(found.collect())
        })
    }

    /// The kind is not searched for, and which streets are alike does not hang on the number.
    fn has_answered(&self, asked: &Query, next: &Query) -> bool {
        let same_door = next.door.is_none() || next.door == asked.door;
        same_door && without_kind(&asked.street) == without_kind(&next.street)
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(async { Ok(found.point) })
    }

    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        Box::pin(async move {
            let (latitude, longitude) = (point.latitude, point.longitude);
            let row =
                sqlx::query_file!("src/store/nearest_door.sql", self.city_ine_code, latitude, longitude)
                    .fetch_optional(&self.pool)
                    .await
                    .map_err(|error| away(&error))?;
            Ok(row.and_then(|row| {
                let (street_type, name) = parted(row.kind, row.name, false);
                Some(Found {
                    provider: NAME,
                    kind: FoundKind::Door,
                    id: None,
                    street_type,
                    name,
                    door: Some(door(row.number, &row.extension)?),
                    locality: row.locality,
                    point: Point::new(row.latitude, row.longitude).ok(),
                    area: None,
                })
            }))
        })
    }
}

/// Files often have the kind of a street as a part of its name.
fn parted(kind: String, name: String, is_place: bool) -> (String, String) {
    if kind.is_empty() && !is_place { osm::split(&name) } else { (kind, name) }
}

/// Of two names of a street the one that was asked for, so that the other language is no difference.
fn nearer_name(asked: &str, name: String, other: String) -> String {
    let similarity = |known: &str| {
        let (asked, known) = (crate::fold::key(asked), crate::fold::key(known));
        crate::fold::similarity(&asked, &known)
    };
    if !other.is_empty() && similarity(&other) > similarity(&name) { other } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_taken_off_in_front_and_behind() {
        for (street, name) in [
            ("Calle Dato", "Dato"),
            ("Dato kalea", "Dato"),
            ("Portal de Foronda", "de Foronda"),
            ("Dato", "Dato"),
            ("Mateo Moraza", "Mateo Moraza"),
        ] {
            assert_eq!(without_kind(street), name);
        }
    }

    #[test]
    fn the_name_in_the_language_of_the_question_is_kept() {
        let name = |asked| nearer_name(asked, "Pintorería".to_owned(), "Pintore".to_owned());
        assert_eq!((name("pintore"), name("Pintoreria")), ("Pintore".to_owned(), "Pintorería".to_owned()));
    }
}
