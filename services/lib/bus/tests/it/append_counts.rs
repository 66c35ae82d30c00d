//! Append: how much goes in one commit, and what goes wrong on the way, counted.

use bus::append::{Appender, Error};
use prometheus_client::registry::Registry;
use sqlx::Connection;
use testkit::eventually;
use uuid::Uuid;

use crate::append_lanes::closed;
use crate::support::{PATIENCE, World, by_phone, delivery, world};

fn text(appender: &Appender) -> String {
    let mut registry = Registry::default();
    appender.metrics().register(&mut registry);
    testkit::scraped(&registry)
}

fn counted(appender: &Appender, line: &str) -> bool {
    text(appender).lines().any(|one| one == line)
}

/// Rows of the commits that stored messages of this phone, the largest first.
async fn commits(world: &World, phone: &str) -> Vec<i64> {
    // A transaction has one id, which its rows carry.
    sqlx::query_scalar(
        "select count(*) from inbound.event where starts_with(message_id, $1) group by xmin::text order by 1 desc",
    )
    .bind(phone)
    .fetch_all(&world.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn a_commit_takes_no_more_rows_and_bytes_than_it_may() {
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '20s'").await;
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let append = |phone: &'static str, messages: usize, body: usize| {
        let appender = world.appender.clone();
        let events = (0..messages).map(|_| by_phone(phone, &format!("{phone}-{}", Uuid::now_v7())));
        let mut batch = delivery(events.collect());
        batch.body = vec![b' '; body];
        tokio::spawn(async move { appender.append(batch).await.unwrap() })
    };
    let (many, heavy) = ("34600000001", "34600000002");
    let mut calls = vec![append(many, 1, 10), append(heavy, 1, 10)];
    eventually("both are on their way", async || (world.appender.waiting() == 2).then_some(())).await;
    // More than two commits' rows at once, and bodies of which no two go together.
    calls.push(append(many, 450, 10));
    calls.extend((0..3).map(|_| append(heavy, 1, 200_000)));
    eventually("all of them wait", async || (world.appender.waiting() == 455).then_some(())).await;
    held.rollback().await.unwrap();
    for call in calls {
        call.await.unwrap();
    }
    let rows = commits(&world, many).await;
    assert_eq!(rows.iter().sum::<i64>(), 451);
    assert!(rows[0] <= 200, "{rows:?}");
    assert!(rows.len() <= 5, "and no fewer than it may: {rows:?}");
    assert!(commits(&world, heavy).await.len() >= 3, "{:?}", commits(&world, heavy).await);
}

#[tokio::test]
async fn batches_that_are_cut_and_calls_that_are_refused_are_counted() {
    let world = world().await;
    let mut poison = by_phone("34600000001", "a");
    poison.payload = serde_json::json!("\0");
    world.append(vec![poison, by_phone("34600000001", "b")]).await;
    assert!(counted(&world.appender, "append_split_total 1"), "{}", text(&world.appender));
    assert!(counted(&world.appender, "append_batch_rows_sum 2.0"), "{}", text(&world.appender));

    let narrow = Appender::new(world.pool.clone(), PATIENCE).with_limits(1, 1 << 20);
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let appender = narrow.clone();
    let call =
        tokio::spawn(async move { appender.append(delivery(vec![by_phone("34600000001", "c")])).await });
    eventually("it waits", async || (narrow.waiting() == 1).then_some(())).await;
    let refused = narrow.append(delivery(vec![by_phone("34600000001", "d")])).await;
    assert!(matches!(refused, Err(Error::Overloaded)), "{refused:?}");
    assert!(counted(&narrow, "append_overloaded_total 1"), "{}", text(&narrow));
    held.rollback().await.unwrap();
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_chat_that_is_set_aside_is_counted() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    sqlx::query("select from chat.chat where id = $1 for update")
        .bind(chat)
        .execute(&mut *held)
        .await
        .unwrap();
    let appender = world.appender.clone();
    let call =
        tokio::spawn(async move { appender.append(delivery(vec![by_phone("34600000001", "b")])).await });
    eventually("it waits apart", async || counted(&world.appender, "append_set_aside_total 1").then_some(()))
        .await;
    held.rollback().await.unwrap();
    call.await.unwrap().unwrap();
}

/// Nothing of ours takes chats in another order; a person's transaction may.
#[tokio::test]
async fn an_append_that_loses_a_deadlock_is_made_again_and_counted() {
    let world = world().await;
    let phones = ["34600000001", "34600000002"];
    let mut chats = [world.chat_with(phones[0], 1).await, world.chat_with(phones[1], 1).await];
    chats.sort_unstable();
    let [low, high] = chats;
    world.run("alter function inbound.append_v1 set lock_timeout = '20s'").await;
    // Who looks for a circle first loses: the append after two seconds, the other long after the end of this test.
    let appender = Appender::new(world.pool_with(&[("deadlock_timeout", "2s")]).await, PATIENCE);
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    sqlx::query("set local deadlock_timeout = '10min'").execute(&mut *held).await.unwrap();
    let lock = "select from chat.chat where id = $1 for update";
    sqlx::query(lock).bind(high).execute(&mut *held).await.unwrap();
    let call = tokio::spawn({
        let appender = appender.clone();
        let events = phones.iter().map(|phone| by_phone(phone, &format!("{phone} again"))).collect();
        async move { appender.append(delivery(events)).await }
    });
    world.someone_waits().await;
    sqlx::query(lock).bind(low).execute(&mut *held).await.unwrap();
    // The other has the row that the append has let go of.
    eventually("it is counted", async || counted(&appender, "append_deadlocked_total 1").then_some(())).await;
    held.rollback().await.unwrap();
    let stored = call.await.unwrap().unwrap();
    assert_eq!((stored.created.len(), stored.duplicates), (2, 0));
}
