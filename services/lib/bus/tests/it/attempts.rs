//! Attempts: what ran is charged, what could not run is not, and a crash kills no innocent.

use std::collections::HashSet;
use std::time::Duration;

use bus::MAX_ATTEMPTS;
use bus::mailbox::{self, Claimed, Outcome};
use runtime::database::with_tx;

use crate::support::{CHANNEL, World, messages, settlement, world};

const SOON: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_failing_event_is_charged_each_time_and_handed_out_alone() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 4).await;
    for attempt in 1..=3 {
        let loan = world.claim_one(10).await;
        assert_eq!(i32::from(loan.attempts), attempt);
        assert_eq!(loan.events.len(), if attempt == 1 { 4 } else { 1 });
        world.settle(&loan, 0, Outcome::Retry(SOON)).await.unwrap();
        assert_eq!(world.mailbox(chat).await.head_error.as_deref(), Some("away"));
        world.end_waits().await;
    }
}

#[tokio::test]
async fn attempts_belong_to_the_head_and_never_carry_over() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 8).await;
    // (done before it ended, how, attempts afterwards)
    let cases = [
        (0, Outcome::Retry(SOON), 1),
        (0, Outcome::Retry(SOON), 2),
        (1, Outcome::Retry(SOON), 1),
        (1, Outcome::Done, 0),
        (0, Outcome::Retry(SOON), 1),
        (0, Outcome::Defer(SOON), 1),
        (0, Outcome::Release, 1),
        (1, Outcome::Defer(SOON), 0),
        (1, Outcome::Release, 0),
        (0, Outcome::Defer(SOON), 0),
        (0, Outcome::Release, 0),
    ];
    for (done, outcome, attempts) in cases {
        let loan = world.claim_one(2).await;
        world.settle(&loan, done, outcome).await.unwrap();
        assert_eq!(
            world.mailbox(chat).await.head_attempts,
            attempts,
            "after {done} done, {}",
            outcome.name()
        );
        world.end_waits().await;
    }
}

#[tokio::test]
async fn a_defer_is_counted_apart_and_costs_no_attempt_however_often() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 2).await;
    for defers in 1..=20 {
        let loan = world.claim_one(10).await;
        assert_eq!(loan.attempts, 1);
        world.settle(&loan, 0, Outcome::Defer(SOON)).await.unwrap();
        assert_eq!(world.mailbox(chat).await.head_defers, defers);
        assert!(!world.mailbox(chat).await.ready);
        world.end_waits().await;
    }
    let loan = world.claim_one(10).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    assert_eq!(world.mailbox(chat).await.head_defers, 0);
}

#[tokio::test]
async fn a_worker_that_stops_keeps_what_is_done_and_gives_back_the_rest_uncharged() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 8).await;
    let loan = world.claim_one(8).await;
    world.settle(&loan, 3, Outcome::Release).await.unwrap();
    let row = world.mailbox(chat).await;
    assert_eq!((row.done_seq, row.head_attempts, row.lost, row.ready), (3, 0, 0, true));
    let next = world.claim_one(8).await;
    assert_eq!((next.attempts, next.events.len()), (1, 5));
}

#[tokio::test]
async fn a_release_keeps_the_reason_why_its_head_failed_before() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 1).await;
    world.settle(&world.claim_one(1).await, 0, Outcome::Retry(SOON)).await.unwrap();
    world.end_waits().await;
    world.settle(&world.claim_one(1).await, 0, Outcome::Release).await.unwrap();
    assert_eq!(world.mailbox(chat).await.head_error.as_deref(), Some("away"));
}

#[tokio::test]
async fn after_a_lost_lease_one_event_is_handed_out_and_after_two_the_chat_runs_alone() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 4).await;
    assert_eq!(world.claim_one(4).await.events.len(), 4);
    world.expire_leases().await;
    let second = world.claim_one(4).await;
    assert_eq!((second.events.len(), second.attempts, world.mailbox(chat).await.lost), (1, 2, 1));
    world.expire_leases().await;
    assert!(world.claim(10, 4).await.is_empty(), "it runs beside nothing");
    let alone = world.claim_on(CHANNEL, 1, 4, true).await.remove(0);
    assert_eq!((alone.events.len(), alone.attempts, world.mailbox(chat).await.lost), (1, 3, 2));

    // What was lent when it crashed still runs alone; once all of that is done, the chat is like any other.
    let mut loan = alone;
    for done in 1..=4 {
        world.settle(&loan, 1, Outcome::Done).await.unwrap();
        assert_eq!(world.mailbox(chat).await.lost, if done < 4 { 2 } else { 0 });
        if done < 4 {
            assert!(world.claim(10, 4).await.is_empty());
            loan = world.claim_on(CHANNEL, 1, 4, true).await.remove(0);
        }
    }
}

#[tokio::test]
async fn a_head_that_comes_back_by_itself_is_no_crash_any_more() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 2).await;
    world.claim_one(2).await;
    world.expire_leases().await;
    let loan = world.claim_one(2).await;
    world.settle(&loan, 0, Outcome::Retry(SOON)).await.unwrap();
    assert_eq!(world.mailbox(chat).await.lost, 0);
}

#[tokio::test]
async fn attempts_and_losses_without_end_do_not_break_the_claims_of_others() {
    let world = world().await;
    world.chat_with("34600000001", 1).await;
    let other = world.chat_with("34600000002", 1).await;
    let head = world.claim(1, 1).await.remove(0);
    sqlx::query("update chat.chat set head_attempts = 32767, lost = 1 where id = $1")
        .bind(head.chat_id)
        .execute(&world.pool)
        .await
        .unwrap();
    world
        .run("update chat.chat set lost = 0, ready_at = now() - interval '1 minute' where owner is not null")
        .await;
    let loans = world.claim(10, 1).await;
    assert!(loans.iter().any(|loan| loan.chat_id == other), "{loans:?}");
}

#[tokio::test]
async fn an_event_that_is_given_up_is_kept_and_its_chat_goes_on() {
    let world = world().await;
    let chat = world.chat_with("34600000001", 2).await;
    world.run("update chat.chat set head_attempts = 5").await;
    let loan = world.claim_one(10).await;
    assert!(i32::from(loan.attempts) > MAX_ATTEMPTS);
    bury(&world, &loan).await;
    let dead: (i64, i16, String, String) =
        sqlx::query_as("select seq, attempts, error, dead_by from inbound.dead where chat_id = $1")
            .bind(chat)
            .fetch_one(&world.pool)
            .await
            .unwrap();
    assert_eq!(dead, (1, 6, "it fails always".to_owned(), "test".to_owned()));
    let next = world.claim_one(10).await;
    assert_eq!((messages(&next), next.attempts), (vec!["34600000001-2"], 1));
}

/// Steps over the head of a loan and keeps a copy of it.
async fn bury(world: &World, loan: &Claimed) {
    with_tx(&world.pool, (settlement(loan, 1, Outcome::Done), loan.clone()), |tx, (settlement, loan)| {
        Box::pin(async move {
            mailbox::settle(tx, settlement).await?;
            mailbox::bury(tx, loan.chat_id, &loan.events[0], loan.attempts, "it fails always", "test").await
        })
    })
    .await
    .unwrap();
}

/// One event ends the process that runs it, every time. A worker takes many chats at once; when it meets that event
/// all of its leases are lost.
#[tokio::test]
async fn an_event_that_crashes_its_process_kills_no_innocent() {
    let world = world().await;
    for chat in 0..15 {
        world.chat_with(&format!("346000000{chat:02}"), 4).await;
    }
    let poison = "34600000007-2";
    let (mut crashes, mut most_charged) = (0, 0);
    loop {
        let alone = world.claim_on(CHANNEL, 1, 4, true).await;
        let loans = if alone.is_empty() { world.claim(15, 4).await } else { alone };
        if loans.is_empty() {
            break;
        }
        let mut crashed = false;
        for loan in &loans {
            if i32::from(loan.attempts) > MAX_ATTEMPTS {
                bury(&world, loan).await;
                continue;
            }
            if messages(loan).contains(&poison) {
                crashed = true;
                break;
            }
            most_charged = most_charged.max(loan.attempts);
            world.settle(loan, loan.events.len(), Outcome::Done).await.unwrap();
        }
        if crashed {
            crashes += 1;
            assert!(crashes < 20, "the poison is never given up");
            world.expire_leases().await;
        }
    }
    let dead: HashSet<String> = sqlx::query_scalar("select message_id from inbound.dead")
        .fetch_all(&world.pool)
        .await
        .unwrap()
        .into_iter()
        .collect();
    assert_eq!(dead, HashSet::from([poison.to_owned()]), "after {crashes} crashes");
    assert!(most_charged <= 3, "an innocent was charged {most_charged} attempts");
    assert_eq!(world.db.count("select count(*) from chat.chat where done_seq < next_seq - 1").await, 0);
}
