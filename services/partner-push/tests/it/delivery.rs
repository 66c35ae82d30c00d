//! What reaches the contractor, and what becomes of a report by the answer.

use serde_json::json;
use testkit::{database, eventually};

use crate::platform::{Platform, Reply};
use crate::scene::{NewReport, Service, attempts, meddle, push, steps, until, until_it};

#[tokio::test]
async fn every_report_is_posted_exactly_once() {
    let (database, platform) = (database().await, Platform::start().await);
    let mut ids = Vec::new();
    for number in 1..=9 {
        ids.push(NewReport::default().insert(&database, number).await);
    }
    let service = Service::with(&database, &platform, &[]).await;
    for id in ids {
        let sent = until(&database, id, "sent").await;
        assert_eq!((sent.push_attempts, sent.push_error), (1, None));
        assert!(sent.partner_id.unwrap().starts_with("INC-"));
        assert_eq!(attempts(&database, id).await, ["accepted"]);
        assert_eq!(steps(&database, id).await, ["pushed"]);
    }
    service.stop().await;
    let expected: Vec<String> = (1..=9).map(|number| format!("REF-2026-{number:05}")).collect();
    assert_eq!(platform.codes(), expected);
    assert_eq!((platform.creates(), platform.logins()), (9, 1));
    assert_eq!(database.count("select count(*) from report.report where push_owner is not null").await, 0);
}

#[tokio::test]
async fn a_confirmed_report_is_heard_of_at_once_and_found_by_a_poll_otherwise() {
    let (database, platform) = (database().await, Platform::start().await);
    let service = Service::with(&database, &platform, &["--poll=60000"]).await;
    service.until_metric("abisu_partner_push_outbox_pending 0").await;
    let told = NewReport::default().insert(&database, 1).await;
    // Until it is heard: the service may not listen yet.
    eventually("heard", || async {
        sqlx::query("notify abisu_push").execute(&database.pool).await.unwrap();
        (push(&database, told).await.push_state == "sent").then_some(())
    })
    .await;
    service.stop().await;
    let service = Service::with(&database, &platform, &["--poll=50"]).await;
    let untold = NewReport::default().insert(&database, 2).await;
    until(&database, untold, "sent").await;
    service.stop().await;
}

#[tokio::test]
async fn while_the_partner_takes_its_time_nobody_waits_in_the_database() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Hold]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    eventually("a create", || async { (platform.creates() == 1).then_some(()) }).await;
    let waiting = "select count(*) from pg_stat_activity
                   where datname = current_database() and usename = 'abisu_partner_push' and state like '%in transaction%'";
    eventually("no transaction is open", || async { (database.count(waiting).await == 0).then_some(()) })
        .await;
    meddle(
        &database,
        id,
        "with free as (select id from report.report where id = $1 for update nowait)
         update report.report r set note = note from free where r.id = free.id",
    )
    .await;
    platform.release();
    until(&database, id, "sent").await;
    service.stop().await;
}

#[tokio::test]
async fn the_contractor_gets_the_agreed_body() {
    let (database, platform) = (database().await, Platform::start().await);
    let full = NewReport::default().insert(&database, 1).await;
    let bare = NewReport { route: "street/graffiti", note: None, ..NewReport::default() };
    let bare = bare.insert(&database, 2).await;
    meddle(&database, bare, "update report.report set address = null where id = $1").await;
    let service = Service::with(&database, &platform, &["--partner-parallel=1"]).await;
    until(&database, full, "sent").await;
    until(&database, bare, "sent").await;
    service.stop().await;
    let expected = json!({
        "external_code": "REF-2026-00001",
        "category": "CONTENEDOR_DESBORDADO",
        "latitude": 42.8467,
        "longitude": -2.6726,
        "address": "Calle Pintorería 12",
        "note": "junto al portal\nFracción: vidrio",
        "reported_at": "2026-11-30T09:00:00.250Z",
        "photo": { "content_type": "image/jpeg", "data": "/9j/IGEgcGljdHVyZQ==" },
        "id": "INC-1",
    });
    let records = platform.records();
    assert_eq!(records[0], expected);
    assert_eq!((&records[1]["note"], &records[1]["address"]), (&json!(""), &json!("")));
}

#[tokio::test]
async fn a_report_is_mapped_by_the_taxonomy_it_was_made_from() {
    let (database, platform) = (database().await, Platform::start().await);
    let compiled = json!({
        "format": 1, "version": "older", "languages": ["es"],
        "leaves": [{
            "route": "street/snow", "kind": "report", "labels": {},
            "partner": { "category": "NIEVE", "option_note": null },
        }],
    });
    sqlx::query(
        "insert into flow.release (id, channel, language, version, content_hash, provider_flow_id, first_screen, state,
           compiled)
         values (gen_random_uuid(), 'whatsapp', 'es', 'older', 'hash', '1', 'FIRST', 'deprecated', $1)",
    )
    .bind(compiled)
    .execute(&database.pool)
    .await
    .unwrap();
    let old = NewReport { route: "street/snow", taxonomy_version: Some("older"), ..NewReport::default() };
    let old = old.insert(&database, 1).await;
    let unknown = NewReport { taxonomy_version: Some("never released"), ..NewReport::default() };
    let unknown = unknown.insert(&database, 2).await;
    let service = Service::with(&database, &platform, &[]).await;
    until(&database, old, "sent").await;
    // It goes as soon as somebody has recorded the release; until then it costs the report nothing.
    let waits = until_it(&database, unknown, "waits", |push| push.push_error.is_some()).await;
    assert_eq!((waits.push_state.as_str(), waits.push_attempts), ("pending", 0));
    assert_eq!(waits.push_error.as_deref(), Some("taxonomy_unknown"));
    sqlx::query(
        r#"insert into flow.release (id, channel, language, version, content_hash, provider_flow_id, first_screen, state,
           compiled)
         select gen_random_uuid(), channel, language, 'never released', 'other', '2', first_screen, state,
           jsonb_set(compiled, '{leaves,0,route}', '"container/overflowing/glass"')
         from flow.release"#,
    )
    .execute(&database.pool)
    .await
    .unwrap();
    meddle(&database, unknown, "update report.report set push_visible_at = now() where id = $1").await;
    until(&database, unknown, "sent").await;
    service.stop().await;
    let categories: Vec<_> = platform.records().iter().map(|one| one["category"].clone()).collect();
    assert_eq!(categories, ["NIEVE", "NIEVE"]);
    assert_eq!(steps(&database, unknown).await, ["push_deferred", "pushed"]);
}

#[tokio::test]
async fn a_spent_token_costs_one_login_and_one_more_request() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(401)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    service.stop().await;
    assert_eq!(attempts(&database, id).await, ["not_processed", "accepted"]);
    assert_eq!((platform.logins(), platform.codes().len()), (2, 1));
}

#[tokio::test]
async fn a_report_that_is_refused_for_good_is_dead_and_says_why() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(422)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    let dead = until(&database, id, "dead").await;
    service.stop().await;
    assert_eq!(dead.push_error.as_deref(), Some("rejected: http 422"));
    assert_eq!(
        (attempts(&database, id).await, steps(&database, id).await),
        (vec!["rejected".to_owned()], vec!["push_dead".to_owned()])
    );
    assert_eq!(platform.creates(), 1);
}

/// A photo that is mostly noise: for its sides large, and hard to make small.
pub(crate) fn noise() -> Vec<u8> {
    let mut seed = 1_u32;
    let picture = image::RgbImage::from_fn(320, 240, |_, _| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        image::Rgb(seed.to_be_bytes()[..3].try_into().unwrap())
    });
    let mut bytes = Vec::new();
    picture.write_with_encoder(image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 95)).unwrap();
    bytes
}

#[tokio::test]
async fn a_photo_that_is_too_large_is_sent_smaller() {
    let (database, platform) = (database().await, Platform::start().await);
    let picture = noise();
    platform.limit_photos(picture.len());
    let id = NewReport { picture, ..NewReport::default() }.insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    assert_eq!(until(&database, id, "sent").await.push_attempts, 1);
    service.stop().await;
    assert_eq!(attempts(&database, id).await, ["rejected", "accepted"]);
    let record = &platform.records()[0];
    assert_eq!(record["external_code"], "REF-2026-00001");
    assert_eq!(record["photo"]["content_type"], "image/jpeg");
    assert_eq!(record["note"], "junto al portal\nFracción: vidrio");
    assert_eq!(platform.creates(), 2);
}

#[tokio::test]
async fn a_photo_that_is_still_too_large_stays_behind_and_the_note_says_so() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.limit_photos(4);
    let readable = NewReport { picture: noise(), ..NewReport::default() }.insert(&database, 1).await;
    let unreadable = NewReport::default().insert(&database, 2).await;
    let service = Service::with(&database, &platform, &["--partner-parallel=1"]).await;
    until(&database, readable, "sent").await;
    until(&database, unreadable, "sent").await;
    service.stop().await;
    assert_eq!(attempts(&database, readable).await, ["rejected", "rejected", "accepted"]);
    assert_eq!(attempts(&database, unreadable).await, ["rejected", "accepted"]);
    for record in platform.records() {
        assert_eq!(record["photo"], json!(null));
        let note = "junto al portal\nFracción: vidrio\n(La foto era demasiado grande para esta plataforma y no se adjunta.)";
        assert_eq!(record["note"], note);
    }
    let told = database
        .count(
            "select count(*) from report.timeline where step = 'pushed' and detail ->> 'photo' = 'too_large'",
        )
        .await;
    assert_eq!((told, platform.codes().len()), (2, 2));
}

#[tokio::test]
async fn a_body_that_is_too_large_without_a_photo_is_refused_for_good() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(413), Reply::Refuse(413)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    let dead = until(&database, id, "dead").await;
    service.stop().await;
    assert_eq!(dead.push_error.as_deref(), Some("rejected: http 413"));
    assert_eq!(platform.creates(), 2);
}

#[tokio::test]
async fn a_person_may_let_a_report_go_without_its_photo() {
    let (database, platform) = (database().await, Platform::start().await);
    let id = NewReport { photo: false, ..NewReport::default() }.insert(&database, 1).await;
    meddle(&database, id, "update report.report set push_without_photo = true where id = $1").await;
    let service = Service::with(&database, &platform, &["--partner-photo-wait=0"]).await;
    until(&database, id, "sent").await;
    service.stop().await;
    let record = &platform.records()[0];
    assert_eq!(record["photo"], json!(null));
    assert_eq!(record["note"], "junto al portal\nFracción: vidrio\n(La foto no se pudo obtener.)");
}

#[tokio::test]
async fn what_is_there_already_is_sent() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(409)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    assert_eq!(until(&database, id, "sent").await.partner_id, None);
    service.stop().await;
    assert_eq!(attempts(&database, id).await, ["already_there"]);
}

#[tokio::test]
async fn a_documented_refusal_is_charged_and_tried_again() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Refuse(503)]);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &["--partner-not-processed=503"]).await;
    assert_eq!(until(&database, id, "sent").await.push_attempts, 2);
    service.stop().await;
    assert_eq!(steps(&database, id).await, ["push_retry", "pushed"]);
    assert_eq!(platform.codes().len(), 1);
}

/// Other systems have lost a photo, or the category that was chosen, on the way to the second attempt.
#[tokio::test]
async fn what_is_tried_again_is_the_same_report_with_its_photo_and_its_category() {
    let (database, platform) = (database().await, Platform::start().await);
    let replies =
        [Reply::Refuse(503), Reply::Throttle("0"), Reply::Refuse(401), Reply::Accept, Reply::Accept];
    platform.answer(&replies);
    let flags = ["--partner-not-processed=503", "--partner-parallel=1"];
    let service = Service::with(&database, &platform, &flags).await;
    let tried = NewReport::default().insert(&database, 1).await;
    until(&database, tried, "sent").await;
    let at_once = NewReport::default().insert(&database, 2).await;
    until(&database, at_once, "sent").await;
    service.stop().await;
    assert_eq!(
        attempts(&database, tried).await,
        ["not_processed", "not_processed", "not_processed", "accepted"]
    );
    let hashes = "select count(distinct body_sha256) from report.push_attempt a join report.report r on r.id = a.report_id
                  where r.reference = 'REF-2026-00001'";
    assert_eq!(database.count(hashes).await, 1, "byte for byte");
    let mut records = platform.records();
    for record in &mut records {
        for own in ["id", "external_code"] {
            record.as_object_mut().unwrap().remove(own);
        }
    }
    assert_eq!(records[0], records[1]);
    assert!(records[0]["photo"]["data"].is_string());
}

#[tokio::test]
async fn the_sixth_claim_gives_up_without_a_request() {
    let (database, platform) = (database().await, Platform::start().await);
    let id = NewReport::default().insert(&database, 1).await;
    meddle(&database, id, "update report.report set push_attempts = 5 where id = $1").await;
    let service = Service::with(&database, &platform, &[]).await;
    let dead = until(&database, id, "dead").await;
    service.stop().await;
    assert_eq!(dead.push_error.as_deref(), Some("attempts_exhausted"));
    assert_eq!(platform.creates(), 0);
}

#[tokio::test]
async fn a_report_waits_for_its_photo_and_then_for_a_person() {
    let (database, platform) = (database().await, Platform::start().await);
    let waiting = NewReport { photo: false, ..NewReport::default() }.insert(&database, 1).await;
    meddle(&database, waiting, "update report.report set received_at = now() where id = $1").await;
    let overdue = NewReport { photo: false, ..NewReport::default() }.insert(&database, 2).await;
    meddle(
        &database,
        overdue,
        "update report.report set received_at = now() - interval '2 hours' where id = $1",
    )
    .await;
    let service = Service::with(&database, &platform, &["--partner-photo-wait=3600000"]).await;
    let asked = until(&database, overdue, "review").await;
    assert_eq!(asked.push_error.as_deref(), Some("photo_missing"));
    let untouched = push(&database, waiting).await;
    assert_eq!((untouched.push_state.as_str(), untouched.push_epoch), ("pending", 0));
    service.stop().await;
    assert_eq!(platform.creates(), 0);
}

#[tokio::test]
async fn with_the_gate_shut_nothing_is_touched() {
    let (database, platform) = (database().await, Platform::start().await);
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &["--partner-enabled=false"]).await;
    service.until_metric("abisu_partner_push_outbox_ready 1").await;
    service.stop().await;
    assert_eq!(push(&database, id).await.push_epoch, 0);
    assert_eq!((platform.creates(), platform.logins()), (0, 0));
}

#[tokio::test]
async fn a_stop_before_the_request_gives_the_attempt_back() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.hold_logins();
    let id = NewReport::default().insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    until_it(&database, id, "claimed", |push| push.push_attempts == 1).await;
    eventually("a login", || async { (platform.logins() == 1).then_some(()) }).await;
    let stopping = service.shell.stopping();
    let stopped = tokio::spawn(service.stop());
    stopping.cancelled().await;
    platform.release_logins();
    stopped.await.unwrap();
    let back = push(&database, id).await;
    assert_eq!((back.push_state.as_str(), back.push_attempts), ("pending", 0));
    assert_eq!(platform.creates(), 0);
}
