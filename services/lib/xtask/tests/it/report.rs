//! Reports in a system that is well.

use serde_json::json;
use testkit::eventually;

use crate::town::{Calm, Town, report};

#[tokio::test(flavor = "multi_thread")]
async fn four_messages_become_one_record_at_the_contractor_and_a_reference() {
    let town = Town::start("report", &[]).await;
    let citizen = town.citizen("Miren").await;
    let reported = report(&citizen, "Cristales por el suelo", 1, &Calm).await;
    let year = chrono::Utc::now().format("%Y");
    assert_eq!(reported.reference, format!("REF-{year}-00001"));
    let [incident] = &town.delivered(std::slice::from_ref(&reported)).await[..] else { panic!("one record") };
    let taxonomy = flow_json::Taxonomy::builtin().unwrap();
    let partner = taxonomy.leaf("container/overflowing/glass").unwrap().partner.as_ref().unwrap();
    assert_eq!(incident.category, partner.category);
    assert!((incident.latitude - 42.8467).abs() < 1e-9 && (incident.longitude + 2.6727).abs() < 1e-9);
    let note = incident.note.as_deref().unwrap();
    assert!(
        note.contains(&reported.note) && note.contains(partner.option_note.as_deref().unwrap()),
        "{note}"
    );
    assert_eq!(incident.photo_sha256.as_deref(), Some(reported.photo_sha256.as_str()));
    town.at_rest().await;
    let traced = "select count(distinct step) from report.timeline where trace_id ~ '^[0-9a-f]{32}$' \
                  and step in ('draft_opened', 'form_sent', 'received', 'citizen_told', 'photo_stored', 'pushed')";
    eventually("every step is on the timeline, with its trace", async || {
        (town.database.count(traced).await == 6).then_some(())
    })
    .await;
    let shown = town.stack.abisu(&["report", "show", &reported.reference]).await.unwrap();
    assert!(shown.contains("pushed"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_message_three_times_at_once_is_one_event_one_reply_and_three_answers() {
    let town = Town::start("copies", &[]).await;
    let citizen = town.citizen("Jon").await;
    let reported = report(&citizen, "Tres veces", 3, &Calm).await;
    town.delivered(std::slice::from_ref(&reported)).await;
    town.at_rest().await;
    assert_eq!(town.database.count("select count(*) from inbound.event").await, 4);
    let messages = citizen.messages().await.unwrap();
    assert_eq!(messages.iter().filter(|message| message.direction == "out").count(), 4);
    assert_eq!(town.database.count("select count(*) from report.report").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_depends_on_a_poll() {
    // A minute between looks: only wake-ups can carry the report through before the citizen loses patience.
    let town = Town::start("wake", &[("ABISU_POLL_MS", "60000")]).await;
    let citizen = town.citizen("Ane").await;
    let reported = report(&citizen, "Sin esperar", 1, &Calm).await;
    town.delivered(&[reported]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_line_holds_anything_personal_or_secret() {
    let town = Town::start("logs", &[("ABISU_LOG", "debug")]).await;
    let secret_note = "NotaQueNadieDebeLeer";
    let citizen = town.citizen("NombreQueNadieDebeLeer").await;
    // Some trouble first: errors are where data leaks.
    town.fault(
        json!({"surface": "meta.messages", "kind": "meta_error", "code": 131_016, "status": 500, "times": 2}),
    )
    .await;
    town.fault(json!({"surface": "meta.download", "kind": "status", "status": 500, "times": 1})).await;
    town.fault(json!({"surface": "partner.incidents", "kind": "status", "status": 429, "retry_after": 1, "times": 1})).await;
    let reported = report(&citizen, secret_note, 1, &Calm).await;
    town.delivered(&[reported]).await;
    citizen.say("Calle Pintorería 1").await.unwrap();
    town.at_rest().await;
    let phone: String = sqlx::query_scalar("select value from chat.alias where kind = 'phone'")
        .fetch_one(&town.database.pool)
        .await
        .unwrap();
    let mut searched = 0;
    for service in ["ingest", "conversation", "geocode", "partner-push"] {
        let log = std::fs::read_to_string(town.logs.join(format!("{service}.log"))).unwrap();
        searched += log.len();
        let mut forbidden = vec![
            phone.as_str(),
            secret_note,
            "NombreQueNadieDebeLeer",
            "Castellano",
            "Hola",
            "42.8467",
            "2.6727",
            "intorer",
            "postgres://",
            "Bearer ",
        ];
        let secrets = town.stack.secrets();
        forbidden.extend(secrets.iter().map(String::as_str));
        for word in forbidden {
            let line = log.lines().find(|line| line.contains(word));
            assert!(line.is_none(), "{service} logs {word:?}: {}", line.unwrap_or_default());
        }
    }
    assert!(searched > 1000, "there is something to search");
}
