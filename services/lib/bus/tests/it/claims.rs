//! Claim: one worker per chat, the oldest first, no more than was asked for, and a snapshot that is new enough.

use std::collections::HashSet;
use std::time::Duration;

use bus::Error;
use bus::mailbox::{self, Claim, Outcome};
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, by_phone, delivery, messages, world};

#[tokio::test]
async fn a_chat_has_one_worker_and_the_others_cost_nothing() {
    let world = world().await;
    let busy = world.chat_with("34600000001", 3).await;
    let loan = world.claim_one(1).await;
    assert_eq!(loan.chat_id, busy);
    assert!(world.claim(10, 10).await.is_empty(), "its second event is not handed out beside the first");
    let free = world.chat_with("34600000002", 1).await;
    assert_eq!(world.claim_one(10).await.chat_id, free);
}

#[tokio::test]
async fn a_locked_chat_is_passed_over_and_never_its_head() {
    let world = world().await;
    world.chat_with("34600000001", 2).await;
    let free = world.chat_with("34600000002", 1).await;
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("select from chat.chat order by ready_at limit 1 for update")
        .execute(&mut *held)
        .await
        .unwrap();
    assert_eq!(world.claim_one(10).await.chat_id, free);
    held.rollback().await.unwrap();
    assert_eq!(messages(&world.claim_one(1).await), ["34600000001-1"]);
}

#[tokio::test]
async fn many_claims_at_once_take_each_chat_once_and_no_more_than_they_ask_for() {
    let world = world().await;
    let events = (0..40).map(|n| by_phone(&format!("346000000{n:02}"), &format!("m{n}"))).collect();
    world.append(events).await;
    let claims: Vec<_> = (0..8)
        .map(|_| {
            let pool = world.pool.clone();
            tokio::spawn(async move { claim(&pool, Uuid::now_v7(), 4).await })
        })
        .collect();
    let mut taken = HashSet::new();
    for claimed in claims {
        let loans = claimed.await.unwrap().unwrap();
        assert!(loans.len() <= 4, "{} of 4", loans.len());
        for loan in loans {
            assert!(taken.insert(loan.chat_id), "a chat was taken twice");
        }
    }
}

async fn claim(pool: &PgPool, owner: Uuid, chats: i64) -> Result<Vec<mailbox::Claimed>, Error> {
    let claim = Claim { channel: CHANNEL, owner, chats, events: 10, lease: LEASE, solo: false };
    mailbox::claim(pool, &claim).await
}

#[tokio::test]
async fn the_oldest_chat_is_served_first_and_a_full_quantum_goes_to_the_back() {
    let world = world().await;
    let long = world.chat_with("34600000001", 5).await;
    let short = world.chat_with("34600000002", 1).await;
    let first = world.claim(1, 2).await.remove(0);
    assert_eq!((first.chat_id, messages(&first)), (long, vec!["34600000001-1", "34600000001-2"]));
    world.settle(&first, 2, Outcome::Done).await.unwrap();
    let second = world.claim(1, 2).await.remove(0);
    assert_eq!(second.chat_id, short, "a chat with much to do lets the others go before");
    let third = world.claim(1, 2).await.remove(0);
    assert_eq!((third.chat_id, messages(&third)), (long, vec!["34600000001-3", "34600000001-4"]));
    assert!(first.ready_since <= second.ready_since && second.ready_since <= third.ready_since);
}

#[tokio::test]
async fn a_channel_is_claimed_by_itself() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let mut other = delivery(vec![by_phone("34600000001", "x")]);
    other.channel = "second".to_owned();
    world.appender.append(other.clone()).await.unwrap();
    assert_eq!(messages(&world.claim_on("second", 10, 10, false).await[0]), ["x"]);
    assert_eq!(messages(&world.claim_one(10).await), ["34600000001-1"]);
}

/// A claim is stopped after its snapshot is taken and before it locks: the policy on the table waits for an advisory
/// lock in the scan itself. Meanwhile the head of that snapshot is settled, and a new one comes that is not in it. Whoever
/// took the chat as it is by then, with the events of that snapshot, would have a chat without a head.
#[tokio::test]
async fn a_chat_that_changed_between_the_look_and_the_lock_is_left_for_the_next_claim() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    world.gate("chat.chat").await;
    let worker = PgPool::connect(&world.db.url_as("abisu_conversation")).await.unwrap();
    let mut other = world.connect().await;
    sqlx::query("select pg_advisory_lock(42)").execute(&mut other).await.unwrap();
    let claimed = tokio::spawn(async move { claim(&worker, Uuid::now_v7(), 10).await });
    world.someone_waits().await;
    let loan = world.claim_one(10).await;
    world.append(vec![by_phone("34600000001", "newer")]).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    // As if the settle had been before the claim began, by a clock that was set back.
    world.run("update chat.chat set ready_at = ready_at - interval '1 minute'").await;
    sqlx::query("select pg_advisory_unlock(42)").execute(&mut other).await.unwrap();
    assert!(claimed.await.unwrap().unwrap().is_empty());
    let row = world.mailbox(loan.chat_id).await;
    assert_eq!((row.owner, row.head_attempts, row.lost), (None, 0, 0), "and nothing is charged to it");
    assert_eq!(messages(&world.claim_one(10).await), ["newer"], "there is a head, and it is the chat's own");
}

#[tokio::test]
async fn a_claim_that_cannot_read_gives_its_chats_back_at_once_and_uncharged() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let hasty = world.pool_with(&[("lock_timeout", "50ms")]).await;
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("lock table inbound.event in access exclusive mode").execute(&mut *held).await.unwrap();
    assert!(claim(&hasty, Uuid::now_v7(), 10).await.is_err());
    held.rollback().await.unwrap();
    let row = world.mailbox(chat).await;
    assert_eq!((row.owner, row.head_attempts, row.lost, row.ready), (None, 0, 0, true));
    assert_eq!(world.claim_one(10).await.attempts, 1);
}

#[tokio::test]
async fn a_backoff_keeps_the_order_of_its_chat() {
    let world = world().await;
    world.chat_with("34600000001", 3).await;
    let loan = world.claim_one(10).await;
    world.settle(&loan, 1, Outcome::Retry(Duration::from_secs(60))).await.unwrap();
    assert!(world.claim(10, 10).await.is_empty(), "what follows a failed event waits with it");
    world.end_waits().await;
    assert_eq!(messages(&world.claim_one(10).await), ["34600000001-2"]);
}

#[tokio::test]
async fn an_event_is_found_also_where_its_clock_was_behind_that_of_its_chat_or_before_ours() {
    let world = world().await;
    world.chat_with("34600000001", 2).await;
    world.run("update chat.chat set oldest_at = oldest_at + interval '59 minutes'").await;
    let loan = world.claim_one(10).await;
    assert_eq!(messages(&loan), ["34600000001-1", "34600000001-2"]);
    world.settle(&loan, 0, Outcome::Release).await.unwrap();
    world.run("update inbound.event set received_at = received_at + interval '59 minutes'").await;
    assert_eq!(messages(&world.claim_one(10).await), ["34600000001-1", "34600000001-2"]);
}

/// A read begins there, and leaves the days before it alone.
#[tokio::test]
async fn the_time_of_a_chats_oldest_event_moves_on_with_its_watermark() {
    let world = world().await;
    world.chat_with("34600000001", 3).await;
    let at = async |seq: i64| {
        let at = "select count(*) from chat.chat c join inbound.event e on e.chat_id = c.id \
                  where e.seq = $1 and e.received_at = c.oldest_at";
        sqlx::query_scalar::<_, i64>(at).bind(seq).fetch_one(&world.pool).await.unwrap() == 1
    };
    let loan = world.claim_one(2).await;
    world.settle(&loan, 2, Outcome::Done).await.unwrap();
    assert!(at(2).await);
    let loan = world.claim_one(2).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    assert_eq!(world.db.count("select count(*) from chat.chat where oldest_at is null").await, 1);
}

#[tokio::test]
async fn what_waits_on_another_channel_is_not_even_looked_at() {
    let world = world().await;
    world
        .run(
            "insert into chat.chat (id, channel, next_seq, ready_at, oldest_at) \
             select gen_random_uuid(), 'second', 2, now() - interval '1 hour', now() from generate_series(1, 3000)",
        )
        .await;
    world.chat_with("34600000001", 1).await;
    // One session, which is asked what it read; as the services connect.
    let pool = world.pool_of(1, &[("enable_seqscan", "off")]).await;
    let read = async || {
        sqlx::query("select pg_stat_force_next_flush()").execute(&pool).await.unwrap();
        world
            .db
            .count(
                "select (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_user_tables \
                 where schemaname = 'chat' and relname = 'chat'",
            )
            .await
    };
    let before = read().await;
    assert_eq!(claim(&pool, Uuid::now_v7(), 10).await.unwrap().len(), 1);
    let read = read().await - before;
    assert!(read <= 20, "one chat is ready and {read} were read");
}
