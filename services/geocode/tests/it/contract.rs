//! What holds for every provider on the network, whichever it is.

use std::sync::Arc;
use std::time::Duration;

use geocode::Point;
use geocode::cartociudad::CartoCiudad;
use geocode::nominatim::Nominatim;
use geocode::parse::Door;
use geocode::photon::Photon;
use geocode::provider::{Away, Found, FoundKind, Provider};
use geocode::query::Query;

use crate::cartociudad::{CartoCiudad as FakeCartoCiudad, Trap};
use crate::osm::Osm;

const LONG: Duration = Duration::from_secs(5);

pub(crate) fn query(street: &str, number: Option<u32>) -> Query {
    let door = number.map(|number| Door::Numbered { number, extension: None });
    Query { street: street.to_owned(), door }
}

/// Makes a provider, of another URL than its own if one is given, with a timeout.
type Make<'a> = Box<dyn Fn(Option<&str>, Duration) -> Arc<dyn Provider> + 'a>;

/// A provider, and what sets the traps of the service that it asks.
struct Case<'a> {
    make: Make<'a>,
    set: Box<dyn Fn(Trap) + 'a>,
}

impl Case<'_> {
    fn provider(&self) -> Arc<dyn Provider> {
        (self.make)(None, LONG)
    }
}

/// Runs a check on every provider.
async fn each(check: impl AsyncFn(&Case<'_>, &str)) {
    let (city, map) = (FakeCartoCiudad::start().await, Osm::start().await);
    let town = "Vitoria-Gasteiz";
    let cases = [
        Case {
            make: Box::new(|url, timeout| {
                Arc::new(CartoCiudad::new(url.unwrap_or(&city.url), timeout, town, "01059").unwrap())
            }),
            set: Box::new(|trap| city.set(trap)),
        },
        Case {
            make: Box::new(|url, timeout| {
                Arc::new(Nominatim::new(url.unwrap_or(&map.nominatim), timeout, town).unwrap())
            }),
            set: Box::new(|trap| map.set(trap)),
        },
        Case {
            make: Box::new(|url, timeout| {
                Arc::new(Photon::new(url.unwrap_or(&map.photon), timeout, town).unwrap())
            }),
            set: Box::new(|trap| map.set(trap)),
        },
    ];
    for case in &cases {
        (case.set)(Trap::None);
        let name = case.provider().name();
        check(case, name).await;
    }
}

fn shown(found: &Found) -> String {
    let door = found.door.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{:?} {}|{}|{door}", found.kind, found.street_type, found.name).to_lowercase()
}

#[tokio::test]
async fn doors_streets_squares_and_parks_are_told_apart() {
    each(async |case, name| {
        let provider = case.provider();
        for (street, number, expected) in [
            ("Calle Dato", Some(12), "door calle|dato|12"),
            ("Calle Dato", None, "street calle|dato|"),
            ("Plaza de la Virgen Blanca", None, "street plaza|de la virgen blanca|"),
            ("Parque de la Florida", None, "place |parque de la florida|"),
        ] {
            let found = provider.search(&query(street, number)).await.unwrap();
            assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), [expected], "{name}: {street}");
            assert_eq!(found[0].provider, name);
            assert!(found[0].kind == FoundKind::Street || found[0].point.is_some());
            assert!(provider.locate(&found[0]).await.unwrap().is_some(), "{name}: {street}");
        }
        assert_eq!(provider.search(&query("Calle Inventada", Some(5))).await, Ok(Vec::new()), "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_point_has_the_door_next_to_it_for_its_address() {
    each(async |case, name| {
        let here = Point::new(42.8461, -2.672).unwrap();
        let found = case.provider().reverse(here).await.unwrap().expect("a door");
        assert_eq!(shown(&found), "door calle|dato|12", "{name}");
        assert!(found.point.unwrap().metres_to(here) < 1.0, "{name}: axes");
        (case.set)(Trap::OtherTown);
        assert_eq!(case.provider().reverse(here).await, Ok(None), "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_failure_is_never_nothing() {
    each(async |case, name| {
        let provider = case.provider();
        for (trap, expected) in [
            (Trap::ServerError, Away::Status(500)),
            (Trap::Html, Away::Unreadable),
            (Trap::Cut, Away::Unreadable),
        ] {
            (case.set)(trap);
            let answer = provider.search(&query("Calle Dato", Some(12))).await;
            assert_eq!(answer, Err(expected), "{name}: {trap:?}");
            let answer = provider.reverse(Point::new(42.8461, -2.672).unwrap()).await;
            assert_eq!(answer, Err(expected), "{name}: {trap:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn silence_ends_at_the_timeout_and_a_closed_port_at_once() {
    each(async |case, name| {
        (case.set)(Trap::Silence);
        let slow = (case.make)(None, Duration::from_millis(50));
        assert_eq!(slow.search(&query("Calle Dato", Some(12))).await, Err(Away::Timeout), "{name}");
        let closed = (case.make)(Some("http://127.0.0.1:1/base"), LONG);
        assert_eq!(closed.search(&query("Calle Dato", Some(12))).await, Err(Away::Unreachable), "{name}");
    })
    .await;
}

#[tokio::test]
async fn other_towns_and_odd_entries_are_skipped_and_the_rest_is_read() {
    each(async |case, name| {
        let provider = case.provider();
        (case.set)(Trap::OtherTown);
        assert_eq!(provider.search(&query("Calle Dato", Some(12))).await, Ok(Vec::new()), "{name}");
        (case.set)(Trap::OddTypes);
        let found = provider.search(&query("Calle Dato", Some(12))).await.unwrap();
        let placed: Vec<String> = found.iter().filter(|found| found.point.is_some()).map(shown).collect();
        assert_eq!(placed, ["door calle|dato|12"], "{name}: {found:?}");
    })
    .await;
}

#[tokio::test]
async fn cartociudad_s_three_ways_to_say_nothing_are_nothing() {
    let city = FakeCartoCiudad::start().await;
    let provider = CartoCiudad::new(&city.url, LONG, "Vitoria-Gasteiz", "01059").unwrap();
    for trap in [Trap::NoContent, Trap::Callback] {
        city.set(trap);
        assert_eq!(provider.search(&query("Calle Dato", Some(12))).await, Ok(Vec::new()), "{trap:?}");
    }
}

#[tokio::test]
async fn maps_are_asked_for_the_city_and_photon_for_no_language() {
    let map = Osm::start().await;
    let nominatim = Nominatim::new(&map.nominatim, LONG, "Vitoria-Gasteiz").unwrap();
    let photon = Photon::new(&map.photon, LONG, "Vitoria-Gasteiz").unwrap();
    nominatim.search(&query("Calle Dato", Some(12))).await.unwrap();
    assert_eq!(map.sent("accept-language"), ["es,eu"]);
    let unnumbered = Query { street: "Calle Dato".to_owned(), door: Some(Door::Unnumbered) };
    photon.search(&unnumbered).await.unwrap();
    assert_eq!(map.sent("q"), ["Calle Dato 12, Vitoria-Gasteiz", "Calle Dato, Vitoria-Gasteiz"]);
    assert_eq!(map.sent("lang"), Vec::<String>::new());
}
