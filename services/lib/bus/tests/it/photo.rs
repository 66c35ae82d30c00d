//! Photos: fetched under an epoch of their own, stored once per content, given up with a reason.

use std::time::Duration;

use bus::Error;
use bus::photo::{self, Claimed, NewFetch};
use chrono::{Days, Utc};
use runtime::database::with_tx;
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, World, world};

async fn enqueue(world: &World, report_id: Uuid) {
    let mut connection = world.pool.acquire().await.unwrap();
    let fetch = NewFetch {
        report_id,
        channel: CHANNEL,
        media_id: "1234",
        sha256: None,
        give_up_at: Utc::now() + Days::new(7),
        trace_context: None,
    };
    photo::enqueue(&mut connection, &fetch).await.unwrap();
}

async fn claim(pool: &PgPool) -> Vec<Claimed> {
    photo::claim(pool, CHANNEL, Uuid::now_v7(), 10, LEASE).await.unwrap()
}

async fn store(world: &World, loan: &Claimed) -> Result<(), Error> {
    with_tx(&world.pool, loan.clone(), |tx, loan| {
        Box::pin(async move { photo::store(tx, loan, b"hash", "image/jpeg", b"bytes").await })
    })
    .await
}

const PHOTOS: &str = "select count(*) from report.photo";

#[tokio::test]
async fn a_photo_is_stored_once_per_content_and_given_to_each_report() {
    let world = world().await;
    for reference in ["REF-2026-00001", "REF-2026-00002"] {
        let report = world.received(reference).await;
        enqueue(&world, report).await;
    }
    let loans = claim(&world.pool).await;
    assert_eq!(loans.len(), 2);
    assert!(claim(&world.pool).await.is_empty(), "a photo is fetched by one");
    for loan in &loans {
        store(&world, loan).await.unwrap();
    }
    assert_eq!(world.db.count(PHOTOS).await, 1);
    assert_eq!(world.db.count("select count(*) from report.report where photo_sha256 = 'hash'").await, 2);
    assert_eq!(world.db.count("select count(*) from report.photo_fetch").await, 0);
    assert!(matches!(store(&world, &loans[0]).await, Err(Error::Fenced)), "once");
}

#[tokio::test]
async fn a_fetch_in_other_hands_is_neither_stored_nor_put_back_nor_given_up() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    enqueue(&world, report).await;
    let stale = claim(&world.pool).await.remove(0);
    world.expire_leases().await;
    let fresh = claim(&world.pool).await.remove(0);
    assert!(matches!(store(&world, &stale).await, Err(Error::Fenced)));
    assert_eq!(world.db.count(PHOTOS).await, 0);
    assert!(matches!(photo::retry(&world.pool, &stale, Duration::ZERO, "404").await, Err(Error::Fenced)));
    let mut connection = world.pool.acquire().await.unwrap();
    assert!(matches!(photo::fail(&mut connection, &stale, "404", None).await, Err(Error::Fenced)));
    store(&world, &fresh).await.unwrap();
}

#[tokio::test]
async fn a_fetch_that_fails_waits_and_one_that_cannot_be_had_is_kept_with_its_reason() {
    let world = world().await;
    let report = world.received("REF-2026-00001").await;
    enqueue(&world, report).await;
    let first = claim(&world.pool).await.remove(0);
    photo::retry(&world.pool, &first, Duration::from_secs(60), "503").await.unwrap();
    assert!(claim(&world.pool).await.is_empty());
    world.end_waits().await;
    let second = claim(&world.pool).await.remove(0);
    assert_eq!(second.attempts, 2);
    let mut connection = world.pool.acquire().await.unwrap();
    photo::fail(&mut connection, &second, "410", None).await.unwrap();
    world.end_waits().await;
    assert!(claim(&world.pool).await.is_empty());
    assert_eq!(world.db.count("select count(*) from report.photo_fetch where error = '410'").await, 1);
}

#[tokio::test]
async fn a_new_photo_takes_the_place_of_one_that_could_not_be_had_while_it_is_awaited() {
    let world = world().await;
    let report = world.received("REF-2026-00003").await;
    enqueue(&world, report).await;
    let loan = claim(&world.pool).await.remove(0);
    let chat: Uuid =
        sqlx::query_scalar("select chat_id from report.report").fetch_one(&world.pool).await.unwrap();
    let mut connection = world.pool.acquire().await.unwrap();
    let new = NewFetch {
        report_id: report,
        channel: CHANNEL,
        media_id: "5678",
        sha256: None,
        give_up_at: Utc::now() + Days::new(7),
        trace_context: None,
    };
    assert!(!photo::replace(&mut connection, &new).await.unwrap(), "it is still being fetched");
    photo::fail(&mut connection, &loan, "gone", Some(Utc::now() + Days::new(1))).await.unwrap();
    assert_eq!(photo::awaited(&world.pool, chat).await.unwrap(), Some(report));
    assert!(claim(&world.pool).await.is_empty());

    assert!(photo::replace(&mut connection, &new).await.unwrap());
    assert!(!photo::replace(&mut connection, &new).await.unwrap(), "one picture is the photo");
    assert_eq!(photo::awaited(&world.pool, chat).await.unwrap(), None);
    let again = claim(&world.pool).await.remove(0);
    assert_eq!((again.media_id.as_str(), again.attempts), ("5678", 1));
    assert!(matches!(store(&world, &loan).await, Err(Error::Fenced)), "the first loan is over");
    store(&world, &again).await.unwrap();
}
