//! The moving floor, the belt, the cap of defers, and what is measured.

use std::time::Duration;

use bus::mailbox::{Claim, Claimer, MAX_DEFERS, Outcome, repair};
use bus::metrics::QueueMetrics;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, World, by_phone, told, world};

const HOUR: Duration = Duration::from_secs(3600);

fn claim(chats: i64) -> Claim<'static> {
    Claim { channel: CHANNEL, owner: Uuid::now_v7(), chats, events: 1, lease: LEASE, solo: false }
}

/// Chats of which each became ready a second after the one before, the last one a minute ago.
async fn backlog(world: &World, chats: usize) {
    for n in 0..chats {
        world.append(vec![by_phone(&format!("34600{n:06}"), &format!("{n:04}"))]).await;
    }
    world
        .run(
            "update chat.chat c set ready_at = now() - interval '1 minute' - make_interval(secs => 1000 - e.message_id::int) \
             from inbound.event e where e.chat_id = c.id",
        )
        .await;
}

#[tokio::test]
async fn under_a_backlog_the_floor_starves_nobody() {
    let world = world().await;
    backlog(&world, 60).await;
    let claimer = Claimer::new(world.pool.clone(), QueueMetrics::default()).looking_down_every(HOUR);
    let mut served = Vec::new();
    loop {
        let loans = claimer.claim(&claim(7)).await.unwrap();
        if loans.is_empty() {
            break;
        }
        for loan in loans {
            served.push(loan.events[0].message_id.clone());
            world.settle(&loan, 1, Outcome::Done).await.unwrap();
        }
    }
    assert_eq!(served.len(), 60);
    assert!(served.is_sorted(), "oldest first: {served:?}");
}

#[tokio::test]
async fn what_appears_below_the_floor_is_found_by_the_next_look_from_the_bottom() {
    let world = world().await;
    backlog(&world, 5).await;
    let claimer = Claimer::new(world.pool.clone(), QueueMetrics::default()).looking_down_every(HOUR);
    assert_eq!(claimer.claim(&claim(1)).await.unwrap()[0].events[0].message_id, "0000");
    world.append(vec![by_phone("34600999999", "below")]).await;
    let (below, _) = world.place_of("below").await;
    sqlx::query("update chat.chat set ready_at = now() - interval '1 day' where id = $1")
        .bind(below)
        .execute(&world.pool)
        .await
        .unwrap();
    let claimed = claimer.claim(&claim(4)).await.unwrap();
    assert!(
        claimed.len() == 4 && claimed.iter().all(|loan| loan.chat_id != below),
        "the floor is in the way"
    );
    assert!(claimer.claim(&claim(1)).await.unwrap().is_empty(), "less than was asked for");
    assert_eq!(claimer.claim(&claim(1)).await.unwrap()[0].chat_id, below);
    // And always after its time.
    let eager = Claimer::new(world.pool.clone(), QueueMetrics::default()).looking_down_every(Duration::ZERO);
    world.expire_leases().await;
    assert_eq!(eager.claim(&claim(10)).await.unwrap().len(), 6);
}

#[tokio::test]
async fn the_belt_wakes_what_sleeps_over_its_work_and_nothing_else() {
    let world = world().await;
    let asleep = world.chat_with("34600000001", 2).await;
    let loan = world.claim_one(1).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    // Nothing in the protocol does this.
    world.run("update chat.chat set ready_at = null").await;
    let held = world.chat_with("34600000002", 1).await;
    world.run("update chat.chat set hold = true, ready_at = null where ready_at is not null").await;
    let rests = world.chat_with("34600000003", 1).await;
    world.settle(&world.claim_one(1).await, 1, Outcome::Done).await.unwrap();
    let leased = world.chat_with("34600000004", 1).await;
    world.claim_one(1).await;
    let before = world.mailbox(leased).await;

    assert_eq!(repair(&world.pool, CHANNEL).await.unwrap(), 1);
    assert!(world.mailbox(asleep).await.ready);
    assert!(!world.mailbox(held).await.scheduled && !world.mailbox(rests).await.scheduled);
    assert_eq!(world.mailbox(leased).await, before);
    assert_eq!(repair(&world.pool, CHANNEL).await.unwrap(), 0);
    assert_eq!(world.claim_one(5).await.events.len(), 1);
}

/// Neither a claim nor a measure can read a time that has no end, and one chat must not cost them all the others.
#[tokio::test]
async fn a_chat_that_has_lost_its_times_is_woken_with_that_of_its_next_event() {
    let world = world().await;
    world.chat_with("34600000001", 2).await;
    world.settle(&world.claim_one(1).await, 1, Outcome::Done).await.unwrap();
    world.run("update chat.chat set ready_at = null, oldest_at = null").await;
    assert_eq!(repair(&world.pool, CHANNEL).await.unwrap(), 1);
    let timed = "select count(*) from chat.chat c join inbound.event e on e.chat_id = c.id and e.seq = 2 \
                 where c.oldest_at = e.received_at";
    assert_eq!(world.db.count(timed).await, 1);
    QueueMetrics::default().sample(&world.pool, CHANNEL).await.unwrap();
    assert_eq!(world.claim_one(5).await.events[0].seq, 2);
}

#[tokio::test]
async fn an_event_that_is_deferred_without_end_comes_back_more_seldom_and_never_dies() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let soon = Duration::from_millis(1);
    let loan = world.claim_one(1).await;
    assert_eq!(loan.defers, 0);
    world.settle(&loan, 0, Outcome::Defer(soon)).await.unwrap();
    world.end_waits().await;
    sqlx::query("update chat.chat set head_defers = $1").bind(MAX_DEFERS).execute(&world.pool).await.unwrap();
    let metrics = QueueMetrics::default();
    let claimer = Claimer::new(world.pool.clone(), metrics.clone());
    let loan = claimer.claim(&claim(1)).await.unwrap().remove(0);
    assert_eq!((loan.defers, loan.attempts), (MAX_DEFERS, 1));
    world.settle(&loan, 0, Outcome::Defer(soon)).await.unwrap();
    let waits = "select count(*) from chat.chat where ready_at between now() + interval '50 s' and now() + interval '70 s'";
    assert_eq!(world.db.count(waits).await, 1);
    assert_eq!(world.mailbox(chat).await.head_attempts, 0);
    assert!(told(&metrics).contains("queue_stalled_total{channel=\"whatsapp\"} 1"), "{}", told(&metrics));
}

#[tokio::test]
async fn the_queues_are_measured_from_their_rows() {
    let world = world().await;
    backlog(&world, 4).await;
    let metrics = QueueMetrics::default();
    let claimer = Claimer::new(world.pool.clone(), metrics.clone()).looking_down_every(Duration::ZERO);
    let loans = claimer.claim(&claim(2)).await.unwrap();
    for (done, loan) in loans.iter().enumerate() {
        let outcome = if done == 0 { Outcome::Done } else { Outcome::Release };
        metrics.settled(CHANNEL, outcome, &world.settle(loan, 1 - done, outcome).await);
        metrics.settled(CHANNEL, outcome, &world.settle(loan, 1 - done, outcome).await);
    }
    claimer.claim(&claim(1)).await.unwrap();
    world.expire_leases().await;
    assert_eq!(claimer.claim(&claim(3)).await.unwrap().len(), 3);
    metrics.sample(&world.pool, CHANNEL).await.unwrap();
    let text = told(&metrics);
    for line in [
        "queue_ready_chats{queue=\"inbound\",channel=\"whatsapp\"} 0",
        "queue_depth{queue=\"inbound\",channel=\"whatsapp\"} 3",
        "queue_in_flight_chats{queue=\"inbound\",channel=\"whatsapp\"} 3",
        "queue_depth{queue=\"outbound\",channel=\"whatsapp\"} 0",
        "queue_dead{channel=\"whatsapp\"} 0",
        "queue_settles_total{queue=\"inbound\",channel=\"whatsapp\",outcome=\"done\"} 1",
        "queue_settles_total{queue=\"inbound\",channel=\"whatsapp\",outcome=\"release\"} 1",
        "queue_settles_total{queue=\"inbound\",channel=\"whatsapp\",outcome=\"fenced\"} 2",
        "queue_expired_total{queue=\"inbound\",channel=\"whatsapp\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
