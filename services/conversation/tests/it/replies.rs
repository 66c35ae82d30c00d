//! The sender: what a provider does to replies, and what becomes of them.

use std::time::Duration;

use channel::{Kind, Message};
use chrono::{TimeDelta, Utc};
use serde_json::json;

use crate::support::World;

#[tokio::test]
async fn a_reply_is_sent_again_until_the_provider_takes_it() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600200001").await;
    world.fault(json!({"surface": "meta.messages", "kind": "status", "status": 500, "times": 3})).await;

    citizen.begins().await;

    world.at_rest().await;
    assert_eq!(citizen.conversation().await.len(), 2);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound where outcome = 'sent'").await, 2);
}

#[tokio::test]
async fn a_reply_outlives_an_outage_longer_than_any_budget_of_attempts() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600200002").await;
    world
        .fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": 131_016, "status": 503}))
        .await;

    citizen.say("Hola").await;
    world.until("select head_attempts > 8 and head_error is not null from chat.sender").await;
    world.clear_faults().await;

    assert_eq!(citizen.hears().await["kind"], "button");
}

#[tokio::test]
async fn a_reply_whose_answer_was_lost_may_repeat_and_never_vanishes() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600200003").await;
    world.fault(json!({"surface": "meta.messages", "kind": "accept_then_reset", "times": 1})).await;

    citizen.say("Hola").await;
    let (first, again) = (citizen.hears().await, citizen.hears().await);
    assert_eq!((&first["text"], &first["buttons"]), (&again["text"], &again["buttons"]));
    world.at_rest().await;
    // The answer to either of them counts.
    citizen.act("tap", json!({"message_id": first["wamid"], "title": "Castellano"})).await;
    assert_eq!(citizen.hears().await["kind"], "location_request");
    world.at_rest().await;

    assert_eq!(citizen.conversation().await.len(), 3);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound").await, 2);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound_id").await, 2);
}

#[tokio::test]
async fn a_reply_whose_window_is_closed_is_dropped_with_its_reason_and_the_next_one_goes() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600200004").await;
    let long_ago = Utc::now() - TimeDelta::hours(25);
    world.webhook.bring(vec![text(&citizen.phone, "Hola", Some(long_ago))]).await;

    world.until("select outcome = 'dropped' and error = 'window_closed' from chat.outbound").await;
    assert_eq!(world.calls("meta.messages").await, 0);
    citizen.say("ayuda").await;

    assert_eq!(citizen.hears().await["kind"], "button");
}

#[tokio::test]
async fn a_reply_that_the_provider_refuses_for_good_is_dropped_with_its_reason() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600200005").await;
    world.fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": 131_047, "times": 1})).await;

    citizen.say("Hola").await;
    world.until("select outcome = 'dropped' and error like '%131047%' from chat.outbound").await;
    citizen.say("ayuda").await;

    assert_eq!(citizen.hears().await["kind"], "button");
    assert_eq!(world.calls("meta.messages").await, 2);
}

#[tokio::test]
async fn a_person_without_a_phone_is_written_to_by_the_business_scoped_id() {
    let world = World::new().await;
    let _service = world.serve().await;
    let message = Message {
        user_id: Some("ES.abc123".to_owned()),
        phone: None,
        ..text("34600200007", "Hola", Some(Utc::now()))
    };
    world.webhook.bring(vec![message]).await;

    // The simulator knows no such person; what matters is whom the service meant.
    world.until("select outcome = 'dropped' from chat.outbound").await;
    let request = world.last_body("meta.messages").await;
    assert_eq!((request.get("to"), &request["recipient"]), (None, &json!("ES.abc123")));
}

#[tokio::test]
async fn a_person_without_a_phone_reports_as_everybody_does() {
    let world = World::new().await;
    let _service = world.serve().await;
    let made = world.control("/citizens", json!({"name": "Ane"})).await;
    let citizen = crate::citizen::Citizen::new(&world, made["id"].as_str().unwrap(), "");

    let told = citizen.reports().await;

    assert_eq!(told, world.value::<String>("select reference from report.report").await);
    let kinds: Vec<String> = world.values("select kind from chat.alias").await;
    assert_eq!(kinds, ["user_id"]);
    for request in world.requests("meta.messages").await {
        assert_eq!((request["body"].get("to"), &request["body"]["recipient"]), (None, &made["user_id"]));
    }
}

#[tokio::test]
async fn a_reply_whose_answer_was_lost_is_found_among_the_receipts_and_not_repeated() {
    let world = World::with_receipts().await;
    let mut config = world.config();
    config.receipt_wait = Duration::from_secs(1);
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600200009").await;
    world.fault(json!({"surface": "meta.messages", "kind": "accept_then_reset", "times": 1})).await;

    citizen.begins().await;

    world.at_rest().await;
    assert_eq!(citizen.conversation().await.len(), 2);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound where outcome = 'sent'").await, 2);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound_id").await, 2);
}

#[tokio::test]
async fn what_the_provider_refuses_in_doubtful_words_is_tried_a_few_times() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600200010").await;
    world
        .fault(
            json!({"surface": "meta.messages", "kind": "meta_error", "code": 1, "status": 400, "times": 5}),
        )
        .await;

    citizen.say("Hola").await;
    world.until("select outcome = 'dropped' and error like '%code 1,%' from chat.outbound").await;

    assert_eq!(world.calls("meta.messages").await, 5);
    // Given up on its way, so it is asked again.
    citizen.say("¿hay alguien?").await;
    assert_eq!(citizen.hears().await["kind"], "button");
}

#[tokio::test]
async fn replies_leave_as_soon_as_they_are_written_and_not_at_the_next_poll() {
    let world = World::new().await;
    let mut config = world.config();
    config.poll = Duration::from_secs(3600);
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600200008").await;

    citizen.reports().await;

    world.until("select photo_sha256 is not null from report.report").await;
}

/// A text as the channel hands it on.
pub(crate) fn text(phone: &str, text: &str, sent_at: Option<chrono::DateTime<Utc>>) -> Message {
    Message {
        message_id: format!("wamid.{}", uuid::Uuid::now_v7()),
        kind: Kind::Text,
        phone: Some(phone.to_owned()),
        user_id: None,
        profile_name: None,
        sent_at,
        text: Some(text.to_owned()),
        reply_to: None,
        attachments: Vec::new(),
        interactive: None,
        group: false,
        metadata: serde_json::Map::new(),
    }
}
