//! `abisu outbox`: the switch, the backlog, reports in doubt, and the comparison with the contractor.

use serde_json::{Value, json};
use sqlx::Executor;
use testkit::Database;

use crate::{Said, abisu, command};

async fn outbox(database: &Database, args: &[&str]) -> Said {
    let all: Vec<&str> = ["outbox"].iter().chain(args).copied().collect();
    abisu(Some(&database.url), &[("ABISU_OPERATOR", "ane")], &all).await
}

/// A received report with its outbox columns; `attempt`: a request of so many minutes ago that was never answered.
async fn report(
    database: &Database,
    number: u32,
    state: &str,
    partner_id: Option<&str>,
    attempt: Option<i32>,
) {
    sqlx::query(
        "with made as (
           insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, area_version,
             route, received_at, push_state, push_attempts, partner_id)
           values (gen_random_uuid(), 'whatsapp', gen_random_uuid(), 'received', $1, 'es',
             public.st_setsrid(public.st_makepoint(-2.6727, 42.8467), 4326), 'town', 1, 'street/graffiti', now(), $2, 3,
             $3)
           returning id
         )
         insert into report.push_attempt (id, report_id, epoch, endpoint, external_code, body_sha256, opened_at)
         select gen_random_uuid(), id, 1, 'http://x', $1, '', now() - make_interval(mins => $4) from made
         where $4 is not null",
    )
    .bind(format!("REF-2026-{number:05}"))
    .bind(state)
    .bind(partner_id)
    .bind(attempt)
    .execute(&database.pool)
    .await
    .unwrap();
}

async fn row(database: &Database, sql: &'static str) -> Value {
    sqlx::query_scalar(sql).fetch_one(&database.pool).await.unwrap()
}

const STATES: &str = "select jsonb_object_agg(reference, push_state) from report.report";

#[tokio::test]
async fn a_pause_and_its_end_are_kept_with_who_and_why() {
    let database = testkit::database().await;
    assert_eq!(outbox(&database, &["pause"]).await.code, 64, "a reason is needed");
    assert_eq!(outbox(&database, &["pause", "--because", " "]).await.code, 64, "a reason is needed");
    let said = outbox(&database, &["resume", "--because", "x"]).await;
    assert!(said.out.contains("was not paused"), "{}{}", said.out, said.error);
    for (act, says) in [
        ("pause", "is paused: nothing more goes out"),
        ("pause", "was paused already"),
        ("resume", "no longer paused"),
    ] {
        let said = outbox(&database, &[act, "--because", "their migration"]).await;
        assert!(said.code == 0 && said.out.contains(says), "{}{}", said.out, said.error);
    }
    let acts = row(
        &database,
        "select jsonb_agg(by || ' ' || act || ': ' || because order by id) from report.push_act",
    );
    assert_eq!(acts.await, serde_json::json!(["ane pause: their migration", "ane resume: their migration"]));
    assert_eq!(database.count("select count(*) from report.push_gate where not paused").await, 1);
}

#[tokio::test]
async fn a_person_who_knows_that_it_is_over_need_not_wait_for_the_breaker() {
    let database = testkit::database().await;
    let open = "insert into report.push_breaker (channel, state, cause, trips, doubts, until)
                values ('whatsapp', 'open', 'uncertain', 5, 5, now() + interval '8 hours')";
    database.pool.execute(open).await.unwrap();
    let due =
        "select count(*) from report.push_breaker where until <= now() and state = 'open' and doubts = 0";
    for paused in [false, true] {
        database
            .pool
            .execute("update report.push_breaker set until = now() + interval '8 hours', doubts = 5")
            .await
            .unwrap();
        if paused {
            assert_eq!(outbox(&database, &["pause", "--because", "they asked"]).await.code, 0);
        }
        assert_eq!(database.count(due).await, 0);
        let said = outbox(&database, &["resume", "--because", "they say that it works"]).await;
        assert!(said.out.contains("tried again now, with one report"), "{}{}", said.out, said.error);
        assert_eq!(database.count(due).await, 1);
    }
    let kept =
        "select count(*) from report.push_act where act = 'resume' and (detail ->> 'tried_at_once')::bool";
    assert_eq!(database.count(kept).await, 2);
    // Nothing to hurry: nothing changed, and nothing is noted.
    database.pool.execute("delete from report.push_breaker").await.unwrap();
    let said = outbox(&database, &["resume", "--because", "once more"]).await;
    assert!(said.out.contains("nothing changed"), "{}", said.out);
    assert_eq!(database.count("select count(*) from report.push_act where act = 'resume'").await, 2);
}

#[tokio::test]
async fn who_acts_is_told_or_logged_in_and_never_unknown() {
    let database = testkit::database().await;
    report(&database, 1, "review", None, None).await;
    let reference = "REF-2026-00001";
    let acts: [&[&str]; 7] = [
        &["outbox", "pause", "--because", "x"],
        &["outbox", "resume", "--because", "x"],
        &["outbox", "discard", reference, "--because", "x"],
        &["outbox", "review", "resolve", reference, "--resend", "--because", "x"],
        &["queue", "hold", "whatsapp", "on", "--because", "x"],
        &["queue", "dead", "discard", "--channel", "whatsapp", "--because", "x"],
        &["erase", "--phone", "34600000001"],
    ];
    let run = async |args: &[&str], login: Option<(&str, &str)>| {
        let mut command = command(Some(&database.url), &[], args);
        command.env_remove("USER").env_remove("LOGNAME").envs(login);
        command.output().await.unwrap()
    };
    for args in acts {
        let said = run(args, None).await;
        let error = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(64), "{args:?}: {error}");
        assert_eq!(error, "abisu: who does this? give --by or set ABISU_OPERATOR\n", "{args:?}");
    }
    for (args, login) in
        [(acts[0], ("USER", "ane")), (acts[1], ("LOGNAME", "jon")), (acts[4], ("USER", "ane"))]
    {
        assert_eq!(run(args, Some(login)).await.status.code(), Some(0), "{args:?}");
    }
    let by = row(&database, "select jsonb_agg(by order by id) from report.push_act").await;
    assert_eq!(by, json!(["ane", "jon"]));
}

#[tokio::test]
async fn the_backlog_says_what_would_go() {
    let database = testkit::database().await;
    for number in 1..=3 {
        report(&database, number, "pending", None, None).await;
    }
    report(&database, 4, "sent", Some("1"), None).await;
    outbox(&database, &["pause", "--because", "not yet"]).await;
    let said = outbox(&database, &["backlog", "--limit", "2"]).await;
    for part in
        ["3 reports wait", "paused by ane: not yet", "REF-2026-00001", "street/graffiti", "and 1 more"]
    {
        assert!(said.out.contains(part), "{part}: {}{}", said.out, said.error);
    }
    assert!(said.out.lines().filter(|line| line.contains(", no photo yet")).count() == 2, "{}", said.out);
    let let_go = "update report.report set push_without_photo = true where reference = 'REF-2026-00001'";
    database.pool.execute(let_go).await.unwrap();
    let said = outbox(&database, &["backlog"]).await;
    let first = said.out.lines().find(|line| line.contains("REF-2026-00001")).unwrap();
    assert!(first.ends_with("3 attempts, goes without a photo"), "{first}");
    let said = outbox(&database, &["backlog", "--json"]).await;
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&shown["total"], shown["reports"].as_array().unwrap().len()), (&Value::from(3), 3));
}

/// Two neighbours see the same container. Both reports go; who turns the gate on knows of it before.
#[tokio::test]
async fn before_anything_goes_the_backlog_tells_of_reports_like_an_earlier_one_nearby() {
    let database = testkit::database().await;
    for number in 1..=6 {
        report(&database, number, if number == 1 { "sent" } else { "pending" }, None, None).await;
    }
    for (number, change) in [
        (2, "point = public.st_setsrid(public.st_makepoint(-2.6729, 42.8467), 4326)"),
        (3, "point = public.st_setsrid(public.st_makepoint(-2.68, 42.8467), 4326)"),
        (4, "route = 'street/litter'"),
        (5, "channel = 'other'"),
        (6, "received_at = now() + interval '8 days'"),
    ] {
        let sql = format!("update report.report set {change} where reference = 'REF-2026-0000{number}'");
        database.pool.execute(sqlx::AssertSqlSafe(sql)).await.unwrap();
    }
    let said = outbox(&database, &["backlog"]).await;
    let hints: Vec<&str> = said.out.lines().filter(|line| line.contains("perhaps the same")).collect();
    assert_eq!(hints.len(), 1, "{}{}", said.out, said.error);
    assert!(hints[0].contains("REF-2026-00002"), "{}", said.out);
    assert!(hints[0].ends_with(", perhaps the same as REF-2026-00001 (sent), 16 m away"), "{}", said.out);
    let said = outbox(&database, &["backlog", "--json"]).await;
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    let near: Vec<&Value> =
        shown["reports"].as_array().unwrap().iter().map(|one| &one["near_reference"]).collect();
    assert_eq!(near, [&json!("REF-2026-00001"), &json!(null), &json!(null), &json!(null)]);
}

#[tokio::test]
async fn who_is_woken_reads_what_holds_the_backlog_and_until_when() {
    let database = testkit::database().await;
    report(&database, 1, "pending", None, None).await;
    report(&database, 2, "pending", None, None).await;
    let held = "update report.report set push_visible_at = now() + interval '10 minutes',
                  push_owner = case when reference like '%2' then gen_random_uuid() end";
    database.pool.execute(held).await.unwrap();
    let open = "insert into report.push_breaker (channel, state, cause, trips, doubts, until)
                values ('whatsapp', 'open', 'uncertain', 5, 4, '2030-01-02T03:04:05Z')";
    database.pool.execute(open).await.unwrap();
    let said = outbox(&database, &["backlog"]).await;
    let line =
        "  the breaker is open: uncertain, tried again at 2030-01-02T03:04:05Z or by `abisu outbox resume`\n";
    assert!(said.out.contains(line), "{}", said.out);
    let said = outbox(&database, &["backlog", "--json"]).await;
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&shown["breaker"], &shown["breaker_doubts"]), (&json!("open"), &json!(4)));
    // What waits for its time is there to be tried with; what a worker holds stays his.
    assert_eq!(outbox(&database, &["resume", "--because", "they are back"]).await.code, 0);
    let due = "select count(*) from report.report where push_visible_at <= clock_timestamp() and push_owner is null";
    assert_eq!(database.count(due).await, 1);
    let held = "select count(*) from report.report where push_visible_at > clock_timestamp() and push_owner is not null";
    assert_eq!(database.count(held).await, 1);
}

#[tokio::test]
async fn a_discarded_report_is_dead_unless_it_may_be_on_its_way() {
    let database = testkit::database().await;
    report(&database, 1, "pending", None, None).await;
    report(&database, 2, "review", None, Some(10)).await;
    report(&database, 3, "sent", Some("1"), None).await;
    report(&database, 4, "pending", None, Some(1)).await;
    report(&database, 5, "pending", None, None).await;
    let held = "update report.report set push_owner = gen_random_uuid(), push_visible_at = now() + interval '1 minute'
                where reference = 'REF-2026-00005'";
    database.pool.execute(held).await.unwrap();
    let said =
        outbox(&database, &["discard", "ref-2026-00001", "REF-2026-00002", "--because", "a drill"]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    for (reference, says) in [
        ("REF-2026-00003", "is sent: it cannot be discarded"),
        ("REF-2026-00004", "try again in two minutes"),
        ("REF-2026-00005", "is with a worker"),
        ("REF-2026-00009", "no report has the reference"),
    ] {
        let said = outbox(&database, &["discard", reference, "--because", "a drill"]).await;
        assert!(said.code == 1 && said.error.contains(says), "{reference}: {}", said.error);
    }
    let expected = serde_json::json!({
        "REF-2026-00001": "dead", "REF-2026-00002": "dead", "REF-2026-00003": "sent", "REF-2026-00004": "pending",
        "REF-2026-00005": "pending",
    });
    assert_eq!(row(&database, STATES).await, expected);
    let kept =
        "select count(*) from report.push_act where act = 'discard' and by = 'ane' and because = 'a drill'";
    assert_eq!(database.count(kept).await, 2);
    let told = "select count(*) from report.timeline where step = 'push_discarded'";
    assert_eq!(database.count(told).await, 2);
}

#[tokio::test]
async fn a_person_resolves_what_nobody_else_can() {
    let database = testkit::database().await;
    report(&database, 1, "review", None, Some(10)).await;
    report(&database, 2, "review", None, Some(10)).await;
    report(&database, 3, "review", None, Some(1)).await;
    let said = outbox(&database, &["review", "list"]).await;
    assert!(
        said.out.contains("REF-2026-00001") && said.out.contains("nobody knows how it ended"),
        "{}",
        said.out
    );

    let why = ["--because", "asked them"];
    let resolve =
        async |args: &[&str]| outbox(&database, &[&["review", "resolve"], args, &why[..]].concat()).await;
    assert_eq!(resolve(&["REF-2026-00001"]).await.code, 64, "one decision");
    assert_eq!(resolve(&["REF-2026-00001", "--sent", "7", "--resend"]).await.code, 64, "not two");
    assert_eq!(resolve(&["REF-2026-00001", "--sent", " "]).await.code, 64, "an id is something");
    assert_eq!(resolve(&["REF-2026-00001", "--sent", " 7 "]).await.code, 0);
    assert_eq!(resolve(&[" ref-2026-00002", "--resend"]).await.code, 0);
    let young = resolve(&["REF-2026-00003", "--resend"]).await;
    assert!(young.code == 1 && young.error.contains("try again in two minutes"), "{}", young.error);
    let expected = serde_json::json!({ "REF-2026-00001": "sent", "REF-2026-00002": "pending", "REF-2026-00003": "review" });
    assert_eq!(row(&database, STATES).await, expected);
    let again = "select count(*) from report.report r join report.push_attempt a on a.report_id = r.id
                 where r.reference = 'REF-2026-00002' and r.push_attempts = 0 and a.outcome = 'absent'";
    assert_eq!(database.count(again).await, 1);
    let sent = "select count(*) from report.report where partner_id = '7' and push_sent_at is not null";
    assert_eq!(database.count(sent).await, 1);
    let said = outbox(&database, &["review", "show", "REF-2026-00001"]).await;
    assert!(said.out.contains("resolve_sent by ane: asked them"), "{}", said.out);
    let said = outbox(&database, &["review", "show", "REF-2026-00001", "--json"]).await;
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        (&shown["push_state"], &shown["attempts"][0]["outcome"]),
        (&json!("sent"), &json!("already_there"))
    );
    assert_eq!((&shown["acts"][0]["act"], &shown["acts"][0]["by"]), (&json!("resolve_sent"), &json!("ane")));
    let said = outbox(&database, &["review", "show", "REF-2026-00009", "--json"]).await;
    assert_eq!((said.code, said.out.as_str()), (1, ""));
}

#[tokio::test]
async fn a_sent_report_is_not_sent_again_by_a_slip() {
    let database = testkit::database().await;
    report(&database, 1, "sent", Some("1"), None).await;
    let args = ["review", "resolve", "REF-2026-00001", "--resend", "--because", "they lost it"];
    let said = outbox(&database, &args).await;
    assert!(said.code == 1 && said.error.contains("second crew"), "{}", said.error);
    assert_eq!(database.count("select count(*) from report.push_act").await, 0);
    let said = outbox(&database, &[&args[..], &["--force"]].concat()).await;
    assert!(said.code == 0 && said.out.contains("may now have it twice"), "{}{}", said.out, said.error);
    // What it was before stays known: its id there may be the first of two.
    let forced =
        "select count(*) from report.push_act where (detail ->> 'forced')::bool and detail ->> 'was' = 'sent'
                  and detail ->> 'was_partner_id' = '1'";
    assert_eq!(database.count(forced).await, 1);
}

#[tokio::test]
async fn the_books_are_compared_with_a_contractor_that_can_be_searched() {
    let database = testkit::database().await;
    let config = simulator::Config { partner_search: true, ..simulator::Config::default() };
    let simulator = simulator::Simulator::start(config).await.unwrap();
    let url = format!("{}/partner", simulator.url());
    let variables = [
        ("ABISU_PARTNER_URL", url.as_str()),
        ("ABISU_PARTNER_USER", "abisu"),
        ("ABISU_PARTNER_PASSWORD", "dev-partner-password"),
        ("ABISU_PARTNER_SEARCH", "true"),
    ];
    let args = ["outbox", "reconcile", "--since", "2026-01-01"];
    let unable = abisu(Some(&database.url), &variables[..3], &args).await;
    assert!(unable.code == 1 && unable.error.contains("cannot be searched"), "{}", unable.error);
    let away = [("ABISU_PARTNER_URL", "http://127.0.0.1:9"), variables[1], variables[2], variables[3]];
    report(&database, 3, "sent", Some("synthetic"), None).await;
    let said = abisu(Some(&database.url), &away, &args).await;
    assert!(said.code == 0, "there is nothing to ask for: {}", said.error);
    let said = abisu(Some(&database.url), &variables, &args).await;
    assert!(said.code == 0 && said.out.contains("0 reports compared"), "{}{}", said.out, said.error);

    report(&database, 1, "sent", Some("INC-1"), None).await;
    report(&database, 2, "pending", None, None).await;
    let said = abisu(Some(&database.url), &variables, &args).await;
    assert_eq!(said.code, 2);
    assert!(
        said.out.contains("REF-2026-00001  missing: ours sent as INC-1, theirs no record"),
        "{}",
        said.out
    );
    assert!(said.out.contains("2 reports compared, 1 differ") && said.error.is_empty(), "{}", said.out);
    let said = abisu(Some(&database.url), &away, &args).await;
    assert!(said.code == 1 && said.error.contains("cannot be asked"), "{}", said.error);
    // A pass that ends among the questions is replaced, and what it kept from us is asked again.
    let spent = json!({ "surface": "partner.incidents", "kind": "status", "status": 401, "times": 1 });
    let faults = format!("{}/control/faults", simulator.url());
    let http = reqwest::Client::builder().timeout(std::time::Duration::from_secs(10)).build().unwrap();
    http.post(faults).json(&spent).send().await.unwrap().error_for_status().unwrap();
    let said = abisu(Some(&database.url), &variables, &args).await;
    assert!(said.code == 2 && said.out.contains("REF-2026-00001  missing"), "{}", said.out);
    assert!(said.out.contains("2 reports compared, 1 differ"), "{}", said.out);
    simulator.stop().await;
}

/// A contractor that lists these records, whatever is asked.
async fn listing(records: Value) -> String {
    let router = axum::Router::new()
        .route(
            "/api/login",
            axum::routing::post(async || axum::Json(json!({ "token": "t", "expires_in": 300 }))),
        )
        .route("/all", axum::routing::get(async move || axum::Json(records)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

#[tokio::test]
async fn a_contractor_that_lists_its_records_shows_what_is_missing_doubled_and_unknown() {
    let database = testkit::database().await;
    for (number, state, id) in [
        (1, "sent", Some("A")),
        (2, "sent", Some("B")),
        (3, "sent", Some("C")),
        (4, "dead", None),
        (5, "pending", None),
        (6, "sent", Some("F")),
    ] {
        report(&database, number, state, id, None).await;
    }
    let old =
        "update report.report set received_at = now() - interval '1 year' where reference = 'REF-2026-00006'";
    database.pool.execute(old).await.unwrap();
    let record =
        |number: u32, id: &str| json!({ "external_code": format!("REF-2026-{number:05}"), "id": id });
    let url = listing(json!([
        record(1, "A"),
        record(2, "B"), record(2, "X"),
        record(4, "D"),
        record(6, "F"),
        record(77, "G"),
        { "external_code": "OTHER-1", "id": "H" },
        { "id": "I" },
    ]))
    .await;
    let file = std::env::temp_dir().join(format!("abisu-list-{}.yaml", std::process::id()));
    std::fs::write(&file, "list: {path: /all}\n").unwrap();
    let file = file.display().to_string();
    let variables = [
        ("ABISU_PARTNER_URL", url.as_str()),
        ("ABISU_PARTNER_USER", "abisu"),
        ("ABISU_PARTNER_PASSWORD", "word"),
        ("ABISU_PARTNER_PLATFORM_FILE", file.as_str()),
    ];
    let since = (chrono::Utc::now() - chrono::TimeDelta::days(7)).to_rfc3339();
    let args = ["outbox", "reconcile", "--since", since.as_str(), "--json"];
    let said = abisu(Some(&database.url), &variables, &args).await;
    assert_eq!(said.code, 2, "{}", said.error);
    let told: Value = serde_json::from_str(&said.out).unwrap();
    let differ: Vec<(&str, &str)> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["reference"].as_str().unwrap(), one["difference"].as_str().unwrap()))
        .collect();
    let expected = [
        ("REF-2026-00077", "unknown"),
        ("REF-2026-00002", "doubled"),
        ("REF-2026-00003", "missing"),
        ("REF-2026-00004", "not_sent"),
    ];
    assert_eq!(differ, expected);
    assert_eq!((&told["listed"], &told["foreign"], &told["compared"]), (&json!(true), &json!(2), &json!(6)));
    let said = abisu(Some(&database.url), &variables, &args[..4]).await;
    assert!(said.out.contains("REF-2026-00077  unknown to our books: ours no such report, theirs record G"));
    std::fs::remove_file(file).unwrap();
}
