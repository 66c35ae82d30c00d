//! The queries that KEDA asks, on a real database, as the role that it asks with.

use serde_json::json;
use sqlx::{Connection, PgConnection, PgPool, Row};

use super::support;

/// The query that a service is scaled by, as rendered.
fn query(name: &str) -> String {
    let rendered = support::render("abisu", "full", &json!({}));
    let trigger = &rendered.one("ScaledObject", name)["spec"]["triggers"][0]["metadata"];
    trigger["query"].as_str().unwrap().to_owned()
}

async fn ask(on: &mut PgConnection, query: &str) -> f64 {
    sqlx::query(sqlx::AssertSqlSafe(query)).fetch_one(on).await.unwrap().get::<f64, _>(0)
}

async fn run(pool: &PgPool, statement: &'static str) {
    sqlx::raw_sql(statement).execute(pool).await.unwrap();
}

#[tokio::test]
async fn ready_chats_count_and_those_on_loan_or_waiting_do_not() {
    let database = testkit::database().await;
    let query = query("abisu-conversation");
    let mut keda = PgConnection::connect(&database.url_as("abisu_metrics")).await.unwrap();
    assert!(ask(&mut keda, &query).await.abs() < 0.1, "an empty queue is 0");
    run(
        &database.pool,
        "insert into chat.chat (id, channel, next_seq, ready_at, owner) values
           (gen_random_uuid(), 'whatsapp', 2, now() - interval '1 s', null),
           (gen_random_uuid(), 'other', 2, now() - interval '1 s', null),
           (gen_random_uuid(), 'whatsapp', 2, now() + interval '30 s', gen_random_uuid()),
           (gen_random_uuid(), 'whatsapp', 2, now() + interval '30 s', null),
           (gen_random_uuid(), 'whatsapp', 2, null, null)",
    )
    .await;
    assert!((ask(&mut keda, &query).await - 2.0).abs() < 0.1);
}

#[tokio::test]
async fn due_reports_count_unless_the_outbox_is_paused_or_the_breaker_not_closed() {
    let database = testkit::database().await;
    let query = query("abisu-partner-push");
    let mut keda = PgConnection::connect(&database.url_as("abisu_metrics")).await.unwrap();
    assert!(ask(&mut keda, &query).await.abs() < 0.1, "an empty outbox is 0");
    run(
        &database.pool,
        "insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, area_version, route,
           received_at, push_without_photo, push_visible_at, push_state)
         select gen_random_uuid(), 'whatsapp', gen_random_uuid(), 'received', 'REF-2026-0000' || n, 'es',
           public.st_setsrid(public.st_makepoint(-2.67, 42.84), 4326), 'a', 1, 'street/graffiti', now(),
           -- the second waits for its photo, the third is not visible, the fourth is sent
           n <> 2, now() + case when n = 3 then interval '1 min' else interval '-1 s' end,
           case when n = 4 then 'sent' else 'pending' end
         from generate_series(1, 5) n",
    )
    .await;
    assert!((ask(&mut keda, &query).await - 2.0).abs() < 0.1);
    for (on, off) in [
        (
            "insert into report.push_gate (channel, paused, changed_by, because) values ('whatsapp', true, 'test', 'test')",
            "delete from report.push_gate",
        ),
        (
            "insert into report.push_breaker (channel, state) values ('whatsapp', 'open')",
            "update report.push_breaker set state = 'closed'",
        ),
    ] {
        run(&database.pool, on).await;
        assert!(ask(&mut keda, &query).await.abs() < 0.1, "{on}");
        run(&database.pool, off).await;
        assert!((ask(&mut keda, &query).await - 2.0).abs() < 0.1, "{off}");
    }
}

#[tokio::test]
async fn who_watches_sees_how_the_way_to_a_contractor_stands() {
    let database = testkit::database().await;
    run(
        &database.pool,
        "insert into report.push_breaker (channel, state, doubts) values ('whatsapp', 'open', 2)",
    )
    .await;
    let mut watcher = PgConnection::connect(&database.url_as("abisu_metrics")).await.unwrap();
    let asked = "select doubts::float8 from metrics.breaker where channel = 'whatsapp' and state = 'open'";
    assert!((ask(&mut watcher, asked).await - 2.0).abs() < 0.1);
}

#[tokio::test]
async fn the_role_sees_counters_and_nothing_else() {
    let database = testkit::database().await;
    let mut keda = PgConnection::connect(&database.url_as("abisu_metrics")).await.unwrap();
    for statement in [
        "select count(*) from chat.chat",
        "select count(*) from chat.alias",
        "select count(*) from report.report",
        "select count(*) from inbound.event",
        "insert into metrics.ready_chat values ('x', 1)",
        "update metrics.breaker set state = 'closed'",
        "create table metrics.mine ()",
    ] {
        let error = sqlx::raw_sql(statement).execute(&mut keda).await.unwrap_err();
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap();
        // Not permitted; an insert into a grouped view is not possible in the first place.
        assert!(matches!(&*code, "42501" | "55000"), "{statement}: {error}");
    }
}
