//! Append: stored once, however often and however cut it comes; acked means stored, whatever the connection does.

use std::str::FromStr;
use std::time::{Duration, Instant};

use bus::append::{Appender, Error, NewEvent};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use testkit::eventually;
use uuid::Uuid;

use crate::support::proxy::Proxy;
use crate::support::{PATIENCE, World, append_held, by_both, by_phone, by_user, delivery, world};

const EVENTS: &str = "select count(*) from inbound.event";

#[tokio::test]
async fn the_same_delivery_many_times_at_once_is_stored_once() {
    let world = world().await;
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let appender = world.appender.clone();
            let events = vec![by_phone("34600000001", "a"), by_phone("34600000002", "b")];
            tokio::spawn(async move { appender.append(delivery(events)).await })
        })
        .collect();
    let (mut created, mut duplicates) = (0, 0);
    for call in calls {
        let stored = call.await.unwrap().unwrap();
        created += stored.created.len();
        duplicates += stored.duplicates;
    }
    assert_eq!((created, duplicates), (2, 14));
    assert_eq!(world.db.count(EVENTS).await, 2);
}

#[tokio::test]
async fn of_two_copies_in_one_delivery_the_first_is_stored() {
    let world = world().await;
    let (first, copy) = (by_phone("34600000001", "a"), by_phone("34600000001", "a"));
    let (first_id, other) = (first.activity_id, by_phone("34600000001", "b"));
    let other_id = other.activity_id;
    let stored = world.append(vec![first, copy, other]).await;
    assert_eq!(stored.created, [first_id, other_id]);
    assert_eq!(stored.duplicates, 1);
    assert_eq!(world.place_of("b").await.1, 2, "the copy takes no place");
}

#[tokio::test]
async fn batches_that_overlap_are_stored_once_each_message() {
    let world = world().await;
    world.append(vec![by_phone("34600000001", "a"), by_phone("34600000001", "b")]).await;
    let stored = world
        .append(vec![
            by_phone("34600000001", "b"),
            by_phone("34600000001", "c"),
            by_phone("34600000002", "a"),
        ])
        .await;
    assert_eq!((stored.created.len(), stored.duplicates), (1, 2));
    assert_eq!(world.place_of("c").await.1, 3);
}

#[tokio::test]
async fn a_message_comes_again_the_day_after_whatever_day_its_provider_says_and_is_the_same() {
    let world = world().await;
    // The provider's own sample is years old.
    let years_ago = chrono::DateTime::from_timestamp(1_504_902_988, 0);
    let sample = |sent_at| NewEvent { sent_at, ..by_phone("16315551181", "ABGGFlA5Fpa") };
    assert_eq!(world.append(vec![sample(years_ago)]).await.created.len(), 1);
    // It is midnight.
    world.run("update inbound.dedup set day = day - 1").await;
    for sent_at in [years_ago, Some(chrono::Utc::now()), None] {
        let stored = world.append(vec![sample(sent_at)]).await;
        assert_eq!((stored.created.len(), stored.duplicates), (0, 1), "{sent_at:?}");
    }
    assert_eq!(world.db.count("select count(*) from inbound.event").await, 1);
}

#[tokio::test]
async fn a_process_that_starts_again_knows_what_was_stored() {
    let world = world().await;
    world.append(vec![by_phone("34600000001", "a")]).await;
    let again = Appender::new(world.pool_with(&[]).await, PATIENCE);
    let stored = again.append(delivery(vec![by_phone("34600000001", "a")])).await.unwrap();
    assert_eq!((stored.created.len(), stored.duplicates), (0, 1));
}

#[tokio::test]
async fn a_message_that_comes_again_under_another_identity_is_stored_once() {
    let world = world().await;
    world.append(vec![by_phone("34600000001", "a")]).await;
    let stored = world.append(vec![by_user("ES.1", "a"), by_both("ES.1", "34600000001", "b")]).await;
    assert_eq!((stored.created.len(), stored.duplicates), (1, 1));
    assert_eq!(world.db.count(EVENTS).await, 2);
}

#[tokio::test]
async fn the_same_id_on_another_channel_is_another_message() {
    let world = world().await;
    world.append(vec![by_phone("34600000001", "a")]).await;
    let mut other = delivery(vec![by_phone("34600000001", "a")]);
    other.channel = "second".to_owned();
    assert_eq!(world.appender.append(other.clone()).await.unwrap().created.len(), 1);
    assert_eq!(world.db.count("select count(distinct chat_id) from inbound.event").await, 2);
}

/// An appender whose connections go through a proxy.
async fn through_proxy(world: &World, patience: Duration) -> (Proxy, Appender) {
    let options = PgConnectOptions::from_str(&world.db.url).unwrap();
    let proxy = Proxy::before(options.get_host().to_owned(), options.get_port()).await;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .test_before_acquire(false)
        .connect_with(options.host("127.0.0.1").port(proxy.port))
        .await
        .unwrap();
    let appender = Appender::new(pool.clone(), patience);
    // The statement is prepared now, so that the next call is one message there and one back.
    appender.append(delivery(vec![by_phone("34600000009", "warm")])).await.unwrap();
    eventually("the connection is back in its pool", async || (pool.num_idle() == 1).then_some(())).await;
    (proxy, appender)
}

#[tokio::test]
async fn a_repeat_after_a_lost_answer_is_created_and_no_duplicate() {
    let world = world().await;
    let (mut proxy, appender) = through_proxy(&world, PATIENCE).await;
    let event = by_phone("34600000001", "a");
    let id = event.activity_id;
    proxy.keep_answers();
    let call = tokio::spawn(async move { appender.append(delivery(vec![event])).await });
    eventually("the append is committed", async || (world.db.count(EVENTS).await == 2).then_some(())).await;
    assert!(!call.is_finished(), "the answer is on its way");
    proxy.cut();
    let stored = call.await.unwrap().unwrap();
    assert_eq!((stored.created, stored.duplicates), (vec![id], 0));
    assert_eq!(world.db.count(EVENTS).await, 2);
    assert_eq!(world.db.count("select count(*) from inbound.delivery").await, 2);
}

#[tokio::test]
async fn an_append_whose_connection_dies_before_its_commit_is_made_again() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone("34600000001", "first")).await;
    let appender = world.appender.clone();
    let call =
        tokio::spawn(async move { appender.append(delivery(vec![by_phone("34600000001", "b")])).await });
    eventually("the connection that waits is killed", async || {
        let killed = world
            .db
            .count(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                 where datname = current_database() and wait_event_type = 'Lock'",
            )
            .await;
        (killed > 0).then_some(())
    })
    .await;
    held.commit().await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().created.len(), 1);
    assert_eq!(world.place_of("b").await.1, 3);
}

#[tokio::test]
async fn while_the_database_is_away_a_delivery_waits_no_longer_than_its_patience() {
    let world = world().await;
    let patience = Duration::from_millis(300);
    let (proxy, appender) = through_proxy(&world, patience).await;
    proxy.keep_answers();
    let begun = Instant::now();
    let refused = appender.append(delivery(vec![by_phone("34600000001", "a")])).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(begun.elapsed() < patience * 10);
    // It may have been stored; the provider comes again either way, and finds it.
    let again = world.append(vec![by_phone("34600000001", "a")]).await;
    assert_eq!(again.created.len() + again.duplicates, 1);
}

#[tokio::test]
async fn a_chat_that_is_frozen_holds_up_no_other_for_long() {
    let world = world().await;
    let frozen = world.chat_with("34600000001", 1).await;
    let quick = world.chat_with("34600000002", 1).await;
    // The batch takes its locks in the order of the chats' ids: the frozen one last.
    let mut ids = [frozen, quick];
    ids.sort();
    let (free, stuck) = (ids[0], ids[1]);
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("select from chat.chat where id = $1 for update")
        .bind(stuck)
        .execute(&mut *held)
        .await
        .unwrap();
    let appender = world.appender.clone();
    let both = vec![by_phone("34600000001", "x"), by_phone("34600000002", "y")];
    let call = tokio::spawn(async move { appender.append(delivery(both)).await });
    world.someone_waits().await;
    // The lock on the free chat is let go again and again, although the frozen one stays frozen.
    sqlx::query("select from chat.chat where id = $1 for update")
        .bind(free)
        .execute(&world.pool)
        .await
        .unwrap();
    assert!(!call.is_finished());
    held.rollback().await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().created.len(), 2);
}

#[tokio::test]
async fn a_key_does_not_show_the_number_that_an_id_may_hold() {
    let world = world().await;
    world.append(vec![by_phone("34600000001", "34600000001")]).await;
    let key: Uuid = sqlx::query_scalar("select key from inbound.dedup").fetch_one(&world.pool).await.unwrap();
    assert!(!key.simple().to_string().contains("3460000"), "{key}");
    assert!(!key.as_bytes().windows(5).any(|bytes| bytes == b"34600"), "{key}");
}
