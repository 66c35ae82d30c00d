//! A payload of every kind that a provider sends, through the door and into the queue: Meta and both dialects of
//! Infobip, with and without a phone.

use serde_json::{Value, json};

use crate::app::{App, SECRET, channels, of_number, signature_with};

const ALL: &str = "
channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: 100200300
    app_secrets: [{env: SECRET}]
    verify_token: {env: VERIFY}
  - id: infobip
    kind: whatsapp_infobip
    sender: 34945000001
    hmac: {header: X-Infobip-Signature, encoding: base64, secrets: [{env: SECRET}]}
  - id: infobip-basic
    kind: whatsapp_infobip
    sender: 34945000002
    basic: {user: abisu, passwords: [{env: OTHER}, {env: SECRET}]}
";

/// Meta: type, body (null: none), what it is stored as.
fn of_meta() -> Vec<(&'static str, Value, &'static str)> {
    let file =
        json!({"id": "90071992547409931", "mime_type": "audio/ogg; codecs=opus", "sha256": "aGFzaA=="});
    let reply = |kind: &str, reply: Value| json!({"type": kind, kind: reply});
    vec![
        ("text", json!({"body": "kaixo \u{202e} \u{0}"}), "text"),
        ("image", file.clone(), "image"),
        ("video", file.clone(), "video"),
        ("audio", file.clone(), "audio"),
        ("document", file.clone(), "document"),
        ("sticker", file, "sticker"),
        ("location", json!({"latitude": 42.8, "longitude": -2.6}), "location"),
        (
            "location",
            json!({"latitude": "42.8", "longitude": "-2.6", "name": "x", "address": "y"}),
            "location",
        ),
        ("contacts", json!([{"phones": []}, {"name": {"formatted_name": "Jon"}, "vcard": "x"}]), "contacts"),
        ("interactive", reply("button_reply", json!({"id": "a", "title": "b"})), "button_reply"),
        ("interactive", reply("list_reply", json!({"id": "a", "title": "b"})), "list_reply"),
        ("interactive", reply("nfm_reply", json!({"response_json": "{\"flow_token\":\"t\"}"})), "form"),
        ("interactive", reply("nfm_reply", json!({"name": "flow", "response_json": {"a": 1}})), "form"),
        ("interactive", reply("nfm_reply", json!({"response_json": "{broken"})), "form"),
        ("interactive", reply("call_permission_reply", json!({"response": "accept"})), "unknown"),
        ("interactive", Value::Null, "unsupported"),
        ("button", json!({"payload": "p", "text": "Yes"}), "template_button"),
        ("order", json!({"catalog_id": "1", "product_items": []}), "order"),
        ("reaction", json!({"message_id": "wamid.0", "emoji": "👍"}), "reaction"),
        ("reaction", json!({"message_id": "wamid.0"}), "reaction"),
        ("system", json!({"type": "user_changed_number", "wa_id": "34600000002"}), "system"),
        (
            "system",
            json!({"type": "user_changed_user_id", "user_id": "ES.2", "previous_user_id": "ES.1"}),
            "system",
        ),
        ("unsupported", json!({"type": "poll_creation"}), "unsupported"),
        ("unknown", Value::Null, "unsupported"),
        ("ephemeral", Value::Null, "unsupported"),
        (
            "edit",
            json!({"original_message_id": "o", "message": {"type": "text", "text": {"body": "new"}}}),
            "edit",
        ),
        ("revoke", json!({"original_message_id": "o"}), "revoke"),
        ("request_welcome", Value::Null, "unknown"),
        ("hologram", json!({"a": 1}), "unknown"),
    ]
}

/// Infobip: the typed object in both dialects, what it is stored as.
fn of_infobip() -> Vec<(Value, &'static str)> {
    let file =
        |kind: &str| json!({"type": kind, "url": "https://x/whatsapp/1/senders/1/media/7", "caption": "c"});
    vec![
        (json!({"type": "TEXT", "text": "kaixo"}), "text"),
        (file("IMAGE"), "image"),
        (file("VIDEO"), "video"),
        (file("AUDIO"), "audio"),
        (file("VOICE"), "audio"),
        (file("DOCUMENT"), "document"),
        (file("STICKER"), "sticker"),
        (json!({"type": "LOCATION", "latitude": 42.8, "longitude": -2.6}), "location"),
        (json!({"type": "CONTACT", "contacts": [{"name": {"formattedName": "Jon"}}]}), "contacts"),
        (json!({"type": "BUTTON", "text": "Yes", "payload": "p"}), "template_button"),
        (json!({"type": "INTERACTIVE_BUTTON_REPLY", "id": "a", "title": "b"}), "button_reply"),
        (json!({"type": "BUTTON_REPLY", "id": "a", "text": "b"}), "button_reply"),
        (json!({"type": "INTERACTIVE_LIST_REPLY", "id": "a", "title": "b"}), "list_reply"),
        (json!({"type": "LIST_REPLY", "id": "a", "text": "b"}), "list_reply"),
        (json!({"type": "INTERACTIVE_FLOW_REPLY", "text": "Sent", "response": {"flow_token": "t"}}), "form"),
        (json!({"type": "FLOW_RESPONSE", "response": {"flow_token": "t"}}), "form"),
        (json!({"type": "ORDER", "catalogId": "1", "productItems": []}), "order"),
        (json!({"type": "REACTION", "emoji": "👍", "action": "ADDED"}), "reaction"),
        (json!({"type": "REACTION", "action": "REMOVED"}), "reaction"),
        (json!({"type": "INTERACTIVE_PAYMENT_CONFIRMATION"}), "unknown"),
        (json!({"type": "INTERACTIVE_CALL_PERMISSION_REPLY"}), "unknown"),
        (json!({"type": "INFECTED_CONTENT"}), "unsupported"),
        (json!({"type": "UNSUPPORTED"}), "unsupported"),
        (json!({"type": "HOLOGRAM"}), "unknown"),
    ]
}

async fn kinds(app: &App) -> Vec<String> {
    sqlx::query_scalar("select kind from inbound.event order by message_id")
        .fetch_all(&app.database.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn every_kind_of_meta_is_stored_with_and_without_a_phone() {
    let app = App::of(channels(ALL)).await;
    let (mut messages, mut expected) = (Vec::new(), Vec::new());
    for (kind, body, stored) in of_meta() {
        for sender in [json!({"from": "34600000001"}), json!({"from_user_id": "ES.1"})] {
            let mut message = sender;
            message["id"] = json!(format!("m{:03}", messages.len()));
            message["timestamp"] = json!("1764500000");
            message["type"] = json!(kind);
            if !body.is_null() {
                message[kind] = body.clone();
            }
            messages.push(message);
            expected.push(stored);
        }
    }
    // One by one, and all of them once more in one call.
    for message in &messages {
        let answer = app.post(&of_number("100200300", json!({"messages": [message]}))).await;
        assert_eq!(answer["activity_ids"].as_array().unwrap().len(), 1, "{message}");
    }
    assert_eq!(kinds(&app).await, expected);
    let answer = app.post(&of_number("100200300", json!({"messages": messages}))).await;
    assert_eq!(answer["duplicates"], json!(messages.len()));
}

#[tokio::test]
async fn every_kind_of_infobip_is_stored_in_both_dialects_with_and_without_a_phone() {
    use base64::Engine;
    let app = App::of(channels(ALL)).await;
    let (mut results, mut expected) = (Vec::new(), Vec::new());
    for (content, stored) in of_infobip() {
        for (older, phone) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut result = json!({"messageId": format!("m{:03}", results.len()), "contact": {"userId": "ES.1"},
                                    "receivedAt": "2026-11-30T10:53:20.123+0000"});
            let (from, to) = if older { ("from", "to") } else { ("sender", "destination") };
            result[to] = json!("34945000001");
            if phone {
                result[from] = json!("34600000001");
            }
            if older {
                result["integrationType"] = json!("WHATSAPP");
                result["message"] = content.clone();
            } else {
                (result["channel"], result["event"]) = (json!("WHATSAPP"), json!("MO"));
                result["content"] = json!([content]);
            }
            results.push(result);
            expected.push(stored);
        }
    }
    let body =
        json!({"results": results, "messageCount": results.len(), "pendingMessageCount": 0}).to_string();
    let digits = signature_with(SECRET, body.as_bytes());
    let digest = hex::decode(digits.strip_prefix("sha256=").unwrap()).unwrap();
    let signature = base64::engine::general_purpose::STANDARD.encode(digest);
    for (count, key) in [(results.len(), "activity_ids"), (results.len(), "duplicates")] {
        let response =
            app.post_to("infobip", &[("X-Infobip-Signature", signature.clone())], body.clone()).await;
        assert_eq!(response.status().as_u16(), 200);
        let answer: Value = response.json().await.unwrap();
        let told = answer[key].as_array().map_or_else(|| answer[key].clone(), |ids| json!(ids.len()));
        assert_eq!(told, json!(count), "{answer}");
    }
    assert_eq!(kinds(&app).await, expected);
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 1, "one person");
    let wrong = app.post_to("infobip", &[("X-Infobip-Signature", digits)], body.clone()).await;
    assert_eq!(wrong.status().as_u16(), 403, "in another spelling than the configured one");

    // One account posts its other sender's messages to the same address.
    let other = body.replace("34945000001", "34945000002").replace("\"m0", "\"n0");
    let basic = [("authorization", "Basic YWJpc3U6YXBwLXNlY3JldA==".to_owned())];
    assert_eq!(app.post_to("infobip-basic", &basic, other).await.status().as_u16(), 200);
    let of_both = "select count(distinct channel) from inbound.event";
    assert_eq!(app.database.count(of_both).await, 2);
    let guess = [("authorization", "Basic YWJpc3U6Z3Vlc3M=".to_owned())];
    assert_eq!(app.post_to("infobip-basic", &guess, body).await.status().as_u16(), 403);
}

#[tokio::test]
async fn what_is_no_json_is_one_rejection_on_every_channel_and_only_a_webhook_hears_of_it() {
    let app = App::of(channels(ALL)).await;
    let basic = [("authorization", "Basic YWJpc3U6YXBwLXNlY3JldA==".to_owned())];
    let answer = app.post_to("infobip-basic", &basic, "not json").await;
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(answer.json::<Value>().await.unwrap()["rejected"], json!(1));
    assert_eq!(app.rejected().await, [("unparsable".to_owned(), None)]);
}

#[tokio::test]
async fn a_body_near_the_limit_with_a_thousand_long_messages_is_taken_whole() {
    let app = App::of(channels(ALL)).await;
    let messages: Vec<Value> = (0..1000)
        .map(|n| {
            json!({"from": format!("346000{:05}", n % 50), "id": format!("m{n:04}"), "timestamp": "1764500000",
                   "type": "text", "text": {"body": "ñ\u{0}".repeat(340)}})
        })
        .collect();
    let body = of_number("100200300", json!({"messages": messages}));
    let size = body.to_string().len();
    assert!((2_500_000..3 * 1024 * 1024).contains(&size), "{size}");
    // An unoptimised build is an order slower than what the patience of the appender is made for.
    let mut created = 0;
    for _ in 0..5 {
        let response = app.post_bytes(body.to_string()).await;
        if response.status().as_u16() == 200 {
            let answer: Value = response.json().await.unwrap();
            created = answer["activity_ids"].as_array().unwrap().len()
                + answer["duplicates"].as_u64().unwrap() as usize;
            break;
        }
    }
    assert_eq!(created, 1000);
    assert_eq!(app.stored().await.len(), 1000);
}
