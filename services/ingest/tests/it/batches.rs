//! Batches: order, repeats, garbage.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::app::{App, NUMBER, of_number, text, webhook};

#[tokio::test]
async fn three_copies_at_once_are_one_event_and_three_times_200() {
    let app = App::start().await;
    let body = webhook(&[text("a")]);
    let answers = join_all((0..3).map(|_| app.post(&body))).await;
    let created: u64 =
        answers.iter().map(|answer| answer["activity_ids"].as_array().unwrap().len() as u64).sum();
    let duplicates: u64 = answers.iter().map(|answer| answer["duplicates"].as_u64().unwrap()).sum();
    assert_eq!((created, duplicates), (1, 2));
    assert_eq!(app.stored().await, ["a"]);
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 1);
}

#[tokio::test]
async fn a_batch_is_stored_in_its_order_and_a_repeat_creates_nothing() {
    let app = App::start().await;
    let body = webhook(&[text("c"), text("a"), text("b"), text("a")]);
    let answer = app.post(&body).await;
    assert_eq!(app.stored().await, ["c", "a", "b"]);
    assert_eq!((&answer["status"], &answer["duplicates"]), (&json!("accepted"), &json!(1)));
    let ids: Vec<String> = sqlx::query_scalar("select activity_id::text from inbound.event order by seq")
        .fetch_all(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(answer["activity_ids"], json!(ids));
    assert_eq!(answer["activity_id"], json!(ids[0]));
    let again = app.post(&body).await;
    let nothing = json!({"status": "accepted", "activity_id": null, "activity_ids": [], "duplicates": 4,
                         "rejected": 0, "receipts_processed": 0});
    assert_eq!(again, nothing);
}

#[tokio::test]
async fn a_recut_batch_completes_what_was_stored_in_part() {
    let app = App::start().await;
    app.post(&webhook(&[text("a"), text("b")])).await;
    let answer = app.post(&webhook(&[text("b"), text("c"), text("a")])).await;
    assert_eq!((answer["activity_ids"].as_array().unwrap().len(), &answer["duplicates"]), (1, &json!(2)));
    assert_eq!(app.stored().await, ["a", "b", "c"]);
}

#[tokio::test]
async fn bad_messages_are_kept_aside_and_good_ones_go_on() {
    let app = App::start().await;
    let body = webhook(&[
        json!(7),
        text("a"),
        json!({"from": "34600000001", "type": "text"}),
        json!({"id": "nobody", "type": "text", "text": {"body": "x"}}),
        json!({"from": "34600000001", "id": "new", "type": "hologram", "hologram": {"a": 1}}),
        text("b"),
    ]);
    let answer = app.post(&body).await;
    assert_eq!(answer["rejected"], json!(3));
    assert_eq!(app.stored().await, ["a", "new", "b"]);
    let reasons: Vec<_> = app.rejected().await.into_iter().map(|(reason, _)| reason).collect();
    assert_eq!(reasons, ["malformed", "no_id", "no_sender"]);
    app.post(&body).await;
    assert_eq!(app.rejected().await.len(), 3, "a repeat is not rejected twice");
}

#[tokio::test]
async fn messages_to_another_number_are_rejections_one_each() {
    let app = App::start().await;
    let mut body = of_number(
        "999",
        json!({"messages": [text("x"), text("y")],
        "statuses": [{"id": "wamid.s", "status": "read", "timestamp": "1764500000"}]}),
    );
    let ours = webhook(&[text("a")])["entry"][0].clone();
    body["entry"].as_array_mut().unwrap().push(ours);
    let answer = app.post(&body).await;
    assert_eq!((&answer["rejected"], &answer["receipts_processed"]), (&json!(2), &json!(0)));
    let unknown = |id: &str| ("unknown_number".to_owned(), Some(id.to_owned()));
    assert_eq!(app.rejected().await, [unknown("x"), unknown("y")]);
    assert_eq!(app.stored().await, ["a"]);
    let raw: Vec<u8> = sqlx::query_scalar("select raw from inbound.rejection where message_id = 'x'")
        .fetch_one(&app.database.pool)
        .await
        .unwrap();
    let raw: Value = serde_json::from_slice(&raw).unwrap();
    assert_eq!(raw["entry"][0]["changes"][0]["value"]["messages"], json!([text("x")]));
}

#[tokio::test]
async fn what_is_no_webhook_is_one_rejection_with_its_bytes() {
    let app = App::start().await;
    for body in [&b"not json \xff\x00"[..], b"", b"[1]"] {
        let response = app.post_bytes(body).await;
        assert_eq!(response.status().as_u16(), 200);
        let answer: Value = response.json().await.unwrap();
        assert_eq!((&answer["rejected"], &answer["activity_id"]), (&json!(1), &Value::Null));
    }
    assert_eq!(app.rejected().await, vec![("unparsable".to_owned(), None); 3]);
    let kept = app
        .database
        .count("select count(*) from inbound.rejection where raw = '\\x6e6f74206a736f6e20ff00'::bytea")
        .await;
    assert_eq!(kept, 1);
}

#[tokio::test]
async fn what_postgres_cannot_hold_is_mended_in_the_event_and_kept_in_the_raw() {
    let app = App::start().await;
    let body = webhook(&[text("a"), text("b")]).to_string().replace("text a", r"x\ud800y\u0000z");
    assert_eq!(app.post_bytes(body.clone()).await.status().as_u16(), 200);
    let words: Vec<String> = sqlx::query_scalar("select payload->>'text' from inbound.event order by seq")
        .fetch_all(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(words, ["x\u{fffd}y\u{fffd}z", "text b"]);
    let raw: Vec<u8> =
        sqlx::query_scalar("select body from inbound.delivery").fetch_one(&app.database.pool).await.unwrap();
    assert_eq!(raw, body.as_bytes());
}

#[tokio::test]
async fn a_thousand_messages_of_many_chats_are_stored_in_order() {
    let app = App::start().await;
    let all: Vec<Value> = (0..1000)
        .map(|n| {
            let mut message = text(&format!("wamid.{n:04}"));
            message["from"] = json!(format!("346000{:05}", n % 37));
            message
        })
        .collect();
    let answer = app.post(&webhook(&all)).await;
    assert_eq!(answer["activity_ids"].as_array().unwrap().len(), 1000);
    let disorder = "select count(*) from (select message_id, lag(message_id) over (partition by chat_id order by seq) \
                    as before from inbound.event) x where before > message_id";
    assert_eq!(app.database.count(disorder).await, 0);
    assert_eq!(app.database.count("select count(*) from chat.chat").await, 37);
}

#[tokio::test]
async fn receipts_are_stored_once_and_name_our_own_id() {
    let app = App::start().await;
    let ours = "018f0000-0000-7000-8000-000000000001";
    let status = |status: &str| {
        json!({"id": "wamid.s", "status": status, "timestamp": "1764500000",
        "recipient_id": "34600000001", "biz_opaque_callback_data": ours})
    };
    let body = of_number(
        NUMBER,
        json!({"contacts": [{"wa_id": "34600000001"}],
        "statuses": [status("sent"), status("delivered"), {"id": "wamid.t", "status": "failed",
        "errors": [{"code": 131_047}]}]}),
    );
    for _ in 0..2 {
        assert_eq!(app.post(&body).await["receipts_processed"], json!(3));
    }
    let stored: Vec<(String, Option<String>, Option<i64>)> =
        sqlx::query_as("select status, outbound_id::text, error_code from inbound.receipt order by status")
            .fetch_all(&app.database.pool)
            .await
            .unwrap();
    let ours = Some(ours.to_owned());
    assert_eq!(
        stored,
        [
            ("delivered".to_owned(), ours.clone(), None),
            ("failed".to_owned(), None, Some(131_047)),
            ("sent".to_owned(), ours, None),
        ]
    );
}

#[tokio::test]
async fn news_that_is_no_message_is_acknowledged() {
    let app = App::start().await;
    let news = json!({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [
        {"field": "account_update", "value": {"event": "ACCOUNT_RESTRICTION"}},
        {"field": "flows", "value": {"event": "FLOW_STATUS_CHANGE"}},
        {"field": "of_the_future", "value": {}}]}]});
    for body in [news, of_number(NUMBER, json!({"errors": [{"code": 130_429}]})), webhook(&[])] {
        let answer = app.post(&body).await;
        assert_eq!((&answer["rejected"], &answer["duplicates"]), (&json!(0), &json!(0)));
    }
}
