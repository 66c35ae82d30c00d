//! Third parties that are away. Citizens notice as little as can be, and nothing is lost or dead.

use serde_json::json;
use testkit::eventually;

use crate::town::{Calm, PATIENCE, Town, report};

#[tokio::test(flavor = "multi_thread")]
async fn a_contractor_that_is_down_is_no_concern_of_the_citizens_and_gets_everything_later() {
    let town = Town::start("contractor", &[]).await;
    for surface in ["partner.login", "partner.incidents"] {
        town.fault(json!({"surface": surface, "kind": "down", "times": null})).await;
    }
    let mut reports = Vec::new();
    for name in ["Amaia", "Beñat", "Carmen"] {
        let citizen = town.citizen(name).await;
        reports.push(report(&citizen, name, 1, &Calm).await);
    }
    town.at_rest().await;
    assert!(town.simulator.incidents().await.unwrap().is_empty());
    let waiting = "select count(*) from report.report where push_state = 'pending' and state = 'received'";
    assert_eq!(town.database.count(waiting).await, 3);
    town.mend().await;
    town.delivered(&reports).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_delays_replies_and_loses_none() {
    let town = Town::start("provider", &[]).await;
    let citizen = town.citizen("Gorka").await;
    town.fault(json!({"surface": "meta.messages", "kind": "status", "status": 503, "times": 2})).await;
    let first = citizen.say("Kaixo").await.unwrap();
    assert!(first["message_id"].is_string());
    let language = citizen.reply(None, PATIENCE).await.unwrap();
    assert_eq!(language.buttons.len(), 2);
    town.fault(json!({"surface": "meta.media", "kind": "status", "status": 500, "times": 2})).await;
    let other = town.citizen("Leire").await;
    let reported = report(&other, "La foto tarda", 1, &Calm).await;
    let incidents = town.delivered(std::slice::from_ref(&reported)).await;
    assert_eq!(incidents[0].photo_sha256.as_deref(), Some(reported.photo_sha256.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_waits_for_a_geocode_service_that_is_away() {
    let town = Town::start("geocode", &[("ABISU_LOOKUP_TIMEOUT_MS", "1000")]).await;
    let citizen = town.citizen("Nerea").await;
    citizen.say("Hola").await.unwrap();
    let language = citizen.reply(None, PATIENCE).await.unwrap();
    citizen.tap("Castellano").await.unwrap();
    let place = citizen.reply(Some(language.index), PATIENCE).await.unwrap();
    town.stack.hold("geocode");
    citizen.pin(42.8467, -2.6727).await.unwrap();
    eventually("the pin waits, uncharged", async || {
        let deferred = "select count(*) from chat.chat where head_defers >= 2 and head_attempts <= 1";
        (town.database.count(deferred).await == 1).then_some(())
    })
    .await;
    town.stack.resume("geocode");
    let form = citizen.reply(Some(place.index), PATIENCE).await.unwrap();
    assert!(form.flow.is_some());
}
