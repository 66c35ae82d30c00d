//! Fetching files over HTTP.

use channel::{Channel, LARGEST_FILE, MediaClass, MediaError};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

const ABC: &str = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
const ABC_HEX: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn found(server: &Server, sha256: &str) -> Value {
    json!({"url": format!("{}/file", server.url), "mime_type": "image/jpeg", "sha256": sha256, "file_size": "3",
           "id": "77"})
}

fn file(content_type: &str, body: &[u8]) -> Reply {
    Reply::With { status: 200, headers: vec![("content-type", content_type.to_owned())], body: body.to_vec() }
}

#[tokio::test]
async fn a_file_is_asked_for_then_downloaded_with_the_token() {
    let server = Server::start().await;
    for sha256 in [ABC, ABC_HEX] {
        server.replies_json(200, &found(&server, sha256));
        server.replies(file("image/jpeg", b"abc"));
        let media = server.client().fetch_media("77").await.unwrap();
        assert_eq!((&media.bytes[..], media.content_type.as_str()), (&b"abc"[..], "image/jpeg"));
    }
    let asked = server.asked();
    assert_eq!(asked[0].path, "/meta/v26.0/77?phone_number_id=100200300");
    assert_eq!(asked[1].path, "/meta/file");
    assert_eq!(asked[1].headers["authorization"], "Bearer t0ken");
}

#[tokio::test]
async fn what_is_not_the_promised_file_is_fetched_again() {
    let server = Server::start().await;
    for reply in [
        file("image/jpeg", b"other"),
        file("application/json", b"abc"),
        file("text/html", b"abc"),
        Reply::With { status: 404, headers: Vec::new(), body: Vec::new() },
        Reply::With {
            status: 302,
            headers: vec![("location", "http://10.0.0.1/".to_owned())],
            body: Vec::new(),
        },
    ] {
        server.replies_json(200, &found(&server, ABC));
        server.replies(reply);
        let error = server.client().fetch_media("77").await.unwrap_err();
        assert_eq!(error.class(), MediaClass::Retry, "{error}");
    }
}

#[tokio::test]
async fn the_token_does_not_follow_an_address_elsewhere() {
    let server = Server::start().await;
    server.replies_json(200, &json!({"url": "http://localhost:1/file"}));
    let error = server.client().fetch_media("77").await.unwrap_err();
    assert!(matches!(error, MediaError::ForeignHost), "{error}");
}

#[tokio::test]
async fn an_expired_id_and_a_huge_file_are_gone_a_spent_token_is_not() {
    let server = Server::start().await;
    server.replies_json(400, &json!({"error": {"code": 100, "error_subcode": 33}}));
    assert_eq!(server.client().fetch_media("77").await.unwrap_err().class(), MediaClass::Gone);
    let mut huge = found(&server, ABC);
    huge["file_size"] = json!(LARGEST_FILE + 1);
    server.replies_json(200, &huge);
    assert_eq!(server.client().fetch_media("77").await.unwrap_err().class(), MediaClass::Gone);
    server.replies_json(200, &found(&server, ABC));
    server.replies(file("image/jpeg", &vec![0; LARGEST_FILE + 1]));
    assert_eq!(server.client().fetch_media("77").await.unwrap_err().class(), MediaClass::Gone);
    server.replies_json(401, &json!({"error": {"code": 190}}));
    assert_eq!(server.client().fetch_media("77").await.unwrap_err().class(), MediaClass::Retry);
}

#[tokio::test]
async fn an_id_from_outside_stays_one_segment_of_the_path() {
    let server = Server::start().await;
    server.replies_json(400, &json!({"error": {"code": 100}}));
    let _ = server.client().fetch_media("../900/flows?x=").await;
    assert_eq!(server.asked()[0].path, "/meta/v26.0/%2E%2E%2F900%2Fflows%3Fx%3D?phone_number_id=100200300");
}
