//! Workers that die, stall, drain or lose their database in the middle of an event.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, PgConnection, Postgres, Transaction};

use crate::citizen::{Citizen, ROUTE};
use crate::geo::{Geo, PIN};
use crate::replies::text;
use crate::support::World;

/// Short enough that a test can see it run out.
const LEASE: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn another_worker_goes_on_where_a_killed_one_was() {
    let world = World::new().await;
    let citizen = world.citizen("34600500001").await;
    let held = Geo::holding();
    let mut config = world.config();
    (config.lease.length, config.send_timeout) = (LEASE, Duration::from_millis(500));
    let killed = world.serve_with(config.clone(), &held).await;
    citizen.begins().await;
    citizen.pin().await;
    held.asked(1).await;

    drop(killed);
    let _other = world.serve_with(config, &world.geo).await;

    assert_eq!(citizen.hears().await["kind"], "flow");
    world.at_rest().await;
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
    assert_eq!(citizen.conversation().await.len(), 3);
}

#[tokio::test]
async fn a_lease_is_renewed_for_as_long_as_its_worker_lives() {
    let world = World::new().await;
    let citizen = world.citizen("34600500002").await;
    let held = Geo::holding();
    let mut config = world.config();
    (config.lease.length, config.send_timeout) = (LEASE, Duration::from_millis(500));
    let _first = world.serve_with(config.clone(), &held).await;
    citizen.begins().await;
    citizen.pin().await;
    held.asked(1).await;
    let _second = world.serve_with(config, &held).await;

    // The lease has moved on by more than its whole length: without renewal it would have been lost.
    let first: chrono::DateTime<chrono::Utc> = world.value("select ready_at from chat.chat").await;
    testkit::eventually("the lease is renewed beyond its length", async || {
        let now: chrono::DateTime<chrono::Utc> = world.value("select ready_at from chat.chat").await;
        (now - first > chrono::TimeDelta::from_std(LEASE).unwrap()).then_some(())
    })
    .await;

    assert_eq!(held.times_asked(), 1);
    held.let_go();
    assert_eq!(citizen.hears().await["kind"], "flow");
    assert_eq!(held.times_asked(), 1);
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_changes_nothing() {
    let world = World::new().await;
    let citizen = world.citizen("34600500003").await;
    let held = Geo::holding();
    let _stale = world.serve_with(world.config(), &held).await;
    citizen.begins().await;
    citizen.pin().await;
    held.asked(1).await;

    // What the claim of another process does, which then works on for an hour.
    world
        .run("update chat.chat set epoch = epoch + 1, owner = gen_random_uuid(), ready_at = now() + interval '1 hour'")
        .await;
    held.let_go();
    testkit::eventually("the stale worker says that it was fenced", async || {
        crate::telemetry::lines().contains("a loan was over before it was settled").then_some(())
    })
    .await;

    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from chat.outbound").await, 2);
    assert_eq!(world.value::<String>("select step from chat.session").await, "awaiting_location");
    world.run("update chat.chat set epoch = epoch + 1, owner = null, ready_at = now()").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
}

#[tokio::test]
async fn a_drain_finishes_the_event_under_way_and_gives_the_rest_back_uncharged() {
    let world = World::new().await;
    let citizen = world.citizen("34600500004").await;
    let first = world.serve().await;
    citizen.begins().await;
    first.stop().await;
    two_events(&world, &citizen).await;
    let held = Geo::holding();
    let draining = world.serve_with(world.config(), &held).await;
    held.asked(1).await;

    let (_, ()) = tokio::join!(draining.stop(), async {
        // The stop comes first, then the answer.
        tokio::task::yield_now().await;
        held.let_go();
    });

    let (done, attempts, lost, owned): (i64, i16, i16, bool) =
        sqlx::query_as("select done_seq, head_attempts, lost, owner is not null from chat.chat")
            .fetch_one(&world.db.pool)
            .await
            .unwrap();
    assert_eq!((done, attempts, lost, owned), (3, 0, 0, false));
    assert_eq!(world.value::<String>("select state from inbound.event_state where seq = 4").await, "pending");
    let _next = world.serve().await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    assert!(citizen.hears_text().await.starts_with("Para avisar"));
}

#[tokio::test]
async fn a_dropped_connection_costs_neither_the_event_nor_its_lease() {
    let world = World::new().await;
    let citizen = world.citizen("34600500005").await;
    let held = Geo::holding();
    let _service = world.serve_with(world.config(), &held).await;
    citizen.begins().await;
    citizen.pin().await;
    held.asked(1).await;

    world
        .run("select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'abisu_conversation' and datname = current_database()")
        .await;
    held.let_go();

    // Well before the lease of 30 s is over.
    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.fill_in("es", ROUTE, json!({})).await;
    citizen.hears().await;
    assert_eq!(world.value::<i16>("select lost from chat.chat").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from report.report where state = 'received'").await, 1);
}

#[tokio::test]
async fn a_settle_waits_for_a_database_that_is_away() {
    let world = World::new().await;
    let citizen = world.citizen("34600500006").await;
    let held = Geo::holding();
    let _service = world.serve_with(world.config(), &held).await;
    citizen.begins().await;
    citizen.pin().await;
    held.asked(1).await;

    // No connection may be made, and none is left.
    let limit =
        "do $$ begin execute format('alter database %I connection limit 0', current_database()); end $$";
    world.run(limit).await;
    world
        .run("select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'abisu_conversation' and datname = current_database()")
        .await;
    held.let_go();
    let waits = testkit::eventually("the service meets the closed door", async || {
        crate::telemetry::lines().contains("cannot be claimed: no connection was free in time").then_some(())
    });
    waits.await;
    let limit =
        "do $$ begin execute format('alter database %I connection limit -1', current_database()); end $$";
    world.run(limit).await;

    assert_eq!(citizen.hears().await["kind"], "flow");
    assert_eq!(world.value::<i16>("select lost from chat.chat").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
}

#[tokio::test]
async fn a_chat_that_must_run_alone_is_worked_and_then_runs_with_the_others_again() {
    let world = World::new().await;
    let citizen = world.citizen("34600500007").await;
    citizen.say("Hola").await;
    world.run("update chat.chat set lost = 2, head_attempts = 2").await;

    let _service = world.serve().await;

    assert_eq!(citizen.hears().await["kind"], "button");
    world.until("select lost = 0 and head_attempts = 0 from chat.chat").await;
}

#[tokio::test]
async fn a_chat_that_waits_until_it_may_run_alone_keeps_its_lease() {
    let world = World::new().await;
    let held = Geo::holding();
    let mut config = world.config();
    (config.lease.length, config.send_timeout) = (LEASE, Duration::from_millis(500));
    let _service = world.serve_with(config, &held).await;
    let (busy, alone) = (world.citizen("34600500008").await, world.citizen("34600500009").await);
    alone.begins().await;
    world.at_rest().await;
    world.run("update chat.chat set lost = 2").await;
    busy.begins().await;
    busy.pin().await;
    held.asked(1).await;

    alone.say("ayuda").await;
    world.until("select owner is not null from chat.chat where lost = 2").await;
    let first: chrono::DateTime<chrono::Utc> =
        world.value("select ready_at from chat.chat where lost = 2").await;
    testkit::eventually("the waiting chat's lease is renewed beyond its length", async || {
        let now: chrono::DateTime<chrono::Utc> =
            world.value("select ready_at from chat.chat where lost = 2").await;
        (now - first > chrono::TimeDelta::from_std(LEASE).unwrap()).then_some(())
    })
    .await;
    assert_eq!(world.value::<i16>("select head_attempts from chat.chat where lost = 2").await, 1);
    held.let_go();

    assert!(alone.hears().await["text"].as_str().unwrap().starts_with("Para avisar"));
    assert_eq!(busy.hears().await["kind"], "flow");
}

/// Keeps everybody from taking a place among the sends of the number, until it is rolled back.
async fn no_place_to_send(on: &mut PgConnection) -> Transaction<'_, Postgres> {
    let mut held = on.begin().await.unwrap();
    sqlx::query("lock table chat.channel_state in exclusive mode").execute(&mut *held).await.unwrap();
    held
}

#[tokio::test]
async fn a_sender_that_waited_for_longer_than_its_lease_does_not_send_beside_the_next() {
    let world = World::new().await;
    let citizen = world.citizen("34600500010").await;
    let mut config = world.config();
    (config.lease.length, config.send_timeout) = (LEASE, Duration::from_millis(500));
    let mut other = PgConnection::connect(&world.db.url).await.unwrap();
    let held = no_place_to_send(&mut other).await;
    let _service = world.serve_with(config, &world.geo).await;

    citizen.say("Hola").await;
    world.until("select epoch >= 2 from chat.sender").await;
    held.rollback().await.unwrap();

    assert_eq!(citizen.hears().await["kind"], "button");
    world.at_rest().await;
    assert_eq!(world.calls("meta.messages").await, 1);
}

#[tokio::test]
async fn a_drain_finishes_the_send_under_way_and_gives_the_other_replies_back_uncharged() {
    let world = World::new().await;
    let citizen = world.citizen("34600500011").await;
    let first = world.serve().await;
    citizen.begins().await;
    world.at_rest().await;
    first.stop().await;
    let now = Some(chrono::Utc::now());
    let words = vec![text(&citizen.phone, "ayuda", now), text(&citizen.phone, "ayuda", now)];
    world.webhook.bring(words).await;
    let mut other = PgConnection::connect(&world.db.url).await.unwrap();
    let held = no_place_to_send(&mut other).await;
    let draining = world.serve().await;
    let waiting = "select count(*) = 1 from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock'";
    world.until(waiting).await;

    let (_, ()) = tokio::join!(draining.stop(), async {
        // The stop comes first, then the place.
        tokio::task::yield_now().await;
        held.rollback().await.unwrap();
    });

    let (done, next, attempts, lost, owned): (i64, i64, i16, i16, bool) =
        sqlx::query_as("select done_seq, next_seq, head_attempts, lost, owner is not null from chat.sender")
            .fetch_one(&world.db.pool)
            .await
            .unwrap();
    assert_eq!((done, next, attempts, lost, owned), (3, 5, 0, 0, false));
    let _next = world.serve().await;
    world.at_rest().await;
    assert_eq!(world.calls("meta.messages").await, 4);
}

/// A pin and a call for help in one delivery, with nobody there to take them.
async fn two_events(world: &World, citizen: &Citizen<'_>) {
    let now = Some(chrono::Utc::now());
    let pin = channel::Message {
        kind: channel::Kind::Location,
        text: None,
        attachments: vec![channel::Attachment {
            content_type: channel::normalised::LOCATION_CONTENT_TYPE.to_owned(),
            latitude: Some(PIN.latitude),
            longitude: Some(PIN.longitude),
            ..channel::Attachment::default()
        }],
        ..text(&citizen.phone, "", now)
    };
    world.webhook.bring(vec![pin, text(&citizen.phone, "ayuda", now)]).await;
}
