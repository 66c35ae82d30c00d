//! What other systems got wrong in public, as what must hold here. Where another test holds it already, it is named.
//!
//! | report | what must hold | test |
//! | --- | --- | --- |
//! | mysociety/fixmystreet#3168 | of two bodies, only the one that failed is sent to again | `of_two_contractors_…` |
//! | mysociety/fixmystreet#2091 | an alarm stays for as long as the outage does | `outage::ten_hours_without_a_connection_…` |
//! | mysociety/fixmystreet#4873 | a refusal for good ends the tries | `delivery::a_report_that_is_refused_for_good_…` |
//! | mysociety/fixmystreet#5892 | a photo is turned before its tags go | `shrink::a_phone_held_upright_…`, and where photos come in |
//! | mysociety/fixmystreet#5841 | no tag of a photo leaves by any way | `a_photo_that_is_made_smaller_carries_no_tag`, and where photos come in |
//! | mysociety/fixmystreet#1114, #878 | what is tried again keeps its category | `delivery::what_is_tried_again_…` |
//! | ushahidi/Ushahidi_Android#120 | a photo is fetched alone, its report made once | `a_photo_that_comes_late_…` |
//! | ushahidi/Ushahidi_Android#59 | a report that had to wait still has its photo | `delivery::what_is_tried_again_…` |
//! | Amsterdam/signals#404, #444 | a create that is never answered ends, before a person | `a_create_that_is_never_answered_…` |
//! | hyperium/hyper#2136, sigp/lighthouse#4439 | no POST is repeated for a connection that closed | `hostile::what_may_have_been_read_…`, `every_create_has_a_connection_…` |
//! | OneBusAway/onebusaway-android#761 | equal reports are told of before they go, and each goes | `equal_reports_…`; `outbox backlog` tells of them |

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::ImageDecoder;
use serde_json::json;
use sha2::{Digest, Sha256};
use testkit::database;

use crate::delivery::noise;
use crate::platform::{Platform, Reply};
use crate::scene::{NewReport, PHOTO, Service, attempts, push, until, until_it};

#[tokio::test]
async fn of_two_contractors_only_the_one_that_failed_gets_its_report_again() {
    let database = database().await;
    let (street, green) = (Platform::start().await, Platform::start().await);
    let ours = NewReport::default().insert(&database, 1).await;
    let theirs = NewReport::default().insert(&database, 2).await;
    sqlx::query("update report.report set channel = 'green' where id = $1")
        .bind(theirs)
        .execute(&database.pool)
        .await
        .unwrap();
    green.answer(&[Reply::Throttle("0"), Reply::Refuse(503), Reply::Refuse(503)]);
    let flags = ["--channel=green", "--partner-not-processed=503"];
    let first = Service::with(&database, &street, &[]).await;
    let second = Service::with(&database, &green, &flags).await;
    until(&database, ours, "sent").await;
    until(&database, theirs, "sent").await;
    first.stop().await;
    second.stop().await;
    assert_eq!((street.creates(), green.creates()), (1, 4));
    assert_eq!(
        (street.codes(), green.codes()),
        (vec!["REF-2026-00001".into()], vec!["REF-2026-00002".into()])
    );
    assert_eq!(attempts(&database, ours).await, ["accepted"]);
    let elsewhere = "select count(*) from report.push_breaker where channel = 'whatsapp'";
    assert_eq!(database.count(elsewhere).await, 0, "the failures of one are not the other's");
}

#[tokio::test]
async fn a_photo_that_is_made_smaller_carries_no_tag() {
    let (database, platform) = (database().await, Platform::start().await);
    let photo = noise();
    // A position, as far as it needs to be one.
    let exif = [&b"Exif\0\0II*\0\x08\0\0\0\x01\0"[..], &[0x25, 0x88, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0], &[0; 6]]
        .concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let picture = [&photo[..2], &[0xff, 0xe1], &length, &exif, &photo[2..]].concat();
    platform.limit_photos(picture.len());
    let id = NewReport { picture, ..NewReport::default() }.insert(&database, 1).await;
    let service = Service::with(&database, &platform, &[]).await;
    until(&database, id, "sent").await;
    service.stop().await;
    let bytes = STANDARD.decode(platform.records()[0]["photo"]["data"].as_str().unwrap()).unwrap();
    let mut decoder = image::codecs::jpeg::JpegDecoder::new(Cursor::new(bytes)).unwrap();
    assert_eq!(decoder.exif_metadata().unwrap(), None);
}

#[tokio::test]
async fn a_photo_that_comes_late_is_fetched_alone_and_its_report_made_once_with_it() {
    let (database, platform) = (database().await, Platform::start().await);
    let id = NewReport { photo: false, ..NewReport::default() }.insert(&database, 1).await;
    let service = Service::with(&database, &platform, &["--partner-photo-wait=9000000000"]).await;
    let next = NewReport::default().insert(&database, 2).await;
    until(&database, next, "sent").await;
    let waiting = push(&database, id).await;
    assert_eq!(
        (waiting.push_state.as_str(), waiting.push_epoch),
        ("pending", 0),
        "nothing is made without it"
    );
    sqlx::query("update report.report set photo_sha256 = $2 where id = $1")
        .bind(id)
        .bind(Sha256::digest(PHOTO).to_vec())
        .execute(&database.pool)
        .await
        .unwrap();
    until(&database, id, "sent").await;
    service.stop().await;
    assert_eq!(platform.codes(), ["REF-2026-00001", "REF-2026-00002"]);
    let records = platform.records();
    let late = records.iter().find(|one| one["external_code"] == "REF-2026-00001").unwrap();
    assert_eq!(late["photo"]["data"], json!("/9j/IGEgcGljdHVyZQ=="));
}

#[tokio::test]
async fn a_create_that_is_never_answered_ends_in_time_and_stands_before_a_person() {
    let (database, platform) = (database().await, Platform::start().await);
    platform.answer(&[Reply::Hold]);
    let id = NewReport::default().insert(&database, 1).await;
    let flags = ["--partner-send-timeout=300", "--partner-connect-timeout=200"];
    let service = Service::with(&database, &platform, &flags).await;
    let review = until(&database, id, "review").await;
    assert_eq!(review.push_error.as_deref().map(|error| error.contains("no answer in time")), Some(true));
    // One after it is not held up, and nothing is sent a second time.
    let next = NewReport::default().insert(&database, 2).await;
    until(&database, next, "sent").await;
    service.stop().await;
    let service = Service::with(&database, &platform, &flags).await;
    service.until_metric("abisu_partner_push_outbox_review 1").await;
    service.stop().await;
    assert_eq!((attempts(&database, id).await, platform.creates()), (vec!["ambiguous".to_owned()], 2));
}

/// Two neighbours report the same container. Whether it is the same is for people to say, so neither is dropped.
#[tokio::test]
async fn equal_reports_near_each_other_are_each_handed_over_once() {
    let (database, platform) = (database().await, Platform::start().await);
    let service = Service::with(&database, &platform, &[]).await;
    for number in 1..=3 {
        let id = NewReport::default().insert(&database, number).await;
        until_it(&database, id, "sent", |push| push.push_state == "sent").await;
    }
    service.stop().await;
    assert_eq!(platform.codes(), ["REF-2026-00001", "REF-2026-00002", "REF-2026-00003"]);
}
