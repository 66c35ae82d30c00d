//! A thousand citizens at the same time, on a day on which of every third party one call in twenty goes wrong: the
//! provider's sends, its files, the geocoder, the contractor. Each ends with the reference of the own report, and nobody
//! is stuck.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sqlx::Row;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use xtask::citizen::{Citizen, Form, Incident, Message, Simulator};

use crate::town::{Town, plain_photo, reference};

const CITIZENS: usize = 1000;
/// How long one citizen waits for one answer, and the contractor's platform for the last report. It bounds a test that
/// fails; nothing is said here about how fast the machine is.
const PATIENCE: Duration = Duration::from_secs(150);
/// Phones whose messages are under way to the provider at once.
const AT_ONCE: usize = 64;

/// What goes wrong, and how often: together about one call in twenty of each.
const FAULTS: [(&str, u32, &str); 15] = [
    ("meta.messages", 101, r#"{"kind": "status", "status": 500}"#),
    ("meta.messages", 103, r#"{"kind": "accept_then_reset"}"#),
    ("meta.messages", 107, r#"{"kind": "reset"}"#),
    ("meta.messages", 109, r#"{"kind": "meta_error", "code": 131056}"#),
    ("meta.messages", 113, r#"{"kind": "meta_error", "code": 130429, "status": 429}"#),
    ("meta.media", 20, r#"{"kind": "status", "status": 500}"#),
    ("meta.download", 41, r#"{"kind": "reset"}"#),
    ("meta.download", 43, r#"{"kind": "status", "status": 404}"#),
    ("cartociudad", 61, r#"{"kind": "status", "status": 500}"#),
    ("cartociudad", 67, r#"{"kind": "trap", "trap": "html"}"#),
    ("cartociudad", 71, r#"{"kind": "reset"}"#),
    ("partner.login", 2, r#"{"kind": "status", "status": 500}"#),
    ("partner.incidents", 61, r#"{"kind": "status", "status": 503}"#),
    ("partner.incidents", 67, r#"{"kind": "accept_then_reset"}"#),
    ("partner.incidents", 71, r#"{"kind": "status", "status": 429, "retry_after": 1}"#),
];
/// Doors that the simulated town has, and so that a citizen may type.
const DOORS: [&str; 4] =
    ["Calle Pintorería 1", "Mateo Benigno de Moraza 9", "Avenida Gasteiz 30", "Eduardo Dato kalea 12"];

/// A person with a phone, and what is still unread on it.
struct Neighbour {
    number: usize,
    citizen: Citizen,
    inbox: mpsc::UnboundedReceiver<Message>,
}

/// What the person holds at the end.
struct Told {
    note: String,
    reference: String,
    language: &'static str,
}

impl Neighbour {
    /// The next message that is `wanted`, past repeats of what was read before.
    async fn reads(&mut self, what: &str, wanted: impl Fn(&Message) -> bool) -> Message {
        let awaited = async {
            loop {
                let message = self.inbox.recv().await.unwrap();
                if wanted(&message) {
                    return message;
                }
            }
        };
        let read = tokio::time::timeout(PATIENCE, awaited).await;
        read.unwrap_or_else(|_| panic!("neighbour {} waits for {what} in vain", self.number))
    }

    /// Does something; some deliveries come to us twice at once.
    async fn does(&self, gate: &Semaphore, action: &str, mut body: Value) {
        body["copies"] = json!(if self.number.is_multiple_of(20) { 2 } else { 1 });
        let _place = gate.acquire().await.unwrap();
        self.citizen.act(action, &body).await.unwrap();
    }

    /// Says where: every third types an address and, when told that nobody can be asked now, sends a pin after all.
    async fn says_where(&mut self, gate: &Semaphore, asked: &Message) {
        if self.number.is_multiple_of(3) {
            let door = DOORS[self.number / 3 % DOORS.len()];
            self.does(gate, "say", json!({"text": door})).await;
            let asked = asked.text.clone();
            let heard = self.reads("the form or a word", |m| m.flow.is_some() || m.text != asked).await;
            if heard.flow.is_some() {
                return;
            }
        }
        // Everybody stands somewhere else, so that no answer is remembered for the next.
        let east = f64::from(u32::try_from(self.number).unwrap()) * 1e-6;
        self.does(gate, "location", json!({"latitude": 42.8467, "longitude": -2.6727 + east})).await;
        self.reads("the form", |message| message.flow.is_some()).await;
    }

    /// A whole report.
    async fn reports(mut self, gate: &Semaphore, paths: &BTreeMap<&'static str, Vec<String>>) -> Told {
        let (language, title) =
            if self.number.is_multiple_of(2) { ("es", "Castellano") } else { ("eu", "Euskara") };
        self.does(gate, "say", json!({"text": "Kaixo"})).await;
        self.reads("the languages", |message| message.buttons.len() == 2).await;
        self.does(gate, "tap", json!({"title": title})).await;
        let asked = self.reads("the question where", |message| message.kind.contains("location")).await;
        self.says_where(gate, &asked).await;
        let note = format!("Aviso del vecino {}", self.number);
        let photo = json!({"base64": STANDARD.encode(plain_photo(&note)), "mime_type": "image/jpeg"});
        let filled = Form { path: paths[language].clone(), note: Some(note.clone()), photo };
        self.does(gate, "form", serde_json::to_value(filled).unwrap()).await;
        let is_reference = |message: &Message| message.text.as_deref().is_some_and(|t| t.contains("REF-"));
        let told = self.reads("the reference", is_reference).await;
        Told { note, reference: reference(told.text.as_deref().unwrap()), language }
    }
}

/// Hands what appears on the phones to whom it belongs, until dropped. One question for all of them.
async fn hand_out(simulator: &Simulator, inboxes: &HashMap<String, mpsc::UnboundedSender<Message>>) {
    let mut seen = 0;
    loop {
        // Nothing new for a while is no error.
        let Ok(new) = simulator.get(&format!("/control/feed?after={seen}&timeout_ms=20000")).await else {
            continue;
        };
        for message in new.as_array().unwrap() {
            seen += 1;
            let inbox = inboxes.get(message["citizen"].as_str().unwrap());
            if let (Some(inbox), "out") = (inbox, message["direction"].as_str().unwrap()) {
                // Whoever has the reference reads no more.
                let _ = inbox.send(serde_json::from_value(message.clone()).unwrap());
            }
        }
    }
}

/// Waits until a count is zero, longer than a test of one report would.
async fn until_none(town: &Town, what: &str, sql: &'static str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = town.database.count(sql).await;
        if left == 0 {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: {left} left");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_citizens_on_a_bad_day_each_get_the_reference_of_their_own_report() {
    let town = Town::start(
        "crowd",
        &[
            // What is tried here is that nobody is stuck, not how slowly one may go.
            ("ABISU_SENDS_PER_SECOND", "1000"),
            ("ABISU_CARTOCIUDAD_RATE", "1000"),
            ("ABISU_PARTNER_DRAIN_RATE", "1000"),
            ("ABISU_PARTNER_DEFER_MS", "200"),
            ("ABISU_PARTNER_PROBE_DELAY_MS", "200"),
            ("ABISU_RECEIPT_WAIT_MS", "500"),
            ("ABISU_LEASE_MS", "30000"),
            ("ABISU_LOG", "warn"),
        ],
    )
    .await;
    let gate = Semaphore::new(AT_ONCE);
    let mut inboxes = HashMap::new();
    let mut neighbours = Vec::new();
    for number in 0..CITIZENS {
        let citizen = town.citizen(&format!("Vecino {number}")).await;
        let (sender, inbox) = mpsc::unbounded_channel();
        inboxes.insert(citizen.id().to_owned(), sender);
        neighbours.push(Neighbour { number, citizen, inbox });
    }
    for (surface, every, fault) in FAULTS {
        let mut fault: Value = serde_json::from_str(fault).unwrap();
        fault["surface"] = json!(surface);
        fault["every"] = json!(every);
        town.fault(fault).await;
    }
    let taxonomy = flow_json::Taxonomy::builtin().unwrap();
    let path = |language| taxonomy.labels("container/overflowing/glass", language).unwrap();
    let paths = BTreeMap::from([("es", path("es")), ("eu", path("eu"))]);

    let all = neighbours.into_iter().map(|neighbour| neighbour.reports(&gate, &paths));
    let told = tokio::select! {
        told = futures::future::join_all(all) => told,
        () = hand_out(&town.simulator, &inboxes) => unreachable!("it has no end"),
    };

    nobody_is_stuck(&town).await;
    each_holds_the_own_reference(&town, &told).await;
    the_contractor_has_each_once(&town, &told).await;
}

/// Nothing of anybody waits for us: no message, no reply, no photo, no question that was not asked.
async fn nobody_is_stuck(town: &Town) {
    until_none(
        town,
        "messages and replies that wait",
        "select (select count(*) from chat.chat where owner is not null or done_seq < next_seq - 1)
              + (select count(*) from chat.sender where owner is not null or done_seq < next_seq - 1)",
    )
    .await;
    until_none(town, "photos that wait", "select count(*) from report.photo_fetch").await;
    for (what, sql) in [
        (
            "chats with a prompt that we did not send",
            "select count(*) from chat.session s where s.prompt is not null and not exists (
               select from chat.outbound o where o.chat_id = s.chat_id and o.prompt = s.prompt and o.outcome = 'sent')",
        ),
        ("replies given up", "select count(*) from chat.outbound where outcome is distinct from 'sent'"),
        ("conversations in the middle", "select count(*) from chat.session where step <> 'idle'"),
        ("drafts", "select count(*) from report.report where state = 'draft'"),
        ("dead events", "select count(*) from inbound.dead"),
        ("rejections", "select count(*) from inbound.rejection"),
        ("photos given up", "select count(*) from report.report where photo_sha256 is null"),
    ] {
        assert_eq!(town.database.count(sql).await, 0, "{what}");
    }
}

async fn each_holds_the_own_reference(town: &Town, told: &[Told]) {
    let rows = sqlx::query(
        "select note, reference, language, photo_sha256 from report.report where state = 'received'",
    )
    .fetch_all(&town.database.pool)
    .await
    .unwrap();
    assert_eq!(rows.len(), CITIZENS, "one report for each");
    let stored: HashMap<String, (String, String)> =
        rows.iter().map(|row| (row.get("note"), (row.get("reference"), row.get("language")))).collect();
    for Told { note, reference, language } in told {
        assert_eq!(stored[note], (reference.clone(), (*language).to_owned()), "{note}");
    }
    let references: HashSet<&String> = told.iter().map(|told| &told.reference).collect();
    assert_eq!(references.len(), CITIZENS, "nobody got another's");
}

/// Once, with everything that belongs to it; only what was cut between the request and its answer waits for a person.
async fn the_contractor_has_each_once(town: &Town, told: &[Told]) {
    until_none(town, "pushes that wait", "select count(*) from report.report where push_state = 'pending'")
        .await;
    let states: HashMap<String, String> = sqlx::query("select reference, push_state from report.report")
        .fetch_all(&town.database.pool)
        .await
        .unwrap()
        .iter()
        .map(|row| (row.get("reference"), row.get("push_state")))
        .collect();
    let mut records: HashMap<String, Vec<Incident>> = HashMap::new();
    for incident in town.simulator.incidents().await.unwrap() {
        records.entry(incident.external_code.clone()).or_default().push(incident);
    }
    for Told { note, reference, .. } in told {
        let found = records.get(reference).map_or(&[][..], Vec::as_slice);
        match (states[reference].as_str(), found) {
            ("sent", [only]) => {
                assert!(only.note.as_deref().is_some_and(|text| text.contains(note)), "{note}")
            }
            ("review", [] | [_]) => {}
            (state, found) => panic!("{reference} is {state} and at the contractor's {} times", found.len()),
        }
    }
}
