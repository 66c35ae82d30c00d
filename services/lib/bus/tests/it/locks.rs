//! One order of locks: whatever order a call names its rows in, it takes them by their ids (or keys, or values), so that
//! two calls wait for each other in no circle. A call is stopped at the row in the middle, which another connection has;
//! then it must hold what comes before that row and nothing that comes after it.

use bus::mailbox::{self, Claim, Claimed, Outcome};
use runtime::database::with_tx;
use sqlx::{Connection, PgConnection, Postgres, Transaction};
use uuid::Uuid;

use crate::support::{
    CHANNEL, LEASE, World, append_held, append_keyed, append_on, by_phone, settlement, world,
};

const PHONES: [&str; 3] = ["34600000001", "34600000002", "34600000003"];

/// Three chats with a message each, by their ids, with their phones.
async fn three(world: &World) -> Vec<(Uuid, &'static str)> {
    let mut chats = Vec::new();
    for phone in PHONES {
        chats.push((world.chat_with(phone, 1).await, phone));
    }
    chats.sort_unstable();
    // A call that waits is to go on waiting.
    world.run("alter function inbound.append_v1 set lock_timeout = '20s'").await;
    chats
}

/// Takes the row of a chat until it is rolled back.
async fn taken(on: &mut PgConnection, chat: Uuid) -> Transaction<'_, Postgres> {
    let mut held = on.begin().await.unwrap();
    sqlx::query("select from chat.chat where id = $1 for update")
        .bind(chat)
        .execute(&mut *held)
        .await
        .unwrap();
    held
}

async fn is_free(world: &World, chat: Uuid) -> bool {
    let look = sqlx::query("select from chat.chat where id = $1 for update nowait").bind(chat);
    match look.execute(&world.pool).await {
        Ok(_) => true,
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55P03") => false,
        Err(error) => panic!("{error}"),
    }
}

async fn loans(world: &World, owner: Uuid) -> Vec<Claimed> {
    let claim = Claim { channel: CHANNEL, owner, chats: 10, events: 1, lease: LEASE, solo: false };
    let mut loans = mailbox::claim(&world.pool, &claim).await.unwrap();
    assert_eq!(loans.len(), 3);
    // The last first, as no caller is told not to.
    loans.sort_by_key(|loan| std::cmp::Reverse(loan.chat_id));
    loans
}

#[tokio::test]
async fn an_append_takes_its_chats_by_their_ids() {
    let world = world().await;
    let chats = three(&world).await;
    let mut other = world.connect().await;
    let held = taken(&mut other, chats[1].0).await;
    let events: Vec<_> =
        chats.iter().rev().map(|(_, phone)| by_phone(phone, &format!("{phone}-2"))).collect();
    let mut on = world.connect().await;
    let call = tokio::spawn(async move { append_on(&mut on, &events).await });
    world.someone_waits().await;
    assert!(!is_free(&world, chats[0].0).await && is_free(&world, chats[2].0).await);
    held.rollback().await.unwrap();
    call.await.unwrap();
}

#[tokio::test]
async fn loans_that_end_together_are_locked_by_their_ids() {
    let world = world().await;
    let chats = three(&world).await;
    let loans = loans(&world, Uuid::now_v7()).await;
    let mut other = world.connect().await;
    let held = taken(&mut other, chats[1].0).await;
    let settlements: Vec<_> = loans.iter().map(|loan| settlement(loan, 1, Outcome::Done)).collect();
    let pool = world.pool.clone();
    let call = tokio::spawn(async move {
        with_tx(&pool, settlements, |tx, settlements| {
            Box::pin(async move { mailbox::settle_all(tx, settlements).await })
        })
        .await
    });
    world.someone_waits().await;
    assert!(!is_free(&world, chats[0].0).await && is_free(&world, chats[2].0).await);
    held.rollback().await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().len(), 3);
}

#[tokio::test]
async fn loans_that_are_renewed_together_are_locked_by_their_ids() {
    let world = world().await;
    let chats = three(&world).await;
    let owner = Uuid::now_v7();
    let loans: Vec<_> = loans(&world, owner).await.iter().map(|loan| (loan.chat_id, loan.epoch)).collect();
    let mut other = world.connect().await;
    let held = taken(&mut other, chats[1].0).await;
    let pool = world.pool.clone();
    let call = tokio::spawn(async move { mailbox::renew(&pool, owner, &loans, LEASE).await });
    world.someone_waits().await;
    assert!(!is_free(&world, chats[0].0).await && is_free(&world, chats[2].0).await);
    held.rollback().await.unwrap();
    assert_eq!(call.await.unwrap().unwrap().len(), 3);
}

/// Whether a row with this key can be made at once: nobody has made one and not committed it yet.
async fn may_make(world: &World, insert: &'static str, value: &str) -> bool {
    let mut connection = world.connect().await;
    let mut attempt = connection.begin().await.unwrap();
    sqlx::query("set local lock_timeout = '50ms'").execute(&mut *attempt).await.unwrap();
    let made = sqlx::query(insert).bind(value).execute(&mut *attempt).await;
    attempt.rollback().await.unwrap();
    match made {
        Ok(_) => true,
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55P03") => false,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn an_append_makes_its_keys_in_their_order() {
    const MAKE: &str = "insert into inbound.dedup (key, activity_id, day) \
                        values ($1::uuid, gen_random_uuid(), current_date) on conflict do nothing";
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '20s'").await;
    let keys = [1, 2, 3].map(Uuid::from_u128);
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    sqlx::query(MAKE).bind(keys[1].to_string()).execute(&mut *held).await.unwrap();
    let events = PHONES.map(|phone| by_phone(phone, phone));
    let mut on = world.connect().await;
    let call = tokio::spawn(async move {
        let reversed: Vec<_> = keys.into_iter().rev().collect();
        append_keyed(&mut on, &reversed, &events).await;
    });
    world.someone_waits().await;
    assert!(!may_make(&world, MAKE, &keys[0].to_string()).await);
    assert!(may_make(&world, MAKE, &keys[2].to_string()).await);
    held.rollback().await.unwrap();
    call.await.unwrap();
}

#[tokio::test]
async fn an_append_makes_its_aliases_in_their_order() {
    const MAKE: &str = "insert into chat.alias (channel, kind, value, chat_id) \
                        values ('whatsapp', 'phone', $1, gen_random_uuid()) on conflict do nothing";
    let world = world().await;
    world.run("alter function inbound.append_v1 set lock_timeout = '20s'").await;
    let mut other = world.connect().await;
    let held = append_held(&mut other, &by_phone(PHONES[1], "first")).await;
    let events: Vec<_> = PHONES.iter().rev().map(|phone| by_phone(phone, phone)).collect();
    let mut on = world.connect().await;
    let call = tokio::spawn(async move { append_on(&mut on, &events).await });
    world.someone_waits().await;
    assert!(!may_make(&world, MAKE, PHONES[0]).await);
    assert!(may_make(&world, MAKE, PHONES[2]).await);
    held.rollback().await.unwrap();
    call.await.unwrap();
}
