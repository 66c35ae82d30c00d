//! The outgoing mailbox keeps the protocol of the incoming one: what holds for messages holds for replies.

use std::collections::HashSet;
use std::time::Duration;

use bus::Error;
use bus::mailbox::{self, Outcome};
use bus::metrics::QueueMetrics;
use bus::outbound::{self, Claimed};
use sqlx::PgPool;
use testkit::eventually;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::outbound::{claim, reply_with, texts};
use crate::support::{CHANNEL, LEASE, Mailbox, World, told, world};

const LATER: Duration = Duration::from_secs(60);

/// The row of an outgoing mailbox, in the words of the incoming one.
async fn sender(world: &World, chat: Uuid) -> Mailbox {
    sqlx::query_as(
        "select next_seq, done_seq, lent_to, coalesce(ready_at <= clock_timestamp(), false) as ready, \
         ready_at is not null as scheduled, owner, epoch, head_attempts, lost, head_defers, head_error, \
         null::uuid as merged_into from chat.sender where id = $1",
    )
    .bind(chat)
    .fetch_one(&world.pool)
    .await
    .unwrap()
}

/// Ends a loan with its first `done` replies done, and says why where they wait.
async fn settle(world: &World, loan: &Claimed, done: i64, outcome: Outcome) -> Result<(), Error> {
    let why = matches!(outcome, Outcome::Retry(_) | Outcome::Defer(_)).then_some("away");
    outbound::settle(&world.pool, loan, loan.from_seq + done, outcome, why).await
}

#[tokio::test]
async fn what_is_said_meanwhile_cuts_neither_a_lease_nor_a_wait_short() {
    let world = world().await;
    let chat = Uuid::now_v7();
    reply_with(&world, chat, &["1"]).await;
    let loan = claim(&world.pool, 10).await.remove(0);
    reply_with(&world, chat, &["2"]).await;
    assert!(claim(&world.pool, 10).await.is_empty(), "two senders of a chat would send in any order");
    settle(&world, &loan, 0, Outcome::Retry(LATER)).await.unwrap();
    reply_with(&world, chat, &["3"]).await;
    assert!(claim(&world.pool, 10).await.is_empty(), "the provider asked to be left alone");
    world.end_waits().await;
    assert_eq!(texts(&claim(&world.pool, 10).await[0]), ["1", "2", "3"]);
}

#[tokio::test]
async fn a_loan_of_replies_ends_in_each_way_as_one_of_messages() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 8).await;
    reply_with(&world, chat, &["1", "2", "3", "4", "5", "6", "7", "8"]).await;
    let retry = Outcome::Retry(LATER);
    let defer = Outcome::Defer(LATER);
    for (done, outcome) in [
        (0, retry),
        (0, retry),
        (1, retry),
        (1, Outcome::Done),
        (0, retry),
        (0, defer),
        (0, Outcome::Release),
        (1, defer),
        (0, defer),
        (1, Outcome::Release),
        (0, Outcome::Release),
        (1, Outcome::Done),
    ] {
        let message = world.claim_one(1).await;
        let reply = claim(&world.pool, 1).await.remove(0);
        assert_eq!((reply.attempts, reply.from_seq), (message.attempts, message.from_seq));
        world.settle(&message, usize::try_from(done).unwrap(), outcome).await.unwrap();
        settle(&world, &reply, done, outcome).await.unwrap();
        assert!(matches!(settle(&world, &reply, done, outcome).await, Err(Error::Fenced)), "once");
        let (messages, replies) = (world.mailbox(chat).await, sender(&world, chat).await);
        assert_eq!(messages, replies, "{done} done, then {}", outcome.name());
        world.end_waits().await;
    }
    // What was lent is done, so nothing is lost any more; a head that comes back by itself is no crash either.
    for (done, outcome) in [(1, Outcome::Done), (0, retry)] {
        world.claim_one(1).await;
        claim(&world.pool, 1).await;
        world.expire_leases().await;
        let message = world.claim_one(1).await;
        let reply = claim(&world.pool, 1).await.remove(0);
        assert!(message.expired && reply.expired);
        assert_eq!(world.mailbox(chat).await.lost, 1);
        assert_eq!(sender(&world, chat).await.lost, 1);
        world.settle(&message, usize::try_from(done).unwrap(), outcome).await.unwrap();
        settle(&world, &reply, done, outcome).await.unwrap();
        assert_eq!(world.mailbox(chat).await, sender(&world, chat).await);
        world.end_waits().await;
    }
}

#[tokio::test]
async fn many_senders_at_once_take_each_chat_once_and_no_more_than_they_ask_for() {
    let world = world().await;
    for _ in 0..24 {
        reply_with(&world, Uuid::now_v7(), &["1"]).await;
    }
    let claims: Vec<_> = (0..8)
        .map(|_| {
            let pool = world.pool.clone();
            tokio::spawn(async move { outbound::claim(&pool, CHANNEL, Uuid::now_v7(), 3, 10, LEASE).await })
        })
        .collect();
    let mut taken = HashSet::new();
    for claimed in claims {
        let loans = claimed.await.unwrap().unwrap();
        assert!(loans.len() <= 3, "{} of 3", loans.len());
        for loan in loans {
            assert!(taken.insert(loan.chat_id), "a chat was taken twice");
        }
    }
}

/// As in `claims`: the claim is stopped after its snapshot is taken and before it locks. Meanwhile the reply of that
/// snapshot is sent, and a new one comes that is not in it.
#[tokio::test]
async fn replies_are_read_in_a_newer_snapshot_than_the_one_that_found_the_sender() {
    let world = world().await;
    let chat = Uuid::now_v7();
    reply_with(&world, chat, &["1"]).await;
    world.gate("chat.sender").await;
    let worker = PgPool::connect(&world.db.url_as("abisu_conversation")).await.unwrap();
    let mut other = world.connect().await;
    sqlx::query("select pg_advisory_lock(42)").execute(&mut other).await.unwrap();
    let claimed = tokio::spawn(async move { claim(&worker, 10).await });
    world.someone_waits().await;
    let loan = claim(&world.pool, 10).await.remove(0);
    reply_with(&world, chat, &["newer"]).await;
    settle(&world, &loan, 1, Outcome::Done).await.unwrap();
    // As if the settle had been before the claim began, by a clock that was set back.
    world.run("update chat.sender set ready_at = ready_at - interval '1 minute'").await;
    sqlx::query("select pg_advisory_unlock(42)").execute(&mut other).await.unwrap();
    let loans = claimed.await.unwrap();
    assert_eq!(loans.len(), 1);
    assert_eq!(texts(&loans[0]), ["newer"]);
}

#[tokio::test]
async fn loans_of_replies_are_counted_by_how_they_ended() {
    let world = world().await;
    let chat = Uuid::now_v7();
    reply_with(&world, chat, &["1", "2"]).await;
    let metrics = QueueMetrics::default();
    let stale = claim(&world.pool, 10).await;
    metrics.replies_claimed(CHANNEL, &stale);
    world.expire_leases().await;
    let fresh = claim(&world.pool, 10).await;
    metrics.replies_claimed(CHANNEL, &fresh);
    for loan in [&fresh[0], &stale[0]] {
        metrics.replies_settled(CHANNEL, Outcome::Done, &settle(&world, loan, 2, Outcome::Done).await);
    }
    let text = told(&metrics);
    for line in [
        "queue_expired_total{queue=\"outbound\",channel=\"whatsapp\"} 1",
        "queue_settles_total{queue=\"outbound\",channel=\"whatsapp\",outcome=\"done\"} 1",
        "queue_settles_total{queue=\"outbound\",channel=\"whatsapp\",outcome=\"fenced\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn the_belt_looks_at_both_mailboxes() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    reply_with(&world, chat, &["1"]).await;
    let rests = Uuid::now_v7();
    reply_with(&world, rests, &["1"]).await;
    let loans = claim(&world.pool, 10).await;
    settle(&world, loans.iter().find(|loan| loan.chat_id == rests).unwrap(), 1, Outcome::Done).await.unwrap();
    // Nothing in the protocol does this.
    world.run("update chat.chat set ready_at = null").await;
    world.run("update chat.sender set ready_at = null, owner = null, oldest_at = null").await;

    let metrics = QueueMetrics::default();
    let stopping = CancellationToken::new();
    let belt = mailbox::belt(world.pool.clone(), CHANNEL.to_owned(), metrics.clone(), stopping.clone());
    let belt = tokio::spawn(belt);
    eventually("both are woken", async || {
        let woken = "select count(*) from (select ready_at from chat.chat union all select ready_at from chat.sender) x \
                     where ready_at <= now()";
        (world.db.count(woken).await == 2).then_some(())
    })
    .await;
    stopping.cancel();
    belt.await.unwrap();
    assert!(told(&metrics).contains("queue_woken_total{channel=\"whatsapp\"} 2"), "{}", told(&metrics));
    assert!(!sender(&world, rests).await.scheduled, "who has nothing to say sleeps on");
    metrics.sample(&world.pool, CHANNEL).await.unwrap();
    assert_eq!(texts(&claim(&world.pool, 10).await[0]), ["1"]);
    assert_eq!(outbound::repair(&world.pool, CHANNEL).await.unwrap(), 0);
}
