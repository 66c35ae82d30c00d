//! A running system with its own database and simulators, and citizens who report in it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::Row;
use testkit::{Database, eventually};
use xtask::citizen::{Citizen, Form, Incident, Message, Simulator};
use xtask::stack::{Options, Stack};

/// How long a citizen waits for an answer. Generous: it bounds a test that fails, not the answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Where `cargo xtask test` puts the binaries.
pub(crate) fn binaries() -> PathBuf {
    std::env::var_os("ABISU_BIN_DIR").expect("run the tests with `cargo xtask test`").into()
}

/// A system of its own.
pub(crate) struct Town {
    pub(crate) stack: Stack,
    pub(crate) simulator: Simulator,
    pub(crate) database: Database,
    pub(crate) logs: PathBuf,
}

/// What a citizen holds at the end.
#[derive(Debug, Clone)]
pub(crate) struct Reported {
    pub(crate) reference: String,
    pub(crate) note: String,
    pub(crate) photo_sha256: String,
}

/// Short intervals: recovery from a crash takes a lease, and a test should not wait half a minute for it.
fn intervals() -> BTreeMap<String, String> {
    [
        ("ABISU_LEASE_MS", "3000"),
        ("ABISU_SEND_TIMEOUT_MS", "2000"),
        ("ABISU_BACKOFF_MS", "100"),
        ("ABISU_DEFER_MS", "100"),
        ("ABISU_DRAIN_DELAY_MS", "0"),
        ("ABISU_PARTNER_LEASE_MS", "6000"),
        ("ABISU_PARTNER_LOGIN_TIMEOUT_MS", "2000"),
        ("ABISU_PARTNER_SEND_TIMEOUT_MS", "2000"),
        ("ABISU_PARTNER_CONNECT_TIMEOUT_MS", "500"),
        ("ABISU_PARTNER_BACKOFF_MS", "200"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

impl Town {
    pub(crate) async fn start(name: &str, more: &[(&str, &str)]) -> Self {
        let database = testkit::database().await;
        let logs = std::env::temp_dir().join(format!("abisu-{name}-{}", std::process::id()));
        let mut options = Options::new(binaries());
        options.database = Some(database.url.clone());
        options.logs.clone_from(&logs);
        options.environment = intervals();
        options
            .environment
            .extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let stack = Stack::start(options).await.unwrap();
        let simulator = Simulator::new(stack.urls.simulator.as_deref().unwrap()).unwrap();
        Self { stack, simulator, database, logs }
    }

    /// A citizen with a number of the range that is reserved for fiction.
    pub(crate) async fn citizen(&self, name: &str) -> Citizen {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let phone = format!("3460000{:04}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.simulator.citizen(name, &phone, "es").await.unwrap()
    }

    /// Waits until the contractor has a record of each, exactly one, and returns them in that order.
    pub(crate) async fn delivered(&self, reports: &[Reported]) -> Vec<Incident> {
        let incidents = eventually("every report is at the contractor's", async || {
            let incidents = self.simulator.incidents().await.ok()?;
            reports
                .iter()
                .all(|r| incidents.iter().any(|i| i.external_code == r.reference))
                .then_some(incidents)
        })
        .await;
        reports
            .iter()
            .map(|report| {
                let mut found =
                    incidents.iter().filter(|incident| incident.external_code == report.reference);
                let incident = found.next().unwrap().clone();
                assert!(found.next().is_none(), "{} is at the contractor's twice", report.reference);
                incident
            })
            .collect()
    }

    /// The push state of a report.
    pub(crate) async fn push_state(&self, reference: &str) -> String {
        sqlx::query("select push_state from report.report where reference = $1")
            .bind(reference)
            .fetch_one(&self.database.pool)
            .await
            .unwrap()
            .get(0)
    }

    /// What must hold at rest: nothing pending, no lease, one report per reference.
    pub(crate) async fn at_rest(&self) {
        let busy = "select (select count(*) from chat.chat where owner is not null or done_seq < next_seq - 1) \
                    + (select count(*) from chat.sender where owner is not null or done_seq < next_seq - 1) \
                    + (select count(*) from report.photo_fetch)";
        eventually("the queues are at rest", async || (self.database.count(busy).await == 0).then_some(()))
            .await;
        assert_eq!(self.database.count("select count(*) from inbound.dead").await, 0);
        assert_eq!(self.database.count("select count(*) from inbound.rejection").await, 0);
    }

    pub(crate) async fn fault(&self, fault: Value) {
        self.simulator.post("/control/faults", &fault).await.unwrap();
    }

    pub(crate) async fn mend(&self) {
        self.simulator.delete("/control/faults").await.unwrap();
    }
}

/// What may happen between two messages of a citizen.
pub(crate) trait Trouble {
    /// Called right before message `step` (0 to 3) is sent, and with 4 after the last.
    fn before(&self, step: usize);
}

/// Nothing happens.
pub(crate) struct Calm;

impl Trouble for Calm {
    fn before(&self, _step: usize) {}
}

/// The four messages of a report, each sent `copies` times at once.
pub(crate) async fn report(citizen: &Citizen, note: &str, copies: u32, trouble: &impl Trouble) -> Reported {
    let act = async |step: usize, action: &str, mut body: Value| {
        trouble.before(step);
        body["copies"] = json!(copies);
        let answer = citizen.act(action, &body).await.unwrap();
        if copies > 1 {
            let statuses = answer["statuses"].as_array().unwrap();
            assert!(statuses.iter().all(|status| status == 200), "{statuses:?}");
        }
    };
    act(0, "say", json!({"text": "Hola"})).await;
    answer(citizen, "the language buttons", |message| message.buttons.len() == 2).await;
    act(1, "tap", json!({"title": "Castellano"})).await;
    answer(citizen, "the location request", |message| message.kind.contains("location")).await;
    act(2, "location", json!({"latitude": 42.8467, "longitude": -2.6727})).await;
    answer(citizen, "the form", |message| message.flow.is_some()).await;
    let taxonomy = flow_json::Taxonomy::builtin().unwrap();
    let path = taxonomy.labels("container/overflowing/glass", "es").unwrap();
    let photo = plain_photo(note);
    let photo_sha256 = hex::encode(Sha256::digest(&photo));
    let photo = json!({"base64": STANDARD.encode(photo), "mime_type": "image/jpeg"});
    let filled = Form { path, note: Some(note.to_owned()), photo };
    act(3, "form", serde_json::to_value(filled).unwrap()).await;
    let told = answer(citizen, "the reference", |message| {
        message.text.as_deref().is_some_and(|text| text.contains("REF-"))
    })
    .await;
    trouble.before(4);
    Reported {
        reference: reference(told.text.as_deref().unwrap_or_default()),
        note: note.to_owned(),
        photo_sha256,
    }
}

/// Waits for an answer of a kind. A reply may repeat after a crash, so the newest message is not always the next one.
pub(crate) async fn answer(citizen: &Citizen, what: &str, is: impl Fn(&Message) -> bool) -> Message {
    let mut after = None;
    loop {
        let message =
            citizen.reply(after, PATIENCE).await.unwrap_or_else(|error| panic!("{what}: {error:#}"));
        if is(&message) {
            return message;
        }
        after = Some(message.index);
    }
}

/// A JPEG without metadata, different for each `seed`: nothing is taken out of it, so its hash is the same everywhere.
pub(crate) fn plain_photo(seed: &str) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xda\x00\x02".to_vec();
    bytes.extend_from_slice(&Sha256::digest(seed).map(|byte| byte & 0x7f));
    bytes.extend_from_slice(b"\xff\xd9");
    bytes
}

/// The reference in a text.
pub(crate) fn reference(text: &str) -> String {
    let start = text.find("REF-").unwrap_or_else(|| panic!("no reference in: {text}"));
    text[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}
