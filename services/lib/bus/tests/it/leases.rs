//! Leases: an epoch per loan, a fence before every write, and no second life for a loan that has ended.

use std::time::Duration;

use bus::mailbox::{self, Outcome};
use bus::outbound::{self, NewOutbound};
use bus::{Error, Lease};
use chrono::{Days, Utc};
use runtime::database::{connect_options, with_tx};
use secrecy::SecretString;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, World, by_phone, messages, settlement, world};

/// Settles a loan and writes a reply in the same transaction, as the workers do.
async fn settle_with_reply(world: &World, loan: &mailbox::Claimed) -> Result<(), Error> {
    with_tx(&world.pool, settlement(loan, 1, Outcome::Done), |tx, settlement| {
        Box::pin(async move {
            mailbox::settle(tx, settlement).await?;
            let reply = NewOutbound {
                id: Uuid::now_v7(),
                payload: serde_json::json!({ "text": "hola" }),
                prompt: None,
                report_id: None,
            };
            let expires_at = Utc::now() + Days::new(1);
            outbound::enqueue(tx, CHANNEL, settlement.chat_id, expires_at, None, &[reply]).await
        })
    })
    .await
}

const REPLIES: &str = "select count(*) from chat.outbound";

#[tokio::test]
async fn a_worker_that_lost_its_lease_writes_nothing() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let stale = world.claim_one(10).await;
    world.expire_leases().await;
    let fresh = world.claim_one(10).await;
    assert!(fresh.epoch > stale.epoch);
    assert!(matches!(settle_with_reply(&world, &stale).await, Err(Error::Fenced)));
    assert_eq!(world.db.count(REPLIES).await, 0);
    settle_with_reply(&world, &fresh).await.unwrap();
    assert!(matches!(settle_with_reply(&world, &stale).await, Err(Error::Fenced)));
    assert_eq!(world.db.count(REPLIES).await, 1);
}

#[tokio::test]
async fn a_settle_repeated_after_an_unknown_commit_writes_nothing_twice() {
    let world = world().await;
    world.chat_with("34600000001", 2).await;
    let loan = world.claim_one(10).await;
    settle_with_reply(&world, &loan).await.unwrap();
    assert!(matches!(settle_with_reply(&world, &loan).await, Err(Error::Fenced)));
    assert_eq!(world.db.count(REPLIES).await, 1);
}

/// The watermark is where it was, so only the epoch tells that it was said before.
#[tokio::test]
async fn a_loan_that_came_to_nothing_ends_once_however_often_it_is_settled() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let later = Duration::from_secs(60);
    for outcome in [Outcome::Retry(later), Outcome::Defer(later), Outcome::Release] {
        let loan = world.claim_one(10).await;
        world.settle(&loan, 0, outcome).await.unwrap();
        let after = world.mailbox(chat).await;
        assert!(matches!(world.settle(&loan, 0, outcome).await, Err(Error::Fenced)), "{}", outcome.name());
        assert_eq!(world.mailbox(chat).await, after, "{}", outcome.name());
        world.end_waits().await;
    }
}

#[tokio::test]
async fn a_settle_after_the_lease_but_before_any_other_claim_counts() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let loan = world.claim_one(10).await;
    world.expire_leases().await;
    settle_with_reply(&world, &loan).await.unwrap();
    assert_eq!(world.mailbox(chat).await.done_seq, 1);
    assert!(world.claim(10, 10).await.is_empty());
}

#[tokio::test]
async fn a_settle_under_the_wrong_watermark_is_fenced() {
    let world = world().await;
    world.chat_with("34600000001", 2).await;
    let mut loan = world.claim_one(10).await;
    loan.from_seq += 1;
    assert!(matches!(world.settle(&loan, 1, Outcome::Done).await, Err(Error::Fenced)));
}

#[tokio::test]
async fn of_a_claim_and_a_settle_at_once_one_wins_and_the_other_writes_nothing() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let stale = world.claim_one(10).await;
    world.expire_leases().await;
    // The takeover is not committed yet; the settle waits for it and then finds another epoch.
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("update chat.chat set epoch = epoch + 1, ready_at = now() + interval '30 s'")
        .execute(&mut *held)
        .await
        .unwrap();
    let pool = world.pool.clone();
    let call = tokio::spawn(async move {
        with_tx(&pool, settlement(&stale, 1, Outcome::Done), |tx, settlement| {
            Box::pin(async move { mailbox::settle(tx, settlement).await })
        })
        .await
    });
    world.someone_waits().await;
    held.commit().await.unwrap();
    assert!(matches!(call.await.unwrap(), Err(Error::Fenced)));
    assert_eq!(world.mailbox(chat).await.done_seq, 0);
}

#[tokio::test]
async fn a_renewal_prolongs_what_is_still_ours_and_nothing_else() {
    let world = world().await;
    let kept = world.chat_with("34600000001", 1).await;
    let lost = world.chat_with("34600000002", 1).await;
    let owner = Uuid::now_v7();
    let claim = mailbox::Claim { channel: CHANNEL, owner, chats: 10, events: 10, lease: LEASE, solo: false };
    let loans = mailbox::claim(&world.pool, &claim).await.unwrap();
    let loans: Vec<_> = loans.iter().map(|loan| (loan.chat_id, loan.epoch)).collect();
    world.expire_leases().await;
    sqlx::query("update chat.chat set epoch = epoch + 1 where id = $1")
        .bind(lost)
        .execute(&world.pool)
        .await
        .unwrap();
    assert_eq!(mailbox::renew(&world.pool, owner, &loans, LEASE).await.unwrap(), [kept]);
    assert!(!world.mailbox(kept).await.ready, "its lease is long again");
    assert!(mailbox::renew(&world.pool, Uuid::now_v7(), &loans, LEASE).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_late_renewal_does_not_hide_a_settled_chat() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 2).await;
    let owner = Uuid::now_v7();
    let claim = mailbox::Claim { channel: CHANNEL, owner, chats: 1, events: 1, lease: LEASE, solo: false };
    let loan = mailbox::claim(&world.pool, &claim).await.unwrap().remove(0);
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    let renewed = mailbox::renew(&world.pool, owner, &[(chat, loan.epoch)], LEASE).await.unwrap();
    assert!(renewed.is_empty());
    assert_eq!(messages(&world.claim_one(10).await), ["34600000001-2"]);
}

#[tokio::test]
async fn a_lease_counts_from_when_it_is_taken() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    world.claim_one(10).await;
    let left: f64 = sqlx::query_scalar(
        "select extract(epoch from ready_at - clock_timestamp())::float8 from chat.chat where owner is not null",
    )
    .fetch_one(&world.pool)
    .await
    .unwrap();
    assert!(left > 0.0 && left <= LEASE.length.as_secs_f64(), "{left} s are left");
    assert_eq!(Lease { length: Duration::from_secs(30) }.renew_after(), Duration::from_secs(10));
}

#[tokio::test]
async fn an_orphaned_chat_is_claimed_as_soon_as_its_lease_is_over_whoever_owned_it() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let orphan = world.claim_one(10).await;
    assert!(world.claim(10, 10).await.is_empty());
    world.append(vec![by_phone("34600000002", "other")]).await;
    world.expire_leases().await;
    let loans = world.claim(10, 10).await;
    assert_eq!(loans.len(), 2);
    assert_eq!(loans[0].chat_id, orphan.chat_id);
}

/// The settle of a process that stands still has locked the chat's row: nobody can append to the chat until the server
/// ends the transaction by itself, with the limits that every service connects with.
#[tokio::test]
async fn a_settle_that_freezes_half_way_is_ended_by_the_server_and_its_chat_goes_on() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let loan = world.claim_one(10).await;
    let options = connect_options("test", &SecretString::from(world.db.url.clone())).unwrap();
    let mut frozen = PgConnection::connect_with(&options).await.unwrap();
    let mut transaction = frozen.begin().await.unwrap();
    mailbox::settle(&mut transaction, &settlement(&loan, 1, Outcome::Done)).await.unwrap();
    assert_eq!(world.append(vec![by_phone("34600000001", "meanwhile")]).await.created.len(), 1);
    assert_eq!(world.mailbox(chat).await.done_seq, 0, "what was not committed is undone");
    assert!(transaction.commit().await.is_err());
}
