//! The adapter against every trap.

use std::time::Duration;

use geocode::cartociudad::CartoCiudad as Adapter;
use geocode::metrics::Metrics;
use geocode::provider::{Away, FoundKind, Provider};
use geocode::{Point, parse::Door};
use runtime::Shell;

use crate::cartociudad::{CartoCiudad, Trap};

fn adapter(url: &str, timeout: Duration) -> Adapter {
    let metrics = Shell::detached("geocode").metrics(Metrics::register);
    Adapter::new(url, timeout, "Vitoria-Gasteiz", "01059", metrics).unwrap()
}

#[tokio::test]
async fn a_candidate_is_read_and_the_query_is_filtered_by_the_city() {
    let city = CartoCiudad::start().await;
    let found = adapter(&city.url, Duration::from_secs(5)).search("Calle Dato 13").await.unwrap();
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
async fn nothing_is_nothing_and_a_failure_is_never_nothing() {
    let city = CartoCiudad::start().await;
    let adapter = adapter(&city.url, Duration::from_secs(5));
    for (trap, expected) in [
        (Trap::NoContent, Ok(0)),
        (Trap::Callback, Ok(0)),
        (Trap::OtherTown, Ok(0)),
        (Trap::OneServerError, Ok(1)),
        (Trap::ServerError, Err(Away::Status(500))),
        (Trap::Html, Err(Away::Unreadable)),
        (Trap::Cut, Err(Away::Unreadable)),
    ] {
        city.set(trap);
        let answer = adapter.search("Calle Dato 12").await.map(|found| found.len());
        assert_eq!(answer, expected, "{trap:?}");
    }
}

#[tokio::test]
async fn a_server_error_is_asked_again_once_and_nothing_else_is() {
    let city = CartoCiudad::start().await;
    let adapter = adapter(&city.url, Duration::from_secs(5));
    city.set(Trap::ServerError);
    adapter.search("Calle Dato 12").await.unwrap_err();
    assert_eq!(city.sent("candidates", "q").len(), 2);
    city.set(Trap::Html);
    adapter.search("Calle Dato 12").await.unwrap_err();
    assert_eq!(city.sent("candidates", "q").len(), 3);
}

#[tokio::test]
async fn silence_ends_at_the_timeout_and_a_closed_port_at_once() {
    let city = CartoCiudad::start().await;
    city.set(Trap::Silence);
    let slow = adapter(&city.url, Duration::from_millis(50)).search("Calle Dato 12").await;
    assert_eq!(slow, Err(Away::Timeout));
    let closed = adapter("http://127.0.0.1:1/base", Duration::from_secs(5)).search("Calle Dato 12").await;
    assert_eq!(closed, Err(Away::Unreachable));
}

#[tokio::test]
async fn odd_entries_are_skipped_and_the_rest_is_read() {
    let city = CartoCiudad::start().await;
    city.set(Trap::OddTypes);
    let found = adapter(&city.url, Duration::from_secs(5)).search("Calle Dato 12").await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].point.is_some());
    assert_eq!(found[1].point, None, "zero is no coordinate");
}

#[tokio::test]
async fn a_street_is_located_by_its_id_and_another_id_is_not_it() {
    let city = CartoCiudad::start().await;
    let adapter = adapter(&city.url, Duration::from_secs(5));
    let found = adapter.search("Calle Dato").await.unwrap();
    assert_eq!(found[0].point, None);
    assert_eq!(adapter.locate(&found[0]).await.unwrap(), Point::new(42.8467, -2.6727).ok());
    assert_eq!(city.sent("find", "type"), ["callejero"]);
    for trap in [Trap::OtherId, Trap::NoContent, Trap::Callback] {
        city.set(trap);
        assert_eq!(adapter.locate(&found[0]).await, Ok(None), "{trap:?}");
    }
}
