//! What `inbound.event_state` says of an event, from its arrival to its end.

use std::time::Duration;

use bus::mailbox::{self, Outcome};
use runtime::database::with_tx;

use crate::support::{World, settlement, world};

/// State, attempts and error of each event, in sequence.
async fn states(world: &World) -> Vec<(String, i32, Option<String>)> {
    sqlx::query_as("select state, attempts, error from inbound.event_state order by seq")
        .fetch_all(&world.pool)
        .await
        .unwrap()
}

fn of(state: &str, attempts: i32, error: Option<&str>) -> (String, i32, Option<String>) {
    (state.to_owned(), attempts, error.map(str::to_owned))
}

#[tokio::test]
async fn every_event_is_pending_processing_done_or_dead() {
    let world = world().await;
    world.chat_with("34600000001", 3).await;
    assert_eq!(
        states(&world).await,
        [of("pending", 0, None), of("pending", 0, None), of("pending", 0, None)]
    );

    let loan = world.claim_one(2).await;
    assert_eq!(
        states(&world).await,
        [of("processing", 1, None), of("processing", 0, None), of("pending", 0, None)],
        "what is lent is being processed"
    );
    world.settle(&loan, 1, Outcome::Retry(Duration::from_secs(60))).await.unwrap();
    assert_eq!(
        states(&world).await,
        [of("done", 0, None), of("pending", 1, Some("away")), of("pending", 0, None)],
        "a backoff is pending"
    );
    world.end_waits().await;

    let lost = world.claim_one(2).await;
    world.expire_leases().await;
    assert_eq!(states(&world).await[1].0, "pending", "nobody works under a lease that is over");
    drop(lost);

    let loan = world.claim_one(1).await;
    with_tx(&world.pool, (settlement(&loan, 1, Outcome::Done), loan.clone()), |tx, (settlement, loan)| {
        Box::pin(async move {
            mailbox::settle(tx, settlement).await?;
            mailbox::bury(tx, loan.chat_id, &loan.events[0], loan.attempts, "refused", "test").await
        })
    })
    .await
    .unwrap();
    assert_eq!(
        states(&world).await,
        [of("done", 0, None), of("dead", 3, Some("refused")), of("pending", 0, None)]
    );
    let loan = world.claim_one(1).await;
    world.settle(&loan, 1, Outcome::Done).await.unwrap();
    let names: Vec<_> = states(&world).await.into_iter().map(|(state, ..)| state).collect();
    assert_eq!(names, ["done", "dead", "done"]);
}
