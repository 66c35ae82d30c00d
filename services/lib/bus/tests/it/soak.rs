//! Short soaks: many at once, and a database whose connections die.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bus::append::{Appender, Delivery};
use bus::mailbox::{self, Claim, Claimed, Claimer, Outcome};
use bus::metrics::QueueMetrics;
use bus::{Error, Lease};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use runtime::database::with_tx;
use sqlx::PgPool;
use testkit::eventually;
use uuid::Uuid;

use crate::support::{CHANNEL, PATIENCE, World, by_phone, delivery, settlement, world};

/// Written in the transaction that settles: the books of a handler.
const BOOKS: &str = "create table public.handled (place bigint generated always as identity, chat_id uuid, seq bigint, \
                     epoch bigint, primary key (chat_id, seq))";

const AT_REST: &str =
    "select count(*) from chat.chat where owner is null and ready_at is null and done_seq = next_seq - 1";

/// Messages of `count` random chats out of `chats`.
fn some(random: &mut StdRng, chats: usize, count: usize) -> Delivery {
    let events = (0..count).map(|_| {
        let phone = format!("346{:08}", random.random_range(0..chats));
        by_phone(&phone, &Uuid::now_v7().to_string())
    });
    delivery(events.collect())
}

/// Settles several loans in one transaction, in the order of their chats' ids. `false`: nothing is settled by this
/// call; the leases will tell.
async fn settle_all(pool: &PgPool, mut loans: Vec<Claimed>) -> bool {
    loans.sort_by_key(|loan| loan.chat_id);
    let loans = Arc::new(loans);
    for _ in 0..5 {
        let settled = with_tx(pool, Arc::clone(&loans), |tx, loans| {
            Box::pin(async move {
                for loan in loans.iter() {
                    match mailbox::settle(tx, &settlement(loan, loan.events.len(), Outcome::Done)).await {
                        Ok(()) => {}
                        Err(Error::Fenced) => continue,
                        Err(error) => return Err(error),
                    }
                    for event in &loan.events {
                        sqlx::query("insert into public.handled (chat_id, seq, epoch) values ($1, $2, $3)")
                            .bind(loan.chat_id)
                            .bind(event.seq)
                            .bind(loan.epoch)
                            .execute(&mut *tx)
                            .await?;
                    }
                }
                Ok::<_, Error>(())
            })
        })
        .await;
        match settled {
            Ok(()) => return true,
            Err(error) => tracing::debug!(?error, "once more"),
        }
    }
    false
}

async fn work(pool: PgPool, lease: Lease, appended: Arc<AtomicBool>) {
    let claimer = Claimer::new(pool.clone(), QueueMetrics::default());
    let owner = Uuid::now_v7();
    loop {
        let last = appended.load(Ordering::Acquire);
        let mut idle = true;
        for solo in [false, true] {
            let claim = Claim { channel: CHANNEL, owner, chats: 20, events: 10, lease, solo };
            let Ok(loans) = claimer.claim(&claim).await else { continue };
            idle &= loans.is_empty();
            if !loans.is_empty() {
                settle_all(&pool, loans).await;
            }
        }
        if idle {
            if last && at_rest(&pool).await {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

async fn at_rest(pool: &PgPool) -> bool {
    let left = "select count(*) from chat.chat where done_seq < next_seq - 1";
    sqlx::query_scalar::<_, i64>(left).fetch_one(pool).await.is_ok_and(|left| left == 0)
}

/// What must hold whatever happened.
async fn check(world: &World, acked: &HashSet<Uuid>) {
    let stored: Vec<Uuid> =
        sqlx::query_scalar("select activity_id from inbound.event").fetch_all(&world.pool).await.unwrap();
    let kept: HashSet<Uuid> = stored.iter().copied().collect();
    assert_eq!(kept.len(), stored.len(), "stored once");
    assert!(acked.is_subset(&kept), "acked means stored");
    let handled: Vec<(Uuid, i64, i64)> =
        sqlx::query_as("select chat_id, seq, epoch from public.handled order by chat_id, place")
            .fetch_all(&world.pool)
            .await
            .unwrap();
    assert_eq!(handled.len(), stored.len(), "handled once");
    for chat in handled.chunk_by(|a, b| a.0 == b.0) {
        assert!((1..).zip(chat).all(|(seq, row)| row.1 == seq), "in order, without a hole: {chat:?}");
        assert!(chat.is_sorted_by_key(|row| row.2), "no stale epoch wrote: {chat:?}");
    }
    let chats = world.db.count("select count(*) from chat.chat").await;
    assert_eq!(world.db.count(AT_REST).await, chats, "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_and_settles_on_hot_chats_never_deadlock() {
    let world = world().await;
    world.run(BOOKS).await;
    let until = Instant::now() + Duration::from_secs(10);
    let appended = Arc::new(AtomicBool::new(false));
    // Two processes: each has its lanes and knows nothing of the other's.
    let processes: Vec<Appender> = {
        let mut all = Vec::new();
        for _ in 0..2 {
            all.push(Appender::new(world.pool_with(&[]).await, PATIENCE));
        }
        all
    };
    let mut calls = Vec::new();
    for caller in 0..16_usize {
        let appender = processes[caller % 2].clone();
        calls.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(caller as u64);
            let mut acked = Vec::new();
            while Instant::now() < until {
                acked.extend(appender.append(some(&mut random, 200, 10)).await.unwrap().created);
            }
            acked
        }));
    }
    let mut workers = Vec::new();
    for _ in 0..3 {
        let pool = world.pool_with(&[]).await;
        workers.push(tokio::spawn(work(
            pool,
            Lease { length: Duration::from_secs(30) },
            Arc::clone(&appended),
        )));
    }
    let mut acked = HashSet::new();
    for call in calls {
        acked.extend(call.await.unwrap());
    }
    appended.store(true, Ordering::Release);
    for worker in workers {
        worker.await.unwrap();
    }
    println!("{} messages of 200 chats", acked.len());
    check(&world, &acked).await;
    assert_eq!(acked.len() as i64, world.db.count("select count(*) from inbound.event").await);
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(world.db.count(deadlocks).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_die_at_any_moment_lose_nothing_and_double_nothing() {
    let seed: u64 = rand::rng().random();
    println!("seed {seed}");
    let world = world().await;
    world.run(BOOKS).await;
    let until = Instant::now() + Duration::from_secs(6);
    let appended = Arc::new(AtomicBool::new(false));
    let victims: &[(&str, &str)] = &[("application_name", "victim")];
    let mut calls = Vec::new();
    for caller in 0..8_u64 {
        let appender = Appender::new(world.pool_with(victims).await, PATIENCE);
        calls.push(tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(seed ^ caller);
            let mut acked = Vec::new();
            while Instant::now() < until {
                let count = random.random_range(1..6);
                // A refusal is an answer as well: the provider comes again, or does not.
                if let Ok(stored) = appender.append(some(&mut random, 60, count)).await {
                    acked.extend(stored.created);
                }
            }
            acked
        }));
    }
    let mut workers = Vec::new();
    for _ in 0..3 {
        let pool = world.pool_with(victims).await;
        // Short, so that what a dead connection left comes back within the test.
        let lease = Lease { length: Duration::from_secs(1) };
        workers.push(tokio::spawn(work(pool, lease, Arc::clone(&appended))));
    }
    let mut random = StdRng::seed_from_u64(!seed);
    let mut killed = 0;
    while Instant::now() < until {
        let moment = Duration::from_millis(random.random_range(1..40));
        let next = Instant::now() + moment;
        killed += world
            .db
            .count(
                "select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity \
                 where application_name = 'victim' and datname = current_database() and state <> 'idle' \
                 order by random() limit 1) one",
            )
            .await;
        tokio::time::sleep_until(next.into()).await;
    }
    let mut acked = HashSet::new();
    for call in calls {
        acked.extend(call.await.unwrap());
    }
    appended.store(true, Ordering::Release);
    for worker in workers {
        worker.await.unwrap();
    }
    eventually("every chat is at rest", async || at_rest(&world.pool).await.then_some(())).await;
    println!("{} messages acked, {killed} connections killed", acked.len());
    assert!(killed > 20, "{killed}");
    check(&world, &acked).await;
}
