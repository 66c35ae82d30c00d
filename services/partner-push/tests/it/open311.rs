//! The whole service with an Open311 endpoint that tells the id later.

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use partner::media::{MediaKeys, Refused};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use testkit::{Database, database};

use crate::scene::{NewReport, PHOTO, Service, attempts, steps, until, until_it};

/// An endpoint that answers creates like this, one after the other, and then takes them.
async fn scripted(answers: &[(u16, &'static str)]) -> (String, Arc<Mutex<Vec<String>>>) {
    let posts = Arc::new(Mutex::new(Vec::new()));
    let (kept, mut script) = (Arc::clone(&posts), answers.to_vec());
    script.reverse();
    let script = Arc::new(Mutex::new(script));
    let create = async move |body: String| {
        kept.lock().unwrap().push(body);
        let taken = (201, r#"[{"service_request_id":"R-7"}]"#);
        let (status, body) = script.lock().unwrap().pop().unwrap_or(taken);
        (StatusCode::from_u16(status).unwrap(), body)
    };
    let router = Router::new()
        .route("/requests.json", get(async || "[]").post(create))
        .route("/services.json", get(async || "[]"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, posts)
}

/// A service for it that is told that it takes no photos.
async fn service(database: &Database, url: &str) -> Service {
    let file = std::env::temp_dir().join(format!("abisu-open311-{}.yaml", rand::random::<u64>()));
    std::fs::write(&file, "adapter: open311\nopen311: {photos: false}\n").unwrap();
    let flag = format!("--partner-platform-file={}", file.display());
    let service = Service::start(database, url, &[&flag, "--partner-parallel=1"]).await;
    std::fs::remove_file(file).unwrap();
    service
}

/// An endpoint says much by a 400: each is read by its code and its text.
#[tokio::test]
async fn what_a_400_says_decides_what_becomes_of_a_report() {
    for (answer, expected) in [
        ((400, r#"[{"code":400,"description":"lat/long is out of the city"}]"#), "dead"),
        ((400, r#"[{"code":400,"description":"Unknown error"}]"#), "review"),
        ((400, "<html>Bad Request</html>"), "review"),
        ((422, r#"[{"code":422,"description":"already exists"}]"#), "sent"),
        ((400, r#"{"code":"409","description":"see R-7"}"#), "sent"),
    ] {
        let database = database().await;
        let (url, posts) = scripted(&[answer]).await;
        let id = NewReport::default().insert(&database, 1).await;
        let service = service(&database, &url).await;
        until_it(&database, id, expected, |push| push.push_state == expected).await;
        service.stop().await;
        assert_eq!(posts.lock().unwrap().len(), 1, "{answer:?}");
    }
}

#[tokio::test]
async fn a_key_that_is_withdrawn_holds_the_backlog_and_kills_nothing() {
    let database = database().await;
    let refusal = (400, r#"[{"code":403,"description":"api_key is not valid"}]"#);
    let (url, posts) = scripted(&[refusal; 2]).await;
    let mut ids = Vec::new();
    for number in 1..=3 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    let service = service(&database, &url).await;
    for &id in &ids {
        assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    }
    service.stop().await;
    assert_eq!(posts.lock().unwrap().len(), 5, "each refused alone, before somebody put it right");
}

#[derive(Default)]
struct Endpoint {
    posts: Vec<String>,
    asked: usize,
    photos_too_large: bool,
}

type Shared = Arc<Mutex<Endpoint>>;

async fn create(State(endpoint): State<Shared>, body: String) -> Response {
    let mut endpoint = endpoint.lock().unwrap();
    let too_large = endpoint.photos_too_large && body.contains("media_url");
    endpoint.posts.push(body);
    if too_large {
        return (StatusCode::PAYLOAD_TOO_LARGE, Json(json!([{ "code": 413, "description": "photo" }])))
            .into_response();
    }
    Json(json!([{ "token": "T-1" }])).into_response()
}

/// The third question is answered.
async fn token(State(endpoint): State<Shared>) -> Json<Value> {
    let mut endpoint = endpoint.lock().unwrap();
    endpoint.asked += 1;
    let id = if endpoint.asked < 3 { "" } else { "638344" };
    Json(json!([{ "token": "T-1", "service_request_id": id }]))
}

#[tokio::test]
async fn a_token_is_asked_for_its_id_and_the_report_never_sent_again() {
    let database = database().await;
    let endpoint = Shared::default();
    let router = Router::new()
        .route("/requests.json", post(create))
        .route("/tokens/T-1.json", get(token))
        .with_state(Arc::clone(&endpoint));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let file = std::env::temp_dir().join(format!("abisu-open311-{}.yaml", std::process::id()));
    std::fs::write(&file, "adapter: open311\nopen311: {reference_attribute: EXTREF}\n").unwrap();
    let platform = format!("--partner-platform-file={}", file.display());

    let id = NewReport::default().insert(&database, 1).await;
    let secret = "the secret of the links";
    let media = [format!("--media-secret={secret}"), "--media-url=https://city.example/".to_owned()];
    let flags = [&platform, "--partner-token-wait=50", &media[0], &media[1]];
    let service = Service::start(&database, &url, &flags).await;
    std::fs::remove_file(file).unwrap();
    until(&database, id, "sent").await;
    let named = until_it(&database, id, "named", |push| push.partner_id.is_some()).await;
    endpoint.lock().unwrap().photos_too_large = true;
    let large = NewReport::default().insert(&database, 2).await;
    until(&database, large, "sent").await;
    service.stop().await;
    server.abort();
    assert_eq!(named.partner_id.as_deref(), Some("638344"));
    assert_eq!(attempts(&database, id).await, ["accepted_no_id"]);
    assert_eq!(steps(&database, id).await, ["pushed", "push_named"]);
    assert_eq!(attempts(&database, large).await, ["rejected", "accepted_no_id"]);
    let waiting = "select count(*) from report.push_token t join report.report r on r.id = t.report_id
                   where r.reference = 'REF-2026-00001'";
    assert_eq!(database.count(waiting).await, 0);
    let posts = endpoint.lock().unwrap().posts.clone();
    assert_eq!(posts.len(), 3);
    assert!(posts[1].contains("media_url") && !posts[2].contains("media_url"), "{posts:?}");
    assert!(posts[2].contains("REF-2026-00002") && posts[2].contains("demasiado+grande"), "{}", posts[2]);
    assert!(posts[0].contains("attribute%5BEXTREF%5D=REF-2026-00001"), "{}", posts[0]);
    // The photo goes as a link that ingest, which shares the secret, will open for a week.
    let (_, after) = posts[0].split_once("media_url=https%3A%2F%2Fcity.example%2Fmedia%2F").unwrap();
    let token = after.split('&').next().unwrap();
    let week = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 7 * 24 * 3600;
    let keys = MediaKeys::parse(&secret.into()).unwrap();
    let photo: [u8; 32] = Sha256::digest(PHOTO).into();
    assert_eq!(keys.open(token, i64::try_from(week).unwrap() - 60), Ok(photo));
    assert_eq!(keys.open(token, i64::try_from(week).unwrap() + 3700), Err(Refused::Expired));
}
