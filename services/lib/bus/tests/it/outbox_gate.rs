//! Claims and attempts heed the pause switch and the breaker by themselves.

use std::time::Duration;

use bus::Lease;
use bus::outbox::{self, Claim, Claimed, NewAttempt, Opened, Outcome, Settlement};
use uuid::Uuid;

use crate::support::{CHANNEL, World, world};

const OWNER: Uuid = Uuid::from_u128(7);

async fn claim(world: &World, allowed: bool) -> Vec<Claimed> {
    let due = Claim {
        channel: CHANNEL,
        owner: OWNER,
        limit: 1,
        lease: Lease { length: Duration::from_secs(60) },
        photo_wait: Duration::ZERO,
        allowed,
        unrefused: false,
    };
    outbox::claim(&world.pool, &due).await.unwrap()
}

async fn open(world: &World, loan: &Claimed) -> Option<Opened> {
    let attempt = NewAttempt {
        id: Uuid::now_v7(),
        owner: OWNER,
        endpoint: "https://partner.example",
        body_sha256: b"hash",
        trace_id: None,
    };
    outbox::open_attempt(&world.pool, loan, &attempt, Duration::from_secs(30)).await.unwrap()
}

/// Everything as it was, with one report in the outbox.
async fn anew(world: &World) {
    world.run("delete from report.push_attempt").await;
    world.run("delete from report.push_gate").await;
    world.run("delete from report.push_breaker").await;
    world
        .run("update report.report set push_state = 'pending', push_visible_at = now(), push_attempts = 0")
        .await;
}

const PAUSE: &str =
    "insert into report.push_gate (channel, paused, changed_by, because) values ('whatsapp', true, 'x', 'x')";

#[tokio::test]
async fn what_is_claimed_and_sent_follows_from_the_two_rows() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    // What a claim may take by itself, what one that is allowed may, and whether a request may leave.
    for (rows, alone, allowed, leaves) in [
        ("select 1", true, true, Some(false)),
        (PAUSE, false, false, None),
        (
            "insert into report.push_gate (channel, paused, changed_by, because) values ('whatsapp', false, 'x', 'x')",
            true,
            true,
            Some(false),
        ),
        (
            "insert into report.push_gate (channel, paused, changed_by, because) values ('other', true, 'x', 'x')",
            true,
            true,
            Some(false),
        ),
        ("insert into report.push_breaker (channel, streak) values ('whatsapp', 2)", true, true, Some(true)),
        (
            "insert into report.push_breaker (channel, draining) values ('whatsapp', true)",
            false,
            true,
            Some(false),
        ),
        ("insert into report.push_breaker (channel, state) values ('whatsapp', 'open')", false, false, None),
        (
            "insert into report.push_breaker (channel, state) values ('other', 'open')",
            true,
            true,
            Some(false),
        ),
        (
            "insert into report.push_breaker (channel, state, owner) values ('whatsapp', 'trial', gen_random_uuid())",
            false,
            false,
            None,
        ),
        (
            "insert into report.push_breaker (channel, state, owner) values ('whatsapp', 'trial', '00000000-0000-0000-0000-000000000007')",
            false,
            true,
            Some(true),
        ),
    ] {
        anew(&world).await;
        world.run(rows).await;
        assert_eq!(claim(&world, false).await.len(), usize::from(alone), "{rows}");
        anew(&world).await;
        world.run(rows).await;
        assert_eq!(claim(&world, true).await.len(), usize::from(allowed), "{rows}");
        anew(&world).await;
        let loan = claim(&world, false).await.remove(0);
        world.run(rows).await;
        assert_eq!(open(&world, &loan).await.map(|opened| opened.troubled), leaves, "{rows}");
    }
}

/// In review, its loan ended.
async fn doubtful(world: &World) -> (Uuid, i64) {
    let loan = claim(world, false).await.remove(0);
    let end = Settlement {
        report_id: loan.report_id,
        epoch: loan.epoch,
        outcome: &Outcome::Review,
        error: Some("ambiguous"),
        attempt: None,
        awaited: None,
        step: None,
    };
    let mut connection = world.pool.acquire().await.unwrap();
    outbox::settle(&mut connection, &end).await.unwrap();
    (loan.report_id, loan.epoch + 1)
}

#[tokio::test]
async fn what_was_lost_in_an_outage_costs_no_attempt_and_lets_others_go_first() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let wait = Duration::from_secs(900);
    for (rows, attempts, due) in [
        ("select 1", 1, true),
        ("insert into report.push_breaker (channel, draining) values ('whatsapp', true)", 0, true),
        ("insert into report.push_breaker (channel, state) values ('whatsapp', 'open')", 0, false),
        ("insert into report.push_breaker (channel, state) values ('other', 'open')", 1, true),
    ] {
        anew(&world).await;
        let (id, epoch) = doubtful(&world).await;
        world.run(rows).await;
        let mut connection = world.pool.acquire().await.unwrap();
        assert!(outbox::lock_review(&mut connection, id, epoch).await.unwrap());
        assert!(!outbox::send_again(&mut connection, id, epoch - 1, wait).await.unwrap(), "as it was found");
        assert!(outbox::send_again(&mut connection, id, epoch, wait).await.unwrap());
        assert!(!outbox::lock_review(&mut connection, id, epoch).await.unwrap());
        assert_eq!(world.push_of(report).await, ("pending".to_owned(), attempts, None), "{rows}");
        let now = "select count(*) from report.report where push_visible_at <= clock_timestamp()";
        assert_eq!(world.db.count(now).await == 1, due, "{rows}");
    }
}
