//! What every client of the service may rely on: statuses, health, reflection, an orderly end.

use std::time::Duration;

use proto::geocode::v1 as pb;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::app::{App, channel, shown};

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
async fn many_points_are_covered_in_one_call() {
    let app = App::in_vitoria().await;
    let point = |latitude, longitude| pb::Point { latitude, longitude };
    let ask = async |points| app.client.clone().covers_all(pb::CoversAllRequest { points }).await;
    let answer = ask(vec![point(42.8467, -2.6727), point(42.7353, -2.7443)]).await.unwrap().into_inner();
    let [inside, outside] = &answer.points[..] else { panic!("two answers") };
    assert_eq!((inside.inside, inside.area_id.as_str(), inside.area_version), (true, "vitoria-gasteiz", 1));
    assert_eq!((outside.inside, outside.area_id.as_str(), outside.area_version), (false, "", 0));
    assert_eq!(ask(vec![point(0.0, 0.0); 10_001]).await.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(ask(vec![point(f64::NAN, 0.0)]).await.unwrap_err().code(), Code::InvalidArgument);
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
        ..pb::ResolveRequest::default()
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
