//! Roles: each service can do its work with its own rights, and nothing of another's.

use std::time::Duration;

use bus::append::{Appender, NewReceipt, NewRejection};
use bus::mailbox::{self, Claim, Outcome};
use bus::outbound::{self, NewOutbound};
use bus::outbox::{self, Evidence, NewAttempt, Settlement, Step};
use bus::photo::{self, NewFetch};
use chrono::{Days, Utc};
use runtime::database::with_tx;
use sqlx::PgPool;
use uuid::Uuid;

use crate::support::{CHANNEL, LEASE, PATIENCE, World, by_phone, delivery, settlement, world};

async fn pool_of(world: &World, role: &str) -> PgPool {
    PgPool::connect(&world.db.url_as(role)).await.expect("the role may log in")
}

/// Each statement is refused for want of rights, and for nothing else.
async fn forbidden(pool: &PgPool, statements: &[&'static str]) {
    for statement in statements {
        let refused = sqlx::query(*statement).execute(pool).await.expect_err(statement);
        let code = refused.as_database_error().and_then(|error| error.code().map(|code| code.into_owned()));
        assert_eq!(code.as_deref(), Some("42501"), "{statement}: {refused}");
    }
}

#[tokio::test]
async fn ingest_appends_and_sees_nothing() {
    let world = world().await;
    let pool = pool_of(&world, "abisu_ingest").await;
    let mut batch = delivery(vec![by_phone("34600000001", "a")]);
    batch.receipts = vec![NewReceipt {
        provider_id: "wamid.1".to_owned(),
        outbound_id: None,
        status: "sent".to_owned(),
        recipient: "34600000001".to_owned(),
        error_code: None,
        occurred_at: Utc::now(),
    }];
    batch.rejections = vec![NewRejection {
        message_id: None,
        reason: "unknown_number".to_owned(),
        detail: String::new(),
        raw: b"{}".to_vec(),
    }];
    let appender = Appender::new(pool.clone(), PATIENCE);
    for _ in 0..2 {
        assert_eq!(appender.append(batch.clone()).await.unwrap().created.len(), 1);
    }
    sqlx::query("select inbound.make_partitions_v1(8)").execute(&pool).await.unwrap();
    forbidden(
        &pool,
        &[
            "select * from inbound.event",
            "insert into inbound.event (chat_id, seq, activity_id, channel, message_id, kind, payload, received_at) \
             values (gen_random_uuid(), 1, gen_random_uuid(), 'a', 'a', 'a', '{}', now())",
            "select * from inbound.delivery",
            "select * from inbound.rejection",
            "delete from inbound.dedup",
            "update inbound.receipt set status = 'read'",
            "select inbound.append_receipts_v1('a', '{}', '{}', '{}', '{}', '{}', '{}')",
            "select inbound.replay_v1(gen_random_uuid(), gen_random_uuid(), 'a', 'a')",
            "select inbound.drop_detached_v1('event_20260101')",
            "select * from inbound.operation",
            "select * from chat.session",
            "select * from chat.chat",
            "update chat.chat set ready_at = null",
            "select * from chat.alias",
            "select * from report.report",
        ],
    )
    .await;
}

#[tokio::test]
async fn conversation_claims_settles_replies_and_buries_but_cannot_make_events() {
    let world = world().await;
    let pool = pool_of(&world, "abisu_conversation").await;
    world.chat_with("34600000001", 2).await;
    let owner = Uuid::now_v7();
    let claim = Claim { channel: CHANNEL, owner, chats: 1, events: 2, lease: LEASE, solo: false };
    let loan = mailbox::claim(&pool, &claim).await.unwrap().remove(0);
    assert_eq!(mailbox::renew(&pool, owner, &[(loan.chat_id, loan.epoch)], LEASE).await.unwrap().len(), 1);
    let report = world.received("REF-2026-00001").await;
    with_tx(
        &pool,
        (settlement(&loan, 2, Outcome::Done), loan.clone(), report),
        |tx, (settlement, loan, report)| {
            Box::pin(async move {
                mailbox::settle(tx, settlement).await?;
                mailbox::bury(tx, loan.chat_id, &loan.events[1], 6, "refused", "conversation").await?;
                let reply = NewOutbound {
                    id: Uuid::now_v7(),
                    payload: serde_json::json!("hola"),
                    prompt: Some(Uuid::now_v7()),
                    report_id: None,
                };
                let expires_at = Utc::now() + Days::new(1);
                outbound::enqueue(tx, CHANNEL, loan.chat_id, expires_at, None, &[reply]).await?;
                let fetch = NewFetch {
                    report_id: *report,
                    channel: CHANNEL,
                    media_id: "1",
                    sha256: None,
                    give_up_at: expires_at,
                    trace_context: None,
                };
                photo::enqueue(tx, &fetch).await
            })
        },
    )
    .await
    .unwrap();
    let replies = outbound::claim(&pool, CHANNEL, owner, 1, 10, LEASE).await.unwrap().remove(0);
    outbound::record_sent(&pool, CHANNEL, replies.outbounds[0].id, &["wamid.1".to_owned()]).await.unwrap();
    outbound::record_dropped(&pool, replies.outbounds[0].id, "late").await.unwrap();
    outbound::settle(&pool, &replies, 1, Outcome::Done, None).await.unwrap();
    assert!(outbound::prompt_of(&pool, CHANNEL, "wamid.1").await.unwrap().is_some());
    let fetch = photo::claim(&pool, CHANNEL, owner, 1, LEASE).await.unwrap().remove(0);
    photo::retry(&pool, &fetch, Duration::ZERO, "503").await.unwrap();
    let fetch = photo::claim(&pool, CHANNEL, owner, 1, LEASE).await.unwrap().remove(0);
    with_tx(&pool, fetch, |tx, fetch| {
        Box::pin(async move { photo::store(tx, fetch, b"hash", "image/jpeg", b"bytes").await })
    })
    .await
    .unwrap();
    forbidden(
        &pool,
        &[
            "update inbound.event set kind = 'other'",
            "delete from inbound.event",
            "update inbound.dead set error = ''",
            "select * from inbound.delivery",
            "select * from inbound.dedup",
            "update inbound.receipt set status = 'read'",
            "delete from inbound.receipt",
            "insert into chat.chat (id, channel) values (gen_random_uuid(), 'a')",
            "delete from chat.chat",
            "update chat.alias set chat_id = gen_random_uuid()",
            "select inbound.discard_v1(gen_random_uuid(), 'a', 'a')",
            "update inbound.channel_option set hold_on_dead = true",
            "update report.timeline set step = 'other'",
            "select * from report.push_attempt",
            "select inbound.make_partitions_v1(1)",
            "insert into flow.release select * from flow.release",
        ],
    )
    .await;
}

#[tokio::test]
async fn partner_push_pushes_and_never_touches_a_chat() {
    let world = world().await;
    let pool = pool_of(&world, "abisu_partner_push").await;
    let report = world.received("REF-2026-00001").await;
    let due = outbox::Claim {
        channel: CHANNEL,
        owner: Uuid::now_v7(),
        limit: 1,
        lease: LEASE,
        photo_wait: Duration::ZERO,
        allowed: false,
        unrefused: false,
    };
    let loan = outbox::claim(&pool, &due).await.unwrap().remove(0);
    assert!(outbox::renew(&pool, loan.report_id, loan.epoch, LEASE).await.unwrap());
    let attempt = NewAttempt {
        id: Uuid::now_v7(),
        owner: due.owner,
        endpoint: "https://partner.example",
        body_sha256: b"hash",
        trace_id: None,
    };
    assert!(outbox::open_attempt(&pool, &loan, &attempt, Duration::from_secs(1)).await.unwrap().is_some());
    let evidence = Evidence {
        outcome: "accepted".to_owned(),
        http_status: Some(201),
        partner_id: Some("INC-1".to_owned()),
        seen: "201".to_owned(),
    };
    let end = Settlement {
        report_id: report,
        epoch: loan.epoch,
        outcome: &outbox::Outcome::Sent { partner_id: Some("INC-1".to_owned()) },
        error: None,
        attempt: Some((attempt.id, &evidence)),
        awaited: Some((Some("T-1"), Duration::ZERO)),
        step: Some(Step {
            name: "pushed",
            once_in_a_row: true,
            trace_id: None,
            detail: &serde_json::json!({}),
        }),
    };
    let mut connection = pool.acquire().await.unwrap();
    outbox::settle(&mut connection, &end).await.unwrap();
    outbox::close_attempt(&mut connection, attempt.id, &evidence).await.unwrap();
    assert!(!outbox::lock_review(&mut connection, report, loan.epoch).await.unwrap());
    assert!(!outbox::send_again(&mut connection, report, loan.epoch, Duration::ZERO).await.unwrap());
    drop(connection);
    forbidden(
        &pool,
        &[
            "select * from chat.chat",
            "update chat.sender set ready_at = now()",
            "insert into chat.outbound select * from chat.outbound",
            "select * from chat.session",
            "select * from inbound.event",
            "insert into inbound.dead select * from inbound.dead",
            "delete from report.report",
            "delete from report.push_attempt",
            "delete from report.timeline",
            "update report.photo set bytes = ''",
        ],
    )
    .await;
}

#[tokio::test]
async fn geocode_reads_areas_and_nothing_of_anybody() {
    let world = world().await;
    let pool = pool_of(&world, "abisu_geocode").await;
    sqlx::query("select * from geo.current_area").fetch_all(&pool).await.unwrap();
    forbidden(
        &pool,
        &[
            "delete from geo.service_area",
            "select * from inbound.event",
            "select * from chat.chat",
            "select * from report.report",
            "select * from flow.release",
        ],
    )
    .await;
}

#[tokio::test]
async fn what_writes_may_be_called_only_by_whom_it_was_given_to() {
    let world = world().await;
    let open: Vec<String> = sqlx::query_scalar(
        "select p.oid::regprocedure::text from pg_proc p \
         where p.pronamespace in ('inbound'::regnamespace, 'chat'::regnamespace, 'report'::regnamespace) \
           and p.prorettype <> 'trigger'::regtype and has_function_privilege('public', p.oid, 'execute')",
    )
    .fetch_all(&world.pool)
    .await
    .unwrap();
    assert!(open.is_empty(), "{open:?}");
    let loose: Vec<String> = sqlx::query_scalar(
        "select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace \
         where n.nspname in ('inbound', 'chat', 'report', 'flow', 'geo', 'metrics') and p.prosecdef \
           and not exists (select from unnest(p.proconfig) c where c like 'search_path=%')",
    )
    .fetch_all(&world.pool)
    .await
    .unwrap();
    assert!(loose.is_empty(), "with its owner's rights and anybody's search path: {loose:?}");
}
