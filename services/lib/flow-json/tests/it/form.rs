//! The generated form, read as a phone and the platform would read it.

use std::collections::{BTreeMap, BTreeSet};

use flow_json::{GenerateError, Kind, Taxonomy, generate};
use serde_json::{Value, json};

use crate::support::{CATALOG, PARTNER, TREE, builtin, children, city, rows, screens, small_city};

fn forms() -> Vec<(Taxonomy, String, String)> {
    [builtin(), small_city()]
        .into_iter()
        .flat_map(|taxonomy| {
            let languages: Vec<String> = taxonomy.languages().map(str::to_owned).collect();
            languages.into_iter().map(move |language| {
                let json = generate(&taxonomy, &language).expect("the language is known").json;
                (taxonomy.clone(), language, json)
            })
        })
        .collect()
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for language in ["es", "eu"] {
        let first = generate(&builtin(), language).expect("the language is known");
        assert_eq!(generate(&builtin(), language).expect("the language is known"), first);
        assert!(first.json.ends_with("}\n") && first.json.contains("\n  \"screens\": [\n"));
        assert_eq!(first.content_hash.len(), 64);
        assert_eq!(first.first_screen, "ROOT");
        assert!(first.init_example["address"].is_string());
    }
}

#[test]
fn the_version_changes_with_the_meaning_and_not_with_the_writing() {
    let version = small_city().version().to_owned();
    assert_eq!(version.len(), 12);
    assert!(version.bytes().all(|byte| byte.is_ascii_hexdigit()));
    for (file, piece, by, same) in [
        ("tree", "tree:", "# a comment\n\ntree:", true),
        ("catalog", "form:", "chat: { hello: Hi }\nform:", true),
        ("catalog", "title: Red", "title: \"Red\"", true),
        ("tree", "[red, blue]", "[blue, red]", false),
        ("catalog", "title: Red", "title: Rosso", false),
        ("partner", "category: N", "category: M", false),
    ] {
        let changed = city(file, piece, by).expect("still right");
        assert_eq!(changed.version() == version, same, "{piece} → {by}");
    }
    let swapped = Taxonomy::from_yaml(TREE, &[("fr", CATALOG), ("en", CATALOG)], PARTNER).expect("right");
    assert_eq!(swapped.version(), version);
}

#[test]
fn an_unknown_language_has_no_form() {
    assert_eq!(generate(&builtin(), "fr"), Err(GenerateError::UnknownLanguage("fr".to_owned())));
}

#[test]
fn the_document_has_no_endpoint_and_only_known_members() {
    for (_, _, json) in forms() {
        let document: Value = serde_json::from_str(&json).expect("JSON");
        let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["version", "screens"]);
        assert_eq!(document["version"], "7.3");
        for screen in screens(&json).values() {
            for key in screen.as_object().expect("an object").keys() {
                assert!(["id", "title", "terminal", "data", "layout"].contains(&key.as_str()), "{key}");
            }
        }
    }
}

#[test]
fn screens_are_at_most_eleven_with_letters_only_in_their_ids() {
    for (_, _, json) in forms() {
        let screens = screens(&json);
        assert!(screens.len() <= 11, "{}", screens.len());
        for (id, screen) in &screens {
            assert!(id.bytes().all(|byte| byte.is_ascii_uppercase()), "{id}");
            assert!(screen["title"].as_str().is_some_and(|title| !title.trim().is_empty()), "{id}");
        }
    }
    let json = generate(&builtin(), "es").expect("known").json;
    assert_eq!(screens(&json).len(), 11);
}

#[test]
fn a_list_stands_alone_and_every_row_has_its_action() {
    for (_, _, json) in forms() {
        for (id, screen) in screens(&json) {
            let rows = rows(&screen);
            if rows.is_empty() {
                continue;
            }
            assert_eq!(children(&screen).len(), 1, "{id}");
            assert!(screen.get("terminal").is_none(), "{id}");
            assert!(children(&screen)[0].get("on-click-action").is_none(), "{id}");
            assert!((1..=20).contains(&rows.len()), "{id}");
            for row in rows {
                assert!(row["id"].is_string() && row["main-content"]["title"].is_string(), "{row}");
                assert_eq!(row["on-click-action"]["name"], "navigate", "{row}");
            }
        }
    }
}

#[test]
fn every_payload_conforms_to_the_data_of_its_target() {
    for (_, _, json) in forms() {
        let screens = screens(&json);
        for (id, screen) in &screens {
            for row in rows(screen) {
                let action = &row["on-click-action"];
                let target = action["next"]["name"].as_str().expect("a name");
                assert!(target != id && target != "ROOT", "{id} → {target}");
                let payload = action["payload"].as_object().expect("a payload");
                let empty = serde_json::Map::new();
                let model = screens[target].get("data").map_or(Some(&empty), Value::as_object);
                let model = model.expect("data is an object");
                assert_eq!(
                    payload.keys().collect::<BTreeSet<_>>(),
                    model.keys().collect::<BTreeSet<_>>(),
                    "{id} → {target}"
                );
                for value in payload.values() {
                    let text = value.as_str().expect("all data is text");
                    assert!(!text.is_empty() && !text.contains("${") && !text.contains('`'), "{text}");
                }
            }
            for field in screen.get("data").and_then(Value::as_object).into_iter().flat_map(|it| it.values())
            {
                assert_eq!(field["type"], "string");
                assert!(field["__example__"].as_str().is_some_and(|text| !text.is_empty()));
            }
        }
    }
}

/// Walks as a thumb does: from the first screen by the titles of the rows.
fn walk(screens: &BTreeMap<String, Value>, titles: &[String]) -> (String, Value) {
    let mut at = "ROOT".to_owned();
    let mut payload = Value::Null;
    for title in titles {
        let screen = &screens[&at];
        let found: Vec<&Value> =
            rows(screen).into_iter().filter(|row| row["main-content"]["title"] == title.as_str()).collect();
        let [row] = found[..] else { panic!("{title} is not one row of {at}") };
        at = row["on-click-action"]["next"]["name"].as_str().expect("a name").to_owned();
        payload = row["on-click-action"]["payload"].clone();
    }
    (at, payload)
}

/// Where the component of this type leads.
fn leads(screen: &Value, kind: &str) -> String {
    let found: Vec<&Value> = children(screen).iter().filter(|child| child["type"] == kind).collect();
    let [component] = found[..] else { panic!("not one {kind}") };
    component["on-click-action"]["next"]["name"].as_str().expect("a name").to_owned()
}

#[test]
fn every_leaf_is_reached_by_its_labels_and_no_screen_is_left_over() {
    for (taxonomy, language, json) in forms() {
        let screens = screens(&json);
        let mut reached: BTreeSet<String> = BTreeSet::from(["ROOT".to_owned()]);
        for leaf in taxonomy.leaves() {
            let labels = taxonomy.labels(&leaf.route, &language).expect("known");
            for length in 1..=labels.len() {
                reached.insert(walk(&screens, &labels[..length]).0);
            }
            let (at, payload) = walk(&screens, &labels);
            assert_eq!(payload["route"], leaf.route.as_str());
            match leaf.kind {
                Kind::Report => {
                    assert_eq!(at, "SUMMARY");
                    assert_eq!(payload["category"], labels.join(" › "));
                }
                Kind::Informational => {
                    assert_eq!(at, if payload.get("report").is_some() { "BRIDGE" } else { "INFO" });
                    assert_eq!(payload["title"], labels[labels.len() - 1]);
                    for (component, target) in [("EmbeddedLink", "SUMMARY"), ("Footer", "INFO")] {
                        if at == "BRIDGE" {
                            reached.insert(target.to_owned());
                            assert_eq!(leads(&screens[&at], component), target);
                        }
                    }
                }
            }
        }
        assert_eq!(reached, screens.keys().cloned().collect());
    }
}

#[test]
fn the_summary_asks_for_one_photo_and_hands_the_route_back() {
    for (taxonomy, language, json) in forms() {
        let screens = screens(&json);
        let summary = &screens["SUMMARY"];
        assert_eq!(summary["terminal"], true);
        let of_type = |name: &str| -> Vec<&Value> {
            children(summary).iter().filter(|child| child["type"] == name).collect()
        };
        let [photo] = of_type("PhotoPicker")[..] else { panic!("one photo picker") };
        assert_eq!((&photo["min-uploaded-photos"], &photo["max-uploaded-photos"]), (&json!(1), &json!(1)));
        assert_eq!(photo["max-file-size-kb"], 10_240);
        let [note] = of_type("TextArea")[..] else { panic!("one note") };
        assert_eq!((&note["required"], &note["max-length"]), (&json!(false), &json!(600)));
        let [footer] = of_type("Footer")[..] else { panic!("one footer") };
        assert_eq!(
            footer["on-click-action"],
            json!({
                "name": "complete",
                "payload": {
                    "route": "${data.route}",
                    "note": "${form.note}",
                    "photo": "${form.photo}",
                    "version": taxonomy.version(),
                    "language": language,
                },
            })
        );
        assert!(of_type("TextBody").iter().any(|body| body["text"] == "${data.category}"));
        assert!(of_type("TextBody").iter().any(|body| body["text"] == "${screen.ROOT.data.address}"));
        assert_eq!(screens["ROOT"]["data"].as_object().map(serde_json::Map::len), Some(1));
        assert!(screens["ROOT"]["data"]["address"].is_object());
        let info = children(&screens["INFO"]).last().expect("INFO has a footer");
        assert_eq!(info["on-click-action"]["name"], "complete");
    }
}

#[test]
fn a_tree_that_never_informs_has_no_such_screen() {
    let tree = TREE.replace("  - informational: help\n", "");
    let catalog = CATALOG.replace("  help: { title: Help, text: Call us }\n", "");
    let taxonomy = Taxonomy::from_yaml(&tree, &[("en", &catalog)], PARTNER).expect("right");
    let json = generate(&taxonomy, "en").expect("known").json;
    assert_eq!(screens(&json).keys().collect::<Vec<_>>(), ["BIN", "ROOT", "SUMMARY"]);
}

#[test]
fn what_could_be_a_report_as_well_crosses_one_bridge_by_its_payload() {
    let taxonomy = builtin();
    for language in ["es", "eu"] {
        let json = generate(&taxonomy, language).expect("known").json;
        let screens = screens(&json);
        let leaves = ["bulky/furniture", "bulky/appliances"].map(|route| {
            let labels = taxonomy.labels(route, language).expect("known");
            walk(&screens, &labels)
        });
        for (at, payload) in &leaves {
            assert_eq!(at, "BRIDGE");
            assert_eq!(payload["report"], "street/illegal_dumping");
            let category = taxonomy.labels("street/illegal_dumping", language).expect("known").join(" › ");
            assert_eq!(payload["category"], category.as_str());
        }
        assert_ne!(leaves[0].1["text"], leaves[1].1["text"]);
        let bridge = &screens["BRIDGE"];
        assert!(bridge.get("terminal").is_none());
        let payload = |kind: &str| {
            let found = children(bridge).iter().find(|child| child["type"] == kind).expect("it is there");
            found["on-click-action"]["payload"].clone()
        };
        let over = json!({"route": "${data.report}", "category": "${data.category}"});
        assert_eq!(payload("EmbeddedLink"), over);
        let on = json!({"route": "${data.route}", "title": "${data.title}", "text": "${data.text}"});
        assert_eq!(payload("Footer"), on);
    }
}

/// The form without what may differ: visible words and the language.
fn skeleton(value: &Value) -> Value {
    const WORDS: [&str; 8] =
        ["title", "metadata", "label", "description", "text", "helper-text", "category", "__example__"];
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let words = (WORDS.contains(&key.as_str()) || key == "language")
                    && value.as_str().is_some_and(|text| !text.starts_with("${"));
                (key.clone(), if words { Value::Null } else { skeleton(value) })
            })
            .collect(),
        Value::Array(items) => items.iter().map(skeleton).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn languages_differ_in_words_only() {
    let taxonomy = builtin();
    let [es, eu] = ["es", "eu"].map(|language| -> Value {
        serde_json::from_str(&generate(&taxonomy, language).expect("known").json).expect("JSON")
    });
    assert_ne!(es, eu);
    assert_eq!(skeleton(&es), skeleton(&eu));
}
