//! Whoever posts in our own form: what it is answered, and what is kept.

use serde_json::{Value, json};

use crate::app::{App, OTHER_SECRET, SECRET, channels, problem, signature_with};

pub(crate) const CITY_APP: &str = "
channels:
  - id: city-app
    kind: webhook
    secrets: [{env: SECRET}, {env: OTHER}]
";

pub(crate) async fn post(app: &App, body: impl ToString) -> (u16, Value) {
    let body = body.to_string();
    let signature = signature_with(SECRET, body.as_bytes());
    let response = app.post_to("city-app", &[("X-Abisu-Signature-256", signature)], body).await;
    let status = response.status().as_u16();
    let expected = if status == 422 { "application/problem+json" } else { "application/json" };
    assert_eq!(response.headers()["content-type"], expected);
    (status, response.json().await.unwrap())
}

fn message(key: &str) -> Value {
    json!({"idempotency_key": key, "from": "+34600000001", "profile_name": "Ane", "type": "text", "text": "kaixo"})
}

#[tokio::test]
async fn something_new_is_201_a_pure_duplicate_200() {
    let app = App::of(channels(CITY_APP)).await;
    let (status, answer) = post(&app, message("k1")).await;
    assert_eq!((status, &answer["status"], &answer["duplicates"]), (201, &json!("accepted"), &json!(0)));
    assert_eq!(answer["activity_ids"], json!([answer["activity_id"]]));
    let (status, answer) = post(&app, message("k1")).await;
    assert_eq!((status, &answer["duplicates"], &answer["activity_id"]), (200, &json!(1), &Value::Null));
    let (status, _) = post(&app, json!({"messages": [message("k1"), message("k2")]})).await;
    assert_eq!(status, 201);
    let payload: Value = sqlx::query_scalar("select payload from inbound.event where message_id = 'k1'")
        .fetch_one(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(
        payload,
        json!({"messageId": "k1", "kind": "text", "phone": "34600000001", "text": "kaixo", "attachments": [],
               "group": false, "metadata": {"whatsapp_type": "text", "profile_name": "Ane"}})
    );
}

#[tokio::test]
async fn without_a_key_every_call_is_a_message_of_its_own() {
    let app = App::of(channels(CITY_APP)).await;
    let mut message = message("");
    message.as_object_mut().unwrap().remove("idempotency_key");
    for _ in 0..2 {
        assert_eq!(post(&app, &message).await.0, 201);
    }
    assert_eq!(app.stored().await.len(), 2);
}

#[tokio::test]
async fn one_single_invalid_message_is_422_with_the_counts_and_kept_all_the_same() {
    let app = App::of(channels(CITY_APP)).await;
    let without = |name: &str, key: &str| {
        let mut message = message(key);
        message.as_object_mut().unwrap().remove(name);
        message
    };
    let table = [
        ("no_sender", without("from", "a")),
        ("no_sender", json!({"messages": [without("from", "b")]})),
        ("malformed", without("type", "c")),
        ("malformed", without("text", "d")),
        ("bad_id", message("")),
        ("bad_id", message(&"x".repeat(513))),
        ("malformed", json!([])),
        ("malformed", json!(7)),
        ("malformed", json!({"messages": 7})),
    ];
    for (_, body) in &table {
        for _ in 0..2 {
            let (status, problem) = post(&app, body).await;
            assert_eq!((status, &problem["status"]), (422, &json!(422)), "{body}");
            assert_eq!((&problem["rejected"], &problem["activity_ids"]), (&json!(1), &json!([])), "{body}");
            assert!(problem["detail"].is_string() && problem["title"].is_string());
        }
    }
    let kept = app.rejected().await;
    let all: Vec<_> = table.iter().map(|(reason, _)| (*reason).to_owned()).collect();
    for (reason, _) in &table {
        let count = |all: &mut dyn Iterator<Item = &String>| all.filter(|kept| kept == reason).count();
        assert_eq!(
            count(&mut kept.iter().map(|(kept, _)| kept)),
            count(&mut all.iter()),
            "{reason}: each is kept once, however often it comes"
        );
    }
    let (status, problem) = post(&app, "not json").await;
    assert_eq!((status, &problem["rejected"]), (422, &json!(1)));
    assert!(app.stored().await.is_empty());
    assert_eq!(post(&app, message("a")).await.0, 201, "mended, it is a message like any other");
}

#[tokio::test]
async fn every_other_call_that_creates_nothing_is_200() {
    let app = App::of(channels(CITY_APP)).await;
    assert_eq!(post(&app, json!({"messages": []})).await.0, 200);
    let (status, answer) = post(&app, json!({"messages": [7, {"from": "1"}]})).await;
    assert_eq!((status, &answer["rejected"]), (200, &json!(2)));
    post(&app, message("k")).await;
    let (status, answer) = post(&app, json!({"messages": [message("k"), 7]})).await;
    assert_eq!((status, &answer["rejected"], &answer["duplicates"]), (200, &json!(1), &json!(1)));
    let (status, answer) = post(&app, json!({"messages": [8, message("new")]})).await;
    assert_eq!((status, &answer["rejected"]), (201, &json!(1)));
}

#[tokio::test]
async fn either_secret_opens_and_no_other_header_does() {
    let app = App::of(channels(CITY_APP)).await;
    let body = message("k").to_string();
    for (header, secret, expected) in [
        ("x-abisu-signature-256", OTHER_SECRET, 201),
        ("x-abisu-signature-256", SECRET, 200),
        ("x-abisu-signature-256", "guess", 403),
        ("x-hub-signature-256", SECRET, 403),
    ] {
        let signature = signature_with(secret, body.as_bytes());
        let response = app.post_to("city-app", &[(header, signature)], body.clone()).await;
        assert_eq!(response.status().as_u16(), expected, "{header} {secret}");
    }
    let get = app.http.get(format!("{}/api/v1/channels/city-app/inbound", app.url)).send().await.unwrap();
    assert_eq!(get.headers()["allow"], "POST");
    problem(get, 405).await;
    let nowhere = app.http.post(format!("{}/whatsapp/webhook", app.url)).send().await.unwrap();
    problem(nowhere, 404).await;
}

#[tokio::test]
async fn a_number_that_nothing_can_hold_costs_its_own_message_only() {
    let app = App::of(channels(CITY_APP)).await;
    let huge = r#"{"idempotency_key": "k", "from": "1", "type": "text", "text": "x", "huge": 1e400000}"#;
    assert_eq!(post(&app, huge).await.0, 422);
    let both = format!(r#"{{"messages": [{huge}, {}]}}"#, message("fine"));
    assert_eq!(post(&app, both).await.0, 201);
    assert_eq!(app.stored().await, ["fine"]);
}
