//! Many citizens at once on a bad day: each ends with the right reference, and nobody is left without an answer.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::citizen::{Citizen, ROUTE, reference};
use crate::support::World;

const CITIZENS: u32 = 60;
/// What goes wrong, one after the other, while they report.
const FAULTS: [(&str, &str); 8] = [
    ("meta.messages", r#"{"kind": "status", "status": 500}"#),
    ("meta.messages", r#"{"kind": "accept_then_reset"}"#),
    ("meta.media", r#"{"kind": "status", "status": 500}"#),
    ("meta.messages", r#"{"kind": "meta_error", "code": 130429, "status": 429}"#),
    ("meta.download", r#"{"kind": "reset"}"#),
    ("meta.messages", r#"{"kind": "reset"}"#),
    ("meta.messages", r#"{"kind": "meta_error", "code": 131056}"#),
    ("meta.download", r#"{"kind": "status", "status": 404}"#),
];

/// Goes on to the next kind of message, past repeats of the one before.
async fn hears_a(citizen: &Citizen<'_>, kind: &str) -> Value {
    loop {
        let heard = citizen.hears().await;
        if heard["kind"] == kind {
            return heard;
        }
    }
}

async fn reports(citizen: &Citizen<'_>) -> String {
    citizen.say("Hola").await;
    hears_a(citizen, "button").await;
    citizen.tap("Castellano").await;
    hears_a(citizen, "location_request").await;
    citizen.pin().await;
    hears_a(citizen, "flow").await;
    citizen.fill_in("es", ROUTE, json!({})).await;
    reference(hears_a(citizen, "text").await["text"].as_str().unwrap())
}

#[tokio::test]
async fn sixty_citizens_on_a_bad_day_each_get_their_reference() {
    let world = World::with_receipts().await;
    let mut config = world.config();
    config.receipt_wait = Duration::from_millis(300);
    let _service = world.serve_with(config, &world.geo).await;
    let mut citizens = Vec::new();
    for number in 0..CITIZENS {
        citizens.push(world.citizen(&format!("3460090{number:04}")).await);
    }

    // About one call in twenty goes wrong.
    let bad_day = async {
        for round in 0.. {
            let (surface, fault) = FAULTS[round % FAULTS.len()];
            let mut fault: Value = serde_json::from_str(fault).unwrap();
            fault["surface"] = json!(surface);
            fault["times"] = json!(1);
            let before = world.calls(surface).await;
            world.fault(fault).await;
            testkit::eventually("calls go on", async || {
                (world.calls(surface).await >= before + 10).then_some(())
            })
            .await;
        }
    };
    let references = tokio::select! {
        references = futures::future::join_all(citizens.iter().map(reports)) => references,
        () = bad_day => unreachable!("it has no end"),
    };
    world.clear_faults().await;

    let told: BTreeSet<String> = references.iter().cloned().collect();
    assert_eq!(told.len(), citizens.len(), "nobody got another's reference");
    let stored: Vec<String> =
        world.values("select reference from report.report where state = 'received'").await;
    assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), told);
    world.at_rest().await;
    world.until("select bool_and(photo_sha256 is not null) from report.report").await;
    // No prompt that is open was left unsaid, and nothing that was to be said was given up.
    assert_eq!(
        world.value::<i64>("select count(*) from chat.outbound where outcome is distinct from 'sent'").await,
        0
    );
    assert_eq!(world.value::<i64>("select count(*) from inbound.dead").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from chat.session where step <> 'idle'").await, 0);
}
