use std::time::Duration;

use serde_json::{Value, json};
use simulator::Config;

use crate::support::{World, answer};

async fn login(world: &World, password: &str) -> (u16, Value) {
    let body = json!({"user": world.config.partner_user, "password": password});
    answer(world.http.post(world.url("/partner/api/login")).json(&body).send().await.unwrap()).await
}

async fn create(world: &World, token: &str, body: &Value) -> (u16, Value) {
    let call = world.http.post(world.url("/partner/api/incidents")).bearer_auth(token).json(body);
    answer(call.send().await.unwrap()).await
}

fn incident() -> Value {
    json!({"external_code": "REF-2026-00001", "category": "BIN_FULL", "latitude": 42.8467,
           "longitude": -2.6727, "address": "", "note": "Fracción: vidrio",
           "reported_at": "2026-11-30T11:00:00Z", "photo": {"content_type": "image/jpeg", "data": "aGV5"}})
}

#[tokio::test]
async fn incidents_are_created_each_time() {
    let world = World::new().await;
    assert_eq!(login(&world, "wrong").await.0, 401);
    let (status, body) = login(&world, &world.config.partner_password).await;
    assert_eq!((status, &body["expires_in"]), (200, &json!(300)));
    let token = body["token"].as_str().unwrap();
    assert_eq!(token.split('.').count(), 3);
    assert_eq!(create(&world, token, &incident()).await, (201, json!({"id": "INC-000001"})));
    assert_eq!(create(&world, token, &incident()).await, (201, json!({"id": "INC-000002"})));
    let (_, list) = world.look("/partner/incidents").await;
    assert_eq!(list[0]["photo_sha256"], "fa690b82061edfd2852629aeba8a8977b57e40fcb77d1a7a28b26cba62591204");
    let (_, posts) = world.look("/partner/posts").await;
    assert_eq!((&posts["count"], &posts["posts"][1]["outcome"]), (&json!(2), &json!("created")));
    let search = world.http.get(world.url("/partner/api/incidents?external_code=REF-2026-00001"));
    assert_eq!(search.bearer_auth(token).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_refusal_names_the_field() {
    let world = World::new().await;
    let (_, body) = login(&world, &world.config.partner_password).await;
    let token = body["token"].as_str().unwrap();
    let cases = [
        ("external_code", json!("REF-2026-1")),
        ("external_code", json!("ref-2026-00001")),
        ("category", json!("")),
        ("latitude", json!("42.8")),
        ("latitude", json!(91)),
        ("longitude", json!(-181)),
        ("address", Value::Null),
        ("reported_at", json!("2026-11-30")),
        ("photo", json!("aGV5")),
        ("photo", json!({"content_type": "image/jpeg", "data": "%"})),
        ("photo", json!({"content_type": "text/plain", "data": "aGV5"})),
        ("extra", json!(1)),
    ];
    for (field, value) in cases {
        let mut body = incident();
        body[field] = value;
        let (status, answer) = create(&world, token, &body).await;
        assert!(status == 422 && answer["error"].as_str().unwrap().contains(field), "{field} {answer}");
    }
    for field in ["note", "external_code"] {
        let mut body = incident();
        body.as_object_mut().unwrap().remove(field);
        assert_eq!(create(&world, token, &body).await.0, 422);
    }
    let mut body = incident();
    body["photo"] = Value::Null;
    assert_eq!(create(&world, token, &body).await.0, 201);
}

#[tokio::test]
async fn spent_and_foreign_tokens_are_refused_and_search_is_an_option() {
    let spent = Config { partner_token_life: Duration::ZERO, partner_search: true, ..Config::default() };
    let world = World::with(spent).await;
    let (_, body) = login(&world, &world.config.partner_password).await;
    let token = body["token"].as_str().unwrap();
    assert_eq!(create(&world, token, &incident()).await.0, 401);
    assert_eq!(create(&world, "a.b.c", &incident()).await.0, 401);

    let world = World::with(Config { partner_search: true, ..Config::default() }).await;
    let (_, body) = login(&world, &world.config.partner_password).await;
    let token = body["token"].as_str().unwrap();
    create(&world, token, &incident()).await;
    for (code, count) in [("REF-2026-00001", 1), ("REF-2026-00002", 0)] {
        let call = world.http.get(world.url(&format!("/partner/api/incidents?external_code={code}")));
        let (status, list) = answer(call.bearer_auth(token).send().await.unwrap()).await;
        assert_eq!((status, list.as_array().unwrap().len()), (200, count));
    }
}
