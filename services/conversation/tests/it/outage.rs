//! What concerns the whole number: pauses, limits, and the marks that go with the replies.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::citizen::{Citizen, ROUTE, reference};
use crate::support::World;

/// The account's token is refused, for messages and for the number itself.
async fn lose_the_token(world: &World) {
    for surface in ["meta.messages", "meta.other"] {
        world.fault(json!({"surface": surface, "kind": "meta_error", "code": 190, "status": 401})).await;
    }
}

const PAUSED: &str = "select bool_or(paused_at is not null) from chat.channel_state";

#[tokio::test]
async fn a_paused_channel_claims_nothing_loses_nothing_and_goes_on_by_itself() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizens: Vec<Citizen<'_>> = vec![
        world.citizen("34600800001").await,
        world.citizen("34600800002").await,
        world.citizen("34600800003").await,
    ];
    lose_the_token(&world).await;

    citizens[0].say("Hola").await;
    world.until(PAUSED).await;
    let tried = world.calls("meta.messages").await;
    let probed = world.calls("meta.other").await;
    for citizen in &citizens[1..] {
        citizen.say("Hola").await;
    }
    testkit::eventually("the number is looked at again and again", async || {
        (world.calls("meta.other").await > probed + 2).then_some(())
    })
    .await;
    world.until("select count(*) = 3 from chat.outbound where outcome is null").await;
    assert_eq!(world.calls("meta.messages").await, tried, "nothing is claimed while paused");
    assert!(world.value::<bool>("select bool_and(head_attempts = 0) from chat.sender").await);
    // Messages would work again; only the probe says so.
    world.clear_faults_of("meta.messages").await;
    assert_eq!(world.calls("meta.messages").await, tried);
    world.clear_faults().await;

    for citizen in &citizens {
        assert_eq!(citizen.hears().await["kind"], "button");
    }
    world.at_rest().await;
    assert!(!world.value::<bool>(PAUSED).await);
}

#[tokio::test]
async fn a_paused_channel_goes_on_by_hand_and_drops_what_came_too_late() {
    let world = World::new().await;
    let _service = world.serve().await;
    let (late, other) = (world.citizen("34600800004").await, world.citizen("34600800005").await);
    lose_the_token(&world).await;
    late.say("Hola").await;
    world.until(PAUSED).await;
    other.say("Hola").await;
    world.until("select count(*) = 2 from chat.outbound").await;
    world
        .run(
            "update chat.outbound set expires_at = now() - interval '1 second'
             where chat_id = (select chat_id from chat.alias where value = '34600800004')",
        )
        .await;
    world.clear_faults_of("meta.messages").await;

    assert!(bus::outbound::pause::resume(&world.db.pool, "whatsapp").await.unwrap());

    assert_eq!(other.hears().await["kind"], "button");
    world.until("select count(*) = 1 from chat.outbound where error = 'window_closed'").await;
    assert!(late.conversation().await.is_empty());
}

#[tokio::test]
async fn whoever_wrote_again_while_the_channel_was_paused_gets_every_reply_in_its_order() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600800008").await;
    citizen.reaches_the_form().await;
    lose_the_token(&world).await;
    citizen.fill_in("es", ROUTE, json!({})).await;
    world.until(PAUSED).await;
    world.until("select count(*) = 1 from report.report where state = 'received'").await;
    // A day later the citizen asks.
    world.run("update chat.outbound set expires_at = now() - interval '1 second'").await;
    citizen.say("ayuda").await;
    world.until("select count(*) = 2 from chat.outbound where outcome is null").await;

    world.clear_faults().await;

    reference(&citizen.hears_text().await);
    assert_eq!(citizen.hears().await["kind"], "button");
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound where outcome = 'dropped'").await, 0);
}

#[tokio::test]
async fn more_than_a_citizen_may_be_sent_waits_and_costs_no_attempt() {
    let world = World::new().await;
    let mut config = world.config();
    config.pace.pair_burst = 2;
    config.pace.pair_every = Duration::from_secs(4);
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600800006").await;

    citizen.begins().await;
    citizen.pin().await;
    world.until("select head_error = 'pair_limit' and head_attempts = 0 from chat.sender").await;
    assert_eq!(citizen.hears().await["kind"], "flow");

    let sent: Vec<DateTime<Utc>> = world
        .requests("meta.messages")
        .await
        .iter()
        .map(|call| call["at"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(sent.len(), 3);
    let since_first = (sent[2] - sent[0]).num_milliseconds();
    assert!(since_first >= 3800, "paid back after {since_first} ms");
}

#[tokio::test]
async fn two_replicas_together_send_a_citizen_forty_five_at_once_and_the_rest_as_it_is_paid_back() {
    let world = World::new().await;
    // Longer than the burst takes, or what is paid back meanwhile would be part of it.
    let every = Duration::from_secs(3);
    let mut config = world.config();
    config.pace.pair_every = every;
    assert_eq!(config.pace.pair_burst, 45);
    let _services =
        (world.serve_with(config.clone(), &world.geo).await, world.serve_with(config, &world.geo).await);
    let citizen = world.citizen("34600800200").await;

    let began = Utc::now();
    for _ in 0..47 {
        citizen.say("cancelar").await;
    }
    for _ in 0..47 {
        assert_eq!(citizen.hears().await["kind"], "text");
    }

    let mut sent: Vec<DateTime<Utc>> = Vec::new();
    for call in world.requests("meta.messages").await {
        sent.push(call["at"].as_str().unwrap().parse().unwrap());
    }
    sent.sort();
    // No more than the burst and what was paid back since before the first could be sent.
    for (place, at) in sent.iter().enumerate() {
        let due = began + every * u32::try_from(place).unwrap().saturating_sub(44);
        assert!(*at >= due - chrono::TimeDelta::milliseconds(1), "reply {place} left {} early", due - *at);
    }
    world.at_rest().await;
    assert!(world.value::<bool>("select head_attempts = 0 from chat.sender").await);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound where outcome = 'sent'").await, 47);
}

#[tokio::test]
async fn two_replicas_together_send_no_more_than_the_number_may() {
    let world = World::new().await;
    let every = Duration::from_millis(30);
    let mut config = world.config();
    config.pace.number_every = every;
    let _services =
        (world.serve_with(config.clone(), &world.geo).await, world.serve_with(config, &world.geo).await);
    let mut citizens = Vec::new();
    for n in 0..20 {
        citizens.push(world.citizen(&format!("3460080010{n:02}")).await);
    }

    let began = Utc::now();
    futures::future::join_all(citizens.iter().map(|citizen| citizen.say("Hola"))).await;
    for citizen in &citizens {
        assert_eq!(citizen.hears().await["kind"], "button");
    }

    let mut sent: Vec<DateTime<Utc>> = Vec::new();
    for call in world.requests("meta.messages").await {
        sent.push(call["at"].as_str().unwrap().parse().unwrap());
    }
    sent.sort();
    assert_eq!(sent.len(), 20);
    // None before its turn, counted from before the first could be sent; the record has whole milliseconds.
    for (place, at) in sent.iter().enumerate() {
        let due = began + every * u32::try_from(place).unwrap();
        assert!(*at >= due - chrono::TimeDelta::milliseconds(1), "reply {place} left {} early", due - *at);
    }
}

#[tokio::test]
async fn a_message_that_is_worked_on_is_marked_once_and_a_mark_that_fails_hurts_nobody() {
    let world = World::new().await;
    let mut config = world.config();
    config.mark_read = true;
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600800007").await;

    citizen.begins().await;
    let marks = async || world.requests("meta.marks").await;
    testkit::eventually("both messages are marked", async || (marks().await.len() == 2).then_some(())).await;
    let mark = &marks().await[0];
    assert_eq!((&mark["body"]["typing_indicator"]["type"], &mark["status"]), (&json!("text"), &json!(200)));
    world.fault(json!({"surface": "meta.marks", "kind": "meta_error", "code": 131_009, "times": 1})).await;
    citizen.act("location", json!({"latitude": 42.0, "longitude": -2.6})).await;
    world.at_rest().await;
}

#[tokio::test]
async fn a_mark_that_hangs_delays_no_reply() {
    let world = World::new().await;
    let mut config = world.config();
    config.mark_read = true;
    let _service = world.serve_with(config, &world.geo).await;
    world.fault(json!({"surface": "meta.marks", "kind": "hang"})).await;
    for number in 0..8 {
        world.citizen(&format!("346008001{number:02}")).await.begins().await;
    }

    let (marks, replies) = (world.requests("meta.marks").await, world.requests("meta.messages").await);
    let at = |call: &serde_json::Value| -> DateTime<Utc> { call["at"].as_str().unwrap().parse().unwrap() };
    assert!(!marks.is_empty() && replies.len() == 16);
    // A mark is cut after five seconds and four are tried at once, so a reply that waited for one, or for its turn, would
    // have made all of these take a quarter of a minute at least.
    let took = at(&replies[15]) - at(&marks[0]);
    assert!(took < chrono::TimeDelta::seconds(12), "sixteen replies took {took}");
}
