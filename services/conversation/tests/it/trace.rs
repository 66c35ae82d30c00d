//! Traces through rows, and logs without people in them.

use serde_json::json;

use crate::citizen::ROUTE;
use crate::geo::{ADDRESS, PIN_NAME};
use crate::support::World;
use crate::telemetry;

#[tokio::test]
async fn every_step_of_a_report_carries_the_trace_of_the_delivery_that_caused_it() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34600700001").await;

    citizen.begins().await;
    let pin = citizen.pin().await;
    citizen.hears().await;
    let form = citizen.fill_in("es", ROUTE, json!({})).await;
    citizen.hears().await;
    world.until("select count(*) = 5 from report.timeline").await;

    let pin = world.webhook.trace_of(pin["message_id"].as_str().unwrap());
    let form = world.webhook.trace_of(form["message_id"].as_str().unwrap());
    assert_ne!(pin, form);
    let steps: Vec<(String, String)> =
        sqlx::query_as("select step, trace_id from report.timeline order by step")
            .fetch_all(&world.db.pool)
            .await
            .unwrap();
    let expected = [
        ("citizen_told", &form),
        ("draft_opened", &pin),
        ("form_sent", &pin),
        ("photo_stored", &form),
        ("received", &form),
    ];
    assert_eq!(steps, expected.map(|(step, trace)| (step.to_owned(), trace.clone())));
    let kept: String = world.value("select trace_context from report.report").await;
    assert!(kept.starts_with(&format!("00-{form}-")), "{kept}");
}

#[tokio::test]
async fn no_log_line_says_who_wrote_what_or_where() {
    let world = World::new().await;
    let _service = world.serve().await;
    let citizen = world.citizen("34612345987").await;
    world.fault(json!({"surface": "meta.messages", "kind": "status", "status": 500, "times": 2})).await;
    world.fault(json!({"surface": "meta.media", "kind": "status", "status": 500, "times": 2})).await;

    citizen.begins().await;
    citizen.say("Calle de la Palabra Secreta 7").await;
    citizen.hears().await;
    citizen.pin().await;
    citizen.hears().await;
    let note = "Una nota muy particular";
    citizen.fill_in("es", ROUTE, json!({"note": note})).await;
    citizen.hears().await;
    world.webhook.bring_payload(&citizen.phone, json!({"kind": "Otra Palabra Secreta"})).await;
    citizen.hears().await;
    world.until("select photo_sha256 is not null from report.report").await;
    world.at_rest().await;

    let lines = telemetry::lines();
    assert!(lines.contains("event handled") && lines.contains("a reply was not sent"));
    for personal in [
        "34612345987",
        "612345987",
        "Palabra Secreta",
        note,
        PIN_NAME,
        ADDRESS,
        "42.8467",
        "2.6727",
        "dev-access-token",
    ] {
        assert!(!lines.contains(personal), "{personal}");
    }
}
