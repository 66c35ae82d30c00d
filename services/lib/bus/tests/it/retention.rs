//! Retention: what is old leaves, what is not settled stays, and nobody who appends waits for it.

use std::time::Instant;

use bus::mailbox::Outcome;
use bus::outbound::{self, NewOutbound};
use bus::retention::{Purged, Retention, purge};
use chrono::{Days, Utc};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use testkit::eventually;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, World, by_phone, world};

/// A day of the past, `ago` days back, with one event of each of the chats, and its deliveries.
async fn day(world: &World, ago: i32, chats: &[(Uuid, i64)]) -> String {
    let name: String =
        sqlx::query_scalar("select to_char((now() at time zone 'UTC')::date - $1, 'YYYYMMDD')")
            .bind(ago)
            .fetch_one(&world.pool)
            .await
            .unwrap();
    for parent in ["event", "delivery"] {
        let make = format!(
            "create table inbound.{parent}_{name} partition of inbound.{parent} \
             for values from ('{name} 00:00:00+00') to ('{name} 24:00:00+00')"
        );
        world.pool.execute(AssertSqlSafe(make)).await.unwrap();
    }
    for (chat, seq) in chats {
        sqlx::query(
            "insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at) \
             values ($1, $2, gen_random_uuid(), 'whatsapp', $3, 'text', '{}', $4::text::timestamptz)",
        )
        .bind(chat)
        .bind(seq)
        .bind(format!("{chat}-{seq}"))
        .bind(format!("{name} 12:00:00+00"))
        .execute(&world.pool)
        .await
        .unwrap();
    }
    format!("event_{name}")
}

async fn purged(world: &World) -> Purged {
    run(&mut world.connect().await).await
}

async fn run(on: &mut PgConnection) -> Purged {
    purge(on, Retention::default(), &mut |_| {}).await.unwrap().expect("no other purge runs")
}

async fn is_there(world: &World, name: &str) -> bool {
    sqlx::query_scalar("select to_regclass('inbound.' || $1) is not null")
        .bind(name)
        .fetch_one(&world.pool)
        .await
        .unwrap()
}

/// A chat whose first event is done.
async fn settled_chat(world: &World, phone: &str) -> Uuid {
    let chat = world.chat_with(phone, 1).await;
    let loan = world.claim_one(1).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    chat
}

#[tokio::test]
async fn a_day_goes_when_it_is_old_and_nothing_in_it_is_unsettled() {
    let world = world().await;
    let done = settled_chat(&world, "34600000001").await;
    let waits = world.chat_with("34600000002", 1).await;
    let young = day(&world, 6, &[(done, 1)]).await;
    let old = day(&world, 8, &[(done, 1)]).await;
    // The chat's watermark is what counts: its oldest time, its lease and its state say nothing.
    let pending = day(&world, 9, &[(done, 1), (waits, 1)]).await;
    world.run("update chat.chat set oldest_at = now()").await;
    let gone = purged(&world).await;
    let deliveries = [&pending, &old].map(|name| name.replace("event", "delivery"));
    assert_eq!(gone.dropped, [deliveries[0].clone(), deliveries[1].clone(), old.clone()]);
    assert_eq!(gone.unsettled, std::slice::from_ref(&pending));
    assert!(
        is_there(&world, &young).await && is_there(&world, &pending).await && !is_there(&world, &old).await
    );

    let loan = world.claim_one(1).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    assert_eq!(purged(&world).await.dropped, [pending]);
    assert_eq!(purged(&world).await, Purged::default(), "a purge with nothing to do does nothing");
}

#[tokio::test]
async fn days_are_made_beside_readers_and_appends_and_wait_for_neither() {
    let world = world().await;
    let chat = settled_chat(&world, "34600000001").await;
    // As the migration made them, if it was today.
    world.run("select inbound.make_partitions_v1(7)").await;
    let (mut one, mut two, mut three) = (world.connect().await, world.connect().await, world.connect().await);
    let mut reader = one.begin().await.unwrap();
    reader.execute("select count(*) from inbound.event, inbound.delivery").await.unwrap();
    let mut appending = two.begin().await.unwrap();
    sqlx::query(
        "insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at) \
         values ($1, 2, gen_random_uuid(), 'whatsapp', 'under way', 'text', '{}', now())",
    )
    .bind(chat)
    .execute(&mut *appending)
    .await
    .unwrap();

    let mut making = three.begin().await.unwrap();
    making.execute("set local lock_timeout = '1s'").await.unwrap();
    let made: i32 = sqlx::query_scalar("select inbound.make_partitions_v1(9)")
        .fetch_one(&mut *making)
        .await
        .expect("it waits for no reader and no append");
    assert_eq!(made, 4, "two days more than the migration made, of events and of deliveries");
    let begun = Instant::now();
    assert_eq!(world.append(vec![by_phone("34600000002", "meanwhile")]).await.created.len(), 1);
    assert!(begun.elapsed().as_millis() < 1000, "an append waits for no new day: {:?}", begun.elapsed());
    making.commit().await.unwrap();
    appending.commit().await.unwrap();
    reader.rollback().await.unwrap();
    let last = "insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at) \
                select id, 3, gen_random_uuid(), 'whatsapp', 'the last day', 'text', '{}', now() + interval '9 days' \
                from chat.chat limit 1";
    assert_eq!(world.pool.execute(last).await.unwrap().rows_affected(), 1);
}

#[tokio::test]
async fn an_idle_reader_holds_up_the_purge_and_never_an_append() {
    let world = world().await;
    let done = settled_chat(&world, "34600000001").await;
    let old = day(&world, 8, &[(done, 1)]).await;
    let mut other = world.connect().await;
    let mut reader = other.begin().await.unwrap();
    reader.execute("select count(*) from inbound.event").await.unwrap();

    let mut on = world.connect().await;
    let waiting = tokio::spawn(async move { run(&mut on).await });
    world.someone_waits().await;
    let begun = Instant::now();
    world.append(vec![by_phone("34600000002", "a")]).await;
    assert!(begun.elapsed().as_millis() < 1000, "{:?}", begun.elapsed());
    assert!(!waiting.is_finished(), "the purge waits for the reader");
    assert_eq!(purge(&mut world.connect().await, Retention::default(), &mut |_| {}).await.unwrap(), None);
    reader.rollback().await.unwrap();
    assert!(waiting.await.unwrap().dropped.contains(&old));
}

#[tokio::test]
async fn a_day_that_is_read_for_too_long_is_left_to_the_next_purge() {
    let world = world().await;
    let done = settled_chat(&world, "34600000001").await;
    let (old, older) = (day(&world, 8, &[(done, 1)]).await, day(&world, 9, &[(done, 1)]).await);
    let mut other = world.connect().await;
    let mut reader = other.begin().await.unwrap();
    reader.execute("select count(*) from inbound.event").await.unwrap();
    let left = purged(&world).await;
    assert_eq!(left.busy, [older.clone(), old.clone()], "a table takes one detach at a time");
    assert_eq!(left.dropped.len(), 2, "the deliveries are read by nobody: {left:?}");
    assert_eq!(world.append(vec![by_phone("34600000002", "a")]).await.created.len(), 1);
    reader.rollback().await.unwrap();
    assert_eq!(purged(&world).await.dropped, [older.clone(), old.clone()]);
    assert!(!is_there(&world, &old).await && !is_there(&world, &older).await);
}

#[tokio::test]
async fn a_purge_that_was_cut_is_finished_by_the_next() {
    let world = world().await;
    let done = settled_chat(&world, "34600000001").await;
    let old = day(&world, 8, &[(done, 1)]).await;
    // Detached and not dropped: cut right between the two.
    let cut = day(&world, 10, &[(done, 1)]).await;
    let detach = format!("alter table inbound.event detach partition inbound.{cut}");
    world.pool.execute(AssertSqlSafe(detach)).await.unwrap();
    // Cut in the middle of a detach.
    let mut other = world.connect().await;
    let mut reader = other.begin().await.unwrap();
    reader.execute("select count(*) from inbound.event").await.unwrap();
    let mut on = world.connect().await;
    let waiting =
        tokio::spawn(async move { purge(&mut on, Retention::default(), &mut |_| {}).await.is_err() });
    eventually("the purge that waits is killed", async || {
        let killed = world
            .db
            .count(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() \
                 and wait_event_type = 'Lock' and query like 'alter table inbound.event detach%'",
            )
            .await;
        (killed > 0).then_some(())
    })
    .await;
    assert!(waiting.await.unwrap(), "its connection is gone");
    reader.rollback().await.unwrap();
    assert_eq!(world.db.count("select count(*) from pg_inherits where inhdetachpending").await, 1);
    eventually("its lock is let go", async || {
        let held = world.db.count("select count(*) from pg_locks where locktype = 'advisory'").await;
        (held == 0).then_some(())
    })
    .await;
    purged(&world).await;
    assert!(!is_there(&world, &old).await && !is_there(&world, &cut).await);
}

#[tokio::test]
async fn rows_leave_after_their_retention_and_not_before() {
    let world = world().await;
    world
        .run(
            "insert into inbound.dedup (key, activity_id, day) select gen_random_uuid(), gen_random_uuid(), \
             (now() at time zone 'UTC')::date - d from generate_series(8, 11) d, generate_series(1, 3000)",
        )
        .await;
    world
        .run(
            "insert into inbound.receipt (key, channel, provider_id, status, occurred_at, received_at) \
             select gen_random_uuid(), 'whatsapp', 'x', 'sent', now(), now() - make_interval(days => d) \
             from generate_series(6, 8, 2) d",
        )
        .await;
    world
        .run(
            "insert into inbound.rejection (id, key, channel, reason, detail, raw, delivery_id, received_at) \
             select gen_random_uuid(), gen_random_uuid(), 'whatsapp', 'x', '', '', gen_random_uuid(), \
             now() - make_interval(days => d) from generate_series(89, 91, 2) d",
        )
        .await;
    world
        .run(
            "insert into inbound.dead (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at, attempts, \
             error, dead_by, dead_at, held) select gen_random_uuid(), 1, gen_random_uuid(), 'whatsapp', 'x', 'text', '{}', \
             now(), 5, '', '', now() - make_interval(days => d), d = 92 from unnest(array[89, 91, 92]) d",
        )
        .await;
    let gone = purged(&world).await;
    assert_eq!((gone.dedup, gone.receipts, gone.rejected, gone.dead), (6000, 1, 1, 1));
    assert_eq!(world.db.count("select count(*) from inbound.dead where held").await, 1, "it holds its chat");
}

#[tokio::test]
async fn old_replies_go_with_their_ids_once_they_have_ended() {
    let world = world().await;
    let chat = Uuid::now_v7();
    let reply = |text: &str| NewOutbound {
        id: Uuid::now_v7(),
        payload: serde_json::json!(text),
        prompt: None,
        report_id: None,
    };
    let (sent, ended_late, waits) = (reply("sent"), reply("recorded, not settled"), reply("waits"));
    let ids = [sent.id, ended_late.id, waits.id];
    {
        let mut on = world.pool.acquire().await.unwrap();
        let expires_at = Utc::now() + Days::new(30);
        outbound::enqueue(&mut on, CHANNEL, chat, expires_at, None, &[sent, ended_late, waits])
            .await
            .unwrap();
    }
    let loan = outbound::claim(&world.pool, CHANNEL, Uuid::now_v7(), 1, 10, LEASE).await.unwrap().remove(0);
    for (id, name) in ids.iter().zip(["wamid.a", "wamid.b"]) {
        outbound::record_sent(&world.pool, CHANNEL, *id, &[name.to_owned()]).await.unwrap();
    }
    outbound::settle(&world.pool, &loan, 1, Outcome::Release, None).await.unwrap();
    assert_eq!(purged(&world).await.replies, 0, "what is young stays");
    world.run("update chat.outbound set created_at = now() - interval '8 days'").await;
    assert_eq!(purged(&world).await.replies, 1);
    let left: Vec<Uuid> =
        sqlx::query_scalar("select id from chat.outbound order by seq").fetch_all(&world.pool).await.unwrap();
    assert_eq!(left, ids[1..], "the next of its chat and what was never sent stay");
    let known: Vec<String> =
        sqlx::query_scalar("select provider_id from chat.outbound_id").fetch_all(&world.pool).await.unwrap();
    assert_eq!(known, ["wamid.b"]);
    // The mailbox still goes on from where it was.
    let loan = outbound::claim(&world.pool, CHANNEL, Uuid::now_v7(), 1, 10, LEASE).await.unwrap().remove(0);
    assert_eq!(loan.outbounds.iter().map(|outbound| outbound.seq).collect::<Vec<_>>(), [2, 3]);
}
