//! The pause switch and the breaker: rows that all replicas share and that outlive them.

use testkit::{Database, database, eventually};

use crate::platform::{Platform, Reply};
use crate::scene::{NewReport, Service, attempts, meddle, push, steps, until, until_it};

async fn pause(database: &Database, paused: bool) {
    sqlx::query(
        "insert into report.push_gate (channel, paused, changed_by, because) values ('whatsapp', $1, 'test', 'test')
         on conflict (channel) do update set paused = excluded.paused",
    )
    .bind(paused)
    .execute(&database.pool)
    .await
    .unwrap();
}

#[tokio::test]
async fn a_pause_stops_every_replica_and_outlives_them() {
    let (database, platform) = (database().await, Platform::start().await);
    let replicas =
        [Service::with(&database, &platform, &[]).await, Service::with(&database, &platform, &[]).await];
    let before = NewReport::default().insert(&database, 1).await;
    until(&database, before, "sent").await;
    pause(&database, true).await;
    for replica in &replicas {
        replica.until_metric(r#"abisu_partner_push_paused{channel="whatsapp"} 1"#).await;
    }
    let held = NewReport::default().insert(&database, 2).await;
    for replica in replicas {
        replica.stop().await;
    }
    let again = Service::with(&database, &platform, &[]).await;
    again.until_metric(r#"abisu_partner_push_paused{channel="whatsapp"} 1"#).await;
    let untouched = push(&database, held).await;
    assert_eq!((untouched.push_state.as_str(), untouched.push_epoch), ("pending", 0));
    pause(&database, false).await;
    until(&database, held, "sent").await;
    again.stop().await;
    assert_eq!(platform.creates(), 2);
}

#[tokio::test]
async fn a_pause_between_the_claim_and_the_send_is_heard() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.hold_logins();
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    eventually("a login", || async { (platform.logins() == 1).then_some(()) }).await;
    pause(&database, true).await;
    platform.release_logins();
    let back = until_it(&database, id, "back", |push| push.push_error.is_some()).await;
    assert_eq!((back.push_attempts, back.push_error.as_deref()), (0, Some("paused")));
    assert!(attempts(&database, id).await.is_empty());
    assert_eq!(platform.creates(), 0);
    pause(&database, false).await;
    until(&database, id, "sent").await;
    service.stop().await;
    assert_eq!(steps(&database, id).await, ["push_deferred", "pushed"]);
}

#[tokio::test]
async fn three_failures_in_all_hold_back_every_replica_also_new_ones() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(500); 20]);
    for number in 1..=12 {
        NewReport::default().insert(&database, number).await;
    }
    let flags = ["--partner-parallel=1", "--partner-defer=60000"];
    let replicas = [
        Service::with(&database, &platform, &flags).await,
        Service::with(&database, &platform, &flags).await,
    ];
    for replica in &replicas {
        replica.until_metric(r#"abisu_partner_push_breaker_open{channel="whatsapp"} 1"#).await;
    }
    let late = Service::with(&database, &platform, &flags).await;
    late.until_metric(r#"abisu_partner_push_breaker_open{channel="whatsapp"} 1"#).await;
    for service in replicas.into_iter().chain([late]) {
        service.stop().await;
    }
    // Three opened it; the other replica may have had one under way.
    let doubtful = database.count("select count(*) from report.report where push_state = 'review'").await;
    assert!((3..=4).contains(&doubtful), "{doubtful}");
    assert_eq!(i64::try_from(platform.creates()).unwrap(), doubtful);
    assert_eq!(database.count("select count(*) from report.report where push_attempts > 1").await, 0);
}

#[tokio::test]
async fn one_replica_tries_and_then_all_drain_at_the_set_rate() {
    let (database, platform) = (database().await, Platform::start().await);
    sqlx::query("insert into report.push_breaker (channel, state, trips) values ('whatsapp', 'open', 1)")
        .execute(&database.pool)
        .await
        .unwrap();
    let mut ids = Vec::new();
    for number in 1..=14 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    platform.hold_logins();
    let flags = ["--partner-drain-rate=10"];
    let replicas = [
        Service::with(&database, &platform, &flags).await,
        Service::with(&database, &platform, &flags).await,
    ];
    for replica in &replicas {
        replica.until_metric(r#"abisu_partner_push_breaker_open{channel="whatsapp"} 1"#).await;
    }
    eventually("the trial", || async { (platform.logins() == 1).then_some(()) }).await;
    assert_eq!(platform.creates(), 0);
    platform.release_logins();
    for &id in &ids {
        until(&database, id, "sent").await;
    }
    // One went out as the trial. Of the rest, two may go at once; the others take a tenth of a second each.
    let took: f64 = sqlx::query_scalar(
        "select extract(epoch from max(push_sent_at) - min(push_sent_at))::float8 from report.report",
    )
    .fetch_one(&database.pool)
    .await
    .unwrap();
    assert!(took > 0.9, "{took}");
    let drained = "select count(*) from report.push_breaker where state = 'closed' and not draining";
    eventually("the backlog is gone", || async { (database.count(drained).await == 1).then_some(()) }).await;
    for replica in replicas {
        replica.stop().await;
    }
    assert_eq!(platform.codes().len(), 14);
}

#[tokio::test]
async fn what_gathered_goes_out_oldest_first() {
    let (database, platform) = (database().await, Platform::start().await);
    pause(&database, true).await;
    let service = Service::with(&database, &platform, &["--partner-parallel=1"]).await;
    for number in 1..=8 {
        let id = NewReport::default().insert(&database, number).await;
        let age = "update report.report
                   set received_at = now() - make_interval(mins => right(reference, 1)::int) where id = $1";
        meddle(&database, id, age).await;
    }
    // Two of them have been tried before: that costs nobody his place.
    let tried = "update report.report set push_attempts = 2 where reference like '%1' or reference like '%8'";
    sqlx::query(tried).execute(&database.pool).await.unwrap();
    pause(&database, false).await;
    let all = "select count(*) from report.report where push_state = 'sent'";
    eventually("all are sent", || async { (database.count(all).await == 8).then_some(()) }).await;
    service.stop().await;
    let codes: Vec<String> =
        platform.records().iter().map(|one| one["external_code"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<String> = (1..=8).rev().map(|number| format!("REF-2026-{number:05}")).collect();
    assert_eq!(codes, expected);
}

#[tokio::test]
async fn a_trial_whose_owner_has_gone_is_taken_over() {
    let (database, platform) = (database().await, Platform::start().await);
    sqlx::query(
        "insert into report.push_breaker (channel, state, trips, owner, until)
         values ('whatsapp', 'trial', 1, gen_random_uuid(), now() + interval '1 hour')",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    service.until_metric(r#"abisu_partner_push_breaker_open{channel="whatsapp"} 1"#).await;
    assert_eq!(push(&database, id).await.push_epoch, 0);
    meddle(&database, id, "update report.push_breaker set until = now() where $1::uuid is not null").await;
    until(&database, id, "sent").await;
    service.stop().await;
}

#[tokio::test]
async fn a_pause_of_one_channel_holds_the_reports_of_no_other() {
    let (database, platform) = (database().await, Platform::start().await);
    pause(&database, true).await;
    let held = NewReport::default().insert(&database, 1).await;
    let free = NewReport::default().insert(&database, 2).await;
    sqlx::query("update report.report set channel = 'other' where id = $1")
        .bind(free)
        .execute(&database.pool)
        .await
        .unwrap();
    let flags = ["--channel", "whatsapp,other", "--database-pool", "40"];
    let service = Service::with(&database, &platform, &flags).await;
    until(&database, free, "sent").await;
    service.until_metric(r#"abisu_partner_push_paused{channel="whatsapp"} 1"#).await;
    service.until_metric(r#"abisu_partner_push_paused{channel="other"} 0"#).await;
    assert_eq!(push(&database, held).await.push_epoch, 0);
    pause(&database, false).await;
    until(&database, held, "sent").await;
    service.stop().await;
    assert_eq!((platform.creates(), platform.logins()), (2, 1), "one session for both");
}
