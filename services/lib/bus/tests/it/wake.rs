//! Wake-up: what is told is heard, and what could not be heard is looked for.

use std::time::Duration;

use bus::mailbox::Outcome;
use bus::outbound::{self, NewOutbound};
use bus::wake::{self, Listener, Notifier, Queue};
use chrono::{Days, Utc};
use sqlx::PgPool;
use testkit::eventually;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::{World, world};

const QUEUES: &[Queue] = &[Queue::Inbound, Queue::Push];
/// A wait that only a wake-up can end in the time of a test.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// A listener that listens, its first look taken.
async fn listening(pool: &PgPool, stopping: &CancellationToken) -> Listener {
    let listener = Listener::default();
    tokio::spawn(listener.clone().run(pool.clone(), QUEUES, stopping.clone()));
    for &queue in QUEUES {
        heard(&listener, queue).await;
    }
    listener
}

async fn heard(listener: &Listener, queue: Queue) {
    tokio::time::timeout(Duration::from_secs(20), listener.wait(queue, FOR_EVER))
        .await
        .expect("a wake-up comes by itself");
}

async fn is_quiet(listener: &Listener, queue: Queue) -> bool {
    tokio::time::timeout(Duration::from_millis(50), listener.wait(queue, FOR_EVER)).await.is_err()
}

fn notifying(world: &World, stopping: &CancellationToken) -> Notifier {
    let notifier = Notifier::default();
    tokio::spawn(notifier.clone().run(world.pool.clone(), stopping.clone()));
    notifier
}

#[tokio::test]
async fn who_begins_to_listen_looks_once_without_being_told() {
    let world = world().await;
    let stopping = CancellationToken::new();
    let listener = listening(&world.pool, &stopping).await;
    assert!(is_quiet(&listener, Queue::Inbound).await, "and then waits");
    stopping.cancel();
}

#[tokio::test]
async fn what_one_process_tells_another_hears_queue_by_queue() {
    let world = world().await;
    let stopping = CancellationToken::new();
    let listener = listening(&world.pool, &stopping).await;
    let notifier = notifying(&world, &stopping);
    notifier.notify(Queue::Push);
    heard(&listener, Queue::Push).await;
    assert!(is_quiet(&listener, Queue::Inbound).await);
    notifier.notify(Queue::Inbound);
    notifier.notify(Queue::Push);
    heard(&listener, Queue::Inbound).await;
    heard(&listener, Queue::Push).await;
    stopping.cancel();
}

#[tokio::test]
async fn what_is_told_while_nobody_listens_is_found_after_the_reconnect() {
    let world = world().await;
    let stopping = CancellationToken::new();
    let listener = listening(&world.pool, &stopping).await;
    let killed = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                  where datname = current_database() and query ilike 'listen%'";
    eventually("the listening connection is cut", async || (world.db.count(killed).await > 0).then_some(()))
        .await;
    // Told to nobody at all.
    heard(&listener, Queue::Inbound).await;
    heard(&listener, Queue::Push).await;
    let notifier = notifying(&world, &stopping);
    eventually("it hears again", async || {
        notifier.notify(Queue::Push);
        (!is_quiet(&listener, Queue::Push).await).then_some(())
    })
    .await;
    stopping.cancel();
}

#[tokio::test]
async fn a_thousand_wishes_at_once_are_few_notifications() {
    let world = world().await;
    let stopping = CancellationToken::new();
    let mut told = sqlx::postgres::PgListener::connect_with(&world.pool).await.unwrap();
    told.listen("abisu_inbound").await.unwrap();
    let notifier = notifying(&world, &stopping);
    for _ in 0..1000 {
        notifier.notify(Queue::Inbound);
    }
    told.recv().await.unwrap();
    let mut more = 0;
    while tokio::time::timeout(Duration::from_millis(100), told.recv()).await.is_ok() {
        more += 1;
    }
    assert!(more <= 1, "{more} more notifications");
    stopping.cancel();
}

/// A commit that notifies takes a lock that all commits wait for; so the telling is a commit of its own.
#[tokio::test]
async fn no_commit_of_the_queues_tells_of_itself() {
    let world = world().await;
    let mut listener = sqlx::postgres::PgListener::connect_with(&world.pool).await.unwrap();
    listener.listen_all(["abisu_inbound", "abisu_outbound", "abisu_photo", "abisu_push"]).await.unwrap();
    let chat = world.chat_with("34600000001", 2).await;
    world.settle(&world.claim_one(1).await, 1, Outcome::Done).await.unwrap();
    crate::outbound::reply_with(&world, chat, &["hola"]).await;
    world.received("REF-2026-00001").await;
    // Notifications come in the order of their commits: if this is the first, there was none before it.
    world.run("select pg_notify('abisu_inbound', 'the end')").await;
    assert_eq!(listener.recv().await.unwrap().payload(), "the end");
}

#[tokio::test]
async fn the_poll_comes_even_if_nothing_is_ever_told() {
    let listener = Listener::default();
    listener.wait(Queue::Inbound, Duration::from_millis(10)).await;
    listener.wake(Queue::Inbound);
    heard(&listener, Queue::Inbound).await;
}

#[tokio::test]
async fn one_question_finds_what_is_due_of_every_channel_and_nothing_that_waits() {
    let world = world().await;
    let channels = ["whatsapp", "other"].map(str::to_owned);
    let due = async || wake::due(&world.pool, &channels).await.unwrap();
    assert_eq!(due().await, []);
    let chat = world.chat_with("34600000001", 1).await;
    {
        let mut on = world.pool.acquire().await.unwrap();
        let reply = NewOutbound {
            id: Uuid::now_v7(),
            payload: serde_json::json!("hola"),
            prompt: None,
            report_id: None,
        };
        let expires_at = Utc::now() + Days::new(1);
        outbound::enqueue(&mut on, "other", chat, expires_at, None, &[reply]).await.unwrap();
    }
    let whatsapp = |queue| ("whatsapp".to_owned(), queue);
    assert_eq!(due().await, [whatsapp(Queue::Inbound), ("other".to_owned(), Queue::Outbound)]);
    let loan = world.claim_one(1).await;
    assert_eq!(due().await, [("other".to_owned(), Queue::Outbound)], "what is on loan is not due");
    world.expire_leases().await;
    assert!(due().await.contains(&whatsapp(Queue::Inbound)), "a lease that is over is: {}", loan.chat_id);
}
