//! Many channels behind one door: whose a message is, and secrets that change while the door is open.

use std::path::PathBuf;

use clap::Parser;
use ingest::{Args, Config};
use serde_json::{Value, json};
use testkit::eventually;

use crate::app::{App, OTHER_SECRET, SECRET, channels, of_number, problem, signature, signature_with, text};

/// Two numbers of one app, and one of another.
const THREE: &str = "
channels:
  - id: north
    kind: whatsapp_meta
    default: true
    phone_number_id: 111
    app_secrets: [{env: SECRET}]
    verify_token: {env: VERIFY}
  - id: south
    kind: whatsapp_meta
    phone_number_id: 222
    app_secrets: [{env: NEXT}, {env: SECRET}]
    verify_token: {env: VERIFY}
  - id: elsewhere
    kind: whatsapp_meta
    phone_number_id: 333
    app_secrets: [{env: OTHER}]
    verify_token: {env: OTHER}
";

fn of_numbers(all: &[(&str, &str)]) -> Value {
    let mut body = json!({"object": "whatsapp_business_account", "entry": []});
    for (number, id) in all {
        let entry = of_number(number, json!({"messages": [text(id)]}))["entry"][0].clone();
        body["entry"].as_array_mut().unwrap().push(entry);
    }
    body
}

async fn stored(app: &App) -> Vec<(String, String)> {
    sqlx::query_as("select channel, message_id from inbound.event order by channel, message_id")
        .fetch_all(&app.database.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_app_posts_all_its_numbers_to_one_address_and_each_finds_its_channel() {
    let app = App::of(channels(THREE)).await;
    let body = of_numbers(&[("222", "s1"), ("111", "n1"), ("222", "s2"), ("333", "e1"), ("444", "x1")]);
    let answer = app.post(&body).await;
    let found = [("north", "n1"), ("south", "s1"), ("south", "s2")];
    assert_eq!(stored(&app).await, found.map(|(channel, id)| (channel.to_owned(), id.to_owned())));
    // A number of another app is as unknown here as one that nobody has.
    let unknown = ["e1", "x1"].map(|id| ("unknown_number".to_owned(), Some(id.to_owned())));
    assert_eq!(app.rejected().await, unknown);
    let in_order: Vec<String> = sqlx::query_scalar(
        "select activity_id::text from inbound.event order by array_position(array['s1', 'n1', 's2'], message_id)",
    )
    .fetch_all(&app.database.pool)
    .await
    .unwrap();
    assert_eq!(answer["activity_ids"], json!(in_order), "in the provider's order, whatever the channels");
    assert_eq!((&answer["activity_id"], &answer["rejected"]), (&json!(in_order[0]), &json!(2)));
    let again = app.post(&body).await;
    assert_eq!((&again["duplicates"], &again["activity_ids"]), (&json!(3), &json!([])));
    let bodies = "select count(*) from inbound.delivery where length(body) > 0";
    assert_eq!(app.database.count(bodies).await, 2, "the raw body is kept once a call");
}

#[tokio::test]
async fn each_channel_asks_for_its_own_secret_and_token() {
    let app = App::of(channels(THREE)).await;
    let body = of_numbers(&[("333", "e1")]).to_string();
    let header = |secret| [("x-hub-signature-256", signature_with(secret, body.as_bytes()))];
    problem(app.post_to("elsewhere", &header(SECRET), body.clone()).await, 403).await;
    let stored = app.post_to("elsewhere", &header(OTHER_SECRET), body.clone()).await;
    assert_eq!(stored.status().as_u16(), 200);
    let shake = async |channel: &str| {
        let url = format!("{}/api/v1/channels/{channel}/inbound", app.url);
        let query = [("hub.mode", "subscribe"), ("hub.challenge", "1"), ("hub.verify_token", OTHER_SECRET)];
        app.http.get(url).query(&query).send().await.unwrap().status().as_u16()
    };
    assert_eq!((shake("elsewhere").await, shake("north").await), (200, 403));
}

#[tokio::test]
async fn receipts_go_to_the_channel_of_their_number() {
    let app = App::of(channels(THREE)).await;
    let status = json!({"id": "wamid.s", "status": "read", "timestamp": "1764500000"});
    app.post(&of_number("222", json!({"statuses": [status]}))).await;
    let found: String = sqlx::query_scalar("select channel from inbound.receipt")
        .fetch_one(&app.database.pool)
        .await
        .unwrap();
    assert_eq!(found, "south");
}

#[tokio::test]
async fn a_secret_that_changes_in_its_file_is_in_force_without_a_restart() {
    let file = SecretFile::new("first\n");
    let app = App::of(channels(&format!(
        "channels:\n  - id: whatsapp\n    kind: whatsapp_meta\n    default: true\n    phone_number_id: 111\n    \
         app_secrets: [{{file: {}}}]\n    verify_token: {{env: VERIFY}}\n",
        file.0.display()
    )))
    .await;
    let post = async |secret: &str, id: &str| {
        let body = of_numbers(&[("111", id)]).to_string();
        let signature = signature_with(secret, body.as_bytes());
        app.post_signed(body, Some(&signature)).await.status().as_u16()
    };
    assert_eq!((post("first", "a").await, post("second", "b").await), (200, 403));
    file.write("second");
    eventually("the new secret is in force", async || (post("second", "b").await == 200).then_some(())).await;
    assert_eq!(post("first", "c").await, 403, "the old one is not");
    // A rotation that goes wrong does not shut the door.
    file.write("");
    let closed = async || (post("second", "d").await != 200).then_some(());
    let waited = tokio::time::timeout(std::time::Duration::from_millis(300), eventually("", closed)).await;
    assert!(waited.is_err(), "the secret that the file held stays in force");
    assert_eq!(post("", "e").await, 403);
}

#[tokio::test]
async fn a_mounted_secret_is_replaced_as_a_cluster_replaces_it() {
    // A volume of secrets: each is a link through `..data`, which is itself a link to the version in force.
    let volume = std::env::temp_dir().join(format!("abisu-volume-{}", uuid::Uuid::now_v7()));
    let version = |name: &str, secret: &str| {
        std::fs::create_dir_all(volume.join(name)).unwrap();
        std::fs::write(volume.join(name).join("app-secret"), secret).unwrap();
        std::os::unix::fs::symlink(name, volume.join("..data_tmp")).unwrap();
        std::fs::rename(volume.join("..data_tmp"), volume.join("..data")).unwrap();
    };
    version("..v1", "first\r\n");
    std::os::unix::fs::symlink("..data/app-secret", volume.join("app-secret")).unwrap();
    let app = App::of(channels(&format!(
        "channels:\n  - id: whatsapp\n    kind: whatsapp_meta\n    default: true\n    phone_number_id: 111\n    \
         app_secrets: [{{file: {}}}]\n    verify_token: {{env: VERIFY}}\n",
        volume.join("app-secret").display()
    )))
    .await;
    let post = async |secret: &str| {
        let body = of_numbers(&[("111", "a")]).to_string();
        let signature = signature_with(secret, body.as_bytes());
        app.post_signed(body, Some(&signature)).await.status().as_u16()
    };
    let in_force = async |secret: &str| {
        eventually("the secret is in force", async || (post(secret).await == 200).then_some(())).await;
    };
    assert_eq!((post("first").await, post("second").await), (200, 403), "the line end is no part of it");
    version("..v2", "second\n\n");
    std::fs::remove_dir_all(volume.join("..v1")).unwrap();
    in_force("second").await;
    assert_eq!(post("first").await, 403);
    // The version goes before the next one is there: what it held stays in force, until there is one again.
    std::fs::remove_dir_all(volume.join("..v2")).unwrap();
    let closed = async || (post("second").await != 200).then_some(());
    let waited = tokio::time::timeout(std::time::Duration::from_millis(300), eventually("", closed)).await;
    assert!(waited.is_err(), "a secret that is gone stays in force");
    version("..v3", "\u{1f511} third ");
    in_force("\u{1f511} third ").await;
    std::fs::remove_dir_all(volume).unwrap();
}

#[tokio::test]
async fn secrets_of_the_environment_are_taken_from_their_files_again_as_well() {
    let (app_secret, token, synthetic) =
        (SecretFile::new("first\n"), SecretFile::new("v1"), SecretFile::new("s1"));
    let flag = |name: &str, file: &SecretFile| format!("--{name}-file={}", file.0.display());
    let args = Args::try_parse_from([
        "ingest",
        &flag("meta-app-secret", &app_secret),
        &flag("meta-verify-token", &token),
        &flag("synthetic-channel-secret", &synthetic),
        "--meta-phone-number-id=111",
        "--database-url=postgres://nobody@127.0.0.1:1/none",
    ]);
    let app = App::of(Config::try_from(args.unwrap()).unwrap().channels).await;
    let post = async |secret: &str, id: &str| {
        let body = of_numbers(&[("111", id)]).to_string();
        let signature = signature_with(secret, body.as_bytes());
        app.post_signed(body, Some(&signature)).await.status().as_u16()
    };
    let shake = async |token: &str| {
        let query = [("hub.mode", "subscribe"), ("hub.challenge", "1"), ("hub.verify_token", token)];
        let url = format!("{}/whatsapp/webhook", app.url);
        app.http.get(url).query(&query).send().await.unwrap().status().as_u16()
    };
    let try_out = async |secret: &str, id: &str| {
        let body =
            json!({"idempotency_key": id, "from": "someone", "type": "text", "text": "hi"}).to_string();
        let signature = signature_with(secret, body.as_bytes());
        app.post_to("synthetic", &[("x-abisu-signature-256", signature)], body).await.status().as_u16()
    };
    assert_eq!((post("first", "a").await, post("second", "b").await), (200, 403));
    assert_eq!((shake("v1").await, shake("v2").await), (200, 403));
    assert_eq!((try_out("s1", "a").await, try_out("s2", "b").await), (201, 403));

    app_secret.write("second, first");
    token.write("v2");
    synthetic.write("s2");
    eventually("the new one is in force", async || (post("second", "b").await == 200).then_some(())).await;
    assert_eq!(post("first", "c").await, 200, "and the old one until it is taken away");
    eventually("the token", async || (shake("v2").await == 200 && shake("v1").await == 403).then_some(()))
        .await;
    eventually("the synthetic channel", async || (try_out("s2", "b").await == 201).then_some(())).await;
    assert_eq!(try_out("s1", "c").await, 403);
    // Neither one secret nor two: what was in force stays.
    app_secret.write("third,second,first");
    token.write("v3");
    eventually("the files were looked at", async || (shake("v2").await == 403).then_some(())).await;
    assert_eq!(
        (post("second", "d").await, post("third", "e").await, post("third,second,first", "f").await),
        (200, 403, 403)
    );
    app_secret.write("third");
    eventually("it is mended", async || (post("third", "e").await == 200).then_some(())).await;
    assert_eq!(post("second", "g").await, 403);
}

#[tokio::test]
async fn a_signature_without_its_form_is_refused_before_the_body_is_wanted() {
    let app = App::of(channels(THREE)).await;
    let body = vec![b' '; 1024 * 1024];
    for wrong in ["", "sha1=00", "sha256=00"] {
        let refused = app.post_to("north", &[("x-hub-signature-256", wrong.to_owned())], body.clone()).await;
        problem(refused, 403).await;
    }
    assert_eq!(signature(b"").len(), "sha256=".len() + 64);
}

/// A file with a secret in it.
pub(crate) struct SecretFile(pub(crate) PathBuf);

impl SecretFile {
    pub(crate) fn new(text: &str) -> Self {
        let file = Self(std::env::temp_dir().join(format!("abisu-secret-{}", uuid::Uuid::now_v7())));
        file.write(text);
        file
    }

    /// As the kubelet does: a new file in the place of the old one, so that nobody reads half of it.
    pub(crate) fn write(&self, text: &str) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, text).unwrap();
        std::fs::rename(next, &self.0).unwrap();
    }
}

impl Drop for SecretFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
