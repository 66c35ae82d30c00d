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

/// One fault for so many requests.
const FAULT_EVERY: i64 = 10;

/// How much of it.
#[derive(Clone, Copy)]
struct Size {
    reports: u32,
    /// One kill for so many reports that ended, more or less.
    kill_every: i64,
    deadline: Duration,
}

/// What every run of the tests can carry.
const SMALL: Size = Size { reports: 1000, kill_every: 100, deadline: Duration::from_secs(170) };
const FULL: Size = Size { reports: 10_000, kill_every: 200, deadline: Duration::from_secs(3600) };

const FLAGS: [&str; 10] = [
    "--partner-parallel=6",
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
fn fault(number: i64) -> Value {
    let incidents = |fault: Value| {
        let mut fault = fault;
        fault["surface"] = json!("partner.incidents");
        fault
    };
    match number % 18 {
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
        13 => incidents(json!({ "kind": "accept_then_status", "status": 201, "body": { "ok": true } })),
        14 => incidents(json!({ "kind": "status", "status": 302, "location": "/partner/api/incidents" })),
        15 => incidents(json!({ "kind": "status", "status": 404 })),
        16 => incidents(json!({ "kind": "status", "status": 408 })),
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

/// How far it is.
#[derive(sqlx::FromRow)]
struct Progress {
    pending: i64,
    review: i64,
    /// Requests that were about to leave.
    requests: i64,
}

async fn progress(database: &Database) -> Progress {
    let sql = "select count(*) filter (where push_state = 'pending') as pending,
                 count(*) filter (where push_state = 'review') as review,
                 (select count(*) from report.push_attempt) as requests
               from report.report";
    sqlx::query_as(sql).fetch_one(&database.pool).await.unwrap()
}

/// What was done to it.
struct Suffered {
    faults: i64,
    kills: i64,
    took: Duration,
}

/// Runs until every report has ended; where the platform can be searched, none is left in review.
async fn run(database: &Database, control: &Control, flags: &[&str], size: Size, search: bool) -> Suffered {
    let partner = format!("{}/partner", control.url);
    let start = || Victim::start(arguments(database, &partner, flags));
    let mut victim = start().await;
    let (mut faults, mut kills, began) = (0, 0, Instant::now());
    let mut kill_at = rand::random_range(1..=size.kill_every);
    loop {
        let Progress { pending, review, requests } = progress(database).await;
        let ended = i64::from(size.reports) - pending;
        if pending == 0 && !(search && review > 0) {
            victim.kill();
            return Suffered { faults, kills, took: began.elapsed() };
        }
        assert!(began.elapsed() < size.deadline, "{pending} reports are pending, {review} in review");
        // What is sent again at the end meets no further faults, so that the end comes.
        if requests / FAULT_EVERY > faults && pending > 0 {
            faults += 1;
            control.add(fault(faults)).await;
        }
        if ended >= kill_at {
            kills += 1;
            kill_at = ended + rand::random_range(1..=2 * size.kill_every);
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

async fn suffer(size: Size, search: bool) -> BTreeMap<String, u32> {
    let database = database().await;
    let config = simulator::Config { partner_search: search, ..simulator::Config::default() };
    let simulator = Simulator::start(config).await.unwrap();
    let control = Control {
        http: reqwest::Client::builder().timeout(Duration::from_secs(10)).build().unwrap(),
        url: simulator.url().to_owned(),
    };
    for number in 1..=size.reports {
        NewReport::default().insert(&database, number).await;
    }
    let flag = format!("--partner-search={search}");
    let flags: Vec<&str> = FLAGS.into_iter().chain([flag.as_str()]).collect();
    let suffered = run(&database, &control, &flags, size, search).await;
    let states = audit(&database, &control).await;
    let posts = control.get("posts").await["count"].clone();
    let Suffered { faults, kills, took } = suffered;
    println!(
        "{} reports, search {search}, {faults} faults, {kills} kills, {posts} creates, {took:.1?}: {states:?}",
        size.reports
    );
    assert!(kills >= i64::from(size.reports) / (2 * size.kill_every), "{kills} kills");
    assert!(faults >= i64::from(size.reports) / FAULT_EVERY - 1, "{faults} faults");
    simulator.stop().await;
    states
}

async fn without_search(size: Size) {
    let states = suffer(size, false).await;
    assert!(states["sent"] > size.reports / 2 && states["review"] > 0 && states["dead"] > 0, "{states:?}");
}

async fn with_search(size: Size) {
    let states = suffer(size, true).await;
    assert!(states["sent"] > size.reports * 9 / 10 && states["dead"] > 0, "{states:?}");
    assert_eq!(states.get("review"), None, "{states:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_search_each_report_is_there_once_or_in_review() {
    without_search(SMALL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_search_each_report_is_there_once() {
    with_search(SMALL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes many minutes: cargo test -p partner-push -- --ignored --nocapture ten_thousand"]
async fn of_ten_thousand_reports_each_is_there_once_or_in_review() {
    without_search(FULL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes many minutes: cargo test -p partner-push -- --ignored --nocapture ten_thousand"]
async fn of_ten_thousand_reports_each_is_there_once_where_doubts_can_be_looked_up() {
    with_search(FULL).await;
}
