//! What the chart says about the rest of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use channel::config::{ChannelsFile, Purpose, Source};
use serde_json::{Value, json};
use xtask::chart;
use xtask::chart::tools::Helm;
use xtask::tree::ROOT;

use super::support::{self, items};

/// All that stands in the sources below a folder.
fn sources(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_variable_that_a_pod_is_given_is_one_that_its_program_knows() {
    let mut shared = String::new();
    for library in ["runtime", "partner", "channel"] {
        sources(&ROOT.join("services/lib").join(library).join("src"), &mut shared);
    }
    let mut programs: BTreeMap<String, String> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for rendered in support::matrix() {
        for (title, pod) in rendered.pods() {
            let spec = &pod["spec"];
            for container in items(&spec["containers"]).iter().chain(items(&spec["initContainers"])) {
                let image = container["image"].as_str().unwrap();
                let service = image.split(['@', ':']).next().unwrap().rsplit('/').next().unwrap();
                let text = programs.entry(service.to_owned()).or_insert_with(|| {
                    let mut text = shared.clone();
                    sources(&ROOT.join("services").join(service).join("src"), &mut text);
                    text
                });
                let listed =
                    items(&container["env"]).iter().map(|one| one["name"].as_str().unwrap().to_owned());
                let from = items(&container["envFrom"]).iter().map(|one| &one["configMapRef"]["name"]);
                let maps = from.filter_map(|name| {
                    rendered.of("ConfigMap").into_iter().find(|map| map["metadata"]["name"] == *name)
                });
                let mapped = maps.flat_map(|map| map["data"].as_object().unwrap().keys().cloned());
                for name in listed.chain(mapped) {
                    let ours = name.starts_with("ABISU_") || name.starts_with("OTEL_");
                    if ours && !text.contains(&format!("env = \"{name}\"")) {
                        unknown.insert(format!("{title}: {service} knows no {name}"));
                    }
                }
            }
        }
    }
    support::none(&unknown.into_iter().collect::<Vec<_>>());
}

#[test]
fn the_channels_file_is_one_that_the_services_take() {
    let numbers = json!({"whatsapp": {"testNumbers": ["34945000001"]}});
    let mut all = support::matrix();
    all.push(support::render("abisu", "full", &numbers));
    let mut seen = 0;
    for rendered in all {
        for config in rendered.of("ConfigMap") {
            let Some(text) = config["data"]["channels.yaml"].as_str() else { continue };
            let file = ChannelsFile::parse(text).unwrap_or_else(|error| panic!("{}: {error}", rendered.name));
            for purpose in [Purpose::Receive, Purpose::Send] {
                file.suits(purpose).unwrap_or_else(|error| panic!("{}: {error}", rendered.name));
            }
            assert!(file.accounts().iter().any(|account| account.id == "synthetic"), "{}", rendered.name);
            seen += 1;
        }
    }
    assert!(seen > 5);
}

#[test]
fn each_service_mounts_the_files_that_the_channels_file_names_for_it() {
    let rendered = support::render("abisu", "full", &json!({}));
    let text = rendered.one("ConfigMap", "abisu-channels")["data"]["channels.yaml"].as_str().unwrap();
    let file = ChannelsFile::parse(text).unwrap();
    for (service, purpose) in [("abisu-ingest", Purpose::Receive), ("abisu-conversation", Purpose::Send)] {
        let spec = &rendered.one("Deployment", service)["spec"]["template"]["spec"];
        let mut mounted = BTreeSet::new();
        for mount in items(&spec["containers"][0]["volumeMounts"]) {
            let folder = mount["mountPath"].as_str().unwrap();
            let volume =
                items(&spec["volumes"]).iter().find(|volume| volume["name"] == mount["name"]).unwrap();
            for item in items(&volume["secret"]["items"]) {
                mounted.insert(format!("{folder}/{}", item["path"].as_str().unwrap()));
            }
        }
        for secret in file.secrets(purpose) {
            let Source::File(path) = &secret.source else { panic!("a secret is a file") };
            // The Secret of `channels` is mounted whole.
            let whole = path.starts_with("/etc/abisu/channel-secrets");
            assert!(whole || mounted.contains(&path.display().to_string()), "{service}: {}", path.display());
        }
    }
}

#[test]
fn the_chart_carries_the_version_of_the_workspace() {
    let text = fs::read_to_string(chart::folder().join("Chart.yaml")).unwrap();
    let chart = chart::documents(&text).unwrap().remove(0);
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
    assert_eq!(chart["version"], env!("CARGO_PKG_VERSION"));
}

/// The names of roles in a text.
fn roles(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("abisu_")).map(str::to_owned).collect()
}

#[test]
fn the_roles_that_are_made_ahead_are_those_that_the_migrations_know() {
    let made = roles(&fs::read_to_string(chart::folder().join("roles.sql")).unwrap());
    let mut known = BTreeSet::new();
    for entry in fs::read_dir(ROOT.join("migrations")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let statements = text.lines().map(str::trim).filter(|line| line.starts_with("grant "));
        known.extend(statements.flat_map(roles));
    }
    assert!(known.is_subset(&made), "{known:?} {made:?}");
    assert!(made.contains("abisu_metrics") && made.len() == 5, "{made:?}");
}

/// What is said after an install.
fn notes(file: &str, over: &Value) -> String {
    let (chart, file, over) =
        (chart::folder().display().to_string(), support::values_file(file), over.to_string());
    let args = ["install", "abisu", &chart, "--dry-run=client", "--values", &file, "--set-json", &over];
    let said = Helm::find().unwrap().run(&args).unwrap();
    said.split_once("NOTES:").unwrap().1.to_owned()
}

#[test]
fn the_notes_say_what_is_next_and_warn_of_what_is_not_safe() {
    let two = json!({"autoscaling": {"minReplicas": 2}});
    let over = json!({"conversation": two, "partnerPush": two, "channels": {"extra": []}});
    let safe = notes("full", &over);
    assert!(!safe.contains("Warnings:"), "{safe}");
    assert!(safe.contains("https://abisu.example.org/whatsapp/webhook"), "{safe}");
    assert!(safe.contains("Connections the database must allow: "), "{safe}");
    let other = notes("full", &json!({}));
    assert!(other.contains("  ! channels.extra: reports of city-app stay in the outbox"), "{other}");
    let trial = notes("trial", &json!({"networkPolicy": {"enabled": false}}));
    for warning in [
        "database.credentials.owner.url",
        "whatsapp: its secrets",
        "partner.password",
        "media.secret",
        "ingest: one pod",
        "networkPolicy.enabled: off",
    ] {
        assert!(trial.contains(&format!("  ! {warning}")), "{warning} in {trial}");
    }
    for secret in ["sixteen-characters", "postgres://"] {
        assert!(!trial.contains(secret), "{trial}");
    }
}
