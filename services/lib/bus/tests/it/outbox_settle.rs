//! The end of a loan is one statement: the report's state, what was seen of its request, the step and the id to come.

use std::time::Duration;

use bus::outbox::{self, Claim, Claimed, Evidence, NewAttempt, Outcome, Settlement, Step};
use bus::{Error, Lease};
use serde_json::json;
use uuid::Uuid;

use crate::support::{CHANNEL, World, world};

async fn claim_one(world: &World) -> Claimed {
    let due = Claim {
        channel: CHANNEL,
        owner: Uuid::now_v7(),
        limit: 1,
        lease: Lease { length: Duration::from_secs(60) },
        photo_wait: Duration::ZERO,
        allowed: false,
        unrefused: false,
    };
    outbox::claim(&world.pool, &due).await.unwrap().remove(0)
}

async fn open(world: &World, loan: &Claimed) -> Uuid {
    let attempt = NewAttempt {
        id: Uuid::now_v7(),
        owner: Uuid::now_v7(),
        endpoint: "https://partner.example",
        body_sha256: b"hash",
        trace_id: None,
    };
    let opened = outbox::open_attempt(&world.pool, loan, &attempt, Duration::from_secs(30)).await.unwrap();
    assert_eq!(opened.map(|opened| opened.troubled), Some(false));
    attempt.id
}

/// Ends a loan with all that can be said at its end.
async fn settle(world: &World, loan: &Claimed, attempt: Uuid, outcome: Outcome) -> Result<(), Error> {
    let evidence = Evidence {
        outcome: "accepted_no_id".to_owned(),
        http_status: Some(202),
        partner_id: None,
        seen: "http 202".to_owned(),
    };
    let end = Settlement {
        report_id: loan.report_id,
        epoch: loan.epoch,
        outcome: &outcome,
        error: Some("why"),
        attempt: Some((attempt, &evidence)),
        awaited: Some((Some("T-1"), Duration::from_secs(60))),
        step: Some(Step {
            name: outcome.name(),
            once_in_a_row: true,
            trace_id: Some("trace"),
            detail: &json!({ "a": 1 }),
        }),
    };
    let mut connection = world.pool.acquire().await.unwrap();
    outbox::settle(&mut connection, &end).await
}

const CLOSED: &str =
    "select count(*) from report.push_attempt where outcome = 'accepted_no_id' and http_status = 202";
const STEPS: &str = "select count(*) from report.timeline where detail ->> 'a' = '1' and trace_id = 'trace'";
const AWAITED: &str = "select count(*) from report.push_token where token = 'T-1' and next_at > now()";

#[tokio::test]
async fn all_of_it_is_written_or_the_evidence_alone() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    let attempt = open(&world, &stale).await;
    world.expire_leases().await;
    let fresh = claim_one(&world).await;
    let fenced = settle(&world, &stale, attempt, Outcome::Review).await;
    assert!(matches!(fenced, Err(Error::Fenced)));
    let written =
        async || (world.db.count(CLOSED).await, world.db.count(STEPS).await, world.db.count(AWAITED).await);
    assert_eq!(written().await, (1, 0, 0), "what was seen is true whoever has the report");
    assert_eq!(world.push_of(report).await.0, "pending");
    settle(&world, &fresh, attempt, Outcome::Sent { partner_id: None }).await.unwrap();
    assert_eq!(written().await, (1, 1, 1));
    assert_eq!(world.push_of(report).await.0, "sent");
}

#[tokio::test]
async fn a_step_that_repeats_the_last_one_is_left_out() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    for outcome in
        [Outcome::Defer(Duration::ZERO), Outcome::Defer(Duration::ZERO), Outcome::Retry(Duration::ZERO)]
    {
        settle(&world, &claim_one(&world).await, Uuid::now_v7(), outcome).await.unwrap();
    }
    settle(&world, &claim_one(&world).await, Uuid::now_v7(), Outcome::Defer(Duration::ZERO)).await.unwrap();
    let steps: Vec<String> = sqlx::query_scalar("select step from report.timeline order by id")
        .fetch_all(&world.pool)
        .await
        .unwrap();
    assert_eq!(steps, ["defer", "retry", "defer"]);
}
