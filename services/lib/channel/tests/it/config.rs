//! The file of channels: what is right, what is wrong, and by which line and field it says so.

use channel::config::{ChannelsFile, Provider, Purpose, Secrets, Source, Verification};
use channel::signature::{Algorithm, Encoding};
use secrecy::ExposeSecret;

const WHOLE: &str = "\
channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: 100000000000001
    waba_id: \"200000000000002\"
    graph_version: v25.0
    graph_url: https://graph.example/
    app_secrets: [{env: OLD}, {file: /secrets/new}]
    verify_token: {env: VERIFY}
    access_token: {env: ACCESS}
    test_numbers: [\"+34600000001\"]
  - id: infobip
    kind: whatsapp_infobip
    sender: \"+34945000001\"
    base_url: https://x.api.infobip.com
    api_key: {env: KEY}
    hmac: {header: X-Signature, algorithm: sha512, encoding: base64, prefix: v1=, secrets: [{env: OLD}]}
  - id: infobip-2
    kind: whatsapp_infobip
    sender: 34945000002
    basic: {user: us, passwords: [{env: OLD}]}
  - id: city-app
    kind: webhook
    secrets: [{env: OLD}]
    url: https://app.example/abisu
    media_hosts: [files.example]
  - id: synthetic
    kind: synthetic
    secrets: [{env: OLD}]
";

#[test]
fn every_kind_is_read_with_what_belongs_to_it() {
    let file = ChannelsFile::parse(WHOLE).unwrap();
    let [meta, infobip, basic, webhook, synthetic] = file.accounts() else { panic!("five channels") };
    let meta_account = meta;
    let Provider::Meta(meta) = &meta.provider else { panic!("Meta") };
    assert!(meta.default);
    // Digits without quotes are a text here all the same.
    assert_eq!(meta.phone_number_id, "100000000000001");
    assert_eq!((meta.graph_version.as_str(), meta.graph_url.as_str()), ("v25.0", "https://graph.example"));
    assert_eq!(meta.app_secrets[1].source, Source::File("/secrets/new".into()));
    let Provider::Infobip(infobip) = &infobip.provider else { panic!("Infobip") };
    assert_eq!(infobip.sender, "34945000001");
    let Verification::Hmac { header, algorithm, encoding, prefix, .. } = &infobip.verification else {
        panic!("HMAC")
    };
    assert_eq!((header.as_str(), prefix.as_str()), ("x-signature", "v1="));
    assert_eq!((*algorithm, *encoding), (Algorithm::Sha512, Encoding::Base64));
    let Provider::Infobip(basic) = &basic.provider else { panic!("Infobip") };
    assert!(matches!(&basic.verification, Verification::Basic { user, .. } if user == "us"));
    assert_eq!((webhook.id.as_str(), webhook.kind()), ("city-app", "webhook"));
    let Provider::Webhook(of_webhook) = &webhook.provider else { panic!("a webhook") };
    assert_eq!(of_webhook.url.as_deref(), Some("https://app.example/abisu"));
    assert_eq!(of_webhook.media_hosts, ["files.example"]);
    assert_eq!((synthetic.id.as_str(), synthetic.kind()), ("synthetic", "synthetic"));
    assert_eq!(meta_account.test_numbers(), ["34600000001"]);
}

#[test]
fn what_is_left_out_has_its_default() {
    let file = ChannelsFile::parse(
        "channels: [{id: a, kind: whatsapp_meta, default: true, phone_number_id: 1, app_secrets: [{env: S}], \
         verify_token: {env: T}}, {id: b, kind: whatsapp_infobip, sender: 1, hmac: {header: h, secrets: [{env: S}]}}]",
    )
    .unwrap();
    let [meta, infobip] = file.accounts() else { panic!("two channels") };
    let Provider::Meta(meta) = &meta.provider else { panic!("Meta") };
    assert_eq!(
        (meta.graph_version.as_str(), meta.graph_url.as_str()),
        ("v26.0", "https://graph.facebook.com")
    );
    let Provider::Infobip(infobip) = &infobip.provider else { panic!("Infobip") };
    assert!(matches!(
        infobip.verification,
        Verification::Hmac { algorithm: Algorithm::Sha256, encoding: Encoding::Hex, .. }
    ));
}

#[test]
fn what_is_wrong_is_named_by_line_and_field() {
    // (what to replace, by what, the line, the field)
    let table = [
        ("id: whatsapp\n", "id: Whats App\n", 2, "id"),
        ("id: whatsapp\n", "id: infobip\n", 13, "id"),
        ("  - id: whatsapp\n    kind", "  - kind", 2, "id"),
        ("kind: webhook", "kind: telegram", 24, "kind"),
        ("    kind: webhook\n", "", 23, "kind"),
        ("default: true", "default: false", 2, "default"),
        ("default: true", "default: maybe", 4, "default"),
        ("phone_number_id: 100000000000001", "phone_number_id: +34945000000", 5, "phone_number_id"),
        ("    phone_number_id: 100000000000001\n", "", 2, "phone_number_id"),
        ("graph_version: v25.0", "graph_version: 25", 7, "graph_version"),
        ("graph_url: https://graph.example/", "graph_url: graph.example", 8, "graph_url"),
        ("[{env: OLD}, {file: /secrets/new}]", "[]", 9, "app_secrets"),
        ("[{env: OLD}, {file: /secrets/new}]", "[{env: A}, {env: B}, {env: C}]", 9, "app_secrets"),
        ("[{env: OLD}, {file: /secrets/new}]", "[{env: A, file: /b}]", 9, "app_secrets"),
        ("[{env: OLD}, {file: /secrets/new}]", "[s3cret]", 9, "app_secrets"),
        ("[{env: OLD}, {file: /secrets/new}]", "s3cret", 9, "app_secrets"),
        ("verify_token: {env: VERIFY}", "verify_token: s3cret", 10, "verify_token"),
        ("verify_token: {env: VERIFY}", "verify_tokn: {env: VERIFY}", 10, "verify_tokn"),
        ("access_token: {env: ACCESS}", "access_token: {env: \"\"}", 11, "access_token"),
        ("access_token: {env: ACCESS}", "verify_token: {env: ACCESS}", 11, "verify_token"),
        ("sender: \"+34945000001\"", "sender: us", 15, "sender"),
        ("sender: \"+34945000001\"", "sender: 34945000002", 19, "sender"),
        ("algorithm: sha512", "algorithm: crc32", 18, "algorithm"),
        ("encoding: base64", "encoding: rot13", 18, "encoding"),
        ("header: X-Signature", "header: \"a b\"", 18, "header"),
        ("    basic: {user: us, passwords: [{env: OLD}]}\n", "", 19, "hmac"),
        ("    url: https://app.example/abisu\n", "    sender: 1\n", 26, "sender"),
        ("url: https://app.example/abisu", "url: app.example", 26, "url"),
        ("[files.example]", "[\"https://files.example\"]", 27, "media_hosts"),
        ("[files.example]", "[files.example:8443]", 27, "media_hosts"),
        ("test_numbers: [\"+34600000001\"]", "test_numbers: [Ane]", 12, "test_numbers"),
        ("id: synthetic", "id: other", 28, "id"),
        ("id: city-app", "id: synthetic", 23, "id"),
        ("kind: synthetic\n", "kind: synthetic\n    url: https://x.example\n", 30, "url"),
    ];
    for (what, by, line, field) in table {
        assert!(WHOLE.contains(what), "{what}");
        let at = WHOLE.rfind(what).unwrap();
        let text = format!("{}{by}{}", &WHOLE[..at], &WHOLE[at + what.len()..]);
        let error = ChannelsFile::parse(&text).expect_err(by);
        let named = error.0.iter().any(|problem| problem.line == line && problem.field == field);
        assert!(named, "{by}: line {line}, {field}, but: {error}");
        assert!(!error.to_string().contains("s3cret"), "no value is quoted: {error}");
    }
    for text in ["", "channels: []", "channels: 7", "channel: []", "channels: [", "\u{0}"] {
        let error = ChannelsFile::parse(text).expect_err(text);
        assert!(error.to_string().starts_with("line 1, "), "{text}: {error}");
    }
    let two = WHOLE.replace("id: city-app\n    kind: webhook\n    secrets: [{env: OLD}]\n    url: https://app.example/abisu\n    media_hosts: [files.example]", "\
id: second\n    kind: whatsapp_meta\n    default: true\n    phone_number_id: 2\n    app_secrets: [{env: A}]\n    verify_token: {env: B}");
    assert!(ChannelsFile::parse(&two).unwrap_err().to_string().contains("line 23, default: only one"));
}

#[test]
fn what_is_wrong_with_the_yaml_itself_is_named_by_line_and_field_too() {
    let head = "channels:\n  - id: a\n    kind: webhook\n";
    let with = |rest: &str| format!("{head}{rest}");
    // The text, the line, the field; none: there is nothing wrong.
    let table: Vec<(String, Option<(u64, &str)>)> = vec![
        (with("    secrets: [{env: A}]\n").replace('\n', "\r\n"), None),
        (format!("\u{feff}{}", with("    secrets: [{env: A}]\n")), None),
        (with("    secrets: &both [{env: A}]\n  - id: b\n    kind: webhook\n    secrets: *both\n"), None),
        (with("    secrets:\n      - &one {env: A}\n      - *one\n"), None),
        (with("    secrets: &none []\n  - {id: b, kind: webhook, secrets: *none}\n"), Some((4, "secrets"))),
        (
            with("    secrets: &none []\n  - id: b\n    kind: webhook\n    secrets: *none\n"),
            Some((7, "secrets")),
        ),
        (with("    secrets: *nobody\n"), Some((4, "secrets"))),
        (with("    secrets: [{env: A}]\n    id: b\n"), Some((5, "id"))),
        (with("    secrets: [{env: A, env: B}]\n"), Some((4, "env"))),
        (with("    secrets: [{env: A}]\nchannels: []\n"), Some((5, "channels"))),
        (with("\tsecrets: [{env: A}]\n"), Some((4, "secrets"))),
        (with("    secrets: [{env: A}]\n   url: https://x\n"), Some((5, "url"))),
        (with("    secrets: [{env: A]\n    url: https://x\n"), Some((4, "secrets"))),
        (with("    secrets: [{env: \"A}]\n    url: https://x\n"), Some((4, "secrets"))),
        (with("    secrets: {env: A}\n"), Some((4, "secrets"))),
        (with("    secrets: null\n"), Some((2, "secrets"))),
        (with("    secrets: 7\n"), Some((4, "secrets"))),
        (with("    secrets: [null]\n"), Some((4, "secrets"))),
        (with("    secrets: [[]]\n"), Some((4, "secrets"))),
        (with("    secrets: [{env: [A]}]\n"), Some((4, "secrets"))),
        (with("    secrets: [{env: null}]\n"), Some((4, "secrets"))),
        (with("    secrets: [{file: {a: b}}]\n"), Some((4, "secrets"))),
        (with("    secrets: [{env: A}]\n    url: [https://x]\n"), Some((5, "url"))),
        (with("    secrets: [{env: A}]\n    media_hosts: x\n"), Some((5, "media_hosts"))),
        (with("    secrets: [{env: A}]\n    7: x\n"), Some((5, "7"))),
        (with("    secrets: [{env: A}]\n    ? [a]\n    : b\n"), Some((5, "secrets"))),
        (with("    secrets: [{env: A}]\n---\nchannels: []\n"), Some((6, "channels"))),
        ("channels:\n  - id: [a]\n    kind: webhook\n".to_owned(), Some((2, "id"))),
        ("channels:\n  - id: {a: b}\n".to_owned(), Some((2, "id"))),
        ("channels:\n  - id: ~\n    kind: webhook\n    secrets: [{env: A}]\n".to_owned(), Some((2, "id"))),
        ("channels:\n  - id: a\n    kind: null\n".to_owned(), Some((2, "kind"))),
        ("channels:\n  - id: a\n    kind: [webhook]\n".to_owned(), Some((3, "kind"))),
        ("channels:\n  - whatsapp\n".to_owned(), Some((2, "channels"))),
        ("channels:\n  - null\n".to_owned(), Some((2, "channels"))),
        ("channels:\n  id: a\n".to_owned(), Some((2, "id"))),
        ("channels: null\n".to_owned(), Some((1, "channels"))),
        ("- id: a\n".to_owned(), Some((1, "id"))),
        ("# nothing\n".to_owned(), Some((1, "channels"))),
        ("version: 1\nchannels: []\n".to_owned(), Some((1, "version"))),
        (
            with(
                "    secrets: [{env: A}]\n  - id: i\n    kind: whatsapp_infobip\n    sender: 1\n    hmac: []\n",
            ),
            Some((8, "hmac")),
        ),
        (
            with(
                "    secrets: [{env: A}]\n  - id: i\n    kind: whatsapp_infobip\n    sender: 1\n    hmac: {secrets: [{env: A}]}\n",
            ),
            Some((5, "header")),
        ),
        (
            with(
                "    secrets: [{env: A}]\n  - id: i\n    kind: whatsapp_infobip\n    sender: 1\n    basic: {user: x, password: y}\n",
            ),
            Some((8, "password")),
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let found = ChannelsFile::parse(&text).map(drop);
        let right = match (&found, expected) {
            (Ok(()), None) => true,
            (Err(error), Some((line, field))) => {
                error.0.iter().any(|problem| problem.line == line && problem.field == field)
            }
            (Ok(()), Some(_)) | (Err(_), None) => false,
        };
        if !right {
            wrong.push(format!("{text}\n  {expected:?}, but {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_channel_that_is_wrong_is_not_missed_a_second_time() {
    let text = "channels:\n  - {id: a, kind: whatsapp_meta, default: true, phone_number_id: x, app_secrets: [{env: A}], \
                verify_token: {env: B}}\n  - {id: b, kind: whatsapp_meta, phone_number_id: 2, app_secrets: [{env: A}], \
                verify_token: {env: B}}\n";
    let error = ChannelsFile::parse(text).unwrap_err();
    assert_eq!((error.0.len(), error.0[0].field.as_str()), (1, "phone_number_id"), "{error}");
}

#[test]
fn secrets_are_read_once_a_place_and_the_missing_ones_are_all_named() {
    let file = ChannelsFile::parse(&WHOLE.replace("{file: /secrets/new}", "{env: NEW}")).unwrap();
    let secrets = Secrets::read(&file, |name| Some(format!("of {name}"))).unwrap();
    let accounts = file.resolve(&secrets);
    let Provider::Meta(meta) = &accounts[0].provider else { panic!("Meta") };
    let shown: Vec<_> = meta.app_secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect();
    assert_eq!(shown, ["of OLD", "of NEW"]);
    assert!(!format!("{accounts:?}").contains("of OLD"));
    let none = Secrets::read(&file, |_| None).unwrap_err().to_string();
    for name in ["OLD", "NEW", "VERIFY", "ACCESS", "KEY"] {
        assert!(none.contains(&format!("the variable {name} is not set")), "{none}");
    }
    assert!(none.contains("line 9, app_secrets:"), "{none}");
}

#[test]
fn a_file_that_changes_is_seen_and_one_that_is_gone_changes_nothing() {
    let path = std::env::temp_dir().join(format!("abisu-reread-{}", std::process::id()));
    std::fs::write(&path, "one\r\n").unwrap();
    let text = format!("channels: [{{id: a, kind: webhook, secrets: [{{file: {}}}]}}]", path.display());
    let file = ChannelsFile::parse(&text).unwrap();
    let mut secrets = Secrets::read(&file, |_| None).unwrap();
    let now = |secrets: &Secrets| match &file.resolve(secrets)[0].provider {
        Provider::Webhook(webhook) => webhook.secrets[0].expose_secret().to_owned(),
        Provider::Meta(_) | Provider::Infobip(_) => panic!("a webhook"),
    };
    assert_eq!(now(&secrets), "one");
    assert!(!secrets.reread().changed);
    std::fs::write(&path, "two").unwrap();
    assert!(secrets.reread().changed);
    assert_eq!(now(&secrets), "two");
    std::fs::remove_file(&path).unwrap();
    let gone = secrets.reread();
    assert_eq!((gone.changed, gone.failed.len(), now(&secrets).as_str()), (false, 1, "two"));
}

#[test]
fn each_purpose_asks_for_its_own_secrets_and_for_what_it_cannot_do_without() {
    let file = ChannelsFile::parse(&WHOLE.replace("{file: /secrets/new}", "{env: NEW}")).unwrap();
    let asked = |purpose| {
        let none = Secrets::read_for(&file, purpose, |_| None).unwrap_err().to_string();
        ["OLD", "NEW", "VERIFY", "ACCESS", "KEY"].map(|name| none.contains(&format!("variable {name} is")))
    };
    assert_eq!(asked(Purpose::Receive), [true, true, true, false, false]);
    // A webhook signs what it posts with the secret that it is called with.
    assert_eq!(asked(Purpose::Send), [true, false, false, true, true]);

    file.suits(Purpose::Receive).unwrap();
    let lacking = file.suits(Purpose::Send).unwrap_err().to_string();
    assert!(lacking.starts_with("line 19, base_url: is missing; the channel infobip-2"), "{lacking}");
    assert_eq!(file.suits(Purpose::Send).unwrap_err().0.len(), 1);
    for (what, field) in [
        ("    access_token: {env: ACCESS}\n", "access_token"),
        ("    url: https://app.example/abisu\n", "url"),
        ("    api_key: {env: KEY}\n", "api_key"),
    ] {
        let lacking =
            ChannelsFile::parse(&WHOLE.replace(what, "")).unwrap().suits(Purpose::Send).unwrap_err();
        assert!(lacking.0.iter().any(|problem| problem.field == field), "{lacking}");
    }
}
