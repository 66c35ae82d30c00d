//! How fast replies may leave, when none may, and words that are said once.

use std::time::Duration;

use bus::outbound::pace::{self, Pace, Slot};
use bus::outbound::pause::{self, Probing};
use bus::outbound::{self, NewOutbound};
use chrono::{Days, Utc};
use runtime::database::with_tx;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, World, world};

const PACE: Pace =
    Pace { number_every: Duration::from_millis(100), pair_every: Duration::from_secs(6), pair_burst: 45 };
const PROBING: Probing = Probing { first: Duration::from_secs(60), longest: Duration::from_secs(300) };

async fn say(world: &World, chat: Uuid, id: Uuid) -> bool {
    let outbound = NewOutbound { id, payload: serde_json::json!("word"), prompt: None, report_id: None };
    with_tx(&world.pool, outbound, move |tx, outbound| {
        let outbound = outbound.clone();
        Box::pin(async move {
            let expires_at = Utc::now() + Days::new(1);
            outbound::enqueue_once(tx, CHANNEL, chat, expires_at, None, outbound).await
        })
    })
    .await
    .unwrap()
}

async fn reserve(world: &World, chat: Uuid, pace: &Pace) -> Slot {
    pace::reserve(&world.pool, CHANNEL, chat, pace).await.unwrap()
}

#[tokio::test]
async fn a_citizen_is_sent_a_burst_and_then_waits_until_it_is_paid_back() {
    let world = world().await;
    let (chat, other) = (Uuid::now_v7(), Uuid::now_v7());
    for chat in [chat, other] {
        say(&world, chat, Uuid::now_v7()).await;
    }
    for sent in 0..45 {
        assert!(matches!(reserve(&world, chat, &PACE).await, Slot::In(_)), "{sent}");
    }
    let Slot::Full(wait) = reserve(&world, chat, &PACE).await else { panic!("the burst is over") };
    assert!(wait > Duration::from_secs(4) && wait <= Duration::from_secs(6), "{wait:?}");
    assert!(matches!(reserve(&world, other, &PACE).await, Slot::In(_)), "another citizen is another pair");
    // Twenty-one seconds later three more are paid back; a refusal took nothing.
    sqlx::query("update chat.sender set pair_free_at = pair_free_at - interval '21 seconds'")
        .execute(&world.pool)
        .await
        .unwrap();
    for _ in 0..3 {
        assert!(matches!(reserve(&world, chat, &PACE).await, Slot::In(_)));
    }
    assert!(matches!(reserve(&world, chat, &PACE).await, Slot::Full(_)));
}

#[tokio::test]
async fn the_sends_of_a_number_are_spread_whoever_sends_them() {
    let world = world().await;
    let chats: Vec<Uuid> = (0..20).map(|_| Uuid::now_v7()).collect();
    for chat in &chats {
        say(&world, *chat, Uuid::now_v7()).await;
    }
    let slow = Pace { number_every: Duration::from_secs(10), ..PACE };
    let mut reserving = JoinSet::new();
    for chat in chats {
        let pool = world.pool.clone();
        reserving.spawn(async move { pace::reserve(&pool, CHANNEL, chat, &slow).await.unwrap() });
    }
    let slots = reserving.join_all().await;
    let mut waits: Vec<Duration> = slots
        .into_iter()
        .map(|slot| match slot {
            Slot::In(wait) => wait,
            Slot::Full(wait) => panic!("full for {wait:?}"),
        })
        .collect();
    waits.sort();
    // One goes at once, the next ten seconds later, and so on, whatever the order they came in.
    for (place, wait) in (0_u32..).zip(&waits) {
        let due = Duration::from_secs(10) * place;
        assert!(*wait <= due && *wait + Duration::from_secs(9) > due, "{place}: {waits:?}");
    }
}

#[tokio::test]
async fn nothing_of_a_paused_channel_is_claimed_and_one_of_all_probes() {
    let world = world().await;
    say(&world, Uuid::now_v7(), Uuid::now_v7()).await;
    assert!(pause::pause(&world.pool, CHANNEL, "190", &PROBING).await.unwrap());
    assert!(!pause::pause(&world.pool, CHANNEL, "368", &PROBING).await.unwrap());
    assert_eq!(pause::reason(&world.pool, CHANNEL).await.unwrap().as_deref(), Some("190"));
    let claim = async || outbound::claim(&world.pool, CHANNEL, Uuid::now_v7(), 10, 10, LEASE).await.unwrap();
    assert!(claim().await.is_empty());

    let probe = async || pause::take_probe(&world.pool, CHANNEL, &PROBING).await.unwrap();
    assert!(!probe().await, "it is not due");
    sqlx::query("update chat.channel_state set probe_at = now()").execute(&world.pool).await.unwrap();
    let (first, second) = tokio::join!(probe(), probe());
    assert!(first != second, "one of two makes the probe");

    assert!(pause::resume(&world.pool, CHANNEL).await.unwrap());
    assert!(!pause::resume(&world.pool, CHANNEL).await.unwrap());
    assert_eq!(claim().await.len(), 1);
}

#[tokio::test]
async fn pauses_in_a_row_are_probed_at_growing_intervals() {
    let world = world().await;
    let mut due = Vec::new();
    for _ in 0..5 {
        assert!(pause::pause(&world.pool, CHANNEL, "131042", &PROBING).await.unwrap());
        let seconds: f64 = sqlx::query_scalar(
            "select extract(epoch from probe_at - paused_at)::float8 from chat.channel_state",
        )
        .fetch_one(&world.pool)
        .await
        .unwrap();
        due.push(seconds);
        pause::resume(&world.pool, CHANNEL).await.unwrap();
    }
    assert_eq!(due, [60.0, 120.0, 240.0, 300.0, 300.0]);
}

#[tokio::test]
async fn a_word_is_said_once_for_its_cause_however_many_say_it() {
    let world = world().await;
    let (chat, id) = (Uuid::now_v7(), Uuid::now_v7());
    say(&world, chat, Uuid::now_v7()).await;
    let (first, second, third) =
        tokio::join!(say(&world, chat, id), say(&world, chat, id), say(&world, chat, id));
    assert_eq!([first, second, third].into_iter().filter(|said| *said).count(), 1);
    assert!(!say(&world, chat, id).await);
    let loan = outbound::claim(&world.pool, CHANNEL, Uuid::now_v7(), 10, 10, LEASE).await.unwrap().remove(0);
    assert_eq!(loan.outbounds.iter().map(|outbound| outbound.seq).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn the_first_word_that_a_chat_ever_hears_is_said_once_too() {
    let world = world().await;
    let (chat, id) = (Uuid::now_v7(), Uuid::now_v7());
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    let expires_at = Utc::now() + Days::new(1);
    let word = NewOutbound { id, payload: serde_json::json!("word"), prompt: None, report_id: None };
    assert!(outbound::enqueue_once(&mut held, CHANNEL, chat, expires_at, None, word).await.unwrap());
    let (said, ()) = tokio::join!(say(&world, chat, id), async {
        world.someone_waits().await;
        held.commit().await.unwrap();
    });
    assert!(!said);
    assert_eq!(world.db.count("select count(*) from chat.sender where next_seq = 2").await, 1, "no hole");
}
