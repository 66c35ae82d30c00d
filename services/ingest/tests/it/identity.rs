//! One person under two identities.

use serde_json::{Value, json};

use crate::app::{App, NUMBER, of_number, text, webhook};

fn by_id(id: &str) -> Value {
    let mut message = text(id);
    message.as_object_mut().unwrap().remove("from");
    message["from_user_id"] = json!("ES.1a2b");
    message
}

#[tokio::test]
async fn a_sender_without_a_phone_is_as_good_as_any() {
    let app = App::start().await;
    app.post(&of_number(
        NUMBER,
        json!({"contacts": [{"user_id": "ES.1a2b"}], "messages": [by_id("a"), by_id("b")]}),
    ))
    .await;
    assert_eq!(app.stored().await, ["a", "b"]);
    let alias: Vec<(String, String)> = sqlx::query_as("select kind::text, value from chat.alias")
        .fetch_all(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(alias, [("user_id".to_owned(), "ES.1a2b".to_owned())]);
}

#[tokio::test]
async fn a_message_that_comes_again_under_the_other_identity_is_the_same_message() {
    let app = App::start().await;
    app.post(&webhook(&[text("a")])).await;
    let answer = app.post(&webhook(&[by_id("a")])).await;
    assert_eq!(answer["duplicates"], json!(1));
    assert_eq!(app.stored().await, ["a"]);
}

#[tokio::test]
async fn both_identities_in_one_payload_find_one_chat() {
    let app = App::start().await;
    let contacts = json!([{"wa_id": "34600000001", "user_id": "ES.1a2b", "profile": {"name": "Ane"}}]);
    app.post(&of_number(NUMBER, json!({"contacts": contacts, "messages": [text("a")]}))).await;
    app.post(&webhook(&[by_id("b")])).await;
    app.post(&webhook(&[text("c")])).await;
    assert_eq!(app.stored().await, ["a", "b", "c"]);
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 1);
}

#[tokio::test]
async fn the_event_is_the_normalised_message() {
    let app = App::start().await;
    let mut message = text("a");
    message["context"] = json!({"id": "wamid.0"});
    let contacts = json!([{"wa_id": "34600000001", "profile": {"name": "Ane"}}]);
    app.post(&of_number(NUMBER, json!({"contacts": contacts, "messages": [message]}))).await;
    let (kind, payload): (String, Value) = sqlx::query_as("select kind, payload from inbound.event")
        .fetch_one(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(kind, "text");
    let expected = json!({"messageId": "a", "kind": "text", "phone": "34600000001", "sentAt": "2025-11-30T10:53:20Z",
        "text": "text a", "attachments": [], "group": false,
        "metadata": {"whatsapp_type": "text", "profile_name": "Ane", "reply_to": "wamid.0"}});
    assert_eq!(payload, expected);
}
