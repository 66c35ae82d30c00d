//! The outbox: nothing that may have arrived is sent again by itself, and no proof is thrown away.

use std::time::Duration;

use bus::outbox::{self, Claim, Claimed, Evidence, NewAttempt, Outcome, Settlement};
use bus::{Error, Lease};
use runtime::database::with_tx;
use sqlx::PgPool;
use testkit::eventually;
use uuid::Uuid;

use crate::support::{CHANNEL, World, world};

const LEASE: Lease = Lease { length: Duration::from_secs(60) };
const NEEDED: Duration = Duration::from_secs(30);

/// What is due, for a process of its own.
fn due() -> Claim<'static> {
    Claim {
        channel: CHANNEL,
        owner: Uuid::now_v7(),
        limit: 10,
        lease: LEASE,
        photo_wait: Duration::ZERO,
        allowed: false,
        unrefused: false,
    }
}

async fn claim(pool: &PgPool) -> Vec<Claimed> {
    outbox::claim(pool, &due()).await.unwrap()
}

async fn claim_one(world: &World) -> Claimed {
    let mut claimed = claim(&world.pool).await;
    assert_eq!(claimed.len(), 1, "one report is due");
    claimed.remove(0)
}

/// Commits an attempt. `None`: the request may not leave.
async fn open(world: &World, loan: &Claimed, needed: Duration) -> Option<Uuid> {
    let attempt = NewAttempt {
        id: Uuid::now_v7(),
        owner: Uuid::now_v7(),
        endpoint: "https://partner.example",
        body_sha256: b"hash",
        trace_id: None,
    };
    outbox::open_attempt(&world.pool, loan, &attempt, needed).await.unwrap().map(|_| attempt.id)
}

fn end<'a>(loan: &Claimed, outcome: &'a Outcome) -> Settlement<'a> {
    Settlement {
        report_id: loan.report_id,
        epoch: loan.epoch,
        outcome,
        error: None,
        attempt: None,
        awaited: None,
        step: None,
    }
}

async fn settle(world: &World, loan: &Claimed, outcome: Outcome) -> Result<(), Error> {
    with_tx(&world.pool, (loan.clone(), outcome), |tx, (loan, outcome)| {
        Box::pin(async move { outbox::settle(tx, &end(loan, outcome)).await })
    })
    .await
}

async fn close(world: &World, attempt: Uuid, outcome: &str, partner_id: Option<&str>) {
    let evidence = Evidence {
        outcome: outcome.to_owned(),
        http_status: Some(201),
        partner_id: partner_id.map(str::to_owned),
        seen: "201".to_owned(),
    };
    let mut connection = world.pool.acquire().await.unwrap();
    outbox::close_attempt(&mut connection, attempt, &evidence).await.unwrap();
}

fn sent(partner_id: &str) -> Outcome {
    Outcome::Sent { partner_id: Some(partner_id.to_owned()) }
}

#[tokio::test]
async fn a_received_report_is_claimed_once_with_what_a_push_needs() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let loan = claim_one(&world).await;
    assert_eq!((loan.report_id, loan.attempts, loan.open_attempt), (report, 1, None));
    assert_eq!((loan.reference.as_str(), loan.latitude, loan.longitude), ("REF-2026-00001", 42.85, -2.67));
    assert!(claim(&world.pool).await.is_empty());
}

#[tokio::test]
async fn the_oldest_report_goes_first_whatever_was_tried_since() {
    let world = world().await;
    let oldest = world.received("REF-2026-00001").await;
    let loan = claim_one(&world).await;
    for number in 2..=4 {
        world.received(&format!("REF-2026-0000{number}")).await;
    }
    settle(&world, &loan, Outcome::Defer(Duration::ZERO)).await.unwrap();
    let first = outbox::claim(&world.pool, &Claim { limit: 1, ..due() }).await.unwrap();
    assert_eq!(first[0].report_id, oldest);
}

#[tokio::test]
async fn what_was_refused_its_path_or_right_is_left_out_where_that_is_asked_for() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    let untold = world.received("REF-2026-00002").await;
    let told = world.received("REF-2026-00003").await;
    world
        .run("update report.report set push_error = 'misconfigured: http 404' where reference = 'REF-2026-00001'")
        .await;
    world
        .run("update report.report set push_error = 'not_sent: no connection' where reference = 'REF-2026-00003'")
        .await;
    let claimed = outbox::claim(&world.pool, &Claim { unrefused: true, ..due() }).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.report_id).collect::<Vec<_>>(), [untold, told]);
    assert_eq!(claim(&world.pool).await.len(), 1, "the other one is due as before");
}

#[tokio::test]
async fn a_draft_is_never_in_the_outbox() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    world
        .run("update report.report set state = 'draft', reference = null, route = null, received_at = null")
        .await;
    assert!(claim(&world.pool).await.is_empty());
}

#[tokio::test]
async fn a_push_waits_for_its_photo_for_a_set_time() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let photo_wait = Duration::from_secs(3600);
    let claim = async || outbox::claim(&world.pool, &Claim { photo_wait, ..due() }).await.unwrap();
    assert!(claim().await.is_empty());
    world.run("insert into report.photo values ('\\x01', 'image/jpeg', '\\xff')").await;
    world.run("update report.report set photo_sha256 = '\\x01'").await;
    let loans = claim().await;
    assert_eq!(loans[0].photo.as_ref().map(|photo| photo.bytes.clone()), Some(vec![0xff]));
    settle(&world, &loans[0], Outcome::Defer(Duration::ZERO)).await.unwrap();
    world.run("update report.report set photo_sha256 = null, received_at = now() - interval '2 hours'").await;
    let loans = claim().await;
    assert_eq!((loans[0].report_id, loans[0].photo.is_none()), (report, true), "the time is over");
}

#[tokio::test]
async fn a_report_that_came_without_a_photo_waits_for_none() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    world.run("update report.report set push_without_photo = true").await;
    let photo_wait = Duration::from_secs(3600);
    let loans = outbox::claim(&world.pool, &Claim { photo_wait, ..due() }).await.unwrap();
    assert_eq!((loans[0].report_id, loans[0].photo.is_none()), (report, true));
}

#[tokio::test]
async fn a_retry_is_charged_and_a_defer_is_not() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let later = Duration::from_secs(30);
    for (outcome, attempts) in [
        (Outcome::Retry(later), 1),
        (Outcome::Defer(later), 1),
        (Outcome::Defer(later), 1),
        (Outcome::Retry(later), 2),
    ] {
        settle(&world, &claim_one(&world).await, outcome).await.unwrap();
        assert_eq!(world.push_of(report).await, ("pending".to_owned(), attempts, None));
        assert!(claim(&world.pool).await.is_empty(), "it waits");
        world.end_waits().await;
    }
}

#[tokio::test]
async fn what_is_sent_dead_or_in_review_is_never_claimed_again() {
    let world = world().await;
    for (number, outcome) in [sent("INC-1"), Outcome::Review, Outcome::Dead].into_iter().enumerate() {
        let report = world.received(&format!("REF-2026-0000{number}")).await;
        let loan = claim_one(&world).await;
        let name = outcome.name();
        settle(&world, &loan, outcome).await.unwrap();
        assert_eq!(world.push_of(report).await.0, name);
        world.end_waits().await;
        assert!(claim(&world.pool).await.is_empty());
    }
}

/// A defer gives its attempt back, so the number of attempts comes again. The epoch does not.
#[tokio::test]
async fn a_settle_whose_answer_was_lost_does_not_end_the_loan_of_the_next() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    let first = claim_one(&world).await;
    settle(&world, &first, Outcome::Defer(Duration::ZERO)).await.unwrap();
    let second = claim_one(&world).await;
    assert_eq!((first.attempts, second.attempts), (1, 1));
    assert!(matches!(settle(&world, &first, Outcome::Defer(Duration::ZERO)).await, Err(Error::Fenced)));
    assert!(claim(&world.pool).await.is_empty(), "a third does not get it while the second has it");
    assert!(open(&world, &second, NEEDED).await.is_some());
}

#[tokio::test]
async fn a_settle_repeated_after_an_unknown_commit_gives_its_attempt_back_once() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let loan = claim_one(&world).await;
    settle(&world, &loan, Outcome::Defer(Duration::ZERO)).await.unwrap();
    assert!(matches!(settle(&world, &loan, Outcome::Defer(Duration::ZERO)).await, Err(Error::Fenced)));
    assert!(
        !outbox::renew(&world.pool, report, loan.epoch, LEASE).await.unwrap(),
        "nor is it hidden for a lease"
    );
    assert_eq!(world.push_of(report).await.1, 0);
}

#[tokio::test]
async fn a_request_leaves_only_under_a_lease_that_outlives_it() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    assert_eq!(open(&world, &stale, LEASE.length * 2).await, None, "the lease is too short for it");
    world.expire_leases().await;
    assert_eq!(open(&world, &stale, NEEDED).await, None, "the lease is over");
    let fresh = claim_one(&world).await;
    assert_eq!(open(&world, &stale, NEEDED).await, None, "another has it");
    assert!(open(&world, &fresh, NEEDED).await.is_some());
    assert_eq!(open(&world, &fresh, NEEDED).await, None, "one request at a time");
}

#[tokio::test]
async fn a_lease_is_prolonged_for_its_holder_only() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    world.expire_leases().await;
    assert!(outbox::renew(&world.pool, stale.report_id, stale.epoch, LEASE).await.unwrap());
    world.expire_leases().await;
    let fresh = claim_one(&world).await;
    assert!(!outbox::renew(&world.pool, stale.report_id, stale.epoch, LEASE).await.unwrap());
    settle(&world, &fresh, Outcome::Review).await.unwrap();
    assert!(!outbox::renew(&world.pool, fresh.report_id, fresh.epoch + 1, LEASE).await.unwrap());
}

#[tokio::test]
async fn an_attempt_that_nobody_closed_is_seen_by_the_next_claim() {
    let world = world().await;
    world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    let attempt = open(&world, &stale, NEEDED).await;
    world.expire_leases().await;
    let fresh = claim_one(&world).await;
    assert_eq!(fresh.open_attempt, attempt);
    assert_eq!(open(&world, &fresh, NEEDED).await, None, "no second request beside one of unknown end");
}

#[tokio::test]
async fn proof_that_comes_late_resolves_a_review() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    let attempt = open(&world, &stale, NEEDED).await.unwrap();
    world.expire_leases().await;
    settle(&world, &claim_one(&world).await, Outcome::Review).await.unwrap();
    settle(&world, &stale, sent("INC-1")).await.unwrap();
    close(&world, attempt, "accepted", Some("INC-1")).await;
    assert_eq!(world.push_of(report).await, ("sent".to_owned(), 2, Some("INC-1".to_owned())));
    assert!(matches!(settle(&world, &stale, sent("INC-1")).await, Err(Error::Fenced)), "once");
}

#[tokio::test]
async fn proof_that_comes_while_another_has_the_report_fences_that_one() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    open(&world, &stale, NEEDED).await.unwrap();
    world.expire_leases().await;
    let fresh = claim_one(&world).await;
    settle(&world, &stale, sent("INC-1")).await.unwrap();
    assert!(matches!(settle(&world, &fresh, Outcome::Review).await, Err(Error::Fenced)));
    assert_eq!(world.push_of(report).await.0, "sent");
}

#[tokio::test]
async fn without_proof_a_stale_worker_changes_nothing_but_its_own_attempt() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let stale = claim_one(&world).await;
    let attempt = open(&world, &stale, NEEDED).await.unwrap();
    world.expire_leases().await;
    settle(&world, &claim_one(&world).await, Outcome::Review).await.unwrap();
    for outcome in [Outcome::Retry(NEEDED), Outcome::Defer(NEEDED), Outcome::Dead, Outcome::Review] {
        assert!(matches!(settle(&world, &stale, outcome).await, Err(Error::Fenced)));
    }
    close(&world, attempt, "not_processed", None).await;
    close(&world, attempt, "accepted", None).await;
    assert_eq!(world.push_of(report).await.0, "review");
    let kept: String =
        sqlx::query_scalar("select outcome from report.push_attempt where closed_at is not null")
            .fetch_one(&world.pool)
            .await
            .unwrap();
    assert_eq!(kept, "not_processed", "the first answer stands");
}

/// A claim that takes first and reads later would hold what it has not read, and could take the next loan for its own.
#[tokio::test]
async fn a_claim_takes_nothing_that_it_has_not_read() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("lock table report.photo in access exclusive mode").execute(&mut *held).await.unwrap();
    let pool = world.pool.clone();
    let late = tokio::spawn(async move { claim(&pool).await });
    eventually("it waits", async || (world.db.lock_waits().await == 1).then_some(())).await;
    assert_eq!(world.db.count("select count(*) from report.report where push_epoch > 0").await, 0);
    held.rollback().await.unwrap();
    let loans = late.await.unwrap();
    assert_eq!((loans.len(), loans[0].report_id, loans[0].epoch), (1, report, 1));
}

#[tokio::test]
async fn a_claim_that_cannot_read_takes_and_charges_nothing() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    let hasty = world.pool_with(&[("lock_timeout", "50ms")]).await;
    let mut other = world.connect().await;
    let mut held = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("lock table report.photo in access exclusive mode").execute(&mut *held).await.unwrap();
    assert!(outbox::claim(&hasty, &due()).await.is_err());
    held.rollback().await.unwrap();
    assert_eq!(world.push_of(report).await.1, 0);
    assert_eq!(claim_one(&world).await.attempts, 1);
}
