//! A partner whose creates leave doubts, for hours: no more reports wait for a person than must.

use testkit::{Database, database, eventually};

use crate::platform::{Platform, Reply};
use crate::scene::{NewReport, Service, push, until, until_it};

/// Four at a time: three failures open the breaker, and so many can be on their way by then.
const IN_FLIGHT: i64 = 3 + 3;

async fn reports(database: &Database, count: u32) -> Vec<uuid::Uuid> {
    let mut ids = Vec::new();
    for number in 1..=count {
        ids.push(NewReport::default().insert(database, number).await);
    }
    ids
}

async fn in_state(database: &Database, state: &'static str) -> i64 {
    let count = sqlx::query_scalar("select count(*) from report.report where push_state = $1").bind(state);
    count.fetch_one(&database.pool).await.unwrap()
}

async fn until_breaker(database: &Database, column: &'static str, least: i32) {
    eventually("trials", || async {
        let sql = if column == "trips" {
            "select coalesce(max(trips), 0) from report.push_breaker"
        } else {
            "select coalesce(max(doubts), 0) from report.push_breaker"
        };
        let reached: i32 = sqlx::query_scalar(sql).fetch_one(&database.pool).await.unwrap();
        (reached >= least).then_some(())
    })
    .await;
}

/// What is not in review goes out, each report once; nothing is dead.
async fn all_the_rest_go_out(database: &Database, platform: &Platform, ids: &[uuid::Uuid], review: i64) {
    for &id in ids {
        if push(database, id).await.push_state == "pending" {
            assert_eq!(until(database, id, "sent").await.push_attempts, 1, "the outage cost nothing");
        }
    }
    let sent = i64::try_from(ids.len()).unwrap() - review;
    assert_eq!((in_state(database, "review").await, in_state(database, "sent").await), (review, sent));
    let mut codes = platform.codes();
    codes.dedup();
    assert_eq!(codes.len(), platform.codes().len());
}

/// A failing partner is tried once a minute at most: so many trials are ten hours.
#[tokio::test]
async fn ten_hours_of_a_failing_platform_whose_login_works_leave_in_review_what_was_in_flight() {
    for silent in [false, true] {
        let (database, platform) = (database().await, Platform::start().await);
        platform.fail_creates(Some(if silent { Reply::Hold } else { Reply::Refuse(502) }));
        platform.fail_reads(true);
        let ids = reports(&database, 30).await;
        // A silent one makes the record and never says so: worse it cannot be.
        let flags = ["--partner-defer=1", "--poll=10", "--partner-drain-rate=1000"];
        let impatient =
            [&flags[..], &["--partner-send-timeout=1000", "--partner-connect-timeout=500"]].concat();
        let service = Service::with(&database, &platform, &impatient).await;
        // The silent one takes longer to show the same. Few at a time: on a busy machine each takes its time.
        let trials = if silent { 100 } else { 600 };
        for so_far in (20..=trials).step_by(20) {
            until_breaker(&database, "trips", so_far).await;
        }
        // Nothing is on its way any more once it has stopped.
        service.stop().await;
        let review = in_state(&database, "review").await;
        assert!((3..=IN_FLIGHT).contains(&review), "{review}");
        assert_eq!(in_state(&database, "dead").await, 0);
        assert_eq!(i64::try_from(platform.creates()).unwrap(), review, "no trial was a create");
        platform.fail_creates(None);
        platform.fail_reads(false);
        // With time enough for whatever goes now.
        let service = Service::with(&database, &platform, &flags).await;
        all_the_rest_go_out(&database, &platform, &ids, review).await;
        service.stop().await;
    }
}

/// Where everything but creates works, only a create can tell, and they are few: with these settings ten hours take seven
/// seconds, and the sixth trial would come after them.
#[tokio::test]
async fn ten_hours_in_which_only_creates_fail_risk_five_reports_and_a_person_can_end_them() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.fail_creates(Some(Reply::Refuse(500)));
    let ids = reports(&database, 30).await;
    let flags = ["--partner-defer=1", "--poll=10", "--partner-drain-rate=1000"];
    let service = Service::with(&database, &platform, &flags).await;
    until_breaker(&database, "doubts", 6).await;
    platform.fail_creates(None);
    // The breaker hears of the last one before the books do.
    let review = eventually("the books", || async {
        let review = in_state(&database, "review").await;
        (usize::try_from(review) == Ok(platform.creates())).then_some(review)
    })
    .await;
    assert!((3 + 5..=IN_FLIGHT + 5).contains(&review), "{review}");
    // As `abisu outbox resume` does.
    let resume = "update report.push_breaker set until = now(), doubts = 0 where state = 'open'";
    sqlx::query(resume).execute(&database.pool).await.unwrap();
    all_the_rest_go_out(&database, &platform, &ids, review).await;
    service.stop().await;
}

/// Some frameworks answer 500 to a method that they do not have.
#[tokio::test]
async fn a_platform_whose_reads_never_work_is_not_waited_for_in_vain() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.fail_reads(true);
    let flags = ["--partner-defer=1", "--poll=10", "--partner-drain-rate=1000", "--partner-parallel=1"];
    let service = Service::with(&database, &platform, &flags).await;
    // Once three have shown that creates work where reads do not, a read is no sign any more.
    for number in 101..=103 {
        let id = NewReport::default().insert(&database, number).await;
        until(&database, id, "sent").await;
    }
    eventually("reads", || async { (platform.reads() == 3).then_some(()) }).await;
    platform.fail_creates(Some(Reply::Refuse(500)));
    let ids = reports(&database, 20).await;
    until_breaker(&database, "doubts", 3).await;
    platform.fail_creates(None);
    for &id in &ids {
        until_it(&database, id, "an end", |push| push.push_state != "pending").await;
    }
    service.stop().await;
    let (review, sent) = (in_state(&database, "review").await, in_state(&database, "sent").await);
    assert!((5..10).contains(&review) && review + sent == 23, "{review} in review, {sent} sent");
    assert_eq!(platform.reads(), 3, "it is not asked in vain either");
}

/// One that was started in the outage knows nothing of reads. It believes them for half a day.
#[tokio::test]
async fn where_reads_do_not_come_back_a_report_is_risked_after_half_a_day() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.fail_reads(true);
    let shut = "insert into report.push_breaker (channel, state, cause, trips, doubts)
                values ('whatsapp', 'open', 'uncertain', 700, 4)";
    sqlx::query(shut).execute(&database.pool).await.unwrap();
    let ids = reports(&database, 3).await;
    let flags = ["--partner-defer=1", "--poll=10", "--partner-drain-rate=1000"];
    let service = Service::with(&database, &platform, &flags).await;
    for &id in &ids {
        until(&database, id, "sent").await;
    }
    service.stop().await;
    assert!(platform.logins() >= 20, "nothing was risked before: {}", platform.logins());
}

/// A doubt that a search clears up costs nobody anything, however often the outage makes it.
#[tokio::test]
async fn an_outage_of_creates_kills_no_report_that_is_proven_absent_again_and_again() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.fail_creates(Some(Reply::Refuse(500)));
    let ids = reports(&database, 2).await;
    let flags = [
        "--partner-search",
        "--partner-probe-delay=160",
        "--partner-send-timeout=150",
        "--partner-connect-timeout=100",
        "--partner-defer=1",
        "--poll=10",
        "--partner-parallel=1",
    ];
    let service = Service::with(&database, &platform, &flags).await;
    eventually("more attempts than one report has", || async {
        let least = "select coalesce(min(n), 0) from
            (select count(*) as n from report.push_attempt where outcome in ('ambiguous', 'absent') group by report_id) of";
        (platform.creates() > 2 && database.count(least).await > 6).then_some(())
    })
    .await;
    assert_eq!(in_state(&database, "dead").await, 0);
    platform.fail_creates(None);
    for &id in &ids {
        assert!(until(&database, id, "sent").await.push_attempts <= 5);
    }
    service.stop().await;
    assert_eq!(platform.codes(), ["REF-2026-00001", "REF-2026-00002"]);
}
