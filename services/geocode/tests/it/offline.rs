//! The provider out of the city's own database.

use std::collections::BTreeSet;

use geocode::Point;
use geocode::offline::Offline;
use geocode::parse::Door;
use geocode::provider::{Away, FoundKind, Provider};
use geocode::query::Query;
use testkit::Database;

use crate::contract::query;

/// Kind, name, other name, doors.
type Street = (&'static str, &'static str, &'static str, &'static [(i32, &'static str)]);

/// Streets as `abisu geocoder load` leaves them.
const STREETS: [Street; 7] = [
    ("", "Avenida de Gasteiz", "", &[(30, "")]),
    ("Calle", "Eduardo Dato", "", &[(2, ""), (12, ""), (12, "A"), (14, ""), (15, ""), (43, "")]),
    ("Calle", "Pintorería", "Pintore kalea", &[(1, ""), (3, "")]),
    ("Calle", "Echeverría", "", &[(7, "")]),
    ("Calle", "Mateo Benigno de Moraza", "", &[(9, "")]),
    ("Portal", "de Foronda", "", &[(4, ""), (0, "")]),
    ("", "Parque de la Florida", "Florida parkea", &[]),
];

pub(crate) async fn load(database: &Database) {
    for (n, (kind, name, other, doors)) in STREETS.into_iter().enumerate() {
        let latitude = 42.84 + f64::from(u32::try_from(n).unwrap()) / 1000.0;
        let (numbers, letters): (Vec<i32>, Vec<&str>) = doors.iter().copied().unzip();
        sqlx::query(
            "with street as (
               insert into geo.street (street_id, ine_code, kind, name, other_name, is_place, point)
               values (gen_random_uuid(), '01059', $1, $2, $3, cardinality($5::int[]) = 0, st_setsrid(st_makepoint(-2.67, $4), 4326))
               returning street_id)
             insert into geo.portal (street_id, number, extension, point)
             select street_id, number, letter, st_setsrid(st_makepoint(-2.67 + number / 1e5, $4), 4326)
             from street, unnest($5::int[], $6::text[]) as door (number, letter)",
        )
        .bind(kind)
        .bind(name)
        .bind(other)
        .bind(latitude)
        .bind(numbers)
        .bind(letters)
        .execute(&database.pool)
        .await
        .unwrap();
    }
}

async fn search(provider: &Offline, street: &str, number: Option<u32>) -> Vec<String> {
    let found = provider.search(&query(street, number)).await.unwrap();
    assert!(found.iter().all(|found| found.provider == "offline"));
    let door =
        |found: &geocode::provider::Found| found.door.as_ref().map(ToString::to_string).unwrap_or_default();
    found
        .iter()
        .map(|f| format!("{:?} {} {} {}", f.kind, f.street_type, f.name, door(f)).trim().to_owned())
        .collect()
}

#[tokio::test]
async fn a_street_is_found_by_its_sound_in_either_language_and_by_a_part() {
    let database = testkit::database().await;
    load(&database).await;
    let provider = Offline::new(database.pool.clone(), "01059");
    for (street, number, first) in [
        ("Calle Eduardo Dato", Some(12), "Door Calle Eduardo Dato 12"),
        ("dato", Some(12), "Door Calle Eduardo Dato 12"),
        ("Etxeberria kalea", Some(7), "Door Calle Echeverría 7"),
        ("pintore", Some(1), "Door Calle Pintore 1"),
        ("pintoreria", Some(1), "Door Calle Pintorería 1"),
        ("Moraza", Some(9), "Door Calle Mateo Benigno de Moraza 9"),
        ("Portal de Foronda", Some(4), "Door Portal de Foronda 4"),
        ("Calle Eduardo Dato", None, "Street Calle Eduardo Dato"),
        ("Avenida Gasteiz", Some(30), "Door Avenida de Gasteiz 30"),
        ("Parque de la Florida", None, "Place  Parque de la Florida"),
    ] {
        let found = search(&provider, street, number).await;
        assert_eq!(found.first().map(String::as_str), Some(first), "{street}: {found:?}");
    }
    assert_eq!(search(&provider, "Zubizabal", Some(5)).await, Vec::<String>::new());
    assert_eq!(
        search(&Offline::new(database.pool.clone(), "48020"), "dato", Some(12)).await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn what_was_answered_is_not_asked_again_and_would_bring_nothing_new() {
    let database = testkit::database().await;
    load(&database).await;
    let provider = Offline::new(database.pool.clone(), "01059");
    let unnumbered = |street: &str| Query { street: street.to_owned(), door: Some(Door::Unnumbered) };
    for (asked, next, answered) in [
        (query("Calle Eduardo Dado", Some(12)), query("Eduardo Dado", Some(12)), true),
        (query("Calle Eduardo Dado", Some(12)), query("Eduardo Dado", None), true),
        (query("Parque de la Florida", Some(3)), query("Parque de la Florida", None), true),
        (unnumbered("Portal de Foronda"), query("Portal de Foronda", None), true),
        (query("Pintore kalea", Some(1)), query("Calle Pintorería", Some(1)), false),
        (query("Eduardo Dado", None), query("Eduardo Dado", Some(12)), false),
        (query("Eduardo Dado", Some(12)), query("Eduardo Dado", Some(14)), false),
    ] {
        assert_eq!(provider.has_answered(&asked, &next), answered, "{asked} {next}");
        if !answered {
            continue;
        }
        let streets = async |query: &Query| -> BTreeSet<String> {
            let found = provider.search(query).await.unwrap();
            found.into_iter().map(|found| format!("{} {}", found.street_type, found.name)).collect()
        };
        assert_eq!(streets(&asked).await, streets(&next).await, "{asked} {next}");
    }
}

#[tokio::test]
async fn the_doors_around_a_number_come_with_all_their_letters() {
    let database = testkit::database().await;
    load(&database).await;
    let provider = Offline::new(database.pool.clone(), "01059");
    let doors = search(&provider, "Eduardo Dato", Some(13)).await;
    assert_eq!(doors.len(), 6, "{doors:?}");
    assert!(doors[0].ends_with("15") || doors[0].ends_with("12"), "{doors:?}");
    let exact = search(&provider, "Eduardo Dato", Some(12)).await;
    assert_eq!(exact[..2], ["Door Calle Eduardo Dato 12", "Door Calle Eduardo Dato 12 A"]);
}

#[tokio::test]
async fn the_nearest_door_is_the_nearest_in_metres() {
    let database = testkit::database().await;
    load(&database).await;
    let provider = Offline::new(database.pool.clone(), "01059");
    let here = Point::new(42.84102, -2.66987).unwrap();
    let found = provider.reverse(here).await.unwrap().unwrap();
    assert_eq!((found.kind, found.name.as_str()), (FoundKind::Door, "Eduardo Dato"));
    assert!(found.point.unwrap().metres_to(here) < 10.0);
    assert_eq!(Offline::new(database.pool.clone(), "48020").reverse(here).await, Ok(None));
}

#[tokio::test]
async fn a_database_that_is_away_is_a_provider_that_is_away() {
    let options =
        "postgres://abisu_geocode@127.0.0.1:1/none".parse::<sqlx::postgres::PgConnectOptions>().unwrap();
    let pool = sqlx::postgres::PgPoolOptions::new()
        .acquire_timeout(std::time::Duration::from_millis(200))
        .connect_lazy_with(options);
    let away = Offline::new(pool, "01059").search(&query("Dato", Some(1))).await.unwrap_err();
    assert!(matches!(away, Away::Timeout | Away::Unreachable), "{away}");
}

#[tokio::test]
async fn among_a_hundred_thousand_doors_the_right_ones_are_found() {
    let database = testkit::database().await;
    sqlx::query(
        "with street as (
           insert into geo.street (street_id, ine_code, kind, name, is_place, point)
           select gen_random_uuid(), '01059', 'Calle',
             initcap(translate(md5(n::text), '0123456789', 'aeioulnrst')), false, st_setsrid(st_makepoint(-2.67, 42.85), 4326)
           from generate_series(1, 2000) as n returning street_id)
         insert into geo.portal (street_id, number, point)
         select street_id, number, st_setsrid(st_makepoint(-2.7 + random() / 10, 42.8 + random() / 10), 4326)
         from street, generate_series(1, 50) as number",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    load(&database).await;
    sqlx::query("analyze geo.street, geo.portal").execute(&database.pool).await.unwrap();
    let provider = Offline::new(database.pool.clone(), "01059");
    for street in ["Eduardo Dato", "Pintore", "Moraza", "Foronda", "Etxeberria"] {
        assert!(!provider.search(&query(street, Some(3))).await.unwrap().is_empty(), "{street}");
    }
}
