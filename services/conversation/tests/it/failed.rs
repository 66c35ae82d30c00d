//! Replies that the provider takes and does not deliver.

use serde_json::json;

use crate::citizen::{ROUTE, reference};
use crate::support::World;

const SENT: &str =
    "select count(*) from chat.outbound where outcome = 'sent' and report_id is not null and prompt is null";

#[tokio::test]
async fn a_reference_that_was_taken_and_failed_for_what_passes_is_said_again() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34601100001").await;
    citizen.reaches_the_form().await;
    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 131_000, "times": 1})).await;

    citizen.fill_in("es", ROUTE, json!({})).await;

    let told = reference(&citizen.hears_text().await);
    assert_eq!(told, world.value::<String>("select reference from report.report").await);
    world.at_rest().await;
    assert_eq!(world.value::<i64>(SENT).await, 2);
    assert_eq!(world.calls("meta.other").await, 0, "nothing was paused");
}

#[tokio::test]
async fn a_prompt_that_was_taken_and_failed_for_what_passes_is_said_again_while_it_is_awaited() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34601100002").await;
    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 130_429, "times": 1})).await;

    citizen.say("Hola").await;
    let heard = citizen.hears().await;
    assert_eq!(heard["kind"], "button");
    // The buttons are those of the open prompt.
    citizen.tap("Castellano").await;

    assert_eq!(citizen.hears().await["kind"], "location_request");
}

#[tokio::test]
async fn an_account_whose_fault_only_the_receipts_tell_pauses_its_channel_and_loses_nothing() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34601100003").await;
    citizen.reaches_the_form().await;
    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 131_042, "times": 1})).await;
    world.fault(json!({"surface": "meta.other", "kind": "meta_error", "code": 190, "status": 401})).await;

    citizen.fill_in("es", ROUTE, json!({})).await;

    world.until("select bool_or(pause_reason like '%code 131042%') from chat.channel_state").await;
    world.until("select count(*) = 1 from chat.outbound where outcome is null").await;
    world.clear_faults().await;
    reference(&citizen.hears_text().await);
    world.at_rest().await;
    assert_eq!(world.value::<i64>(SENT).await, 2);
}

#[tokio::test]
async fn what_can_never_arrive_is_not_said_again_and_what_never_passes_a_few_times() {
    let world = World::new().await;
    let _service = world.serve().await;
    let (hopeless, unlucky) = (world.citizen("34601100004").await, world.citizen("34601100005").await);
    hopeless.begins().await;
    unlucky.begins().await;
    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 131_026, "times": 1})).await;
    hopeless.say("cancelar").await;
    world.until("select count(*) = 1 from inbound.receipt where error_code = 131026").await;

    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 131_000})).await;
    unlucky.say("cancelar").await;
    world.until("select count(*) = 4 from inbound.receipt where error_code = 131000").await;
    world.clear_faults().await;

    // Looks that find it again say it no more: those that come now find both.
    let third = world.citizen("34601100006").await;
    third.begins().await;
    world.fault(json!({"surface": "meta.messages", "kind": "fail_later", "code": 131_000, "times": 1})).await;
    third.say("cancelar").await;
    assert!(third.hears_text().await.starts_with("Hecho"));
    world.at_rest().await;
    assert_eq!(hopeless.conversation().await.len(), 2);
    assert_eq!(unlucky.conversation().await.len(), 2);
    assert_eq!(world.value::<i64>("select count(*) from inbound.receipt where error_code = 131000").await, 5);
}
