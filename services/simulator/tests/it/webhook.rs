use serde_json::{Value, json};
use simulator::Config;

use crate::support::World;

#[tokio::test]
async fn deliveries_are_escaped_signed_and_complete() {
    let world =
        World::with(Config { app_secret: "pc-test-secret".to_owned(), statuses: false, ..Config::default() })
            .await;
    let id = world.citizen().await;
    world.control(&format!("/citizens/{id}/say"), json!({"text": "é😮 a/b"})).await;
    let delivery = world.receiver.messages().pop().unwrap();
    let text = std::str::from_utf8(&delivery.body).unwrap();
    assert!(text.is_ascii() && text.contains("\\u00e9\\ud83d\\ude2e a\\/b"), "{text}");

    let raw = json!({"body": "{\"object\":\"whatsapp_business_account\",\"entry\":[]}"});
    assert_eq!(world.control("/webhook/raw", raw).await.0, 200);
    let deliveries = world.receiver.deliveries.lock().unwrap().clone();
    assert_eq!(
        deliveries.last().unwrap().signature.as_deref(),
        Some("sha256=f28df493743ad283122dcbcb244223d0faf2a75f5194b6c29988bd431a98cb39")
    );

    let value = delivery.value();
    assert_eq!(value["metadata"]["phone_number_id"], world.config.phone_number_id);
    assert_eq!(value["contacts"][0]["profile"]["name"], "Ane Ruiz de Gauna");
    assert_eq!(value["contacts"][0]["wa_id"], "34600000001");
    let message = delivery.message();
    assert_eq!(message["from_user_id"], value["contacts"][0]["user_id"]);
    assert!(message["id"].as_str().unwrap().starts_with("wamid."));
    assert!(message["timestamp"].as_str().unwrap().bytes().all(|byte| byte.is_ascii_digit()));
}

#[tokio::test]
async fn raw_bodies_keep_the_signature_they_are_given() {
    let world = World::new().await;
    for (given, seen) in [("sha256=00", Some("sha256=00")), ("", None)] {
        let (status, body) = world.control("/webhook/raw", json!({"body": "{}", "signature": given})).await;
        assert_eq!((status, &body["status"]), (200, &json!(200)));
        let last = world.receiver.deliveries.lock().unwrap().last().cloned().unwrap();
        assert_eq!((last.signature.as_deref(), &last.body[..]), (seen, &b"{}"[..]));
    }
}

#[tokio::test]
async fn what_is_not_accepted_comes_again_with_the_same_bytes() {
    let world = World::new().await;
    let id = world.citizen().await;
    world.receiver.answers.lock().unwrap().extend([503, 403]);
    let (_, body) = world.control(&format!("/citizens/{id}/say"), json!({"text": "otra vez"})).await;
    assert_eq!(body["statuses"], json!([200]));
    assert_eq!(body["attempts"], json!([3]));
    let messages = world.receiver.messages();
    let [.., one, two, three] = messages.as_slice() else { panic!("three deliveries are expected") };
    assert!(one.body == two.body && two.body == three.body);
}

#[tokio::test]
async fn copies_are_the_same_message() {
    let world = World::new().await;
    let id = world.citizen().await;
    let (_, body) = world.control(&format!("/citizens/{id}/say"), json!({"text": "x", "copies": 3})).await;
    assert_eq!(body["statuses"], json!([200, 200, 200]));
    let same = world.receiver.messages();
    let same = same.iter().filter(|one| one.message()["id"] == body["message_id"]);
    assert_eq!(same.count(), 3);
}

#[tokio::test]
async fn a_citizen_without_a_phone_has_neither_from_nor_wa_id() {
    let world = World::new().await;
    let (_, body) = world.control("/citizens", json!({"name": "Jon", "user_id": "ES.abc"})).await;
    let id = body["id"].as_str().unwrap().to_owned();
    world.control(&format!("/citizens/{id}/say"), json!({"text": "kaixo"})).await;
    let delivery = world.receiver.messages().pop().unwrap();
    assert_eq!(delivery.message().get("from"), None);
    assert_eq!(delivery.value()["contacts"][0].get("wa_id"), None);
    assert_eq!(delivery.message()["from_user_id"], "ES.abc");

    let message = json!({"messaging_product": "whatsapp", "recipient": "ES.abc", "type": "text",
                         "text": {"body": "egun on"}});
    let (status, body) = world.post(&format!("{}/messages", world.config.phone_number_id), &message).await;
    assert_eq!((status, &body["contacts"]), (200, &json!([{"input": "ES.abc", "user_id": "ES.abc"}])));
}

#[tokio::test]
async fn accepted_messages_are_followed_by_statuses() {
    let world = World::with(Config::default()).await;
    world.citizen().await;
    let (status, body) = world
        .send(json!({"type": "text", "text": {"body": "hola"}, "biz_opaque_callback_data": "row-7"}))
        .await;
    assert_eq!(status, 200, "{body}");
    let seen = || -> Vec<Value> {
        let all = world.receiver.deliveries.lock().unwrap().clone();
        all.iter().filter_map(|one| one.value()["statuses"].get(0).cloned()).collect()
    };
    while seen().len() < 3 {
        tokio::task::yield_now().await;
    }
    let statuses = seen();
    let names: Vec<&Value> = statuses.iter().map(|one| &one["status"]).collect();
    assert_eq!(names, ["sent", "delivered", "read"]);
    assert!(statuses.iter().all(|one| one["id"] == body["messages"][0]["id"]));
    assert!(statuses.iter().all(|one| one["biz_opaque_callback_data"] == "row-7"));
}

#[tokio::test]
async fn the_handshake_is_made_on_request() {
    let world = World::new().await;
    let url = world.config.webhook_url.clone().unwrap();
    assert_eq!(world.control("/webhook", json!({"url": url, "verify": true})).await.0, 200);
    let elsewhere = world.url("/control/health");
    assert_eq!(world.control("/webhook", json!({"url": elsewhere, "verify": true})).await.0, 422);
}
