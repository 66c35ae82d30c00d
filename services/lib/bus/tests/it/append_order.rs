//! Append: places are given under the chat's lock, and time follows them.

use std::time::Duration;

use bus::mailbox::Outcome;
use chrono::{DateTime, Utc};

use crate::support::{append_held, append_on, by_phone, messages, world};

#[tokio::test]
async fn messages_of_a_delivery_keep_the_providers_order_chat_by_chat() {
    let world = world().await;
    let events: Vec<_> =
        (0..30).map(|n| by_phone(&format!("3460000000{}", n % 3), &format!("m{n:02}"))).collect();
    let ids: Vec<_> = events.iter().map(|event| event.activity_id).collect();
    let stored = world.append(events).await;
    assert_eq!(stored.created, ids);
    for chat in world.claim(10, 20).await {
        let numbers: Vec<_> = chat.events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
        assert!(messages(&chat).is_sorted(), "{:?}", messages(&chat));
    }
}

#[tokio::test]
async fn an_append_that_is_rolled_back_leaves_no_hole() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone("34600000001", "lost")).await;
    held.rollback().await.unwrap();
    world.append(vec![by_phone("34600000001", "kept")]).await;
    assert_eq!(world.place_of("kept").await, (chat, 2));
    assert_eq!(world.mailbox(chat).await.next_seq, 3);
}

#[tokio::test]
async fn who_commits_first_stands_first_in_number_and_in_time() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone("34600000001", "first")).await;
    let second = tokio::spawn({
        let appender = world.appender.clone();
        async move { appender.append(crate::support::delivery(vec![by_phone("34600000001", "second")])).await }
    });
    world.someone_waits().await;
    held.commit().await.unwrap();
    second.await.unwrap().unwrap();
    let places: Vec<(String, i64, DateTime<Utc>)> =
        sqlx::query_as("select message_id, seq, received_at from inbound.event order by seq")
            .fetch_all(&world.pool)
            .await
            .unwrap();
    let order: Vec<_> = places.iter().map(|(message, ..)| message.as_str()).collect();
    assert_eq!(order, ["34600000001-1", "first", "second"]);
    assert!(places.is_sorted_by_key(|(_, _, received_at)| *received_at), "{places:?}");
}

#[tokio::test]
async fn time_follows_sequence_also_where_the_call_that_began_first_stores_last() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone("34600000002", "new")).await;
    // It begins before the other and waits for an alias, in front of all chats.
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let mut slow = world.connect().await;
    let slow = tokio::spawn(async move {
        append_on(&mut slow, &[by_phone("34600000002", "x"), by_phone("34600000001", "slow")]).await;
    });
    world.someone_waits().await;
    world.append(vec![by_phone("34600000001", "quick")]).await;
    held.commit().await.unwrap();
    slow.await.unwrap();
    assert_eq!((world.place_of("quick").await.1, world.place_of("slow").await.1), (2, 3));
    let back = "select count(*) from inbound.event a join inbound.event b using (chat_id) \
                where a.seq < b.seq and a.received_at > b.received_at";
    assert_eq!(world.db.count(back).await, 0);
}

#[tokio::test]
async fn what_comes_in_never_cuts_a_lease_or_a_backoff_short() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let loan = world.claim_one(10).await;
    world.append(vec![by_phone("34600000001", "during the lease")]).await;
    assert!(world.claim(10, 10).await.is_empty(), "the chat is leased");
    world.settle(&loan, 0, Outcome::Retry(Duration::from_secs(60))).await.unwrap();
    world.append(vec![by_phone("34600000001", "during the backoff")]).await;
    assert!(world.claim(10, 10).await.is_empty(), "the chat is backing off");
    assert_eq!(world.mailbox(chat).await.next_seq, 4);
}

#[tokio::test]
async fn what_comes_in_never_wakes_a_held_chat() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    world.run("update chat.chat set hold = true").await;
    let loan = world.claim_one(10).await;
    world.append(vec![by_phone("34600000001", "while it runs")]).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    assert!(!world.mailbox(chat).await.scheduled, "a settle leaves a held chat asleep");
    world.append(vec![by_phone("34600000001", "while it is held")]).await;
    assert!(!world.mailbox(chat).await.scheduled, "so does an append");
    assert_eq!(world.mailbox(chat).await.next_seq, 4, "the messages are stored all the same");
}

#[tokio::test]
async fn a_delivery_without_messages_is_kept_too() {
    let world = world().await;
    let stored = world.append(Vec::new()).await;
    assert_eq!(stored, bus::append::Stored::default());
    assert_eq!(world.db.count("select count(*) from inbound.delivery where length(body) > 0").await, 1);
}

#[tokio::test]
async fn what_an_append_changes_of_a_pending_chat_stands_in_no_index() {
    let world = world().await;
    // Any column of an index, also one of its predicate, keeps an update from being heap-only.
    let indexed: Vec<String> = sqlx::query_scalar(
        "select distinct a.attname::text from pg_index i, pg_depend d, pg_attribute a \
         where i.indrelid = 'chat.chat'::regclass and d.objid = i.indexrelid and d.refobjid = i.indrelid \
           and a.attrelid = d.refobjid and a.attnum = d.refobjsubid",
    )
    .fetch_all(&world.pool)
    .await
    .unwrap();
    assert!(indexed.contains(&"ready_at".to_owned()), "{indexed:?}");
    let chat = world.chat_with("34600000001", 1).await;
    let row = "select to_jsonb(c) from chat.chat c where id = $1";
    let read = async || -> serde_json::Value {
        sqlx::query_scalar(row).bind(chat).fetch_one(&world.pool).await.unwrap()
    };
    let before = read().await;
    world.append(vec![by_phone("34600000001", "one more")]).await;
    let after = read().await;
    assert_ne!(before["next_seq"], after["next_seq"]);
    for column in indexed {
        assert_eq!(before[&column], after[&column], "{column}");
    }
}
