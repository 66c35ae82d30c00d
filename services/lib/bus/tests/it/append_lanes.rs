//! Append for many at once: what gathers goes together, a chat keeps its order, and what cannot go holds up nobody.

use std::collections::HashMap;
use std::time::Duration;

use bus::append::{Appender, Error};
use sqlx::Connection;
use testkit::eventually;
use uuid::Uuid;

use crate::support::{PATIENCE, World, append_held, by_both, by_phone, by_user, delivery, messages, world};

const EVENTS: &str = "select count(*) from inbound.event";

/// Lets nobody store anything, until it is rolled back.
pub(crate) async fn closed(connection: &mut sqlx::PgConnection) -> sqlx::Transaction<'_, sqlx::Postgres> {
    let mut transaction = connection.begin().await.unwrap();
    sqlx::query("lock table inbound.delivery in exclusive mode").execute(&mut *transaction).await.unwrap();
    transaction
}

/// One message is on its way to the database while 49 more come in, each by a call of its own: two commits.
async fn gather(world: &World, phone: fn(usize) -> String) {
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let append = |n: usize| {
        let appender = world.appender.clone();
        let event = by_phone(&phone(n), &format!("{n}"));
        tokio::spawn(async move { appender.append(delivery(vec![event])).await })
    };
    let mut calls = vec![append(0)];
    world.someone_waits().await;
    calls.extend((1..50).map(append));
    eventually("all of them wait", async || (world.appender.waiting() == 50).then_some(())).await;
    held.rollback().await.unwrap();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().created.len(), 1);
    }
    // A transaction has one id, which its rows carry.
    assert_eq!(world.db.count("select count(distinct xmin::text) from inbound.event").await, 2);
}

#[tokio::test]
async fn what_gathers_while_a_commit_runs_goes_in_the_next_one() {
    let world = world().await;
    gather(&world, |_| "34600000001".to_owned()).await;
    assert_eq!(world.db.count("select count(*) from inbound.delivery where length(body) > 0").await, 50);
    eventually("all room is given back", async || (world.appender.waiting() == 0).then_some(())).await;
}

/// A statement costs as much as several messages in it.
#[tokio::test]
async fn a_few_of_many_chats_go_in_one_commit() {
    gather(&world().await, |n| format!("346000000{n:02}")).await;
}

#[tokio::test]
async fn a_crowd_has_two_statements_under_way_and_each_chat_its_order() {
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let first = world.appender.clone();
    let first =
        tokio::spawn(async move { first.append(delivery(vec![by_phone("34600000000", "000")])).await });
    world.someone_waits().await;
    let crowd: Vec<_> =
        (1..=400).map(|n| by_phone(&format!("346000000{:02}", n % 20), &format!("{n:03}"))).collect();
    let appender = world.appender.clone();
    let crowd = tokio::spawn(async move { appender.append(delivery(crowd)).await });
    eventually("a second one waits", async || (world.db.lock_waits().await == 2).then_some(())).await;
    held.rollback().await.unwrap();
    assert_eq!(first.await.unwrap().unwrap().created.len(), 1);
    assert_eq!(crowd.await.unwrap().unwrap().created.len(), 400);
    let loans = world.claim(20, 100).await;
    assert_eq!(loans.iter().map(|loan| loan.events.len()).sum::<usize>(), 401);
    for loan in loans {
        assert!(messages(&loan).is_sorted());
    }
}

#[tokio::test]
async fn a_delivery_for_many_chats_is_answered_when_all_of_it_is_committed() {
    let world = world().await;
    let events: Vec<_> =
        (0..60).map(|n| by_phone(&format!("346000000{:02}", n % 20), &format!("{n:02}"))).collect();
    let ids: Vec<Uuid> = events.iter().map(|event| event.activity_id).collect();
    let stored = world.append(events).await;
    assert_eq!(stored.created, ids, "in the provider's order");
    assert_eq!(world.db.count(EVENTS).await, 60);
    assert_eq!(world.db.count("select sum(created) from inbound.delivery").await, 60);
    assert_eq!(world.db.count("select count(*) from inbound.delivery where length(body) > 0").await, 1);
    for chat in world.claim(20, 20).await {
        assert!(messages(&chat).is_sorted());
    }
}

#[tokio::test]
async fn one_person_under_two_identities_keeps_the_order_of_the_delivery() {
    let world = world().await;
    // Whatever lanes the identities would fall in alone.
    for round in 0..20 {
        let (user, phone) = (format!("ES.{round}"), format!("3460000{round:04}"));
        world
            .append(vec![
                by_phone(&phone, &format!("{round}-1")),
                by_user(&user, &format!("{round}-2")),
                by_both(&user, &phone, &format!("{round}-3")),
                by_phone(&phone, &format!("{round}-4")),
            ])
            .await;
    }
    let loans = world.claim(100, 10).await;
    for loan in &loans {
        assert!(messages(loan).is_sorted(), "{:?}", messages(loan));
    }
}

#[tokio::test]
async fn calls_of_one_chat_are_numbered_in_the_order_in_which_they_were_made() {
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let mut calls = Vec::new();
    for n in 0..40 {
        let appender = world.appender.clone();
        let before = appender.waiting();
        calls.push(tokio::spawn(async move {
            appender.append(delivery(vec![by_phone("34600000001", &format!("{n:02}"))])).await
        }));
        eventually("it is queued", async || (world.appender.waiting() > before).then_some(())).await;
    }
    held.rollback().await.unwrap();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert!(messages(&world.claim_one(100).await).is_sorted());
}

#[tokio::test]
async fn a_frozen_chat_gets_a_lane_of_its_own_and_loses_no_place() {
    let world = world().await;
    for n in 0..20 {
        world.chat_with(&format!("346000000{n:02}"), 1).await;
    }
    let frozen = world.chat_of("34600000007-1").await;
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    sqlx::query("select from chat.chat where id = $1 for update")
        .bind(frozen)
        .execute(&mut *held)
        .await
        .unwrap();
    let append = |phone: usize, n: usize| {
        let appender = world.appender.clone();
        let event = by_phone(&format!("346000000{phone:02}"), &format!("{phone:02}-{n}"));
        tokio::spawn(async move { appender.append(delivery(vec![event])).await })
    };
    let stuck = [append(7, 1)];
    world.someone_waits().await;
    let mut others: Vec<_> = (0..20).filter(|phone| *phone != 7).map(|phone| append(phone, 1)).collect();
    let mut late = vec![append(7, 2)];
    for call in others.drain(..) {
        assert_eq!(call.await.unwrap().unwrap().created.len(), 1, "the others go on");
    }
    late.push(append(7, 3));
    // Now that the chat is alone, the others do not even wait for it once.
    for n in 2..5 {
        assert_eq!(append(8, n).await.unwrap().unwrap().created.len(), 1);
    }
    assert!(late.iter().chain(&stuck).all(|call| !call.is_finished()));
    held.rollback().await.unwrap();
    for call in stuck.into_iter().chain(late) {
        assert_eq!(call.await.unwrap().unwrap().created.len(), 1);
    }
    let order: Vec<String> =
        sqlx::query_scalar("select message_id from inbound.event where chat_id = $1 order by seq")
            .bind(frozen)
            .fetch_all(&world.pool)
            .await
            .unwrap();
    assert_eq!(order[..2], ["34600000007-1", "07-1"]);
    assert_eq!(order.len(), 4);
}

#[tokio::test]
async fn beyond_its_room_an_appender_refuses_and_forgets() {
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let appender = Appender::new(world.pool.clone(), PATIENCE).with_limits(10, 1 << 20);
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let append = |n: usize| {
        let appender = appender.clone();
        tokio::spawn(async move {
            appender.append(delivery(vec![by_phone("34600000001", &format!("{n}"))])).await
        })
    };
    let calls: Vec<_> = (0..10).map(append).collect();
    eventually("the room is full", async || (appender.waiting() == 10).then_some(())).await;
    for n in 10..20 {
        let refused = append(n).await.unwrap();
        assert!(matches!(refused, Err(Error::Overloaded)), "{refused:?}");
    }
    let mut large = delivery(vec![by_phone("34600000002", "large")]);
    large.body = vec![b' '; 2 << 20];
    assert!(matches!(appender.append(large.clone()).await, Err(Error::Overloaded)));
    held.rollback().await.unwrap();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    eventually("all room is given back", async || (appender.waiting() == 0).then_some(())).await;
    assert_eq!(
        appender.append(large.clone()).await.unwrap().created.len(),
        1,
        "alone, even a large one finds room"
    );
    assert_eq!(world.db.count(EVENTS).await, 11);
}

#[tokio::test]
async fn while_nothing_can_be_stored_nobody_waits_longer_than_its_patience_and_nothing_stays_behind() {
    let world = world().await;
    let appender = Appender::new(world.pool.clone(), Duration::from_millis(400));
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let calls: Vec<_> = (0..300)
        .map(|n| {
            let appender = appender.clone();
            tokio::spawn(async move {
                let begun = std::time::Instant::now();
                let phone = format!("346000000{:02}", n % 30);
                let refused = appender.append(delivery(vec![by_phone(&phone, &format!("{n}"))])).await;
                (refused, begun.elapsed())
            })
        })
        .collect();
    for call in calls {
        let (refused, took) = call.await.unwrap();
        assert!(matches!(refused, Err(Error::Unavailable(_) | Error::Overloaded)), "{refused:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    eventually("all room is given back", async || (appender.waiting() == 0).then_some(())).await;
    held.rollback().await.unwrap();
    // A statement that was under way may have been carried out; when the provider comes again it is found.
    for n in 0..300 {
        let phone = format!("346000000{:02}", n % 30);
        let stored = world.append(vec![by_phone(&phone, &format!("{n}"))]).await;
        assert_eq!(stored.created.len() + stored.duplicates, 1);
    }
    assert_eq!(world.db.count(EVENTS).await, 300);
}

#[tokio::test]
async fn a_poison_in_a_batch_of_many_calls_costs_only_its_own() {
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let mut calls = Vec::new();
    for n in 0..40 {
        let appender = world.appender.clone();
        let mut event = by_phone(&format!("346000000{:02}", n % 5), &format!("{n:02}"));
        if n == 13 || n == 20 {
            event.payload = serde_json::json!({ "text": "a\0b" });
        }
        let before = appender.waiting();
        calls.push(tokio::spawn(async move { appender.append(delivery(vec![event])).await.unwrap() }));
        eventually("it is queued", async || (world.appender.waiting() > before).then_some(())).await;
    }
    held.rollback().await.unwrap();
    let mut seen: HashMap<(usize, usize), usize> = HashMap::new();
    for call in calls {
        let stored = call.await.unwrap();
        *seen.entry((stored.created.len(), stored.rejected)).or_default() += 1;
    }
    assert_eq!(seen, HashMap::from([((1, 0), 38), ((0, 1), 2)]));
    assert_eq!(world.db.count("select count(*) from inbound.rejection").await, 2);
    assert_eq!(world.db.count("select sum(rejected) from inbound.delivery").await, 2);
    for chat in world.claim(10, 100).await {
        assert!(messages(&chat).is_sorted(), "{:?}", messages(&chat));
    }
}

#[tokio::test]
async fn corruption_of_one_chat_refuses_that_chat_only() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    world.run("update chat.chat set next_seq = 1, done_seq = 0").await;
    world.run("alter function inbound.append_v1 set lock_timeout = '10s'").await;
    let mut other = world.connect().await;
    let held = closed(&mut other).await;
    let append = |phone: &'static str| {
        let appender = world.appender.clone();
        tokio::spawn(async move { appender.append(delivery(vec![by_phone(phone, phone)])).await })
    };
    let (bad, good) = (append("34600000001"), [append("34600000002"), append("34600000003")]);
    eventually("all of them wait", async || (world.appender.waiting() == 3).then_some(())).await;
    held.rollback().await.unwrap();
    assert!(matches!(bad.await.unwrap(), Err(Error::Refused(_))));
    for call in good {
        assert_eq!(call.await.unwrap().unwrap().created.len(), 1);
    }
    assert_eq!(world.db.count("select count(*) from inbound.rejection").await, 0);
}

#[tokio::test]
async fn a_caller_who_hangs_up_changes_nothing() {
    let world: World = world().await;
    world.chat_with("34600000001", 1).await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone("34600000001", "first")).await;
    let appender = world.appender.clone();
    let call =
        tokio::spawn(async move { appender.append(delivery(vec![by_phone("34600000001", "b")])).await });
    world.someone_waits().await;
    call.abort();
    held.commit().await.unwrap();
    eventually("it is stored all the same", async || (world.db.count(EVENTS).await == 3).then_some(())).await;
    assert_eq!(world.append(vec![by_phone("34600000001", "b")]).await.duplicates, 1);
}

#[tokio::test]
async fn what_was_planned_on_empty_tables_still_reads_only_its_own_rows_when_they_are_full() {
    let world = world().await;
    // One session, as a pool keeps it: it plans now, while nothing is there.
    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(&world.db.url).await.unwrap();
    let appender = Appender::new(pool.clone(), PATIENCE);
    let append = async |n: usize| {
        let event = by_phone(&format!("3460000{n:04}"), &Uuid::now_v7().to_string());
        appender.append(delivery(vec![event])).await.unwrap();
    };
    for n in 0..10 {
        append(n).await;
    }
    world
        .run(
            "insert into chat.alias (channel, kind, value, chat_id) \
             select 'whatsapp', kind, 'other' || n, gen_random_uuid() \
             from generate_series(1, 5000) n, unnest(array['phone', 'user_id']) kind",
        )
        .await;
    let read = async || {
        sqlx::query("select pg_stat_force_next_flush()").execute(&pool).await.unwrap();
        world
            .db
            .count(
                "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint \
                 from pg_stat_user_tables where (schemaname, relname) in (('chat', 'alias'), ('inbound', 'dedup'))",
            )
            .await
    };
    let before = read().await;
    for n in 0..10 {
        append(n).await;
    }
    let read = read().await - before;
    assert!(read <= 100, "ten messages of known people read {read} rows of the tables that know them");
}
