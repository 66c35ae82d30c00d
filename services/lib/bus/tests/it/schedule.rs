//! The protocol under schedules that nobody chose: seeded, bounded, checked from what the handlers wrote.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bus::mailbox::{self, Claim, Claimed, Outcome};
use bus::outbound::{self, NewOutbound};
use bus::{Error, MAX_ATTEMPTS};
use chrono::{Days, Utc};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use runtime::database::with_tx;
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, by_phone, delivery, settlement, world};

const CHATS: usize = 12;
const EVENTS: usize = 15;

/// Written in the transaction that settles: the books of a handler.
const BOOKS: &str = "create table public.handled (place bigint generated always as identity, chat_id uuid, seq bigint, \
                     epoch bigint, dead boolean, primary key (chat_id, seq))";

/// A loan whose settle counted, from the answer of its claim until its settle was sent.
#[derive(Debug, Clone, Copy)]
struct Held {
    chat: Uuid,
    epoch: i64,
    from: Instant,
    to: Instant,
}

#[tokio::test]
async fn whatever_workers_do_each_event_is_handled_once_and_in_its_order() {
    let seed: u64 = rand::rng().random();
    println!("seed {seed}");
    let world = world().await;
    world.run(BOOKS).await;
    let appending = {
        let appender = world.appender.clone();
        let mut random = StdRng::seed_from_u64(seed);
        tokio::spawn(async move {
            let mut left: Vec<(usize, usize)> = (0..CHATS).map(|chat| (chat, 0)).collect();
            while !left.is_empty() {
                let mut events = Vec::new();
                for (chat, sent) in &mut left {
                    for _ in 0..random.random_range(0..4_usize).min(EVENTS - *sent) {
                        *sent += 1;
                        events.push(by_phone(&format!("346000000{chat:02}"), &format!("{chat}-{sent}")));
                    }
                }
                left.retain(|(_, sent)| *sent < EVENTS);
                appender.append(delivery(events)).await.unwrap();
            }
        })
    };
    let held: Arc<Mutex<Vec<Held>>> = Arc::default();
    let workers: Vec<_> = (0..4_u64)
        .map(|number| {
            let random = StdRng::seed_from_u64(seed ^ (number + 1));
            tokio::spawn(work(world.pool.clone(), random, Arc::clone(&held)))
        })
        .collect();
    appending.await.unwrap();
    let mut fenced = 0;
    for worker in workers {
        fenced += worker.await.unwrap();
    }
    println!("{fenced} settles were fenced");

    let handled: Vec<(Uuid, i64, i64)> =
        sqlx::query_as("select chat_id, seq, epoch from public.handled order by chat_id, place")
            .fetch_all(&world.pool)
            .await
            .unwrap();
    assert_eq!(handled.len(), CHATS * EVENTS, "seed {seed}");
    for chat in handled.chunk_by(|a, b| a.0 == b.0) {
        assert!(chat.iter().map(|row| row.1).eq(1..=i64::try_from(EVENTS).unwrap()), "seed {seed}: {chat:?}");
        assert!(chat.is_sorted_by_key(|row| row.2), "seed {seed}: a stale epoch wrote: {chat:?}");
    }
    let mut held = held.lock().unwrap().clone();
    held.sort_by_key(|one| (one.chat, one.epoch));
    for two in held.windows(2).filter(|two| two[0].chat == two[1].chat) {
        assert!(two[0].to <= two[1].from, "seed {seed}: two workers at once: {two:?}");
    }
    let in_rest =
        "select count(*) from chat.chat where owner is null and ready_at is null and done_seq = next_seq - 1";
    assert_eq!(world.db.count(in_rest).await, i64::try_from(CHATS).unwrap(), "seed {seed}");
    let books = "select count(*) from public.handled where dead";
    assert_eq!(world.db.count(books).await, world.db.count("select count(*) from inbound.dead").await);
}

/// Works until everything is done; sometimes fails, waits, stops half way, dies, or comes back from the dead. Returns
/// how often it was fenced.
async fn work(pool: PgPool, mut random: StdRng, held: Arc<Mutex<Vec<Held>>>) -> u32 {
    let mut fenced = 0;
    loop {
        let mut asleep: Vec<Claimed> = Vec::new();
        let solo = random.random_bool(0.3);
        let claim = Claim {
            channel: CHANNEL,
            owner: Uuid::now_v7(),
            chats: random.random_range(1..5),
            events: random.random_range(1..5),
            lease: LEASE,
            solo,
        };
        let loans = mailbox::claim(&pool, &claim).await.unwrap();
        let from = Instant::now();
        // True if it was fenced.
        let end = async |loan: &Claimed, done: usize, outcome: Outcome| {
            let to = Instant::now();
            let counts = settle(&pool, loan, done, outcome).await;
            if counts {
                held.lock().unwrap().push(Held { chat: loan.chat_id, epoch: loan.epoch, from, to });
            }
            !counts
        };
        for loan in loans {
            let all = loan.events.len();
            assert!(all > 0, "a chat is handed out with its head");
            let done = random.random_range(0..=all);
            let (done, outcome) = match random.random_range(0..10) {
                0 => (done.min(all - 1), Outcome::Retry(Duration::from_millis(5))),
                1 => (done.min(all - 1), Outcome::Defer(Duration::from_millis(5))),
                2 => (done, Outcome::Release),
                // Somebody else finds the lease over while this one still works.
                3..=5 => {
                    sqlx::query("update chat.chat set ready_at = now() where id = $1 and epoch = $2")
                        .bind(loan.chat_id)
                        .bind(loan.epoch)
                        .execute(&pool)
                        .await
                        .unwrap();
                    asleep.push(loan);
                    continue;
                }
                _ => (all, Outcome::Done),
            };
            fenced += u32::from(end(&loan, done, outcome).await);
        }
        for loan in asleep {
            let done = random.random_range(0..=loan.events.len());
            fenced += u32::from(end(&loan, done, Outcome::Release).await);
        }
        let left: i64 = sqlx::query_scalar("select $1 - count(*) from public.handled")
            .bind(i64::try_from(CHATS * EVENTS).unwrap())
            .fetch_one(&pool)
            .await
            .unwrap();
        if left == 0 {
            return fenced;
        }
    }
}

/// False if it was fenced.
async fn settle(pool: &PgPool, loan: &Claimed, done: usize, outcome: Outcome) -> bool {
    // Out of attempts: the head is given up instead of run.
    let dead = i32::from(loan.attempts) > MAX_ATTEMPTS;
    let settlement = if dead { settlement(loan, 1, Outcome::Done) } else { settlement(loan, done, outcome) };
    let ended = with_tx(pool, (settlement, loan.clone(), dead), |tx, (settlement, loan, dead)| {
        Box::pin(async move {
            mailbox::settle(tx, settlement).await?;
            if *dead {
                mailbox::bury(tx, loan.chat_id, &loan.events[0], loan.attempts, "too often", "test").await?;
            }
            for event in loan.events.iter().filter(|event| event.seq <= settlement.done_seq) {
                sqlx::query("insert into public.handled (chat_id, seq, epoch, dead) values ($1, $2, $3, $4)")
                    .bind(loan.chat_id)
                    .bind(event.seq)
                    .bind(loan.epoch)
                    .bind(*dead)
                    .execute(&mut *tx)
                    .await?;
            }
            Ok(())
        })
    })
    .await;
    match ended {
        Ok(()) => true,
        Err(Error::Fenced) => false,
        Err(error) => panic!("the settle failed: {error:?}"),
    }
}

/// Batches that name the same chats in any order, against settles that also reply. A deadlock is looked for after a
/// millisecond, so that none can hide behind the append's own short wait for locks.
#[tokio::test]
async fn appends_and_settles_never_wait_for_each_other_in_a_circle() {
    let world = world().await;
    let pool = world.pool_with(&[("deadlock_timeout", "1ms")]).await;
    let appending: Vec<_> = (0..3_u64)
        .map(|number| {
            let appender = bus::append::Appender::new(pool.clone(), crate::support::PATIENCE);
            let mut random = StdRng::seed_from_u64(number);
            tokio::spawn(async move {
                for batch in 0..25 {
                    let mut chats: Vec<usize> = (0..40).collect();
                    chats.shuffle(&mut random);
                    let events = chats
                        .iter()
                        .map(|chat| {
                            by_phone(&format!("346000000{chat:02}"), &format!("{number}-{batch}-{chat}"))
                        })
                        .collect();
                    appender.append(delivery(events)).await.unwrap();
                }
            })
        })
        .collect();
    let (all, settled) = (3 * 25 * 40, "select coalesce(sum(done_seq), 0)::bigint from chat.chat");
    let settling: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut done: i64 = 0;
                while done < all {
                    let claim = Claim {
                        channel: CHANNEL,
                        owner: Uuid::now_v7(),
                        chats: 10,
                        events: 10,
                        lease: LEASE,
                        solo: false,
                    };
                    for loan in mailbox::claim(&pool, &claim).await.unwrap() {
                        let settlement = settlement(&loan, loan.events.len(), Outcome::Done);
                        with_tx(&pool, settlement, |tx, settlement| {
                            Box::pin(async move {
                                mailbox::settle(tx, settlement).await?;
                                let reply = NewOutbound {
                                    id: Uuid::now_v7(),
                                    payload: serde_json::json!("hola"),
                                    prompt: None,
                                    report_id: None,
                                };
                                let expires_at = Utc::now() + Days::new(1);
                                outbound::enqueue(tx, CHANNEL, settlement.chat_id, expires_at, None, &[reply])
                                    .await
                            })
                        })
                        .await
                        .unwrap();
                    }
                    done = sqlx::query_scalar(settled).fetch_one(&pool).await.unwrap();
                }
            })
        })
        .collect();
    for task in appending.into_iter().chain(settling) {
        task.await.unwrap();
    }
    // A backend reports what it counted when it goes.
    pool.close().await;
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(world.db.count(deadlocks).await, 0);
}
