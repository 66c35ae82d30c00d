//! A service that dies between two steps of a queue, at every such place once: what `crash` does by chance is certain
//! here. After each, nothing is lost and nothing doubled.

use std::path::PathBuf;

use serde_json::json;
use testkit::eventually;

use crate::crash::accounted_for;
use crate::town::{Town, Trouble, report};

/// Arms a place right before one message.
struct Arm<'a> {
    place: &'a str,
    folder: &'a PathBuf,
    step: usize,
}

impl Trouble for Arm<'_> {
    fn before(&self, step: usize) {
        if step == self.step {
            std::fs::write(self.folder.join(self.place), "").unwrap();
        }
    }
}

/// One report for each place and message before which it is armed, one after the other.
async fn dying_at(name: &str, places: &[(&str, usize)]) {
    let folder = std::env::temp_dir().join(format!("abisu-places-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let town = Town::start(name, &[("ABISU_FAILPOINTS", folder.to_str().unwrap())]).await;
    let mut reports = Vec::new();
    for (place, step) in places {
        let citizen = town.citizen(&format!("{place} {step}")).await;
        let arm = Arm { place, folder: &folder, step: *step };
        reports.push(report(&citizen, &format!("{place} antes de {step}"), 1, &arm).await);
        eventually(&format!("a service dies at {place}"), async || {
            (!folder.join(place).exists()).then_some(())
        })
        .await;
    }
    accounted_for(&town, &reports, places.len()).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ingest_dying_around_an_append_loses_and_doubles_nothing() {
    dying_at(
        "dying-append",
        &[("append.call", 0), ("append.stored", 0), ("append.call", 3), ("append.stored", 3)],
    )
    .await;
}

/// A message to a number that nobody has: it is kept first, and then the row of its delivery.
#[tokio::test(flavor = "multi_thread")]
async fn ingest_dying_beside_a_rejection_keeps_it_once() {
    let folder = std::env::temp_dir().join(format!("abisu-places-rejection-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let town = Town::start("dying-rejection", &[("ABISU_FAILPOINTS", folder.to_str().unwrap())]).await;
    for place in ["append.call", "append.stored"] {
        let body = json!({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [{
            "field": "messages",
            "value": {
                "messaging_product": "whatsapp",
                "metadata": {"display_phone_number": "1", "phone_number_id": "999"},
                "contacts": [{"wa_id": "34600000009"}],
                "messages": [{"from": "34600000009", "id": format!("wamid.{place}"), "timestamp": "1764500000",
                              "type": "text", "text": {"body": "Hola"}}],
            },
        }]}]});
        let raw = json!({"body": body.to_string()});
        std::fs::write(folder.join(place), "").unwrap();
        eventually("a call is answered, as a provider sends it again until then", async || {
            let answer = town.simulator.post("/control/webhook/raw", &raw).await.ok()?;
            (answer["status"] == 200).then_some(())
        })
        .await;
        assert!(!folder.join(place).exists(), "a service dies at {place}");
    }
    let kept: Vec<String> =
        sqlx::query_scalar("select message_id from inbound.rejection order by message_id")
            .fetch_all(&town.database.pool)
            .await
            .unwrap();
    assert_eq!(kept, ["wamid.append.call", "wamid.append.stored"]);
    assert_eq!(town.database.count("select count(*) from inbound.event").await, 0);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_dying_between_claim_and_commit_handles_each_message_once() {
    let places = [
        "claim.leased",
        "claim.read",
        "handle.planned",
        "settle.written",
        "settle.replied",
        "tx.written",
        "tx.committed",
    ];
    let before = [0, 3];
    let all: Vec<_> = before.iter().flat_map(|step| places.map(|place| (place, *step))).collect();
    dying_at("dying-claim", &all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_dying_around_a_send_loses_no_reply() {
    let places =
        ["send.leased", "send.read", "send.reserved", "send.accepted", "send.recorded", "send.settled"];
    dying_at("dying-send", &places.map(|place| (place, 3))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_dying_around_a_photo_keeps_it() {
    dying_at("dying-photo", &["photo.leased", "photo.fetched", "photo.stored"].map(|place| (place, 3))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn partner_push_dying_around_an_attempt_doubles_nothing() {
    let places = ["push.leased", "push.attempted", "push.answered", "push.settled"];
    dying_at("dying-push", &places.map(|place| (place, 3))).await;
}
