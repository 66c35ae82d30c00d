//! The whole service through a gRPC client.

use std::net::SocketAddr;
use std::time::Duration;

use geocode::config::Config;
use proto::geocode::v1 as pb;
use proto::geocode::v1::geocode_client::GeocodeClient;
use proto::geocode::v1::resolve_response::Verdict;
use runtime::Shell;
use runtime::config::DatabaseConfig;
use secrecy::SecretString;
use testkit::Database;
use tonic::Code;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::area;
use crate::cartociudad::{CartoCiudad, Trap};

struct App {
    database: Database,
    city: CartoCiudad,
    shell: Shell,
    address: SocketAddr,
    client: GeocodeClient<Channel>,
}

async fn channel(address: SocketAddr) -> Channel {
    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

impl App {
    async fn start() -> Self {
        let database = testkit::database().await;
        let url = database.url_as("abisu_geocode");
        Self::start_on(database, url).await
    }

    async fn start_on(database: Database, url: String) -> Self {
        let city = CartoCiudad::start().await;
        let shell = Shell::detached("geocode");
        let config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            cartociudad_url: city.url.clone(),
            cartociudad_timeout: Duration::from_secs(5),
            city_name: "Vitoria-Gasteiz".to_owned(),
            city_ine_code: "01059".to_owned(),
            city_province_code: "01".to_owned(),
            database: DatabaseConfig { url: SecretString::from(url), pool: 4 },
            grace: Duration::from_secs(4),
        };
        let address = geocode::start(config, &shell).await.unwrap();
        let client = GeocodeClient::new(channel(address).await);
        Self { database, city, shell, address, client }
    }

    async fn in_vitoria() -> Self {
        let app = Self::start().await;
        area::load_vitoria(&app.database).await;
        app
    }

    async fn resolve_in(&self, language: &str, text: &str, street: Option<&str>) -> Verdict {
        let request = pb::ResolveRequest {
            text: text.to_owned(),
            language: language.to_owned(),
            street: street.map(str::to_owned),
        };
        self.client.clone().resolve(request).await.unwrap().into_inner().verdict.unwrap()
    }

    async fn resolve(&self, text: &str) -> Verdict {
        self.resolve_in("es", text, None).await
    }

    async fn health(&self, service: &str) -> ServingStatus {
        let request = HealthCheckRequest { service: service.to_owned() };
        HealthClient::new(channel(self.address).await).check(request).await.unwrap().into_inner().status()
    }
}

/// The verdict in short: its name and its addresses.
fn shown(verdict: &Verdict) -> String {
    let address =
        |candidate: &Option<pb::Candidate>| candidate.as_ref().map_or("-", |c| &c.address).to_owned();
    match verdict {
        Verdict::ExactDoor(v) => format!("exact {}", address(&v.candidate)),
        Verdict::NearestDoor(v) => {
            format!("nearest {} asked {} found {}", address(&v.candidate), v.asked, v.found)
        }
        Verdict::StreetOnly(v) => format!("street {}", v.street),
        Verdict::Place(v) => format!("place {}", address(&v.candidate)),
        Verdict::Several(v) => {
            format!("several {}", v.candidates.iter().map(|c| &c.address[..]).collect::<Vec<_>>().join(", "))
        }
        Verdict::Vague(_) => "vague".to_owned(),
        Verdict::Outside(v) => format!("outside {}", address(&v.candidate)),
        Verdict::OtherTown(v) => format!("other town {}", v.name),
        Verdict::NotFound(_) => "not found".to_owned(),
        Verdict::Unavailable(_) => "unavailable".to_owned(),
    }
}

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
    assert_eq!(shown(&app.resolve("Calle Dato 12").await), "not found");
    app.city.set(Trap::None);
    assert_eq!(shown(&app.resolve("Calle Dato 12").await), "exact Calle Dato 12");
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
async fn coverage_says_where_the_border_is() {
    let app = App::in_vitoria().await;
    let ask = async |latitude: f64, longitude: f64| {
        app.client.clone().covers(pb::CoversRequest { latitude, longitude }).await
    };
    let inside = ask(42.8467, -2.6727).await.unwrap().into_inner();
    assert_eq!((inside.inside, inside.area_version, inside.metres_to_border), (true, 1, 0.0));
    let outside = ask(42.7353, -2.7443).await.unwrap().into_inner();
    assert!(!outside.inside && outside.area_id == "vitoria-gasteiz");
    assert!((3_000.0..10_000.0).contains(&outside.metres_to_border), "{}", outside.metres_to_border);
    for (latitude, longitude) in [(f64::NAN, 0.0), (91.0, 0.0), (0.0, 181.0)] {
        assert_eq!(ask(latitude, longitude).await.unwrap_err().code(), Code::InvalidArgument);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_a_status() {
    let app = App::start().await;
    let covers = pb::CoversRequest { latitude: 42.8467, longitude: -2.6727 };
    let missing = app.client.clone().covers(covers).await.unwrap_err();
    assert_eq!(missing.code(), Code::FailedPrecondition);
    assert!(missing.message().contains("abisu area load"), "{}", missing.message());
    let request = |text: String, language: &str| pb::ResolveRequest {
        text,
        language: language.to_owned(),
        street: None,
    };
    for request in [request("Calle Dato 12".to_owned(), "fr"), request("x".repeat(5000), "es")] {
        let refused = app.client.clone().resolve(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(!refused.message().contains("Dato") && !refused.message().contains("xxx"));
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_unavailable_and_not_serving() {
    let database = testkit::database().await;
    let app = App::start_on(database, "postgres://abisu_geocode@127.0.0.1:1/none".to_owned()).await;
    let covers = pb::CoversRequest { latitude: 42.8467, longitude: -2.6727 };
    assert_eq!(app.client.clone().covers(covers).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(app.health("").await, ServingStatus::NotServing);
    assert_eq!(shown(&app.resolve("Bilbao, Gran Vía 1").await), "other town Bilbao");
}

#[tokio::test]
async fn health_follows_readiness_and_a_stop_lets_calls_end() {
    let app = App::in_vitoria().await;
    for name in ["", "geocode.v1.Geocode"] {
        testkit::eventually("the service serves", || async {
            (app.health(name).await == ServingStatus::Serving).then_some(())
        })
        .await;
    }
    // A watch stays open for as long as the client likes; it must not hold the stop up.
    let mut watch = HealthClient::new(channel(app.address).await)
        .watch(HealthCheckRequest { service: String::new() })
        .await
        .unwrap()
        .into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    let stop = tokio::time::timeout(Duration::from_secs(4), app.shell.stop());
    let seen = async { watch.message().await.ok().flatten().map(|message| message.status()) };
    let (stopped, seen) = tokio::join!(stop, seen);
    stopped.expect("it stops in time");
    assert_eq!(seen, Some(ServingStatus::NotServing));
    assert!(app.client.clone().covers(pb::CoversRequest::default()).await.is_err());
}

#[tokio::test]
async fn reflection_names_the_service() {
    let app = App::start().await;
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers = ServerReflectionClient::new(channel(app.address).await)
        .server_reflection_info(tokio_stream::once(request))
        .await
        .unwrap()
        .into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(list) = answer else { panic!("a list") };
    let names: Vec<String> = list.service.into_iter().map(|service| service.name).collect();
    assert!(names.contains(&"geocode.v1.Geocode".to_owned()), "{names:?}");
    assert!(names.contains(&"grpc.health.v1.Health".to_owned()), "{names:?}");
}
