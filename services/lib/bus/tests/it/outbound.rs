//! Replies: numbered under the sender's lock, one sender per chat, in order, and evidence that is never fenced.

use std::time::Duration;

use bus::mailbox::Outcome;
use bus::outbound::{self, Claimed, NewOutbound};
use bus::{Error, Lease};
use chrono::{Days, Utc};
use sqlx::{Connection, PgConnection, PgPool};
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, World, world};

fn reply(text: &str) -> NewOutbound {
    NewOutbound { id: Uuid::now_v7(), payload: serde_json::json!(text), prompt: None, report_id: None }
}

async fn enqueue(connection: &mut PgConnection, chat: Uuid, replies: &[NewOutbound]) -> Result<(), Error> {
    let expires_at = Utc::now() + Days::new(1);
    outbound::enqueue(connection, CHANNEL, chat, expires_at, None, replies).await
}

/// Adds replies with these texts to a chat, in one transaction.
pub(crate) async fn reply_with(world: &World, chat: Uuid, texts: &[&str]) -> Vec<Uuid> {
    let replies: Vec<_> = texts.iter().map(|text| reply(text)).collect();
    let mut connection = world.pool.acquire().await.unwrap();
    let mut transaction = connection.begin().await.unwrap();
    enqueue(&mut transaction, chat, &replies).await.unwrap();
    transaction.commit().await.unwrap();
    replies.iter().map(|reply| reply.id).collect()
}

pub(crate) async fn claim(pool: &PgPool, per_chat: i64) -> Vec<Claimed> {
    outbound::claim(pool, CHANNEL, Uuid::now_v7(), 10, per_chat, LEASE).await.unwrap()
}

pub(crate) fn texts(loan: &Claimed) -> Vec<&str> {
    loan.outbounds.iter().map(|outbound| outbound.payload.as_str().unwrap()).collect()
}

#[tokio::test]
async fn replies_are_numbered_without_holes_and_leave_in_order() {
    let world = world().await;
    let chat = Uuid::now_v7();
    reply_with(&world, chat, &["1", "2"]).await;
    reply_with(&world, chat, &[]).await;
    reply_with(&world, chat, &["3"]).await;
    let loan = claim(&world.pool, 10).await.remove(0);
    assert_eq!(texts(&loan), ["1", "2", "3"]);
    assert_eq!(loan.outbounds.iter().map(|outbound| outbound.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(claim(&world.pool, 10).await.is_empty(), "a chat has one sender");
    outbound::settle(&world.pool, &loan, 1, Outcome::Retry(Duration::from_secs(5)), Some("131056"))
        .await
        .unwrap();
    assert!(claim(&world.pool, 10).await.is_empty(), "what follows a failed reply waits with it");
    world.end_waits().await;
    assert_eq!(texts(&claim(&world.pool, 1).await[0]), ["2"]);
}

#[tokio::test]
async fn two_transactions_that_reply_at_once_never_get_the_same_number() {
    let world = world().await;
    let chat = Uuid::now_v7();
    let (mut first, second) = (world.connect().await, world.pool.clone());
    let mut held = first.begin().await.unwrap();
    enqueue(&mut held, chat, &[reply("1"), reply("2")]).await.unwrap();
    let call = tokio::spawn(async move {
        let mut connection = second.acquire().await.unwrap();
        enqueue(&mut connection, chat, &[reply("3")]).await
    });
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(texts(&claim(&world.pool, 10).await[0]), ["1", "2", "3"]);
}

#[tokio::test]
async fn a_reply_that_commits_while_the_sender_settles_is_claimable_after_it() {
    let world = world().await;
    let chat = Uuid::now_v7();
    reply_with(&world, chat, &["1"]).await;
    let loan = claim(&world.pool, 10).await.remove(0);
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    enqueue(&mut held, chat, &[reply("meanwhile")]).await.unwrap();
    let pool = world.pool.clone();
    let call = tokio::spawn(async move { outbound::settle(&pool, &loan, 1, Outcome::Done, None).await });
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(texts(&claim(&world.pool, 10).await[0]), ["meanwhile"]);
}

#[tokio::test]
async fn a_sender_that_lost_its_lease_settles_nothing_but_its_evidence_counts() {
    let world = world().await;
    let ids = reply_with(&world, Uuid::now_v7(), &["1", "2"]).await;
    let stale = claim(&world.pool, 10).await.remove(0);
    world.expire_leases().await;
    outbound::record_sent(&world.pool, CHANNEL, ids[0], &["wamid.1".to_owned()]).await.unwrap();
    let fresh = claim(&world.pool, 10).await.remove(0);
    let finished: Vec<_> = fresh.outbounds.iter().map(|outbound| outbound.finished).collect();
    assert_eq!(finished, [true, false], "what was sent is not sent again");
    assert!(matches!(
        outbound::settle(&world.pool, &stale, 1, Outcome::Done, None).await,
        Err(Error::Fenced)
    ));
    outbound::settle(&world.pool, &fresh, 2, Outcome::Done, None).await.unwrap();
    assert!(matches!(
        outbound::settle(&world.pool, &fresh, 2, Outcome::Done, None).await,
        Err(Error::Fenced)
    ));
    assert!(claim(&world.pool, 10).await.is_empty());
}

#[tokio::test]
async fn an_outage_has_no_cap_of_attempts() {
    let world = world().await;
    reply_with(&world, Uuid::now_v7(), &["1"]).await;
    world.run("update chat.sender set head_attempts = 32767, lost = 32767, owner = id").await;
    let loan = claim(&world.pool, 10).await.remove(0);
    outbound::settle(&world.pool, &loan, 0, Outcome::Defer(Duration::from_secs(1)), None).await.unwrap();
    world.end_waits().await;
    assert_eq!(texts(&claim(&world.pool, 10).await[0]), ["1"]);
}

#[tokio::test]
async fn proof_that_a_reply_was_sent_outlives_that_it_was_given_up() {
    let world = world().await;
    let ids = reply_with(&world, Uuid::now_v7(), &["1", "2"]).await;
    outbound::record_dropped(&world.pool, ids[0], "window closed").await.unwrap();
    outbound::record_sent(&world.pool, CHANNEL, ids[0], &["wamid.1".to_owned()]).await.unwrap();
    outbound::record_sent(&world.pool, CHANNEL, ids[1], &["wamid.2".to_owned()]).await.unwrap();
    outbound::record_dropped(&world.pool, ids[1], "window closed").await.unwrap();
    assert_eq!(world.db.count("select count(*) from chat.outbound where outcome = 'sent'").await, 2);
}

#[tokio::test]
async fn every_id_a_provider_knows_a_prompt_by_finds_it() {
    let world = world().await;
    let (prompt, id) = (Uuid::now_v7(), Uuid::now_v7());
    let asked = NewOutbound { id, payload: serde_json::json!("?"), prompt: Some(prompt), report_id: None };
    let mut connection = world.pool.acquire().await.unwrap();
    enqueue(&mut connection, Uuid::now_v7(), &[asked]).await.unwrap();
    let ids = ["wamid.a".to_owned(), "wamid.b".to_owned()];
    outbound::record_sent(&world.pool, CHANNEL, id, &ids).await.unwrap();
    // The answer of another send was lost; a receipt that echoes our id tells the provider's.
    outbound::record_sent(&world.pool, CHANNEL, id, &ids).await.unwrap();
    sqlx::query(
        "insert into inbound.receipt (key, channel, provider_id, outbound_id, status, occurred_at) \
         values ($1, $2, 'wamid.c', $1, 'delivered', now())",
    )
    .bind(id)
    .bind(CHANNEL)
    .execute(&world.pool)
    .await
    .unwrap();
    for known in ["wamid.a", "wamid.b", "wamid.c"] {
        assert_eq!(outbound::prompt_of(&world.pool, CHANNEL, known).await.unwrap(), Some(prompt), "{known}");
    }
    assert_eq!(outbound::prompt_of(&world.pool, CHANNEL, "wamid.d").await.unwrap(), None);
    assert_eq!(outbound::prompt_of(&world.pool, "second", "wamid.a").await.unwrap(), None);
}

#[tokio::test]
async fn a_claim_that_cannot_read_gives_its_senders_back_uncharged() {
    let world = world().await;
    reply_with(&world, Uuid::now_v7(), &["1"]).await;
    let hasty = world.pool_with(&[("lock_timeout", "50ms")]).await;
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    sqlx::query("lock table chat.outbound in access exclusive mode").execute(&mut *held).await.unwrap();
    let lease = Lease { length: Duration::from_secs(30) };
    assert!(outbound::claim(&hasty, CHANNEL, Uuid::now_v7(), 10, 10, lease).await.is_err());
    held.rollback().await.unwrap();
    assert_eq!(claim(&world.pool, 10).await[0].attempts, 1);
}
