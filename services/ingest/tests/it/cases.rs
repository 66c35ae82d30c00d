//! What broke others in public (the numbers are those of the reference), each as what must hold here.

use serde_json::{Value, json};

use crate::app::{App, NUMBER, of_number, text, webhook};

fn ids(answer: &Value) -> usize {
    answer["activity_ids"].as_array().unwrap().len()
}

#[tokio::test]
async fn cases_1_to_3_every_entry_change_and_message_is_read() {
    let app = App::start().await;
    let mut body = webhook(&[text("a"), text("b"), text("c")]);
    let change = webhook(&[text("d")])["entry"][0]["changes"][0].clone();
    body["entry"][0]["changes"].as_array_mut().unwrap().push(change);
    let entry = webhook(&[text("e")])["entry"][0].clone();
    body["entry"].as_array_mut().unwrap().push(entry);
    assert_eq!(ids(&app.post(&body).await), 5);
    assert_eq!(app.stored().await, ["a", "b", "c", "d", "e"]);
}

#[tokio::test]
async fn cases_10_and_11_a_status_beside_a_contact_without_a_profile_is_kept() {
    let app = App::start().await;
    let status = json!({"id": "wamid.s", "status": "sent", "timestamp": "1764500000"});
    for contacts in [json!([{"wa_id": "34600000001"}]), json!([{}]), json!([null]), json!(null)] {
        let body = of_number(NUMBER, json!({"contacts": contacts, "statuses": [status]}));
        assert_eq!(app.post(&body).await["receipts_processed"], json!(1), "{contacts}");
    }
    assert_eq!(app.database.count("select count(*) from inbound.receipt").await, 1);
}

#[tokio::test]
async fn cases_12_and_15_why_something_failed_is_kept() {
    let app = App::start().await;
    let failed = |id: &str, code: i64| json!({"id": id, "status": "failed", "timestamp": "1764500000", "errors": [{"code": code}]});
    let body = of_number(NUMBER, json!({"statuses": [failed("a", 131_047), failed("b", 131_053)]}));
    app.post(&body).await;
    let codes: Vec<i64> = sqlx::query_scalar("select error_code from inbound.receipt order by provider_id")
        .fetch_all(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(codes, [131_047, 131_053]);
}

#[tokio::test]
async fn case_14_a_receipt_that_comes_before_our_own_send_is_known_waits() {
    let app = App::start().await;
    let status = json!({"id": "wamid.unknown", "status": "sent", "timestamp": "1764500000"});
    app.post(&of_number(NUMBER, json!({"statuses": [status]}))).await;
    let waiting = "select count(*) from inbound.receipt where provider_id = 'wamid.unknown'";
    assert_eq!(app.database.count(waiting).await, 1);
}

#[tokio::test]
async fn cases_16_to_18_a_sender_without_phone_is_accepted() {
    let app = App::start().await;
    let message = json!({"from_user_id": "ES.1a2b", "id": "a", "type": "text", "text": {"body": "x"}});
    let body = of_number(
        NUMBER,
        json!({"contacts": [{"user_id": "ES.1a2b", "profile": {}}], "messages": [message]}),
    );
    assert_eq!(ids(&app.post(&body).await), 1);
}

#[tokio::test]
async fn case_19_a_phone_is_kept_as_it_came() {
    let app = App::start().await;
    let mut message = text("a");
    message["from"] = json!("5491100000000");
    app.post(&webhook(&[message])).await;
    let phone: String = sqlx::query_scalar("select payload->>'phone' from inbound.event")
        .fetch_one(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(phone, "5491100000000");
}

#[tokio::test]
async fn case_25_what_was_sent_long_ago_is_accepted_with_its_own_time() {
    let app = App::start().await;
    // The dashboard's own sample: an id without prefix, years old.
    let sample = json!({"from": "16315551181", "id": "ABGGFlA5Fpa", "timestamp": "1504902988", "type": "text",
                        "text": {"body": "this is a text message"}});
    app.post(&webhook(&[sample])).await;
    let kept = "select count(*) from inbound.event where sent_at < received_at - interval '5 years'";
    assert_eq!(app.database.count(kept).await, 1);
}

#[tokio::test]
async fn cases_26_and_27_what_is_not_known_costs_its_neighbours_nothing() {
    let app = App::start().await;
    let bare = json!({"from": "34600000001", "id": "b", "type": "unsupported"});
    let strange = json!({"from": "34600000001", "id": "c", "type": "xyz", "xyz": {"deep": [1]}});
    assert_eq!(ids(&app.post(&webhook(&[text("a"), bare, strange, text("d")])).await), 4);
    let raw: Value = sqlx::query_scalar(
        "select payload->'metadata'->'raw'->'xyz' from inbound.event where message_id = 'c'",
    )
    .fetch_one(&app.database.pool)
    .await
    .unwrap();
    assert_eq!(raw, json!({"deep": [1]}));
}

#[tokio::test]
async fn case_30_a_live_location_can_be_told() {
    let app = App::start().await;
    let live = json!({"from": "34600000001", "id": "a", "type": "unsupported", "unsupported": {"type": "location"},
                      "errors": [{"code": 131_051}]});
    app.post(&webhook(&[live])).await;
    let told =
        "select count(*) from inbound.event where payload->'metadata'->>'unsupported_type' = 'location'";
    assert_eq!(app.database.count(told).await, 1);
}

#[tokio::test]
async fn our_own_echo_is_no_message() {
    let app = App::start().await;
    let mut body = webhook(&[text("a")]);
    body["entry"][0]["changes"][0]["field"] = json!("smb_message_echoes");
    assert_eq!(ids(&app.post(&body).await), 0);
    assert!(app.stored().await.is_empty() && app.rejected().await.is_empty());
}

#[tokio::test]
async fn trouble_that_the_provider_tells_of_is_counted_by_its_kind() {
    let app = App::start().await;
    let body = json!({"object": "whatsapp_business_account", "entry": [{"id": "900", "changes": [
        {"field": "account_update", "value": {"event": "ACCOUNT_RESTRICTION"}},
        {"field": "flows", "value": {"event": "FLOW_STATUS_CHANGE", "new_status": "BLOCKED"}},
        {"field": "flows", "value": {"event": "FLOW_STATUS_CHANGE", "new_status": "PUBLISHED"}}]}]});
    app.post(&body).await;
    let metrics = app.metrics();
    for line in [
        r#"ingest_alerts_total{kind="AccountRestricted"} 1"#,
        r#"ingest_alerts_total{kind="FlowBlocked"} 1"#,
        "ingest_notices_total 3",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert_eq!(metrics.matches("ingest_alerts_total{").count(), 2);
}
