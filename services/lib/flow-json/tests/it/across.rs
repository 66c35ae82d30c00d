//! What one document alone does not show: init data, languages, and the keys behind the texts.

use flow_json::{Code, FlowDocument, MOST_INIT_BYTES, generate, init_data, lint_init_data, lint_languages};
use serde_json::{Value, json};

use crate::second_city::harbour;
use crate::support::{builtin, small_city};

fn form(language: &str) -> FlowDocument {
    generate(&builtin(), language).expect("the language is known")
}

#[test]
fn what_a_message_gives_must_be_the_data_of_a_first_screen() {
    let json = form("es").json;
    let long = "x".repeat(MOST_INIT_BYTES);
    assert_eq!(lint_init_data(&json, "ROOT", Some(&init_data("Calle Mayor, 1"))), []);
    for (screen, data, code) in [
        ("ROOT", None, Code::InitDataMismatch),
        ("ROOT", Some(json!({})), Code::InitDataMismatch),
        ("ROOT", Some(json!([])), Code::InitDataMismatch),
        ("ROOT", Some(json!({"address": 3})), Code::InitDataMismatch),
        ("ROOT", Some(json!({"address": "x", "more": "y"})), Code::InitDataMismatch),
        ("ROOT", Some(json!({"address": long})), Code::MessageTooLarge),
        ("NONE", Some(json!({"address": "x"})), Code::InitDataMismatch),
        ("STREET", None, Code::InitDataMismatch),
    ] {
        let told: Vec<Code> =
            lint_init_data(&json, screen, data.as_ref()).into_iter().map(|it| it.code).collect();
        assert_eq!(told, [code], "{screen}");
    }
}

#[test]
fn languages_differ_in_words_only() {
    assert_eq!(form("es").lint_language(&form("eu")), []);
    let fixed = |key: &str| key == "route";
    let (es, eu) = (form("es").json, form("eu").json);
    let changed = |pointer: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&eu).expect("JSON");
        *document.pointer_mut(pointer).expect(pointer) = value;
        lint_languages(&es, &document.to_string(), fixed)
    };
    let row = "/screens/0/layout/children/0/list-items/0";
    for (pointer, value) in [
        ("/version", json!("7.2")),
        ("/screens/1/id", json!("OTHER")),
        ("/screens/10/terminal", json!(false)),
        (&format!("{row}/id"), json!("other")),
        (&format!("{row}/on-click-action/next/name"), json!("STREET")),
        (&format!("{row}/on-click-action/payload"), json!({"a": "b"})),
        ("/screens/6/layout/children/0/list-items/2/on-click-action/payload/route", json!("street/other")),
        ("/screens/10/layout/children/1/text", json!("${data.route}")),
        ("/screens/10/layout/children/4/max-uploaded-photos", json!(2)),
        ("/screens/0/layout/children/0/list-items", json!([])),
    ] {
        let told = changed(pointer, value);
        assert!(
            !told.is_empty() && told.iter().all(|it| it.code == Code::StructureDiffers),
            "{pointer}: {told:?}"
        );
    }
    assert_eq!(changed(&format!("{row}/main-content/title"), json!("Beste bat")), []);
}

/// A pointer holds the very text that its key says.
#[test]
fn every_text_of_a_form_is_traced_to_its_key() {
    for taxonomy in [builtin(), harbour(), small_city()] {
        for language in taxonomy.languages() {
            let form = generate(&taxonomy, language).expect("the language is known");
            let document: Value = serde_json::from_str(&form.json).expect("JSON");
            for (pointer, key) in form.keys.iter() {
                assert!(document.pointer(pointer).is_some(), "{language} {pointer} {key}");
            }
            let submit = form.keys.iter().find(|(_, key)| key.ends_with("form.submit")).expect("it is there");
            assert!(submit.0.ends_with("/layout/children/6/label"));
        }
    }
    let form = form("es");
    let glass = "/screens/2/layout/children/0/list-items/2";
    assert_eq!(form.keys.find(glass), Some("flows/report/taxonomy.yaml: tree.container/overflowing/glass"));
    assert_eq!(
        form.keys.find(&format!("{glass}/main-content/title")),
        Some("catalogs/es.yaml: taxonomy.glass.title")
    );
    assert_eq!(
        form.keys.find(&format!("{glass}/on-click-action/next/name")),
        Some("flows/report/taxonomy.yaml: tree.container/overflowing/glass")
    );
}

#[test]
fn a_violation_of_a_form_of_ours_names_the_key() {
    let mut form = form("es");
    form.json = form.json.replace("\"label\": \"Enviar aviso\"", "\"label\": \" \"");
    let violations = form.lint();
    assert_eq!(violations.len(), 1);
    let line = violations[0].to_string();
    assert!(line.ends_with("from catalogs/es.yaml: form.submit"), "{line}");
    assert!(violations[0].line > 100, "{line}");
}
