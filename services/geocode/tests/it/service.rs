//! Addresses and pins through a gRPC client.

use std::time::Duration;

use geocode::config::{Endpoint, Geocoder};
use proto::geocode::v1 as pb;
use proto::geocode::v1::resolve_response::Verdict;
use tonic::Code;

use crate::app::{App, shown};
use crate::cartociudad::Trap;
use crate::osm::Osm;
use crate::{area, offline};

#[tokio::test]
async fn every_verdict_is_reached_by_what_people_type() {
    let app = App::in_vitoria().await;
    for (language, text, street, expected) in [
        ("es", "C/ Dato 12, 3º B, 01005 Vitoria", None, "exact Calle Dato 12"),
        ("eu", "Dato kalea 12", None, "exact Dato kalea 12"),
        ("eu", "Pintore kalea 1", None, "exact Pintore kalea 1"),
        ("es", "Pintore kalea 1", None, "exact Calle Pintorería 1"),
        ("es", "Calle Dato 13", None, "nearest Calle Dato 12 asked 13 found 12"),
        ("es", "Calle Dato", None, "street Calle Dato"),
        ("eu", "Dato kalea", None, "street Dato kalea"),
        ("es", "12", Some("Calle Dato"), "exact Calle Dato 12"),
        ("eu", "12an", Some("Dato kalea"), "exact Dato kalea 12"),
        ("es", "Pintorería 3", Some("Calle Dato"), "exact Calle Pintorería 3"),
        ("es", "12", None, "vague"),
        ("es", "Santa María 4", None, "several Cantón de Santa Maria 4, Plaza de Santa Maria 4"),
        ("es", "Santa María", None, "street Santa María"),
        ("es", "Calle Santa María 4", None, "several Cantón de Santa Maria 4, Plaza de Santa Maria 4"),
        ("es", "Plaza de la Virgen Blanca", None, "place Plaza de la Virgen Blanca"),
        ("es", "Parque de la Florida", None, "place Parque de la Florida"),
        ("es", "https://maps.google.com/?q=42.8461,-2.672", None, "place Calle Dato 12"),
        ("es", "42.7353, -2.7443", None, "outside "),
        ("es", "Calle Lejana 1", None, "outside Calle Lejana 1"),
        ("es", "Bilbao, Gran Vía 1", None, "other town Bilbao"),
        ("es", "Calle Inventada 5", None, "not found"),
        ("es", "hola", None, "vague"),
    ] {
        let verdict = app.resolve_in(language, text, street).await;
        assert_eq!(shown(&verdict), expected, "{text}");
    }
}

#[tokio::test]
async fn an_answer_names_its_area_its_provider_and_its_axes() {
    let app = App::in_vitoria().await;
    let Verdict::ExactDoor(door) = app.resolve("Calle Dato 12").await else { panic!("an exact door") };
    let candidate = door.candidate.unwrap();
    assert!((candidate.latitude - 42.84612).abs() < 1e-9 && (candidate.longitude + 2.672).abs() < 1e-9);
    assert_eq!((candidate.area_id.as_str(), candidate.area_version), ("vitoria-gasteiz", 1));
    assert_eq!(candidate.provider, "cartociudad");
    assert!(candidate.confidence > 0.95);
}

#[tokio::test]
async fn what_cannot_be_an_address_reaches_no_provider() {
    let app = App::in_vitoria().await;
    for text in ["", "a", "no", "600 123 456", "Bilbao", "42.8467, -2.9999999", "hay basura en la calle"] {
        app.resolve(text).await;
    }
    assert_eq!(app.city.sent("candidates", "q"), Vec::<String>::new());
}

#[tokio::test]
async fn a_provider_that_is_away_is_a_verdict_and_is_forgotten_when_it_is_back() {
    let app = App::in_vitoria().await;
    for trap in [Trap::ServerError, Trap::Html, Trap::Cut] {
        app.city.set(trap);
        assert_eq!(shown(&app.resolve("Calle Dato 12").await), "unavailable", "{trap:?}");
        let reversed = pb::ReverseRequest { latitude: 42.8461, longitude: -2.672, language: "es".to_owned() };
        assert_eq!(app.client.clone().reverse(reversed).await.unwrap().into_inner().address, None);
        let covers = pb::CoversRequest { latitude: 42.8467, longitude: -2.6727 };
        assert!(
            app.client.clone().covers(covers).await.unwrap().into_inner().inside,
            "a pin needs no provider"
        );
    }
    app.city.set(Trap::NoContent);
    testkit::eventually("it is asked again", || async {
        (shown(&app.resolve("Calle Dato 12").await) == "not found").then_some(())
    })
    .await;
    app.city.set(Trap::None);
    assert_eq!(shown(&app.resolve("Calle Dato 12").await), "exact Calle Dato 12");
}

#[tokio::test]
async fn an_address_that_takes_several_questions_is_remembered_as_a_whole_and_nothing_is_not() {
    let app = App::in_vitoria().await;
    let asked = || app.city.sent("candidates", "q").len();
    for _ in 0..3 {
        assert_eq!(shown(&app.resolve("Dato kalea 12").await), "exact Calle Dato 12");
        assert_eq!(asked(), 2, "{:?}", app.city.sent("candidates", "q"));
    }
    assert_eq!(shown(&app.resolve("Calle Inventada 3").await), "not found");
    let once = asked();
    assert_eq!(shown(&app.resolve("Calle Inventada 3").await), "not found");
    assert_eq!(asked(), 2 * once - 2, "asked for again from the first question on");
}

#[tokio::test]
async fn a_provider_that_is_silent_holds_no_pin_up_and_answers_come_before_the_deadline() {
    let app = App::in_vitoria().await;
    app.city.set(Trap::Silence);
    let typed = async {
        let message = pb::ResolveRequest {
            text: "Calle Dato 12".to_owned(),
            language: "es".to_owned(),
            ..pb::ResolveRequest::default()
        };
        let mut request = tonic::Request::new(message);
        request.set_timeout(Duration::from_millis(600));
        app.client.clone().resolve(request).await.unwrap().into_inner().verdict.unwrap()
    };
    let pins = async {
        for _ in 0..50 {
            let covers = pb::CoversRequest { latitude: 42.8467, longitude: -2.6727 };
            assert!(app.client.clone().covers(covers).await.unwrap().into_inner().inside);
        }
        let message = pb::ReverseRequest { latitude: 42.8461, longitude: -2.672, language: "es".to_owned() };
        let mut request = tonic::Request::new(message);
        request.set_timeout(Duration::from_millis(600));
        app.client.clone().reverse(request).await.unwrap().into_inner().address
    };
    let (typed, address) = tokio::join!(typed, pins);
    assert_eq!(shown(&typed), "unavailable");
    assert_eq!(address, None);
}

#[tokio::test]
async fn what_differs_is_told() {
    let app = App::in_vitoria().await;
    let told = |candidate: Option<pb::Candidate>| {
        let differences = candidate.unwrap().differences.into_iter();
        differences.map(|d| format!("{} {} {}", d.part().as_str_name(), d.asked, d.found)).collect::<Vec<_>>()
    };
    let Verdict::ExactDoor(exact) = app.resolve_in("es", "Pintore kalea 1", None).await else {
        panic!("exact")
    };
    assert_eq!(told(exact.candidate), Vec::<String>::new(), "the other language is no difference");
    let Verdict::NearestDoor(nearest) = app.resolve("Calle Dato 13").await else { panic!("nearest") };
    assert_eq!(told(nearest.candidate), ["PART_DOOR 13 12"]);
    let Verdict::Several(several) = app.resolve("Calle Santa María 4").await else { panic!("several") };
    assert_eq!(told(several.candidates.first().cloned()), ["PART_KIND Calle Cantón"]);
}

#[tokio::test]
async fn among_equals_the_nearer_one_comes_first() {
    let app = App::in_vitoria().await;
    let first = async |latitude: f64| {
        let request = pb::ResolveRequest {
            text: "Santa María 4".to_owned(),
            language: "es".to_owned(),
            bias: Some(pb::Point { latitude, longitude: -2.672 }),
            ..pb::ResolveRequest::default()
        };
        let answer = app.client.clone().resolve(request).await?.into_inner().verdict.unwrap();
        let Verdict::Several(several) = answer else { panic!("several: {answer:?}") };
        Ok::<_, tonic::Status>(several.candidates.into_iter().map(|c| c.address).collect::<Vec<_>>())
    };
    let canton = "Cantón de Santa Maria 4".to_owned();
    let plaza = "Plaza de Santa Maria 4".to_owned();
    assert_eq!(first(42.847).await.unwrap(), [canton.clone(), plaza.clone()]);
    assert_eq!(first(42.846).await.unwrap(), [plaza, canton]);
    assert_eq!(first(100.0).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn an_address_is_asked_for_only_once_the_gate_has_let_the_point_in() {
    let app = App::in_vitoria().await;
    let request = pb::ReverseRequest { latitude: 42.7353, longitude: -2.7443, language: "es".to_owned() };
    assert_eq!(app.client.clone().reverse(request).await.unwrap().into_inner().address, None);
    app.resolve("https://maps.google.com/?q=42.7353,-2.7443").await;
    assert_eq!(app.city.sent("reverseGeocode", "lat"), Vec::<String>::new());
}

#[tokio::test]
async fn a_good_answer_is_asked_for_once() {
    let app = App::in_vitoria().await;
    let (one, two) = tokio::join!(app.resolve("Calle Dato 12"), app.resolve("calle dato, 12, Vitoria"));
    assert_eq!(shown(&one), shown(&two));
    app.resolve("Calle Dato 12").await;
    let asked = app.city.sent("candidates", "q");
    assert_eq!(asked.iter().filter(|q| *q == "Calle Dato 12").count(), 1, "{asked:?}");
}

#[tokio::test]
async fn an_address_is_given_to_a_pin_only_when_it_is_its_own() {
    let app = App::in_vitoria().await;
    let ask = async |latitude: f64, longitude: f64, language: &str| {
        let request = pb::ReverseRequest { latitude, longitude, language: language.to_owned() };
        app.client.clone().reverse(request).await.unwrap().into_inner()
    };
    let near = ask(42.8463, -2.672, "eu").await;
    assert_eq!(near.address.as_deref(), Some("Dato kalea 12"));
    assert!((20.0..25.0).contains(&near.distance_metres), "{}", near.distance_metres);
    let far = ask(42.8472, -2.672, "es").await;
    assert_eq!((far.address, far.distance_metres), (None, 0.0));
    app.city.set(Trap::OtherTown);
    assert_eq!(ask(42.8463, -2.672, "es").await.address, None);
    app.city.set(Trap::NoContent);
    assert_eq!(ask(42.8463, -2.672, "es").await.address, None);
}

#[tokio::test]
async fn known_traps_and_reported_faults_of_other_systems_are_not_ours() {
    let app = App::in_vitoria().await;
    for (text, expected) in [
        // Quotes and backslashes break the provider's own query, a number of the size of a telephone its ranking.
        ("Calle \"Dato\" 12", "exact Calle Dato 12"),
        ("Calle Dato\\ 12", "exact Calle Dato 12"),
        ("Calle Dato 12 tel. 600123456", "exact Calle Dato 12"),
        // Zeros in front, a floor with a door behind a comma, one digit, the town and the postcode behind.
        ("CALLE DATO 00012", "exact Calle Dato 12"),
        ("Calle Dato 12, 2º, 4ª", "exact Calle Dato 12"),
        ("calle dato 2", "exact Calle Dato 2"),
        ("CALLE DATO 12 VITORIA", "exact Calle Dato 12"),
        ("Calle Dato 12, 01005 Vitoria-Gasteiz, Álava, España", "exact Calle Dato 12"),
        // An article more or less is the same street.
        ("Cantón Santa María 4", "exact Cantón de Santa Maria 4"),
        // Unknown is not the same as not served.
        ("Calle Inventada 5", "not found"),
        ("Calle Lejana 1", "outside Calle Lejana 1"),
    ] {
        assert_eq!(shown(&app.resolve(text).await), expected, "{text}");
    }
    let sent = app.city.sent("candidates", "q");
    assert!(sent.iter().all(|q| !q.contains(['"', '\\'])), "{sent:?}");
    // A street whose coordinates are zero is asked for by its id, and is never a point in the sea.
    let Verdict::StreetOnly(street) = app.resolve("Calle Dato").await else { panic!("a street") };
    assert!((street.candidate.unwrap().latitude - 42.8467).abs() < 1e-9);
}

#[tokio::test]
async fn a_city_can_do_without_any_service_outside() {
    let database = testkit::database().await;
    area::load_vitoria(&database).await;
    offline::load(&database).await;
    let url = database.url_as("abisu_geocode");
    let app = App::start_with(database, url, |config| config.geocoder = Geocoder::Offline).await;
    for (language, text, street, expected) in [
        ("es", "C/ Eduardo Dato 12, 3º B, 01005 Vitoria", None, "exact Calle Eduardo Dato 12"),
        ("es", "dato 12 a", None, "exact Calle Eduardo Dato 12 A"),
        ("es", "Calle Dato 13", None, "nearest Calle Eduardo Dato 15 asked 13 found 15"),
        ("eu", "Pintore kalea 1", None, "exact Pintore kalea 1"),
        ("es", "Pintore kalea 1", None, "exact Calle Pintorería 1"),
        ("eu", "Etxeberria kalea 7", None, "exact Echeverría kalea 7"),
        ("es", "Portal de Foronda 4", None, "exact Portal de Foronda 4"),
        ("es", "Portal de Foronda s/n", None, "exact Portal de Foronda s/n"),
        ("es", "Avda. Gasteiz 30", None, "exact Avenida de Gasteiz 30"),
        ("es", "12", Some("Calle Eduardo Dato"), "exact Calle Eduardo Dato 12"),
        ("es", "Calle Eduardo Dato", None, "street Calle Eduardo Dato"),
        // A letter that is wrong is to be confirmed, with and without a kind, with and without a number.
        ("es", "Calle Eduardo Dado 12", None, "several Calle Eduardo Dato 12"),
        ("es", "eduardo dado 13", None, "several Calle Eduardo Dato 15"),
        ("es", "Calle Eduardo Dado", None, "street Calle Eduardo Dato"),
        ("es", "Calle Eduardo Dado s/n", None, "street Calle Eduardo Dato"),
        ("eu", "Forondako atea 4", None, "exact Portal de Foronda 4"),
        ("es", "Parque de la Florida", None, "place Parque de la Florida"),
        ("es", "Calle Zubizabal 5", None, "not found"),
        ("es", "Bilbao, Gran Vía 1", None, "other town Bilbao"),
    ] {
        let verdict = app.resolve_in(language, text, street).await;
        assert_eq!(shown(&verdict), expected, "{text}");
    }
    let Verdict::ExactDoor(door) = app.resolve("Eduardo Dato 12").await else { panic!("exact") };
    assert_eq!(door.candidate.unwrap().provider, "offline");
    assert_eq!(app.city.sent("candidates", "q"), Vec::<String>::new());
}

#[tokio::test]
async fn a_map_answers_while_the_institute_is_away() {
    let database = testkit::database().await;
    area::load_vitoria(&database).await;
    let (url, map) = (database.url_as("abisu_geocode"), Osm::start().await);
    let stand_in = Endpoint { url: map.nominatim.clone(), timeout: Duration::from_secs(5), per_second: 100 };
    let app =
        App::start_with(database, url, |config| config.fallback = vec![Geocoder::Nominatim(stand_in)]).await;
    app.city.set(Trap::ServerError);
    let Verdict::ExactDoor(door) = app.resolve("Calle Dato 12").await else { panic!("exact") };
    assert_eq!(door.candidate.unwrap().provider, "nominatim");
    map.set(Trap::Html);
    assert_eq!(shown(&app.resolve("Calle Dato 2").await), "unavailable");
}

#[tokio::test]
async fn what_is_known_asks_nobody_and_a_new_version_decides_at_once_all_the_same() {
    let app = App::in_vitoria().await;
    let exact = async || shown(&app.resolve("Calle Dato 12").await) == "exact Calle Dato 12";
    // Without rights only what is in memory can be answered.
    let revoke = "revoke select on geo.current_area_part, geo.area_part from abisu_geocode";
    let grant = "grant select on geo.current_area_part, geo.area_part to abisu_geocode";
    testkit::eventually("it is kept", || async {
        sqlx::query(grant).execute(&app.database.pool).await.unwrap();
        assert!(exact().await);
        sqlx::query(revoke).execute(&app.database.pool).await.unwrap();
        let request = pb::ResolveRequest {
            text: "Calle Dato 12".to_owned(),
            language: "es".to_owned(),
            ..pb::ResolveRequest::default()
        };
        app.client.clone().resolve(request).await.ok()
    })
    .await;
    let covers = pb::CoversRequest { latitude: 42.8467, longitude: -2.6727 };
    assert_eq!(app.client.clone().covers(covers).await.unwrap_err().code(), Code::Unavailable);
    sqlx::query(grant).execute(&app.database.pool).await.unwrap();
    // Elsewhere: the street is outside as soon as the notice is there.
    let elsewhere = "MULTIPOLYGON(((0 0, 1 0, 1 1, 0 1, 0 0)))";
    area::load(&app.database, "vitoria-gasteiz", 2, elsewhere).await;
    assert!(!app.client.clone().covers(covers).await.unwrap().into_inner().inside, "a pin at once");
    testkit::eventually("an address too", || async {
        (shown(&app.resolve("Calle Dato 12").await) == "outside Calle Dato 12").then_some(())
    })
    .await;
}
