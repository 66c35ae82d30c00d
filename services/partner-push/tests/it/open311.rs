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
use testkit::database;

use crate::scene::{NewReport, PHOTO, Service, attempts, steps, until, until_it};

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
