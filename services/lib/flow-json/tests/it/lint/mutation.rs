//! Every valid fixture and every form of ours, broken in every place: the linter must see each break.

use flow_json::{generate, lint};
use serde_json::Value;

use super::frames::document;
use super::{NEWEST, pairs, pairs_components};
use crate::support::{builtin, small_city};

/// Where anything may stand: what the platform only passes on.
fn is_free(path: &[String]) -> bool {
    let last = path.last().map(String::as_str).unwrap_or_default();
    path.iter().any(|key| key == "__example__" || key == "meta")
        || (path.contains(&"payload".to_owned()) && last != "payload")
        // Names of components and of cases, and texts.
        || path.iter().rev().nth(1).is_some_and(|above| above == "cases" || above == "init-values")
}

/// A name that the document chooses, and that only what refers to it would miss.
fn is_chosen(path: &[String]) -> bool {
    path.iter().rev().nth(1).is_some_and(|above| above == "data" || above == "properties")
}

/// All documents that differ from this one by one broken member.
fn broken(document: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::<String>::new(), String::new())];
    while let Some((path, pointer)) = open.pop() {
        let value = document.pointer(&pointer).expect("it was there");
        match value {
            Value::Object(members) => {
                for key in members.keys() {
                    let path: Vec<String> = path.iter().cloned().chain([key.clone()]).collect();
                    let below = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                    if !is_free(&path) {
                        let at = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
                            let mut copy = document.clone();
                            let object = copy.pointer_mut(&pointer).and_then(Value::as_object_mut);
                            change(object.expect("it was there"));
                            copy
                        };
                        found.push((
                            format!("{below} is null"),
                            at(&|it| {
                                it.insert(key.clone(), Value::Null);
                            }),
                        ));
                        if !is_chosen(&path) {
                            found.push((
                                format!("{below} is renamed"),
                                at(&|it| {
                                    let value = it.remove(key).unwrap_or_default();
                                    it.insert(format!("{key}-"), value);
                                }),
                            ));
                        }
                    }
                    open.push((path, below));
                }
            }
            Value::Array(elements) => {
                for place in 0..elements.len() {
                    let below = format!("{pointer}/{place}");
                    if !is_free(&path) {
                        let mut copy = document.clone();
                        if let Some(value) = copy.pointer_mut(&below) {
                            *value = Value::Bool(false);
                        }
                        found.push((format!("{below} is false"), copy));
                    }
                    open.push((path.clone(), below));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

fn all_are_caught(text: &str) -> usize {
    let document: Value = serde_json::from_str(text).expect("a valid fixture is JSON");
    let broken = broken(&document);
    let missed: Vec<&String> = broken
        .iter()
        .filter(|(_, document)| lint(&document.to_string()).is_empty())
        .map(|(what, _)| what)
        .collect();
    assert!(missed.is_empty(), "{missed:?}: {text}");
    broken.len()
}

#[test]
fn every_break_of_a_valid_fixture_is_caught() {
    let mut count = 0;
    for (frame, good, _, _) in [
        pairs::DOCUMENTS,
        pairs::LISTS,
        pairs_components::SHOWN,
        pairs_components::INPUTS,
        pairs_components::GROUPED,
        pairs_components::ACTIONS,
    ]
    .into_iter()
    .flatten()
    {
        count += all_are_caught(&document(*frame, NEWEST, good));
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn our_forms_are_right_and_every_break_of_theirs_is_caught() {
    for taxonomy in [small_city(), builtin()] {
        for language in taxonomy.languages() {
            let form = generate(&taxonomy, language).expect("the language is known");
            assert_eq!(lint(&form.json), []);
        }
    }
    let form = generate(&small_city(), "en").expect("the language is known");
    assert!(all_are_caught(&form.json) > 100);
}

/// Cut anywhere, a document is no document.
#[test]
fn no_cut_text_passes_or_panics() {
    let form = generate(&small_city(), "en").expect("the language is known").json;
    let whole = form.trim_end();
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        assert!(!lint(&whole[..end]).is_empty(), "{end}");
    }
}
