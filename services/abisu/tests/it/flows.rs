//! `abisu flows publish`, against a Graph API with its own reading of what a form may be.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use simulator::{Config, Simulator};
use testkit::Database;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::{Said, abisu, command};

const TOKEN: &str = "token-of-the-test";
const ACCOUNT: &str = "200000000000002";
const RELEASES: &str =
    "select count(*) from flow.release where state = 'published' and published_at is not null";

struct World {
    database: Database,
    graph: Simulator,
}

impl World {
    async fn start() -> Self {
        let config =
            Config { access_token: TOKEN.to_owned(), waba_id: ACCOUNT.to_owned(), ..Config::default() };
        Self { database: testkit::database().await, graph: Simulator::start(config).await.unwrap() }
    }

    fn url(&self) -> String {
        format!("{}/meta", self.graph.url())
    }

    fn variables<'a>(url: &'a str, token: &'a str) -> [(&'static str, &'a str); 4] {
        [
            ("ABISU_META_GRAPH_URL", url),
            ("ABISU_META_ACCESS_TOKEN", token),
            ("ABISU_META_WABA_ID", ACCOUNT),
            ("ABISU_META_PHONE_NUMBER_ID", "100000000000001"),
        ]
    }

    async fn publish(&self, more: &[&str]) -> Said {
        let args: Vec<&str> = ["flows", "publish"].into_iter().chain(more.iter().copied()).collect();
        abisu(Some(&self.database.url), &Self::variables(&self.url(), TOKEN), &args).await
    }

    /// Runs it and kills it as soon as it says that it begins a step.
    async fn publish_and_kill_at(&self, step: &str) {
        let url = self.url();
        let variables = Self::variables(&url, TOKEN);
        let mut command = command(Some(&self.database.url), &variables, &["flows", "publish"]);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains(step) {
                break;
            }
        }
        child.kill().await.unwrap();
    }

    /// Names, ids and states of the forms on the account.
    async fn forms(&self) -> Vec<(String, String, String)> {
        let url = format!("{}/v26.0/{ACCOUNT}/flows", self.url());
        let answer = client().get(url).bearer_auth(TOKEN).send().await.unwrap();
        let listing: Value = answer.json().await.unwrap();
        let word = |flow: &Value, key: &str| flow[key].as_str().unwrap().to_owned();
        let flows = listing["data"].as_array().unwrap().iter();
        flows.map(|flow| (word(flow, "name"), word(flow, "id"), word(flow, "status"))).collect()
    }

    async fn fault(&self, fault: Value) {
        let url = format!("{}/control/faults", self.graph.url());
        assert!(client().post(url).json(&fault).send().await.unwrap().status().is_success());
    }

    /// Calls about forms so far.
    async fn calls(&self) -> u64 {
        let requests: Value = client()
            .get(format!("{}/control/requests", self.graph.url()))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let of_forms = requests.as_array().unwrap().iter().filter(|one| one["surface"] == "meta.flows");
        of_forms.count() as u64
    }

    async fn deprecate(&self, id: &str) {
        let url = format!("{}/v26.0/{id}/deprecate", self.url());
        let answer = client().post(url).bearer_auth(TOKEN).send().await.unwrap();
        assert!(answer.status().is_success());
    }
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().timeout(std::time::Duration::from_secs(10)).build().unwrap()
}

/// The built-in catalogs with one text changed.
fn changed_catalogs(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("abisu-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let catalogs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogs");
    for file in ["es.yaml", "eu.yaml", "partner.yaml"] {
        let text = std::fs::read_to_string(catalogs.join(file)).unwrap();
        std::fs::write(folder.join(file), text.replace("submit: Enviar aviso", "submit: Mandar aviso"))
            .unwrap();
    }
    folder
}

#[tokio::test]
async fn both_languages_are_published_once_however_often_it_runs() {
    let world = World::start().await;
    let first = world.publish(&[]).await;
    assert_eq!(first.code, 0, "{}", first.error);
    assert_eq!(first.out.matches(" is live as ").count(), 2, "{}", first.out);
    assert_eq!(world.database.count(RELEASES).await, 2);
    let forms = world.forms().await;

    let again = world.publish(&[]).await;
    assert_eq!(again.out.matches(" is live already as ").count(), 2, "{}", again.out);
    assert_eq!(again.error, "", "nothing is done");

    // As if it had been cut between the publishing of one language and its record.
    sqlx::query("delete from flow.release where language = 'eu'")
        .execute(&world.database.pool)
        .await
        .unwrap();
    let repaired = world.publish(&[]).await;
    assert_eq!(repaired.code, 0, "{}", repaired.error);
    assert_eq!(world.database.count(RELEASES).await, 2);
    assert_eq!(world.forms().await, forms, "no second form is made");
}

#[tokio::test]
async fn killed_at_any_step_and_run_again_it_ends_right_and_makes_no_second_form() {
    for step in
        ["es: making", "es: uploading", "es: reading", "es: publishing", "eu: making", "eu: publishing"]
    {
        let world = World::start().await;
        world.publish_and_kill_at(step).await;
        let again = world.publish(&[]).await;
        assert_eq!(again.code, 0, "{step}: {}", again.error);
        let forms = world.forms().await;
        assert_eq!(forms.len(), 2, "{step}: {forms:?}");
        assert!(forms.iter().all(|(_, _, status)| status == "PUBLISHED"), "{step}: {forms:?}");
        assert_eq!(world.database.count(RELEASES).await, 2, "{step}");
    }
}

/// Not by killing: the call was made, and nobody heard the answer.
#[tokio::test]
async fn whichever_answer_of_the_account_is_lost_the_next_run_ends_right() {
    let mut call = 0;
    loop {
        let world = World::start().await;
        world
            .fault(json!({"surface": "meta.flows", "kind": "accept_then_reset", "skip": call, "times": 1}))
            .await;
        world.publish(&["--lang", "es"]).await;
        if world.calls().await <= call {
            // Nothing was lost: the run makes no more calls.
            break;
        }
        let again = world.publish(&["--lang", "es"]).await;
        assert_eq!(again.code, 0, "call {call}: {}", again.error);
        let forms = world.forms().await;
        assert_eq!(forms.len(), 1, "call {call}: {forms:?}");
        assert!(forms.iter().all(|(_, _, status)| status == "PUBLISHED"), "call {call}: {forms:?}");
        assert_eq!(world.database.count(RELEASES).await, 1, "call {call}");
        call += 1;
    }
    assert!(call >= 6, "it is listed, made, uploaded, read back and published: {call}");
}

#[tokio::test]
async fn what_the_account_refuses_says_what_to_do() {
    let world = World::start().await;
    for (code, status, says) in [
        (190, 401, "ABISU_META_ACCESS_TOKEN"),
        (200, 403, "whatsapp_business_management"),
        (80_007, 429, "goes on where it stopped"),
        (131_031, 403, "Account quality"),
        (139_000, 400, "integrity check"),
        (139_002, 400, "verified business"),
        (2635, 400, "ABISU_META_GRAPH_VERSION"),
        (777, 400, "ABISU_META_WABA_ID"),
    ] {
        world
            .fault(json!({"surface": "meta.flows", "kind": "meta_error", "code": code, "status": status, "times": 1}))
            .await;
        let said = world.publish(&["--lang", "es"]).await;
        assert_eq!(said.code, 1, "{code}");
        assert!(
            said.error.contains(says) && said.error.contains(&code.to_string()),
            "{code}: {}",
            said.error
        );
        assert_eq!(said.error.lines().count(), 1, "{}", said.error);
    }
    let url = world.url();
    let mut variables = World::variables(&url, TOKEN);
    variables[2].1 = "1";
    let said = abisu(Some(&world.database.url), &variables, &["flows", "publish"]).await;
    assert!(said.error.contains("there is no such account"), "{}", said.error);
}

#[tokio::test]
async fn what_the_platform_finds_is_shown_at_our_line_and_key() {
    let world = World::start().await;
    let folder = changed_catalogs("refused");
    let file = folder.join("es.yaml");
    // A rule that neither our linter nor the simulator knows.
    let told = json!({"success": true, "validation_errors": [{"error": "A_NEW_RULE", "error_type": "FLOW_JSON_ERROR",
        "message": "Not like this", "line_start": 5, "line_end": 5, "column_start": 1, "column_end": 2,
        "pointers": [{"line_start": 5, "line_end": 5, "column_start": 1, "column_end": 2,
            "path": "screens[10].layout.children[6].label"}]}]});
    world
        .fault(json!({"surface": "meta.flows", "kind": "status", "status": 200, "body": told, "skip": 2, "times": 1}))
        .await;
    let said = world.publish(&["--lang", "es", "--catalogs-dir", folder.to_str().unwrap()]).await;
    assert_eq!(said.code, 1, "{}", said.out);
    let line = format!("{}: form.submit: A_NEW_RULE: Not like this (line 5)", file.display());
    assert!(said.error.lines().any(|said| said.starts_with(&line)), "{line}\n{}", said.error);
    assert_eq!(world.database.count(RELEASES).await, 0);
}

#[tokio::test]
async fn a_changed_text_updates_the_form_in_place_and_keeps_the_old_taxonomy() {
    let world = World::start().await;
    world.publish(&[]).await;
    let forms = world.forms().await;
    let folder = changed_catalogs("in-place");
    let folder = folder.to_str().unwrap();

    let plan = world.publish(&["--dry-run", "--catalogs-dir", folder]).await;
    assert_eq!(plan.out.matches(" would be updated").count(), 2, "{}", plan.out);
    assert_eq!(world.forms().await, forms);
    assert_eq!(world.database.count(RELEASES).await, 2);

    let changed = world.publish(&["--catalogs-dir", folder]).await;
    assert_eq!(changed.code, 0, "{}", changed.error);
    assert_eq!(world.forms().await, forms, "the same two forms");
    // The version is of the whole city, so both languages have a new release; the old ones still explain old answers.
    assert_eq!(world.database.count(RELEASES).await, 4);
    assert_eq!(world.database.count("select count(distinct version) from flow.release").await, 2);

    let back = world.publish(&[]).await;
    assert_eq!(back.out.matches(" is live as ").count(), 2, "{}", back.out);
    assert_eq!(world.database.count(RELEASES).await, 4);
    let newest = "select count(*) from (select distinct on (language) language, version from flow.release
                  order by language, published_at desc) newest
                  join (select distinct on (language) language, version from flow.release
                  order by language, created_at) oldest using (language, version)";
    assert_eq!(world.database.count(newest).await, 2, "what was first is newest again");
}

#[tokio::test]
async fn a_form_that_is_no_longer_sent_is_deprecated_on_request() {
    let world = World::start().await;
    world.publish(&["--lang", "es"]).await;
    // A form of an older release, which another form has followed.
    world.publish(&["--lang", "es", "--channel", "before"]).await;
    sqlx::query(
        "update flow.release set channel = 'whatsapp', content_hash = 'old', published_at = published_at - interval '1 day'
         where channel = 'before'",
    )
    .execute(&world.database.pool)
    .await
    .unwrap();
    assert_eq!(world.database.count(RELEASES).await, 2);
    for _ in 0..2 {
        let said = world.publish(&["--lang", "es", "--deprecate-old"]).await;
        assert_eq!(said.code, 0, "{}", said.error);
        assert!(said.out.contains(" is live already as "), "{}", said.out);
        let deprecated =
            "select count(*) from flow.release where state = 'deprecated' and content_hash = 'old'";
        assert_eq!(world.database.count(deprecated).await, 1);
        assert_eq!(world.database.count(RELEASES).await, 1);
    }
    let forms = world.forms().await;
    assert_eq!(forms.iter().filter(|(_, _, status)| status == "PUBLISHED").count(), 1, "{forms:?}");
}

#[tokio::test]
async fn a_form_that_refuses_edits_gets_a_copy() {
    let world = World::start().await;
    world.publish(&["--lang", "es"]).await;
    let [(_, first, _)] = &world.forms().await[..] else { panic!("one form") };
    world.deprecate(first).await;
    let copied = world.publish(&["--lang", "es"]).await;
    assert_eq!(copied.code, 0, "{}", copied.error);
    let forms = world.forms().await;
    assert_eq!(forms.len(), 2, "{forms:?}");
    assert!(forms[1].0.starts_with("abisu-whatsapp-es-") && forms[1].2 == "PUBLISHED", "{forms:?}");
    assert_eq!(world.database.count(RELEASES).await, 1);
}

#[tokio::test]
async fn a_draft_is_not_published_until_it_is_asked_for() {
    let world = World::start().await;
    let draft = world.publish(&["--draft", "--lang", "eu"]).await;
    assert!(draft.out.contains(" is a draft as "), "{}{}", draft.out, draft.error);
    assert_eq!(world.forms().await[0].2, "DRAFT");
    assert_eq!(world.database.count("select count(*) from flow.release where state = 'draft'").await, 1);
    let published = world.publish(&["--lang", "eu"]).await;
    assert!(published.out.contains(" is live as "), "{}", published.out);
    assert_eq!(world.forms().await.len(), 1);
    assert_eq!(world.database.count(RELEASES).await, 1);
}

#[tokio::test]
async fn a_token_that_is_refused_is_named_and_not_shown() {
    let world = World::start().await;
    let url = world.url();
    let variables = World::variables(&url, "wrong-token");
    let said = abisu(Some(&world.database.url), &variables, &["flows", "publish"]).await;
    assert_eq!(said.code, 1);
    assert!(said.error.contains("the access token"), "{}", said.error);
    assert!(!said.error.contains("wrong-token"), "{}", said.error);
    assert_eq!(said.error.lines().count(), 1, "{}", said.error);
}

/// A file of channels with two at Meta, one of them in another account, one of them without an account, and one of
/// another kind whose secret nobody has here.
fn channels_file(name: &str, graph: &str, second: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("abisu-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (token, path) = (folder.join("token"), folder.join("channels.yaml"));
    std::fs::write(&token, TOKEN).unwrap();
    let meta = |id: &str, more: String| {
        format!(
            "  - id: {id}\n    kind: whatsapp_meta\n    graph_url: {graph}\n    app_secrets: [{{env: NOBODY_HAS}}]\n    \
             verify_token: {{env: NOBODY_HAS}}\n    access_token: {{file: {}}}\n{more}",
            token.display()
        )
    };
    let text = format!(
        "channels:\n{}{}{}  - id: app\n    kind: webhook\n    secrets: [{{env: NOBODY_HAS}}]\n",
        meta("north", format!("    default: true\n    phone_number_id: \"1\"\n    waba_id: \"{ACCOUNT}\"\n")),
        meta("south", format!("    phone_number_id: \"2\"\n    waba_id: \"{second}\"\n")),
        meta("west", "    phone_number_id: \"3\"\n".to_owned()),
    );
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
async fn every_meta_channel_of_the_file_gets_its_forms() {
    let world = World::start().await;
    let path = channels_file("channels", &world.url(), ACCOUNT);
    let publish = async |more: &[&str]| {
        let args: Vec<&str> = ["flows", "publish"].into_iter().chain(more.iter().copied()).collect();
        abisu(Some(&world.database.url), &[("ABISU_CHANNELS_FILE", path.to_str().unwrap())], &args).await
    };
    let one = publish(&["--channel", "south"]).await;
    assert_eq!(one.code, 0, "{}", one.error);
    assert_eq!(world.database.count(RELEASES).await, 2);
    let said = publish(&[]).await;
    assert_eq!(said.code, 0, "{}", said.error);
    for line in [
        "north, es: abisu-north-es is live as ",
        "south, eu: abisu-south-eu is live already as ",
        "west: has no waba_id",
    ] {
        assert!(said.out.contains(line), "{}", said.out);
    }
    let channels = "select count(distinct channel) from flow.release where state = 'published'";
    assert_eq!(world.database.count(channels).await, 2);
    for (channel, problem) in [("app", "no Meta channel \"app\""), ("west", "waba_id: is missing")] {
        let said = publish(&["--channel", channel]).await;
        assert_eq!((said.code, said.error.contains(problem)), (64, true), "{}", said.error);
    }
}

#[tokio::test]
async fn an_account_that_refuses_does_not_keep_the_other_channels_without_forms() {
    let world = World::start().await;
    let path = channels_file("refusing", &world.url(), "200000000000009");
    let variables = [("ABISU_CHANNELS_FILE", path.to_str().unwrap())];
    let said = abisu(Some(&world.database.url), &variables, &["flows", "publish"]).await;
    assert_eq!(said.code, 1);
    assert!(said.error.contains("1 of 2 channels have not got their forms\nsouth: "), "{}", said.error);
    assert!(said.error.contains("north, eu: abisu-north-eu is live as "), "{}", said.error);
    assert_eq!(world.database.count(RELEASES).await, 2);
}
