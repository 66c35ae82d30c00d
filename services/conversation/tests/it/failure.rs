//! What cannot be handled, what cannot be handled now, and what kills.

use std::sync::atomic::Ordering;

use bus::Lease;
use bus::mailbox::{Claim, claim};
use conversation::config::CHANNEL;
use serde_json::json;
use uuid::Uuid;

use crate::replies::text;
use crate::support::World;

#[tokio::test]
async fn a_payload_that_cannot_be_read_is_kept_as_dead_and_the_chat_goes_on() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600400001").await;
    citizen.begins().await;

    world.webhook.bring_payload(&citizen.phone, json!({"kind": ["Calle Secreta"]})).await;

    // Said in one message with what is awaited.
    let told = citizen.hears().await;
    assert_eq!(told["kind"], "location_request");
    assert!(told["text"].as_str().unwrap().starts_with("Perdona"), "{told}");
    let (error, attempts): (String, i16) =
        sqlx::query_as("select error, attempts from inbound.dead").fetch_one(&world.db.pool).await.unwrap();
    assert_eq!((error.as_str(), attempts), ("payload_unreadable", 1));
    let state: String = world.value("select state from inbound.event_state order by seq desc limit 1").await;
    assert_eq!(state, "dead");
    citizen.pin().await;
    assert_eq!(citizen.hears().await["kind"], "flow");
}

#[tokio::test]
async fn an_event_that_panics_is_tried_again_and_goes_on_once_the_fault_is_gone() {
    let world = World::new().await;
    world.geo.panics.store(true, Ordering::SeqCst);
    let mut config = world.config();
    config.backoff.first = std::time::Duration::from_millis(400);
    config.backoff.longest = config.backoff.first;
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600400002").await;
    citizen.begins().await;

    citizen.pin().await;
    world.geo.asked(2).await;
    world.geo.panics.store(false, Ordering::SeqCst);

    assert_eq!(citizen.hears().await["kind"], "flow");
    assert_eq!(world.value::<i64>("select count(*) from inbound.dead").await, 0);
    assert_eq!(world.value::<i16>("select lost from chat.chat").await, 0);
}

#[tokio::test]
async fn an_event_that_always_panics_is_dead_after_five_attempts_and_hurts_no_other_chat() {
    let world = World::new().await;
    let _service = world.serve().await;
    let (poisoned, other) = (world.citizen("34600400003").await, world.citizen("34600400004").await);
    poisoned.reaches_the_form().await;
    world.geo.panics.store(true, Ordering::SeqCst);
    let before = world.geo.times_asked();

    poisoned.pin().await;
    other.begins().await;

    assert!(poisoned.hears_text().await.starts_with("Perdona"));
    assert_eq!(world.geo.times_asked() - before, 5);
    let (error, attempts): (String, i16) =
        sqlx::query_as("select error, attempts from inbound.dead").fetch_one(&world.db.pool).await.unwrap();
    assert_eq!((error.as_str(), attempts), ("out of attempts", 5));
    assert_eq!(world.value::<i64>("select count(*) from report.timeline where step = 'event_dead'").await, 1);
    assert_eq!(world.value::<String>("select state from report.report").await, "draft");
}

#[tokio::test]
async fn the_sixth_claim_gives_an_event_up_without_running_it() {
    let world = World::new().await;
    let citizen = world.citizen("34600400005").await;
    citizen.say("Hola").await;
    // Five processes that claim and die.
    for claimed_before in 0..5 {
        let request = Claim {
            channel: CHANNEL,
            owner: Uuid::now_v7(),
            chats: 1,
            events: 8,
            lease: Lease { length: std::time::Duration::ZERO },
            solo: claimed_before >= 2,
        };
        let claimed = claim(&world.db.pool, &request).await.unwrap();
        assert_eq!(claimed.len(), 1, "claim {claimed_before}");
    }

    let _service = world.serve().await;

    assert!(citizen.hears_text().await.starts_with("Perdona"));
    let (error, attempts): (String, i16) =
        sqlx::query_as("select error, attempts from inbound.dead").fetch_one(&world.db.pool).await.unwrap();
    assert_eq!((error.as_str(), attempts), ("out of attempts", 5));
    citizen.say("Hola").await;
    assert_eq!(citizen.hears().await["kind"], "button");
}

#[tokio::test]
async fn an_outage_of_geocode_defers_a_pin_for_as_long_as_it_lasts() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600400006").await;
    citizen.begins().await;
    world.geo.away.store(true, Ordering::SeqCst);

    citizen.pin().await;
    // Far beyond any budget of attempts, and none of it is spent.
    world.geo.asked(12).await;
    world
        .until("select head_attempts = 0 and head_error = 'geocode_unavailable' and head_defers > 8 from chat.chat")
        .await;
    // Told once that it takes a moment, however often it is tried.
    assert!(citizen.hears_text().await.starts_with("Un momento"));
    world.geo.asked(world.geo.times_asked() + 5).await;
    world.geo.away.store(false, Ordering::SeqCst);

    assert_eq!(citizen.hears().await["kind"], "flow");
    assert_eq!(citizen.conversation().await.len(), 4);
    assert_eq!(world.value::<i64>("select count(*) from inbound.dead").await, 0);
}

#[tokio::test]
async fn a_pin_that_is_answered_in_time_is_not_asked_to_wait() {
    let world = World::new().await;
    let mut config = world.config();
    config.one_moment = std::time::Duration::from_secs(60);
    let _service = world.serve_with(config, &world.geo).await;
    let citizen = world.citizen("34600400011").await;
    citizen.begins().await;
    world.geo.away.store(true, Ordering::SeqCst);

    citizen.pin().await;
    world.geo.asked(5).await;
    world.geo.away.store(false, Ordering::SeqCst);

    assert_eq!(citizen.hears().await["kind"], "flow");
}

#[tokio::test]
async fn what_the_database_refuses_is_charged_to_its_event_and_given_up() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600400007").await;
    citizen.begins().await;
    world.run("alter table report.report add constraint none_today check (false) not valid").await;

    citizen.pin().await;

    let told = citizen.hears().await;
    assert!(told["text"].as_str().unwrap().starts_with("Perdona"), "{told}");
    assert_eq!(world.value::<i16>("select attempts from inbound.dead").await, 5);
    assert_eq!(world.value::<String>("select step from chat.session").await, "awaiting_location");
    world.run("alter table report.report drop constraint none_today").await;
    citizen.pin().await;
    assert_eq!(citizen.hears().await["kind"], "flow");
}

#[tokio::test]
async fn a_settle_that_loses_a_deadlock_is_made_again_at_once_and_counted() {
    let world = World::new().await;
    // The first settle of all loses. A sequence is not rolled back.
    world.run("create sequence public.once").await;
    world.run("grant usage on sequence public.once to abisu_conversation").await;
    world
        .run(
            "create function public.lose() returns trigger language plpgsql as
             $$ begin
               if nextval('public.once') = 1 then raise exception 'a deadlock' using errcode = '40P01'; end if;
               return new;
             end $$",
        )
        .await;
    world
        .run(
            "create trigger lose before update on chat.chat for each row when (new.done_seq > old.done_seq)
             execute function public.lose()",
        )
        .await;
    let service = world.serve().await;
    let citizen = world.citizen("34600400024").await;

    citizen.begins().await;

    let channel = conversation::config::CHANNEL;
    service
        .until_metric(&format!(
            "abisu_conversation_queue_races_total{{queue=\"inbound\",channel=\"{channel}\"}} 1"
        ))
        .await;
    assert_eq!(world.value::<i16>("select lost from chat.chat").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from inbound.dead").await, 0);
}

#[tokio::test]
async fn a_session_that_nobody_can_read_costs_one_event_and_not_the_chat() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600400008").await;
    citizen.begins().await;
    world.run(r#"update chat.session set state = '{"step": {"name": "of a later version"}}'"#).await;

    citizen.say("Calle Dato 1").await;

    assert!(citizen.hears_text().await.starts_with("Perdona"));
    assert_eq!(world.value::<i16>("select attempts from inbound.dead").await, 5);
    citizen.begins().await;
}

#[tokio::test]
async fn a_missing_event_stops_its_chat_and_no_other() {
    let world = World::new().await;
    let (damaged, other) = (world.citizen("34600400009").await, world.citizen("34600400010").await);
    let now = Some(chrono::Utc::now());
    world.webhook.bring(vec![text(&damaged.phone, "Hola", now), text(&damaged.phone, "ayuda", now)]).await;
    world.run("delete from inbound.event where seq = 1").await;

    let _service = world.serve().await;
    other.begins().await;

    world.until("select bool_or(head_error = 'missing_event' and done_seq = 0) from chat.chat").await;
    assert!(damaged.conversation().await.is_empty());
}

#[tokio::test]
async fn an_event_that_is_missing_between_others_is_not_stepped_over() {
    let world = World::new().await;
    let citizen = world.citizen("34600400021").await;
    let service = world.serve().await;
    citizen.begins().await;
    service.stop().await;
    let now = Some(chrono::Utc::now());
    let words = ["ayuda", "ayuda", "ayuda"].map(|word| text(&citizen.phone, word, now));
    world.webhook.bring(words.to_vec()).await;
    world.run("delete from inbound.event where seq = 4").await;

    let _service = world.serve().await;

    assert!(citizen.hears_text().await.starts_with("Para avisar"));
    world.until("select head_error = 'missing_event' and done_seq = 3 from chat.chat").await;
}

#[tokio::test]
async fn a_missing_reply_stops_its_chat_and_no_other() {
    let world = World::new().await;
    let (damaged, other) = (world.citizen("34600400022").await, world.citizen("34600400023").await);
    let service = world.serve().await;
    damaged.begins().await;
    world.at_rest().await;
    service.stop().await;
    world
        .run(
            "insert into chat.outbound (id, chat_id, channel, seq, payload, expires_at)
             select gen_random_uuid(), chat_id, channel, seq + 3, payload, expires_at from chat.outbound",
        )
        .await;
    world.run("delete from chat.outbound where seq = 5").await;
    world.run("update chat.sender set next_seq = 5, ready_at = now()").await;

    let _service = world.serve().await;
    other.begins().await;

    // The third is missing at once, the fourth is there and waits behind it.
    let stopped = "select head_error = 'missing_reply' and done_seq = 2 and ready_at > now() from chat.sender
                   where next_seq = 5";
    world.until(stopped).await;
    assert_eq!(damaged.conversation().await.len(), 2);
    world.run("update chat.outbound set seq = 3 where seq = 4").await;
    world.run("update chat.sender set ready_at = now() where next_seq = 5").await;
    let next = "select head_error = 'missing_reply' and done_seq = 3 from chat.sender where next_seq = 5";
    world.until(next).await;
    assert_eq!(damaged.conversation().await.len(), 3, "what comes before the gap is sent");
}
