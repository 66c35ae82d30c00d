//! The form on its way: not there yet, blocked, too new for a phone, or lost.

use serde_json::json;

use crate::citizen::{ROUTE, reference};
use crate::replies::text;
use crate::support::World;

#[tokio::test]
async fn a_form_without_a_release_is_promised_once_and_goes_when_it_is_published() {
    let world = World::without_forms().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700001").await;

    citizen.begins().await;
    citizen.pin().await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    // Whatever is said meanwhile is answered: nothing waits behind the form.
    citizen.say("ayuda").await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    world.publish("es").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.fill_in("es", ROUTE, json!({})).await;

    reference(&citizen.hears_text().await);
    assert_eq!(world.value::<i64>("select count(*) from chat.delayed_form").await, 0);
}

#[tokio::test]
async fn a_form_that_the_provider_blocks_is_promised_once_and_sent_when_it_works_again() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700002").await;
    citizen.begins().await;
    world.fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": 132_068, "times": 1})).await;

    citizen.pin().await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    world.until("select count(*) = 1 from chat.outbound where error = 'form_delayed'").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.fill_in("es", ROUTE, json!({})).await;

    reference(&citizen.hears_text().await);
    assert_eq!(
        world.value::<i64>("select count(*) from chat.channel_state where paused_at is not null").await,
        0
    );
}

#[tokio::test]
async fn a_form_that_the_provider_does_not_understand_is_promised_and_not_passed_over_in_silence() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700011").await;
    citizen.begins().await;
    world.fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": 131_009, "times": 1})).await;

    citizen.pin().await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.fill_in("es", ROUTE, json!({})).await;

    reference(&citizen.hears_text().await);
}

#[tokio::test]
async fn a_promise_that_ended_with_its_window_is_made_again_at_the_next_message_and_kept() {
    let world = World::without_forms().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700009").await;
    citizen.begins().await;
    citizen.pin().await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    world.at_rest().await;

    // A day without a release.
    world.run("update chat.outbound set expires_at = now() - interval '1 second'").await;
    world.until("select count(*) = 0 from chat.delayed_form").await;
    // Not by the phone's clock, which counts seconds: it is another message, not another second.
    world.webhook.bring(vec![text(&citizen.phone, "¿y el formulario?", None)]).await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    world.publish("es").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.fill_in("es", ROUTE, json!({})).await;

    reference(&citizen.hears_text().await);
}

#[tokio::test]
async fn a_promise_is_kept_within_the_window_that_a_newer_message_has_opened() {
    let world = World::without_forms().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700010").await;
    citizen.begins().await;
    citizen.pin().await;
    citizen.hears_text().await;
    world.at_rest().await;
    world.run("update chat.outbound set expires_at = now() + interval '400 milliseconds'").await;

    // Reminds of it, within a window of its own.
    citizen.say("¿y el formulario?").await;
    assert!(citizen.hears_text().await.contains("Te llegará"));
    world
        .until("select bool_or(expires_at <= now()) and bool_or(expires_at > now()) from chat.outbound")
        .await;
    world.publish("es").await;

    assert_eq!(citizen.hears().await["kind"], "flow");
}

#[tokio::test]
async fn a_promised_form_does_not_come_after_the_citizen_has_cancelled() {
    let world = World::without_forms().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700003").await;
    citizen.begins().await;
    citizen.pin().await;
    citizen.hears_text().await;

    citizen.say("cancelar").await;
    citizen.hears_text().await;
    world.publish("es").await;

    world.until("select count(*) = 0 from chat.delayed_form").await;
    world.at_rest().await;
    assert_eq!(citizen.conversation().await.len(), 4);
}

#[tokio::test]
async fn a_phone_that_cannot_show_the_form_is_asked_to_update_and_gets_it_at_the_next_message() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700004").await;
    citizen.begins().await;
    world.fault(json!({"surface": "meta.messages", "kind": "meta_error", "code": 131_026, "times": 1})).await;

    citizen.pin().await;
    assert!(citizen.hears_text().await.contains("Actualiza"));
    citizen.say("ya está").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.fill_in("es", ROUTE, json!({})).await;

    reference(&citizen.hears_text().await);
}

#[tokio::test]
async fn a_form_that_failed_for_good_after_it_was_accepted_is_sent_again_at_the_next_message() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700005").await;
    citizen.reaches_the_form().await;
    world
        .run(
            "insert into inbound.receipt (key, channel, provider_id, outbound_id, status, error_code, occurred_at)
             select gen_random_uuid(), o.channel, 'wamid.x', o.id, 'failed', 131053, now()
             from chat.outbound o where o.payload ? 'form'",
        )
        .await;

    citizen.say("¿y ahora qué?").await;

    assert_eq!(citizen.hears().await["kind"], "flow");
    citizen.say("¿y ahora qué?").await;
    citizen.fill_in("es", ROUTE, json!({})).await;
    reference(&citizen.hears_text().await);
}

#[tokio::test]
async fn a_phone_that_turns_out_too_old_for_an_accepted_form_is_told_once() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700008").await;
    citizen.reaches_the_form().await;
    world
        .run(
            "insert into inbound.receipt (key, channel, provider_id, outbound_id, status, error_code, occurred_at)
             select gen_random_uuid(), o.channel, 'wamid.' || n, o.id, 'failed', 131026, now()
             from chat.outbound o, generate_series(1, 2) n where o.payload ? 'form'",
        )
        .await;

    assert!(citizen.hears_text().await.contains("Actualiza"));
    citizen.say("ya está").await;
    assert_eq!(citizen.hears().await["kind"], "flow");
    world.at_rest().await;
    assert_eq!(citizen.conversation().await.len(), 5);
}

#[tokio::test]
async fn a_draft_that_nobody_touched_for_a_week_is_removed_and_its_form_is_stale() {
    let world = World::new().await;
    let _service = world.serve().await;
    let (gone, fresh) = (world.citizen("34600700006").await, world.citizen("34600700007").await);
    gone.reaches_the_form().await;
    world.run("update chat.session set updated_at = now() - interval '8 days'").await;
    fresh.reaches_the_form().await;
    world.at_rest().await;

    let purged: (i64, i64) = sqlx::query_as("select sessions, drafts from chat.purge_untouched_v1('7 days')")
        .fetch_one(&world.db.pool)
        .await
        .unwrap();
    assert_eq!(purged, (1, 1));
    gone.fill_in("es", ROUTE, json!({})).await;
    fresh.fill_in("es", ROUTE, json!({})).await;

    // From idle a stale answer starts anew.
    assert_eq!(gone.hears().await["kind"], "button");
    reference(&fresh.hears_text().await);
    assert_eq!(world.value::<i64>("select count(*) from report.report").await, 1);
}
