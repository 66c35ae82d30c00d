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

fn notice(id: &str, from: Option<&str>, system: Value) -> Value {
    let mut message = json!({"id": id, "timestamp": "1764500000", "type": "system", "system": system});
    if let Some(from) = from {
        message["from"] = json!(from);
    }
    message
}

async fn aliases(app: &App) -> Vec<(String, String)> {
    sqlx::query_as("select kind::text, value from chat.alias order by kind, value")
        .fetch_all(&app.database.pool)
        .await
        .unwrap()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(kind, value)| ((*kind).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_change_of_number_takes_the_chat_along_and_leaves_the_old_number_free() {
    let app = App::start().await;
    app.post(&webhook(&[text("a")])).await;
    let system = json!({"type": "user_changed_number", "wa_id": "34600000002", "user_id": "ES.new"});
    let moved = webhook(&[notice("n", Some("34600000001"), system)]);
    app.post(&moved).await;
    assert_eq!(aliases(&app).await, pairs(&[("phone", "34600000002"), ("user_id", "ES.new")]));
    let mut after = text("b");
    after["from"] = json!("34600000002");
    app.post(&webhook(&[after])).await;
    assert_eq!(app.stored().await, ["a", "n", "b"]);
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 1);
    // Whoever has the old number now is somebody else, and the notice that comes again changes nothing.
    app.post(&webhook(&[text("c")])).await;
    app.post(&moved).await;
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 2);
    let all = [("phone", "34600000001"), ("phone", "34600000002"), ("user_id", "ES.new")];
    assert_eq!(aliases(&app).await, pairs(&all));
}

#[tokio::test]
async fn a_change_of_id_takes_the_chat_along_too() {
    let app = App::start().await;
    app.post(&webhook(&[by_id("a")])).await;
    let system = json!({"type": "user_changed_user_id", "user_id": "ES.2", "previous_user_id": "ES.1a2b"});
    app.post(&webhook(&[notice("n", None, system)])).await;
    assert_eq!(aliases(&app).await, pairs(&[("user_id", "ES.2")]));
    let mut after = by_id("b");
    after["from_user_id"] = json!("ES.2");
    app.post(&webhook(&[after])).await;
    assert_eq!(app.stored().await, ["a", "n", "b"]);
}

#[tokio::test]
async fn a_new_identity_that_has_a_chat_of_its_own_is_left_there() {
    let app = App::start().await;
    let mut other = text("o");
    other["from"] = json!("34600000002");
    app.post(&webhook(&[text("a"), other])).await;
    let system = json!({"type": "user_changed_number", "wa_id": "34600000002"});
    app.post(&webhook(&[notice("n", Some("34600000001"), system)])).await;
    assert_eq!(aliases(&app).await, pairs(&[("phone", "34600000001"), ("phone", "34600000002")]));
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 2);
    // Any other notice moves nothing.
    let changed = json!({"type": "customer_identity_changed", "wa_id": "34600000003"});
    app.post(&webhook(&[notice("m", Some("34600000001"), changed)])).await;
    assert_eq!(aliases(&app).await.len(), 2);
}
