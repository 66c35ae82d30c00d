//! What may have arrived is never sent again by itself.

use testkit::{database, eventually};
use uuid::Uuid;

use crate::platform::{Platform, Reply};
use crate::scene::{NewReport, Service, attempts, meddle, push, steps, until, until_it};

/// Also at the sixth claim: what may have arrived is not given up as if it had not.
#[tokio::test]
async fn an_attempt_found_open_is_for_a_person_however_many_there_were() {
    let (database, platform) = (database().await, Platform::start().await);
    let mut ids = Vec::new();
    for number in [1, 2] {
        let id = NewReport::default().insert(&database, number).await;
        sqlx::query(
            "insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256)
             values ($1, $2, 1, 'http://platform', 'REF-2026-0000' || $3, '\\x00')",
        )
        .bind(Uuid::now_v7())
        .bind(id)
        .bind(number.to_string())
        .execute(&database.pool)
        .await
        .unwrap();
        ids.push(id);
    }
    meddle(&database, ids[1], "update report.report set push_attempts = 5 where id = $1").await;
    let service = Service::with(&database, &platform, &[]).await;
    for id in ids {
        let review = until(&database, id, "review").await;
        assert_eq!(review.push_error.as_deref(), Some("attempt_open"));
        assert_eq!(attempts(&database, id).await, ["open"]);
    }
    service.stop().await;
    assert_eq!(platform.creates(), 0);
}

#[tokio::test]
async fn an_answer_that_leaves_a_doubt_is_for_a_person() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::AcceptAndFail(500)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    until(&database, id, "review").await;
    service.stop().await;
    assert_eq!(attempts(&database, id).await, ["ambiguous"]);
    assert_eq!(steps(&database, id).await, ["push_review"]);
    assert_eq!(platform.codes(), ["REF-2026-00001"]);
}

#[tokio::test]
async fn without_a_lease_nothing_leaves() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.hold_logins();
    let lost = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &["--partner-parallel=1"]).await;
    eventually("a login", || async { (platform.logins() == 1).then_some(()) }).await;
    meddle(
        &database,
        lost,
        "update report.report
         set push_epoch = push_epoch + 1, push_owner = gen_random_uuid(), push_visible_at = now() + interval '1 hour'
         where id = $1",
    )
    .await;
    platform.release_logins();
    // The one slot takes the next report only when it is done with the first.
    let next = NewReport::default().insert(&database, 2).await;
    until(&database, next, "sent").await;
    service.stop().await;
    assert_eq!(platform.codes(), ["REF-2026-00002"]);
    assert_eq!(platform.creates(), 1);
    let untouched = push(&database, lost).await;
    assert_eq!((untouched.push_state.as_str(), untouched.push_epoch), ("pending", 2));
    assert!(attempts(&database, lost).await.is_empty());
}

#[tokio::test]
async fn a_late_answer_resolves_the_review_of_another_worker() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Hold]);
    let id = NewReport::default().insert(&database, 1).await;
    let slow = Service::with(&database, &platform, &[]).await;
    eventually("a create", || async { (platform.creates() == 1).then_some(()) }).await;
    assert_eq!(attempts(&database, id).await, ["open"], "it was noted before it left");
    // The lease ends too early, a second process takes the report and finds the attempt open.
    meddle(&database, id, "update report.report set push_visible_at = now() where id = $1").await;
    let other = Service::with(&database, &platform, &[]).await;
    until(&database, id, "review").await;
    platform.release();
    let sent = until(&database, id, "sent").await;
    slow.stop().await;
    other.stop().await;
    assert_eq!(sent.partner_id.as_deref(), Some("INC-1"));
    assert_eq!(attempts(&database, id).await, ["accepted"]);
    assert_eq!(steps(&database, id).await, ["push_review", "pushed"]);
    assert_eq!(platform.creates(), 1);
}

/// A probe comes after 400 ms and again two seconds later.
const SEARCHABLE: [&str; 4] = [
    "--partner-search",
    "--partner-probe-delay=400",
    "--partner-send-timeout=350",
    "--partner-connect-timeout=200",
];

#[tokio::test]
async fn a_record_that_is_found_makes_the_report_sent() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::AcceptAndFail(502)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &SEARCHABLE).await;
    let sent = until(&database, id, "sent").await;
    service.stop().await;
    assert_eq!(sent.partner_id.as_deref(), Some("INC-1"));
    assert_eq!(steps(&database, id).await, ["push_review", "pushed"]);
    assert_eq!(platform.creates(), 1);
}

#[tokio::test]
async fn an_id_that_was_not_told_is_looked_up_later_and_the_report_never_sent_again() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::AcceptWithoutId, Reply::Refuse(409)]);
    platform.fail_searches(3);
    let told = NewReport::default().insert(&database, 1).await;
    let flags = [&SEARCHABLE[..], &["--partner-token-wait=50", "--partner-parallel=1"]].concat();
    let service = Service::with(&database, &platform, &flags).await;
    let named = until_it(&database, told, "named", |push| push.partner_id.is_some()).await;
    assert_eq!((named.push_state.as_str(), named.partner_id.as_deref()), ("sent", Some("INC-1")));
    assert_eq!(attempts(&database, told).await, ["accepted_no_id"]);
    assert_eq!(steps(&database, told).await, ["pushed", "push_named"]);
    // A conflict whose record no search shows stays sent without an id.
    let conflict = NewReport::default().insert(&database, 2).await;
    until(&database, conflict, "sent").await;
    service.stop().await;
    assert_eq!((platform.creates(), platform.codes().len()), (2, 1));
    let still = database.count("select count(*) from report.push_token where token = ''").await;
    assert_eq!((still, attempts(&database, conflict).await), (1, vec!["already_there".to_owned()]));
}

#[tokio::test]
async fn a_report_that_is_proven_absent_goes_out_again() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(502)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &SEARCHABLE).await;
    let sent = until(&database, id, "sent").await;
    service.stop().await;
    assert_eq!(sent.push_attempts, 2);
    assert_eq!(attempts(&database, id).await, ["ambiguous", "accepted"]);
    assert_eq!(
        steps(&database, id).await,
        ["push_review", "push_absent", "push_absent", "push_again", "pushed"]
    );
    assert_eq!(platform.codes(), ["REF-2026-00001"]);
}

#[tokio::test]
async fn a_review_that_no_search_can_answer_is_left_alone() {
    let (database, platform) = (database().await, Platform::start().await);
    let missing = NewReport { photo: false, ..NewReport::default() }.insert(&database, 1).await;
    platform.answer(&[Reply::Refuse(502)]);
    let service =
        Service::with(&database, &platform, &[&SEARCHABLE[..], &["--partner-photo-wait=0"]].concat()).await;
    until(&database, missing, "review").await;
    let doubtful = NewReport::default().insert(&database, 2).await;
    until_it(&database, doubtful, "sent in the end", |push| push.push_state == "sent").await;
    service.stop().await;
    assert_eq!(push(&database, missing).await.push_error.as_deref(), Some("photo_missing"));
}

/// What the platform tells nothing of stays due, and is looked for again and again.
#[tokio::test]
async fn reports_of_which_a_search_tells_nothing_keep_no_other_from_being_found() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::AcceptAndFail(502)]);
    let flags = [&SEARCHABLE[..], &["--poll=50"]].concat();
    let known = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &flags[1..]).await;
    until(&database, known, "review").await;
    service.stop().await;
    // Older ones, more than are looked for at once.
    let unknown = "insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, area_version,
                     route, received_at, push_state, push_error)
                   select gen_random_uuid(), channel, chat_id, state, 'REF-2026-' || 10000 + n, language, point, area_id,
                     area_version, route, received_at, push_state, push_error
                   from report.report, generate_series(1, 45) n";
    sqlx::query(unknown).execute(&database.pool).await.unwrap();
    let open = "insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256, opened_at)
                select gen_random_uuid(), id, 1, 'http://x', reference, '', now() - interval '1 day' - random() * interval '1 hour'
                from report.report where reference like 'REF-2026-1%'";
    sqlx::query(open).execute(&database.pool).await.unwrap();
    platform.tell_nothing_of("REF-2026-1");
    let service = Service::with(&database, &platform, &flags).await;
    until(&database, known, "sent").await;
    service.stop().await;
    let others = "select count(*) from report.report where push_state = 'review'";
    assert_eq!(database.count(others).await, 45);
}
