//! A partner that fails for everybody costs no report anything.

use std::net::SocketAddr;

use testkit::{Database, database, eventually};
use tokio::net::TcpListener;

use crate::platform::{Platform, Reply};
use crate::scene::{NewReport, Service, attempts, meddle, push, steps, until, until_it};

#[tokio::test]
async fn an_outage_charges_nothing_and_the_backlog_drains_after_it() {
    let database = database().await;
    let address = free_address().await;
    let mut ids = Vec::new();
    for number in 1..=6 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    let service = Service::start(&database, &format!("http://{address}"), &[]).await;
    service.until_metric(r#"abisu_partner_push_breaker_open{channel="whatsapp"} 1"#).await;
    for &id in &ids {
        // Four were claimed and came back; two were never touched, since the breaker tries by logins.
        let waiting = until_it(&database, id, "back", |push| push.push_attempts == 0).await;
        assert_eq!(waiting.push_state, "pending");
    }
    let platform = Platform::start_at(address).await;
    for &id in &ids {
        let sent = until(&database, id, "sent").await;
        assert_eq!(sent.push_attempts, 1);
        let steps = steps(&database, id).await;
        assert!(matches!(&steps[..], [last] | [_, last] if last == "pushed"), "{steps:?}");
    }
    service.stop().await;
    assert_eq!((platform.codes().len(), platform.creates()), (6, 6));
}

/// The breaker tries once a minute at most: so many trials are ten hours of an outage.
const TEN_HOURS: i32 = 600;

#[tokio::test]
async fn ten_hours_without_a_connection_leave_every_report_as_it_was() {
    let database = database().await;
    let address = free_address().await;
    let mut ids = Vec::new();
    for number in 1..=30 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    let flags = ["--partner-defer=1", "--poll=10", "--partner-drain-rate=1000"];
    let service = Service::start(&database, &format!("http://{address}"), &flags).await;
    // Few at a time: on a busy machine each takes its time.
    for so_far in (20..=TEN_HOURS).step_by(20) {
        eventually("trials", || async {
            let trips =
                sqlx::query_scalar::<_, i32>("select coalesce(max(trips), 0) from report.push_breaker");
            (trips.fetch_one(&database.pool).await.unwrap() >= so_far).then_some(())
        })
        .await;
    }
    let untouched = "select count(*) from report.report where push_state = 'pending' and push_attempts = 0";
    assert_eq!(database.count(untouched).await, 30);
    let noted = database.count("select count(*) from report.push_attempt where outcome <> 'not_sent'").await;
    assert_eq!(noted, 0, "no request can have arrived");
    // The alarm is there for as long as the outage is, not only at its beginning.
    service.until_metric(r#"abisu_partner_push_breaker_open{channel="whatsapp"} 1"#).await;
    service.until_metric("abisu_partner_push_outbox_pending 30").await;
    let platform = Platform::start_at(address).await;
    for &id in &ids {
        assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    }
    service.stop().await;
    assert_eq!((platform.codes().len(), platform.creates()), (30, 30));
}

#[tokio::test]
async fn a_failing_login_defers() {
    for status in [500, 401, 429] {
        let (database, platform) = (database().await, Platform::start().await);
        platform.answer_logins(Some(status));
        let id = NewReport::default().insert(&database, 1).await;
        let service = Service::with(&database, &platform, &[]).await;
        // It may be claimed again at any moment; what counts is that it always comes back.
        let back = |push: &crate::scene::Push| push.push_error.is_some() && push.push_attempts == 0;
        let waiting = until_it(&database, id, "given back", back).await;
        assert_eq!(waiting.push_state, "pending", "{status}");
        assert!(waiting.push_error.unwrap().starts_with("login_"));
        service.stop().await;
        assert_eq!(platform.creates(), 0);
    }
}

#[tokio::test]
async fn a_wrong_right_or_path_holds_the_backlog_and_kills_nothing() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(403), Reply::Refuse(404), Reply::Refuse(405)]);
    let first = NewReport::default().insert(&database, 1).await;
    let second = NewReport::default().insert(&database, 2).await;
    let service = Service::with(&database, &platform, &["--partner-parallel=1"]).await;
    for id in [first, second] {
        assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    }
    service.stop().await;
    // Three requests were refused, each one alone, before somebody put it right.
    assert_eq!((platform.codes().len(), platform.creates()), (2, 5));
    let refused = [attempts(&database, first).await, attempts(&database, second).await].concat();
    assert_eq!(refused.iter().filter(|outcome| *outcome == "misconfigured").count(), 3);
}

/// Waits until the breaker has opened so often in a row because we were refused.
async fn until_refused(database: &Database, trips: i64) {
    let reached =
        "select coalesce(max(trips), 0)::int8 from report.push_breaker where cause = 'misconfigured'";
    eventually("trials", || async { (database.count(reached).await >= trips).then_some(()) }).await;
}

/// However often they are refused, it is nobody's own while nobody is taken.
#[tokio::test]
async fn a_wrong_path_stays_a_matter_of_all_for_as_long_as_it_lasts() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.fail_creates(Some(Reply::Refuse(404)));
    let mut ids = Vec::new();
    for number in 1..=3 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    let flags = ["--partner-defer=1", "--poll=10", "--partner-parallel=1"];
    let service = Service::with(&database, &platform, &flags).await;
    until_refused(&database, 8).await;
    platform.fail_creates(None);
    for &id in &ids {
        assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    }
    service.stop().await;
    assert_eq!(platform.codes().len(), 3);
}

/// A platform that does not know a category, or gives us no right to it, may say so by the status of a wrong path.
#[tokio::test]
async fn a_category_that_alone_is_refused_its_path_or_right_holds_up_no_other() {
    for status in [403, 404] {
        let (database, platform) = (database().await, Platform::start().await);
        platform.refuse_category(Some(("PINTADAS", status)));
        let refused = || NewReport { route: "street/graffiti", ..NewReport::default() };
        let mut ids = vec![refused().insert(&database, 1).await];
        for number in 2..=6 {
            ids.push(NewReport::default().insert(&database, number).await);
        }
        let service =
            Service::with(&database, &platform, &["--partner-defer=5", "--partner-parallel=1"]).await;
        for &id in &ids[1..] {
            assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
        }
        // Now that others have been taken, neither it nor another of its kind opens anything.
        let opened = "select coalesce(max(changed_at), now()) from report.push_breaker";
        let opened: chrono::DateTime<chrono::Utc> =
            sqlx::query_scalar(opened).fetch_one(&database.pool).await.unwrap();
        ids.push(refused().insert(&database, 7).await);
        for id in [ids[0], ids[6]] {
            eventually("refused", || async {
                let outcomes = attempts(&database, id).await;
                assert!(outcomes.iter().all(|outcome| outcome == "misconfigured" || outcome == "open"));
                (outcomes.len() >= if id == ids[0] { 2 } else { 1 }).then_some(())
            })
            .await;
            let waiting = until_it(&database, id, "aside", |push| push.push_attempts == 0).await;
            assert_eq!(waiting.push_state, "pending", "{status}");
        }
        let late = NewReport::default().insert(&database, 8).await;
        until(&database, late, "sent").await;
        let since = sqlx::query_scalar("select changed_at <= $1 from report.push_breaker").bind(opened);
        assert!(since.fetch_one(&database.pool).await.unwrap_or(true), "{status}");
        platform.refuse_category(None);
        for id in [ids[0], ids[6]] {
            until(&database, id, "sent").await;
        }
        service.stop().await;
        assert_eq!(platform.codes().len(), 8);
    }
}

#[tokio::test]
async fn a_category_of_which_a_report_was_taken_since_is_not_what_is_refused() {
    let (database, platform) = (database().await, Platform::start().await);
    let flags = ["--partner-defer=1", "--poll=10", "--partner-parallel=1"];
    let service = Service::with(&database, &platform, &flags).await;
    platform.answer(&[Reply::Refuse(404)]);
    let first = NewReport::default().insert(&database, 1).await;
    until(&database, first, "sent").await;
    assert_eq!(attempts(&database, first).await, ["misconfigured", "accepted"]);
    platform.fail_creates(Some(Reply::Refuse(404)));
    let second = NewReport::default().insert(&database, 2).await;
    until_refused(&database, 3).await;
    platform.fail_creates(None);
    until(&database, second, "sent").await;
    service.stop().await;
}

/// Being the oldest, its turn would come first also when the contractor is back after an outage.
#[tokio::test]
async fn a_report_that_was_refused_its_path_or_right_is_the_last_to_be_tried_with() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.refuse_category(Some(("PINTADAS", 404)));
    let refused = NewReport { route: "street/graffiti", ..NewReport::default() }.insert(&database, 1).await;
    let mark = "update report.report set push_error = 'misconfigured: http 404' where id = $1";
    meddle(&database, refused, mark).await;
    let other = NewReport::default().insert(&database, 2).await;
    sqlx::query("insert into report.push_breaker (channel, state, trips) values ('whatsapp', 'open', 1)")
        .execute(&database.pool)
        .await
        .unwrap();
    let service = Service::with(&database, &platform, &["--partner-parallel=1", "--partner-defer=5"]).await;
    until(&database, other, "sent").await;
    eventually("the other", || async { (!attempts(&database, refused).await.is_empty()).then_some(()) })
        .await;
    let first = "select external_code from report.push_attempt order by id limit 1";
    let first: String = sqlx::query_scalar(first).fetch_one(&database.pool).await.unwrap();
    assert_eq!(first, "REF-2026-00002");
    // Where there is nothing else, it is tried with all the same.
    platform.refuse_category(None);
    until(&database, refused, "sent").await;
    service.stop().await;
}

#[tokio::test]
async fn a_throttle_is_waited_out() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Throttle("1")]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    let waiting = until_it(&database, id, "deferred", |push| push.push_error.is_some()).await;
    assert_eq!((waiting.push_state.as_str(), waiting.push_attempts), ("pending", 0));
    assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    service.stop().await;
    assert_eq!(steps(&database, id).await, ["push_deferred", "pushed"]);
}

#[tokio::test]
async fn doubt_in_a_row_holds_the_rest_back() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(500); 3]);
    let mut ids = Vec::new();
    for number in 1..=5 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    let service = Service::with(&database, &platform, &["--partner-parallel=1"]).await;
    for &id in &ids {
        until_it(&database, id, "settled", |push| push.push_state != "pending").await;
    }
    service.stop().await;
    let mut states = Vec::new();
    for &id in &ids {
        states.push(push(&database, id).await.push_state);
    }
    states.sort();
    assert_eq!(states, ["review", "review", "review", "sent", "sent"]);
    assert_eq!(platform.creates(), 5);
}

/// An address that nobody listens on.
async fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}
