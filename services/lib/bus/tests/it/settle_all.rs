//! Many loans ended in one call: each as if it were alone, and no chat is asleep or doubled for the company.

use bus::mailbox::{self, Claimed, Outcome, Settlement};
use runtime::database::with_tx;
use sqlx::PgPool;
use std::collections::HashSet;
use std::time::Duration;
use uuid::Uuid;

use crate::support::{World, append_held, by_phone, settlement, world};

async fn settle_all(pool: &PgPool, settlements: Vec<Settlement>) -> HashSet<Uuid> {
    with_tx(pool, settlements, |tx, settlements| {
        Box::pin(async move { mailbox::settle_all(tx, settlements).await })
    })
    .await
    .unwrap()
    .into_iter()
    .collect()
}

/// Chats with so many messages each, all of them on loan, by their numbers.
async fn loans(world: &World, sizes: &[usize]) -> Vec<Claimed> {
    let mut chats = Vec::new();
    for (number, &size) in sizes.iter().enumerate() {
        chats.push(world.chat_with(&format!("3460000000{number}"), size).await);
    }
    let mut loans = world.claim(10, 10).await;
    loans.sort_by_key(|loan| chats.iter().position(|chat| *chat == loan.chat_id));
    loans
}

#[tokio::test]
async fn loans_that_end_together_end_as_each_would_alone() {
    let world = world().await;
    let outcomes = [
        (2, Outcome::Done),
        (1, Outcome::Done),
        (0, Outcome::Retry(Duration::from_secs(30))),
        (1, Outcome::Retry(Duration::from_secs(30))),
        (0, Outcome::Defer(Duration::from_secs(30))),
        (1, Outcome::Defer(Duration::from_secs(30))),
        (0, Outcome::Release),
        (1, Outcome::Release),
    ];
    let together = loans(&world, &[2; 8]).await;
    let settlements = together
        .iter()
        .zip(outcomes)
        .map(|(loan, (done, outcome))| settlement(loan, done, outcome))
        .collect();
    let settled = settle_all(&world.pool, settlements).await;
    assert_eq!(settled, together.iter().map(|loan| loan.chat_id).collect());

    let other = crate::support::world().await;
    let apart = loans(&other, &[2; 8]).await;
    for ((loan, alone), (done, outcome)) in together.iter().zip(&apart).zip(outcomes) {
        other.settle(alone, done, outcome).await.unwrap();
        let (one, two) = (world.mailbox(loan.chat_id).await, other.mailbox(alone.chat_id).await);
        assert_eq!(one, two, "{done} done, then {outcome:?}");
    }
}

#[tokio::test]
async fn whoever_was_fenced_is_left_out_and_the_others_are_settled() {
    let world = world().await;
    let stale = loans(&world, &[1, 1, 1]).await;
    world.settle(&stale[1], 0, Outcome::Release).await.unwrap();
    let fresh = world.claim_one(10).await;
    assert_eq!(fresh.chat_id, stale[1].chat_id);
    let settlements: Vec<_> = stale.iter().map(|loan| settlement(loan, 1, Outcome::Done)).collect();
    let settled = settle_all(&world.pool, settlements.clone()).await;
    assert_eq!(settled, HashSet::from([stale[0].chat_id, stale[2].chat_id]));
    // A repeat after an unknown commit finds nothing.
    assert_eq!(settle_all(&world.pool, settlements).await, HashSet::new());
    world.settle(&fresh, 1, Outcome::Done).await.unwrap();
}

#[tokio::test]
async fn a_message_that_comes_while_loans_wait_to_end_leaves_no_chat_asleep() {
    let world = world().await;
    let loans = loans(&world, &[1, 1, 1]).await;
    let mut connection = world.connect().await;
    let append = append_held(&mut connection, &by_phone("34600000001", "later")).await;
    let settlements = loans.iter().map(|loan| settlement(loan, 1, Outcome::Done)).collect();
    let pool = world.pool.clone();
    let settling = tokio::spawn(async move { settle_all(&pool, settlements).await });
    world.someone_waits().await;
    append.commit().await.unwrap();
    assert_eq!(settling.await.unwrap().len(), 3);
    assert!(world.mailbox(loans[1].chat_id).await.ready, "the message that came last is found");
    assert!(!world.mailbox(loans[0].chat_id).await.scheduled);
}
