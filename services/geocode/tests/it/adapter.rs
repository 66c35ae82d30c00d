//! What is CartoCiudad's own; what holds for every provider is in `contract`.

use std::time::Duration;

use geocode::cartociudad::CartoCiudad as Adapter;
use geocode::provider::{FoundKind, Provider};
use geocode::{Point, parse::Door};

use crate::cartociudad::{CartoCiudad, Trap};
use crate::contract::query;

fn adapter(url: &str, timeout: Duration) -> Adapter {
    Adapter::new(url, timeout, "Vitoria-Gasteiz", "01059").unwrap()
}

#[tokio::test]
async fn a_candidate_is_read_and_the_query_is_filtered_by_the_city() {
    let city = CartoCiudad::start().await;
    let found =
        adapter(&city.url, Duration::from_secs(5)).search(&query("Calle Dato", Some(13))).await.unwrap();
    let [door] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (door.kind, door.name.as_str(), door.street_type.as_str()),
        (FoundKind::Door, "DATO", "CALLE")
    );
    assert_eq!(door.door, Some(Door::Numbered { number: 12, extension: None }));
    assert!(door.point.is_some());
    assert_eq!(city.sent("candidates", "municipio_filter"), ["Vitoria-Gasteiz"]);
    assert_eq!(city.sent("candidates", "q"), ["Calle Dato 13"]);
    assert_eq!(city.sent("candidates", "limit"), ["10"]);
}

#[tokio::test]
async fn odd_entries_are_skipped_and_the_rest_is_read() {
    let city = CartoCiudad::start().await;
    city.set(Trap::OddTypes);
    let found =
        adapter(&city.url, Duration::from_secs(5)).search(&query("Calle Dato", Some(12))).await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].point.is_some());
    assert_eq!(found[1].point, None, "zero is no coordinate");
}

#[tokio::test]
async fn a_street_is_located_by_its_id_and_another_id_is_not_it() {
    let city = CartoCiudad::start().await;
    let adapter = adapter(&city.url, Duration::from_secs(5));
    let found = adapter.search(&query("Calle Dato", None)).await.unwrap();
    assert_eq!(found[0].point, None);
    assert_eq!(adapter.locate(&found[0]).await.unwrap(), Point::new(42.8467, -2.6727).ok());
    assert_eq!(city.sent("find", "type"), ["callejero"]);
    for trap in [Trap::OtherId, Trap::NoContent, Trap::Callback] {
        city.set(trap);
        assert_eq!(adapter.locate(&found[0]).await, Ok(None), "{trap:?}");
    }
}
