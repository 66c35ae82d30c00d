//! Many citizens, many messages: one worker per chat, and replies in their order.

use futures::future::join_all;
use serde_json::json;

use crate::geo::Geo;
use crate::replies::text;
use crate::support::World;

/// The provider's ids of a chat's replies, as they were numbered.
const NUMBERED: &str =
    "select i.provider_id from chat.outbound o join chat.outbound_id i on i.outbound_id = o.id
                        order by o.chat_id, o.seq";

#[tokio::test]
async fn replies_of_a_chat_leave_in_their_order_whatever_the_provider_does() {
    let world = World::new().await;
    let _services = (world.serve().await, world.serve().await);
    let citizen = world.citizen("34600300001").await;
    citizen.begins().await;
    // The first call of each round fails, in another way each time.
    for (round, mut fault) in [
        json!({"kind": "status", "status": 500}),
        json!({"kind": "reset"}),
        json!({"kind": "meta_error", "code": 4}),
    ]
    .into_iter()
    .enumerate()
    {
        fault["surface"] = json!("meta.messages");
        fault["times"] = json!(1);
        world.fault(fault).await;
        let words = (0..4).map(|_| text(&citizen.phone, "ayuda", Some(chrono::Utc::now()))).collect();
        world.webhook.bring(words).await;
        testkit::eventually("a fault acts", async || {
            (world.calls("meta.messages").await > 2 + 5 * round).then_some(())
        })
        .await;
    }
    world.until("select done_seq = 14 from chat.chat").await;
    world.at_rest().await;

    let seen: Vec<String> =
        citizen.conversation().await.iter().map(|one| one["wamid"].as_str().unwrap().to_owned()).collect();
    let numbered: Vec<String> = world.values(NUMBERED).await;
    assert_eq!(seen.len(), 14);
    assert_eq!(seen, numbered);
}

#[tokio::test]
async fn messages_of_a_chat_are_decided_in_their_order() {
    let world = World::new().await;
    let citizen = world.citizen("34600300002").await;
    let now = Some(chrono::Utc::now());
    // Only in this order does it end at the question for a place, in Basque, asked for once.
    citizen.say("Hola").await;
    let said = ["euskara", "cancelar", "Hola", "castellano", "euskara"];
    world.webhook.bring(said.iter().map(|word| text(&citizen.phone, word, now)).collect()).await;

    let _services = (world.serve().await, world.serve().await);
    world.at_rest().await;

    let kinds: Vec<serde_json::Value> =
        citizen.conversation().await.iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(
        kinds,
        ["button", "location_request", "text", "button", "location_request", "location_request"]
    );
    assert_eq!(
        world.value::<String>("select language || step from chat.session").await,
        "euawaiting_location"
    );
}

#[tokio::test]
async fn many_citizens_at_once_get_a_reference_each() {
    let world = World::new().await;
    let _services = (world.serve().await, world.serve().await);
    let citizens = join_all((0..12).map(|n| async move { format!("3460030010{n:02}") }).map(|phone| async {
        let phone = phone.await;
        world.citizen(&phone).await
    }))
    .await;

    let mut references = join_all(citizens.iter().map(|citizen| citizen.reports())).await;

    references.sort();
    references.dedup();
    assert_eq!(references.len(), 12);
    assert_eq!(world.value::<i64>("select count(*) from report.report where state = 'received'").await, 12);
    for citizen in &citizens {
        assert_eq!(citizen.conversation().await.len(), 4);
    }
}

#[tokio::test]
async fn chats_that_wait_for_a_slow_geocoder_leave_their_places_to_the_others() {
    let world = World::new().await;
    let held = Geo::holding();
    let mut config = world.config();
    // Of whom three would take all.
    config.workers = 2;
    let _service = world.serve_with(config, &held).await;
    let slow = join_all((0..3).map(|n| format!("3460030020{n}")).map(async |phone| {
        let citizen = world.citizen(&phone).await;
        citizen.begins().await;
        citizen.pin().await;
        citizen
    }))
    .await;
    held.asked(3).await;

    // Others go on as if nobody waited.
    for phone in ["34600300211", "34600300212", "34600300213"] {
        world.citizen(phone).await.begins().await;
    }
    let waiting = "select count(*) from chat.chat where owner is not null and done_seq < next_seq - 1";
    assert_eq!(world.value::<i64>(waiting).await, 3, "nobody was put back to be asked again");
    assert_eq!(held.times_asked(), 3);
    held.let_go();
    for citizen in slow {
        assert_eq!(citizen.hears().await["kind"], "flow");
    }
    world.at_rest().await;
    assert_eq!(world.value::<i64>("select max(lost)::int8 from chat.chat").await, 0);
}

#[tokio::test]
async fn two_phones_of_one_citizen_that_tap_at_once_are_both_answered_and_one_prompt_is_open() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600300090").await;
    citizen.say("Hola").await;
    citizen.hears().await;

    tokio::join!(citizen.tap("Castellano"), citizen.tap("Euskara"));
    let (first, second) = (citizen.hears().await, citizen.hears().await);
    assert_eq!((&first["kind"], &second["kind"]), (&"location_request".into(), &"location_request".into()));
    citizen.pin().await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    // Both fill in the one form that both were shown.
    let language: String = world.value("select language from chat.session").await;
    let (one, other) = tokio::join!(
        citizen.fill_in(&language, crate::citizen::ROUTE, serde_json::json!({})),
        citizen.fill_in(&language, crate::citizen::ROUTE, serde_json::json!({}))
    );
    assert_ne!(one["message_id"], other["message_id"]);
    let (told, again) = (citizen.hears_text().await, citizen.hears_text().await);
    assert_eq!(crate::citizen::reference(&told), crate::citizen::reference(&again));
    world.at_rest().await;
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
}
