//! Append: one bad message hurts no other, and nothing that is our own fault is blamed on a message.

use bus::append::{Appender, Error, NewEvent, NewReceipt, NewRejection};
use chrono::{DateTime, Utc};
use std::time::Duration;
use testkit::eventually;

use crate::support::{World, by_phone, delivery, world};

/// A message that Postgres refuses: it stores no NUL.
fn poison(phone: &str, message: &str) -> NewEvent {
    NewEvent { payload: serde_json::json!({ "text": "a\0b" }), ..by_phone(phone, message) }
}

fn receipt(provider_id: &str, status: &str) -> NewReceipt {
    NewReceipt {
        provider_id: provider_id.to_owned(),
        outbound_id: None,
        status: status.to_owned(),
        recipient: "34600000001".to_owned(),
        error_code: None,
        occurred_at: DateTime::<Utc>::UNIX_EPOCH,
    }
}

async fn rejections(world: &World) -> Vec<(Option<String>, String, Vec<u8>)> {
    sqlx::query_as("select message_id, reason, raw from inbound.rejection order by received_at, id")
        .fetch_all(&world.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_message_that_is_refused_stands_alone_and_the_rest_is_stored_in_order() {
    let world = world().await;
    let mut events: Vec<_> =
        (0..11).map(|n| by_phone(&format!("3460000000{}", n % 2), &format!("m{n:02}"))).collect();
    events[4] = poison("34600000000", "m04");
    let mut batch = delivery(events);
    let stored = world.appender.append(batch.clone()).await.unwrap();
    assert_eq!((stored.created.len(), stored.rejected, stored.duplicates), (10, 1, 0));
    for chat in world.claim(10, 20).await {
        assert!(crate::support::messages(&chat).is_sorted());
    }
    let kept = rejections(&world).await;
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].0.as_deref(), Some("m04"));
    assert!(String::from_utf8_lossy(&kept[0].2).contains("a\\u0000b"), "with its content");

    // The provider sends the batch again, with ids of its own for us.
    for event in &mut batch.events {
        event.activity_id = uuid::Uuid::now_v7();
    }
    let again = world.appender.append(batch.clone()).await.unwrap();
    assert_eq!((again.created.len(), again.rejected, again.duplicates), (0, 1, 10));
    assert_eq!(rejections(&world).await.len(), 1, "a rejection is kept once");
}

#[tokio::test]
async fn a_delivery_in_parts_keeps_its_body_once_and_its_counts_add_up() {
    let world = world().await;
    let mut events: Vec<_> = (0..6).map(|n| by_phone("34600000001", &format!("m{n}"))).collect();
    events[0] = poison("34600000001", "m0");
    events[5] = poison("34600000001", "m5");
    let mut batch = delivery(events);
    batch.receipts = vec![receipt("wamid.1", "sent"), receipt("wamid.1", "read")];
    batch.rejections = vec![NewRejection {
        message_id: None,
        reason: "unknown_number".to_owned(),
        detail: "the number is not ours".to_owned(),
        raw: b"{}".to_vec(),
    }];
    world.appender.append(batch.clone()).await.unwrap();
    let (ids, bodies, created, rejected, receipts): (i64, i64, i64, i64, i64) = sqlx::query_as(
        "select count(distinct id), count(*) filter (where length(body) > 0), sum(created), sum(rejected), \
         sum(receipts) from inbound.delivery",
    )
    .fetch_one(&world.pool)
    .await
    .unwrap();
    assert_eq!((ids, bodies, created, rejected, receipts), (1, 1, 4, 3, 2));
}

#[tokio::test]
async fn a_delivery_of_nothing_but_poison_is_kept_with_its_body() {
    let world = world().await;
    let stored = world.append(vec![poison("34600000001", "a")]).await;
    assert_eq!((stored.created.len(), stored.rejected), (0, 1));
    assert_eq!(world.db.count("select count(*) from inbound.delivery where length(body) > 0").await, 1);
    assert_eq!(
        world.db.count("select count(*) from inbound.dedup").await,
        0,
        "it can be stored after a repair"
    );
}

/// A damaged row of one chat must not be the silence of all that come in beside it.
#[tokio::test]
async fn what_is_broken_in_one_chat_stops_that_chat_alone() {
    let world = world().await;
    let broken = world.chat_with("34600000007", 1).await;
    world
        .run(
            "create function public.broken() returns trigger language plpgsql as
             $$ begin raise exception 'a damaged page' using errcode = 'XX001'; end $$",
        )
        .await;
    let trigger = format!(
        "create trigger broken before insert on inbound.event for each row when (new.chat_id = '{broken}')
         execute function public.broken()"
    );
    sqlx::query(sqlx::AssertSqlSafe(trigger)).execute(&world.db.pool).await.unwrap();
    let events = (0..20).map(|n| by_phone(&format!("346000000{n:02}"), &format!("m{n:02}"))).collect();
    let error = world.appender.append(delivery(events)).await.unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
    let stored = "select count(*) from inbound.event where message_id like 'm%'";
    // The answer comes with the first that fails, the others go on.
    eventually("the others of the delivery are stored", async || {
        (world.db.count(stored).await == 19).then_some(())
    })
    .await;
    assert_eq!(
        world.db.count("select count(*) from inbound.rejection").await,
        0,
        "and no message is to blame"
    );
}

#[tokio::test]
async fn whatever_a_sender_can_put_into_a_message_becomes_a_rejection() {
    let world = world().await;
    // Digits in no order, or the index would compress them: too long for any index row.
    let mut state = 1_u64;
    let long: String = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + u8::try_from(state >> 58).unwrap())
        })
        .collect();
    let deep = (0..120).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
    let stored = world
        .append(vec![
            by_phone("3460\x000000001", "nul in the phone"),
            by_phone(&long, "endless phone"),
            by_phone("34600000001", "nul \0 in the id"),
            NewEvent { phone: None, ..by_phone("", "nobody") },
            NewEvent { payload: deep, ..by_phone("34600000001", "deep") },
            by_phone("34600000001", "good"),
        ])
        .await;
    let reasons = rejections(&world).await;
    assert_eq!((stored.created.len(), stored.rejected), (2, 4), "{reasons:?}");
    // In no promised order: people in different lanes do not wait for each other.
    assert!(reasons.iter().any(|(id, ..)| id.as_deref() == Some("nul \u{fffd} in the id")), "{reasons:?}");
}

#[tokio::test]
async fn a_receipt_that_is_refused_costs_neither_the_others_nor_the_messages() {
    let world = world().await;
    let mut batch = delivery(vec![by_phone("34600000001", "a")]);
    batch.receipts =
        vec![receipt("wamid.1", "sent"), receipt("wamid.\0", "sent"), receipt("wamid.1", "read")];
    let stored = world.appender.append(batch.clone()).await.unwrap();
    assert_eq!((stored.created.len(), stored.receipts, stored.rejected), (1, 2, 1));
    let again = world.appender.append(batch.clone()).await.unwrap();
    assert_eq!((again.created.len(), again.receipts, again.rejected), (1, 2, 1));
    assert_eq!(world.db.count("select count(*) from inbound.receipt").await, 2, "a receipt is kept once");
}

#[tokio::test]
async fn a_missing_partition_is_no_message_s_fault() {
    let world = world().await;
    world
        .run(
            "do $$ declare part regclass; begin for part in select inhrelid::regclass from pg_inherits \
             where inhparent = 'inbound.event'::regclass loop execute format('drop table %s', part); end loop; end $$",
        )
        .await;
    let impatient = Appender::new(world.pool.clone(), Duration::from_millis(100));
    let refused = impatient.append(delivery(vec![by_phone("34600000001", "a")])).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(rejections(&world).await.is_empty());
    world.run("select inbound.make_partitions_v1(1)").await;
    assert_eq!(world.append(vec![by_phone("34600000001", "a")]).await.created.len(), 1);
}

#[tokio::test]
async fn a_place_that_is_taken_is_our_fault_and_loud() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    // Corruption: the chat forgot what it gave out.
    world.run("update chat.chat set next_seq = 1, done_seq = 0").await;
    let refused = world.appender.append(delivery(vec![by_phone("34600000001", "b")])).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert!(rejections(&world).await.is_empty());
}

/// Refuses to store one message, as a fault of ours would.
const FAULT: &str = "create function public.fault() returns trigger language plpgsql as \
                     $$ begin raise exception 'a fault' using errcode = 'XX000'; end $$";

/// A batch that was cut at a poison must not go on behind a part that is not stored, or the provider, who sends all of it
/// again, would find the second message before the first.
#[tokio::test]
async fn what_follows_a_message_that_is_not_stored_waits_for_it() {
    let world = world().await;
    world.run(FAULT).await;
    world
        .run(
            "create trigger fault before insert on inbound.event for each row when (new.message_id = 'a') \
             execute function public.fault()",
        )
        .await;
    let batch = delivery(vec![
        by_phone("34600000001", "a"),
        by_phone("34600000001", "b"),
        poison("34600000001", "c"),
        by_phone("34600000001", "d"),
    ]);
    let refused = world.appender.append(batch.clone()).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert_eq!(world.db.count("select count(*) from inbound.event").await, 0);
    assert!(rejections(&world).await.is_empty());

    world.run("drop trigger fault on inbound.event").await;
    let stored = world.appender.append(batch.clone()).await.unwrap();
    assert_eq!((stored.created.len(), stored.rejected, stored.duplicates), (3, 1, 0));
    assert_eq!(crate::support::messages(&world.claim_one(10).await), ["a", "b", "d"]);
}

/// Its key would be kept, and whoever sends it again would be told that it is there.
#[tokio::test]
async fn an_append_that_stores_less_than_it_took_is_no_append() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    world
        .run("create function public.lose() returns trigger language plpgsql as $$ begin return null; end $$")
        .await;
    world
        .run(
            "create trigger lose before insert on inbound.event for each row when (new.message_id = 'lost') \
             execute function public.lose()",
        )
        .await;
    let batch = delivery(vec![by_phone("34600000001", "lost"), by_phone("34600000001", "kept")]);
    let refused = world.appender.append(batch.clone()).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert_eq!(world.mailbox(chat).await.next_seq, 2, "no place is taken");
    world.run("drop trigger lose on inbound.event").await;
    assert_eq!(world.appender.append(batch.clone()).await.unwrap().created.len(), 2);
    assert_eq!((world.place_of("lost").await.1, world.place_of("kept").await.1), (2, 3));
}
