//! Photos: the citizen never waits for them, and they come whole, without metadata, or not at all.

use channel::digest::sha256;
use channel::{Interactive, Kind, Message};
use serde_json::{Value, json};

use crate::citizen::{Citizen, ROUTE};
use crate::replies::text;
use crate::support::World;

const STORED: &str = "select photo_sha256 is not null from report.report";

/// A completed form as the channel hands it on.
pub(crate) fn form(phone: &str, response: Value) -> Message {
    Message {
        kind: Kind::Form,
        interactive: Some(Interactive::Form { response }),
        ..text(phone, "", Some(chrono::Utc::now()))
    }
}

async fn completes(citizen: &Citizen<'_>) -> Value {
    citizen.reaches_the_form().await;
    let sent = citizen.fill_in("es", ROUTE, json!({})).await;
    citizen.hears().await;
    sent
}

#[tokio::test]
async fn a_photo_is_fetched_and_keeps_no_metadata() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600600001").await;

    let sent = completes(&citizen).await;
    world.until(STORED).await;

    let (key, content_type, bytes): (Vec<u8>, String, Vec<u8>) =
        sqlx::query_as("select p.sha256, content_type, bytes from report.photo p join report.report on photo_sha256 = p.sha256")
            .fetch_one(&world.db.pool)
            .await
            .unwrap();
    assert_eq!((key.as_slice(), content_type.as_str()), (sha256(&bytes).as_slice(), "image/jpeg"));
    // What was taken carried a position and a comment, so it cannot be the same file.
    assert!(!channel::digest::is_sha256_of(sent["photo_sha256_hex"].as_str().unwrap(), &bytes));
    assert!(bytes.starts_with(&[0xff, 0xd8]) && bytes.ends_with(&[0xff, 0xd9]));
    assert!(!bytes.windows(4).any(|four| four == b"Exif"));
    assert_eq!(world.value::<i64>("select count(*) from report.photo_fetch").await, 0);
    world.until("select count(*) = 1 from report.timeline where step = 'photo_stored'").await;
}

#[tokio::test]
async fn a_photo_is_asked_for_again_until_it_comes() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600600002").await;
    for (surface, fault) in [
        ("meta.media", json!({"kind": "status", "status": 500, "times": 2})),
        ("meta.download", json!({"kind": "status", "status": 404, "times": 1})),
        ("meta.download", json!({"kind": "reset", "times": 1})),
    ] {
        let mut fault = fault;
        fault["surface"] = json!(surface);
        world.fault(fault).await;
    }

    completes(&citizen).await;

    world.until(STORED).await;
    assert_eq!((world.calls("meta.media").await, world.calls("meta.download").await), (5, 3));
}

#[tokio::test]
async fn a_photo_that_the_provider_no_longer_has_is_given_up_with_its_reason() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600600003").await;
    world.fault(json!({"surface": "meta.media", "kind": "status", "status": 500})).await;

    let sent = completes(&citizen).await;
    world.until("select attempts > 1 from report.photo_fetch").await;
    world.forget_media(sent["media_id"].as_str().unwrap()).await;
    world.clear_faults().await;

    world.until("select failed_at is not null and error is not null from report.photo_fetch").await;
    assert_eq!(
        world.value::<i64>("select count(*) from report.timeline where step = 'photo_failed'").await,
        1
    );
    assert_eq!(world.value::<String>("select state from report.report").await, "received");

    // The citizen is asked once; the next picture is the photo, and the one after it is nothing.
    assert!(citizen.hears_text().await.contains("otra vez"));
    citizen.act("photo", json!({})).await;
    assert!(citizen.hears_text().await.starts_with("¡Gracias!"));
    citizen.act("photo", json!({})).await;
    world.until(STORED).await;
    world.at_rest().await;
    assert_eq!(citizen.conversation().await.len(), 6);
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
    assert_eq!(world.value::<i64>("select count(*) from report.photo").await, 1);
}

#[tokio::test]
async fn other_bytes_than_the_phone_promised_are_not_kept() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600600004").await;
    world.fault(json!({"surface": "meta.media", "kind": "status", "status": 500})).await;
    completes(&citizen).await;
    world.run("update report.photo_fetch set sha256 = repeat('0', 64), attempts = 0").await;
    world.clear_faults().await;

    world.until("select error = 'hash_mismatch' and failed_at is not null and attempts >= 5 from report.photo_fetch").await;
    assert_eq!(world.value::<i64>("select count(*) from report.photo").await, 0);
    assert!(citizen.hears_text().await.contains("foto"));
}

#[tokio::test]
async fn a_drain_does_not_wait_for_a_download_and_the_next_process_fetches_it() {
    let world = World::new().await;
    let service = world.serve().await;
    let citizen = world.citizen("34600600005").await;
    world.fault(json!({"surface": "meta.download", "kind": "hang"})).await;
    completes(&citizen).await;
    testkit::eventually("the download hangs", async || {
        (world.calls("meta.download").await > 0).then_some(())
    })
    .await;

    service.stop().await;
    assert!(
        world.value::<bool>("select owner is null and visible_at <= now() from report.photo_fetch").await
    );
    world.clear_faults().await;
    let _next = world.serve().await;

    world.until(STORED).await;
}

#[tokio::test]
async fn a_file_that_is_no_picture_is_not_kept_and_another_is_asked_for_once() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600600006").await;
    citizen.reaches_the_form().await;
    let words = json!({"base64": "bm90IGEgcGljdHVyZSBhdCBhbGw=", "mime_type": "image/jpeg"});
    citizen.fill_in("es", ROUTE, json!({"photo": words})).await;
    citizen.hears_text().await;

    assert!(citizen.hears_text().await.contains("otra vez"));
    citizen.act("photo", json!({"base64": "bm90IGEgcGljdHVyZSBlaXRoZXI=", "mime_type": "image/jpeg"})).await;
    assert!(citizen.hears_text().await.starts_with("¡Gracias!"));

    world.until("select failed_at is not null and asked_until is null from report.photo_fetch").await;
    world.at_rest().await;
    assert_eq!(world.value::<i64>("select count(*) from report.photo").await, 0);
    assert_eq!(citizen.conversation().await.len(), 6);
}

#[tokio::test]
async fn of_many_photos_the_first_is_kept_and_the_rest_is_noted() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600600007").await;
    citizen.reaches_the_form().await;
    let token: uuid::Uuid = world.value("select prompt from chat.session").await;
    let photos: Vec<Value> = (0..10)
        .map(|number| json!({"id": format!("{number}"), "mime_type": "image/jpeg", "file_name": "a.jpg"}))
        .collect();
    let response = json!({"route": ROUTE, "flow_token": token, "photo": photos});
    world.webhook.bring(vec![form(&citizen.phone, response)]).await;
    citizen.hears_text().await;

    assert_eq!(world.value::<String>("select media_id from report.photo_fetch").await, "0");
    let left_out: i64 = world
        .value("select (detail -> 'photos_left_out')::bigint from report.timeline where step = 'received'")
        .await;
    assert_eq!(left_out, 9);
}
