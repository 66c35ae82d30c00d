//! No wake-up is lost between a settle that finds nothing more to do and an append that finds nobody to tell.

use bus::mailbox::{self, Outcome};
use runtime::database::with_tx;
use sqlx::Connection;

use crate::support::{append_held, by_phone, delivery, messages, settlement, world};

#[tokio::test]
async fn an_append_that_commits_while_a_settle_waits_for_the_row_is_claimable_after_it() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let loan = world.claim_one(10).await;
    let mut other = world.connect().await;
    // The settle takes its snapshot before the append commits, and the row's lock after.
    let held = append_held(&mut other, &by_phone("34600000001", "meanwhile")).await;
    let pool = world.pool.clone();
    let call = tokio::spawn(async move {
        with_tx(&pool, settlement(&loan, 1, Outcome::Done), |tx, settlement| {
            Box::pin(async move { mailbox::settle(tx, settlement).await })
        })
        .await
    });
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(messages(&world.claim_one(10).await), ["meanwhile"]);
}

#[tokio::test]
async fn an_append_that_waits_for_a_settle_wakes_the_chat_itself() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    let loan = world.claim_one(10).await;
    let mut other = world.connect().await;
    let mut held = other.begin().await.unwrap();
    mailbox::settle(&mut held, &settlement(&loan, 1, Outcome::Done)).await.unwrap();
    let appender = world.appender.clone();
    let call =
        tokio::spawn(
            async move { appender.append(delivery(vec![by_phone("34600000001", "meanwhile")])).await },
        );
    world.someone_waits().await;
    held.commit().await.unwrap();
    call.await.unwrap().unwrap();
    assert!(world.mailbox(chat).await.ready);
    assert_eq!(messages(&world.claim_one(10).await), ["meanwhile"]);
}

#[tokio::test]
async fn a_chat_with_something_pending_is_always_scheduled() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 3).await;
    for outcome in [
        Outcome::Release,
        Outcome::Retry(std::time::Duration::from_secs(1)),
        Outcome::Defer(std::time::Duration::from_secs(1)),
        Outcome::Done,
    ] {
        let loan = world.claim_one(1).await;
        let done = usize::from(outcome == Outcome::Done);
        world.settle(&loan, done, outcome).await.unwrap();
        assert!(world.mailbox(chat).await.scheduled, "after {}", outcome.name());
        world.end_waits().await;
    }
    let loan = world.claim_one(10).await;
    world.settle(&loan, 2, Outcome::Done).await.unwrap();
    assert!(!world.mailbox(chat).await.scheduled, "and one without is not");
}
