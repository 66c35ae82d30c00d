//! Many reports, a platform with faults of all kinds, and a service that is killed at random. The platform's own
//! record, which this crate has no part in, says what is true.

use std::collections::BTreeMap;
use std::time::Duration;

use partner_push::args::Args;
use runtime::{ServiceArgs, Shell};
use serde_json::{Value, json};
use simulator::Simulator;
use testkit::{Database, database};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::scene::{NewReport, arguments};

const REPORTS: u32 = 300;
/// One fault for so many requests.
const EVERY: u64 = 10;
/// One kill for so many reports that ended.
const KILL_EVERY: i64 = 40;
const DEADLINE: Duration = Duration::from_secs(120);

const FLAGS: [&str; 9] = [
    "--partner-password=dev-partner-password",
    "--partner-connect-timeout=200",
    "--partner-send-timeout=400",
    "--partner-login-timeout=300",
    "--partner-lease=900",
    "--partner-probe-delay=500",
    "--partner-drain-rate=1000",
    "--partner-defer=10",
    "--poll=20",
];

/// A service in a runtime of its own, which can be torn out from under it.
struct Victim(Option<Runtime>);

impl Victim {
    async fn start(args: Args) -> Self {
        let start = move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            runtime
                .block_on(partner_push::run(args.config().unwrap(), Shell::detached("partner-push")))
                .unwrap();
            runtime
        };
        Self(Some(tokio::task::spawn_blocking(start).await.unwrap()))
    }

    /// As a kill would: every task ends where it waits, nothing is settled, connections break.
    fn kill(mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// All kinds in turn; upon which report they fall is chance.
fn fault(number: u64) -> Value {
    let incidents = |fault: Value| {
        let mut fault = fault;
        fault["surface"] = json!("partner.incidents");
        fault
    };
    match number % 14 {
        0 => json!({ "surface": "partner.login", "kind": "status", "status": 500 }),
        1 => json!({ "surface": "partner.login", "kind": "reset" }),
        2 => incidents(json!({ "kind": "status", "status": 500 })),
        3 => incidents(json!({ "kind": "status", "status": 503, "retry_after": 1 })),
        4 => incidents(json!({ "kind": "status", "status": 429, "retry_after": 0 })),
        5 => incidents(json!({ "kind": "status", "status": 401 })),
        6 => incidents(json!({ "kind": "status", "status": 403 })),
        7 => incidents(json!({ "kind": "status", "status": 413 })),
        8 => incidents(json!({ "kind": "status", "status": 422 })),
        9 => incidents(json!({ "kind": "hang" })),
        10 => incidents(json!({ "kind": "reset" })),
        11 => incidents(json!({ "kind": "down" })),
        12 => incidents(json!({ "kind": "accept_then_reset" })),
        _ => incidents(json!({ "kind": "accept_then_status", "status": 502 })),
    }
}

/// The control side of the simulator.
struct Control {
    http: reqwest::Client,
    url: String,
}

impl Control {
    async fn get(&self, path: &str) -> Value {
        let url = format!("{}/control/partner/{path}", self.url);
        self.http.get(url).send().await.unwrap().json().await.unwrap()
    }

    async fn add(&self, mut fault: Value) {
        fault["times"] = json!(1);
        let url = format!("{}/control/faults", self.url);
        self.http.post(url).json(&fault).send().await.unwrap().error_for_status().unwrap();
    }
}

/// Runs until no report is in one of the `open` states. Returns how often the service was killed.
async fn run(database: &Database, control: &Control, flags: &[&str], open: &'static str) -> u32 {
    let partner = format!("{}/partner", control.url);
    let start = || Victim::start(arguments(database, &partner, flags));
    let mut victim = start().await;
    let (mut faults, mut kills) = (0, 0);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let left = database.count(open).await;
        if left == 0 {
            victim.kill();
            return kills;
        }
        assert!(Instant::now() < deadline, "{left} reports are still open");
        let ended = database.count("select count(*) from report.report where push_state <> 'pending'").await;
        let posts = control.get("posts").await["count"].as_u64().unwrap();
        // What is sent again at the end meets no further faults, so that the end comes.
        if posts / EVERY > faults && ended < i64::from(REPORTS) {
            faults += 1;
            control.add(fault(faults)).await;
        }
        if ended / KILL_EVERY > i64::from(kills) {
            kills += 1;
            victim.kill();
            victim = start().await;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Every report's state and reason beside the number of records that the platform has of it.
async fn audit(database: &Database, control: &Control) -> BTreeMap<String, u32> {
    let mut records: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in control.get("incidents").await.as_array().unwrap() {
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        records.entry(text("external_code")).or_default().push(text("id"));
    }
    let books: Vec<(String, String, Option<String>, Option<String>)> =
        sqlx::query_as("select reference, push_state, push_error, partner_id from report.report")
            .fetch_all(&database.pool)
            .await
            .unwrap();
    let mut states = BTreeMap::new();
    for (reference, state, error, partner_id) in books {
        let made = records.get(&reference).map_or(&[][..], Vec::as_slice);
        assert!(made.len() <= 1, "{reference} was made {} times", made.len());
        match state.as_str() {
            "sent" => {
                assert_eq!(made.len(), 1, "{reference} counts as sent");
                assert!(partner_id.is_none_or(|id| made[0] == id), "{reference} has another id");
            }
            "dead" => {
                assert_eq!(made.len(), 0, "{reference} counts as dead");
                assert_eq!(error.as_deref(), Some("rejected: http 422"), "{reference}");
            }
            "review" => {
                let error = error.unwrap();
                assert!(error.starts_with("ambiguous") || error == "attempt_open", "{reference}: {error}");
            }
            other => panic!("{reference} is {other}"),
        }
        *states.entry(state).or_default() += 1;
    }
    states
}

async fn suffer(search: bool, open: &'static str) -> (u32, BTreeMap<String, u32>) {
    let database = database().await;
    let config = simulator::Config { partner_search: search, ..simulator::Config::default() };
    let simulator = Simulator::start(config).await.unwrap();
    let control = Control {
        http: reqwest::Client::builder().timeout(Duration::from_secs(10)).build().unwrap(),
        url: simulator.url().to_owned(),
    };
    for number in 1..=REPORTS {
        NewReport::default().insert(&database, number).await;
    }
    let search = format!("--partner-search={search}");
    let flags: Vec<&str> = FLAGS.into_iter().chain([search.as_str()]).collect();
    let kills = run(&database, &control, &flags, open).await;
    let states = audit(&database, &control).await;
    simulator.stop().await;
    (kills, states)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_search_each_report_is_there_once_or_in_review() {
    let open = "select count(*) from report.report where push_state = 'pending'";
    let (kills, states) = suffer(false, open).await;
    assert!(kills >= 5, "{kills}");
    assert!(states["sent"] > REPORTS / 2 && states["review"] > 0 && states["dead"] > 0, "{states:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_search_each_report_is_there_once() {
    let open = "select count(*) from report.report where push_state in ('pending', 'review')";
    let (kills, states) = suffer(true, open).await;
    assert!(kills >= 5, "{kills}");
    assert_eq!(states.get("review"), None, "{states:?}");
}
