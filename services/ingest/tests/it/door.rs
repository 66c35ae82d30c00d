//! Who gets in: handshake, signature, address, size.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::app::{App, VERIFY_TOKEN, problem, signature, text, webhook};

async fn shake(app: &App, path: &str, query: &[(&str, &str)]) -> reqwest::Response {
    app.http.get(format!("{}{path}", app.url)).query(query).send().await.unwrap()
}

#[tokio::test]
async fn the_handshake_answers_with_the_bare_challenge_and_needs_no_signature() {
    let app = App::start().await;
    let good = [("hub.mode", "subscribe"), ("hub.challenge", "11 \"58<"), ("hub.verify_token", VERIFY_TOKEN)];
    for path in ["/whatsapp/webhook", "/api/v1/channels/whatsapp/inbound"] {
        let response = shake(&app, path, &good).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain"));
        assert_eq!(response.text().await.unwrap(), "11 \"58<");
    }
    for (place, wrong) in [(0, "unsubscribe"), (2, "guess"), (2, "")] {
        let mut query = good;
        query[place].1 = wrong;
        problem(shake(&app, "/whatsapp/webhook", &query).await, 403).await;
    }
    problem(shake(&app, "/whatsapp/webhook", &[]).await, 403).await;
    problem(shake(&app, "/whatsapp/webhook", &good[..1]).await, 403).await;
}

#[tokio::test]
async fn without_a_right_signature_nothing_is_stored() {
    let app = App::start().await;
    let body = webhook(&[text("a")]).to_string();
    let right = signature(body.as_bytes());
    let other = signature(b"other");
    let upper = right.to_uppercase();
    for wrong in [None, Some(""), Some(&right[7..]), Some(&right[..70]), Some(&*other), Some(&*upper)] {
        problem(app.post_signed(body.clone(), wrong).await, 403).await;
    }
    assert_eq!((app.deliveries().await, app.stored().await.len(), app.rejected().await.len()), (0, 0, 0));
}

#[tokio::test]
async fn the_bytes_are_verified_as_they_came() {
    let app = App::start().await;
    let pretty = serde_json::to_string_pretty(&webhook(&[text("a")])).unwrap();
    let escaped = webhook(&[text("b")]).to_string().replace("text b", r"\u00e9\ud83d\ude2e a\/b");
    for body in [pretty, escaped] {
        assert_eq!(app.post_bytes(body).await.status(), StatusCode::OK);
    }
    let stored: Vec<Value> = sqlx::query_scalar("select payload from inbound.event order by message_id")
        .fetch_all(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(stored[1]["text"], json!("é😮 a/b"));
}

#[tokio::test]
async fn a_channel_is_found_by_its_id_and_no_other() {
    let app = App::start().await;
    let body = webhook(&[text("a")]).to_string();
    let post = |path: &str| {
        app.http
            .post(format!("{}{path}", app.url))
            .header("X-Hub-Signature-256", signature(body.as_bytes()))
            .body(body.clone())
            .send()
    };
    let stored = post("/api/v1/channels/whatsapp/inbound").await.unwrap();
    assert_eq!(stored.status(), StatusCode::OK);
    problem(post("/api/v1/channels/other/inbound").await.unwrap(), 404).await;
    problem(post("/api/v1/channels/%FF/inbound").await.unwrap(), 404).await;
    problem(post("/elsewhere").await.unwrap(), 404).await;
    for (path, allowed) in [("/whatsapp/webhook", "GET,HEAD,POST"), ("/openapi.json", "GET,HEAD")] {
        let refused = app.http.put(format!("{}{path}", app.url)).send().await.unwrap();
        assert_eq!(refused.headers()["allow"], allowed);
        problem(refused, 405).await;
    }
    assert_eq!(app.stored().await, ["a"]);
}

#[tokio::test]
async fn three_mebibytes_are_taken_and_one_byte_more_is_not() {
    let app = App::start().await;
    let largest = 3 * 1024 * 1024;
    let mut body = webhook(&[text("a")]).to_string().into_bytes();
    body.resize(largest, b' ');
    assert_eq!(app.post_bytes(body.clone()).await.status(), StatusCode::OK);
    body.push(b' ');
    problem(app.post_bytes(body).await, 413).await;
    assert_eq!(app.deliveries().await, 1);
}

#[tokio::test]
async fn who_is_refused_with_a_large_body_under_way_hears_why() {
    let app = App::start().await;
    let large = vec![b' '; 3 * 1024 * 1024];
    for _ in 0..5 {
        problem(app.post_to("nobody", &[], large.clone()).await, 404).await;
        problem(app.post_signed(large.clone(), None).await, 403).await;
        problem(app.post_signed(large.clone(), Some(&signature(b"other"))).await, 403).await;
    }
    assert_eq!(app.deliveries().await, 0);
}

#[tokio::test]
async fn the_raw_delivery_is_kept_as_it_came() {
    let app = App::start().await;
    let body = format!(" {} ", webhook(&[text("a")]));
    app.post_bytes(body.clone()).await;
    let kept: Vec<u8> =
        sqlx::query_scalar("select body from inbound.delivery").fetch_one(&app.database.pool).await.unwrap();
    assert_eq!(kept, body.as_bytes());
}
