//! The schema that editors use, against the files and against the checks.

use jsonschema::Validator;
use serde_json::Value;

use crate::support::{TREE, city};

fn schema() -> Validator {
    let text = include_str!("../../../../../flows/report/taxonomy.schema.json");
    let schema: Value = serde_json::from_str(text).expect("the schema is JSON");
    jsonschema::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::validator_for(&schema).expect("the schema compiles")
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("YAML")
}

#[test]
fn the_files_are_valid() {
    let schema = schema();
    for text in [
        include_str!("../../../../../flows/report/taxonomy.yaml"),
        include_str!("../city/flows/report/taxonomy.yaml"),
        TREE,
    ] {
        let errors: Vec<String> = schema.iter_errors(&yaml(text)).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        let first = text.lines().next().unwrap_or_default();
        assert!(
            text == TREE
                || first.ends_with("flows/report/taxonomy.schema.json")
                || first.ends_with("=taxonomy.schema.json")
        );
    }
}

/// What the schema refuses, the checks refuse as well: an editor never says more than `abisu flows check`.
#[test]
fn what_the_schema_refuses_the_checks_refuse() {
    let schema = schema();
    let long: String = (0..19).map(|place| format!(", {}x", "a".repeat(place + 1))).collect();
    for (piece, by) in [
        ("  - report: noise", "  - reprt: noise"),
        ("report: noise", "report: Noise"),
        ("report: noise", "report: no/ise"),
        ("report: noise", "report: _noise"),
        ("blue]", "blue2]"),
        ("blue]", "red]"),
        ("blue]", &format!("blue{long}]")),
        ("[red, blue]", "[]"),
        ("    options: colour\n", ""),
        ("options: colour", "items: []\n    options: colour"),
        ("options: colour", "items: []"),
        ("report: noise", "report: noise\n    options: colour"),
        ("report: noise", "report: noise\n    group: noise"),
        ("group: bin", "group: root"),
        ("group: bin", "group: success"),
        ("group: bin", "group: bridge"),
        ("report: noise", "report: noise\n    bridge: bin/red"),
        ("tional: help", "tional: help\n    bridge: Bin/red"),
        ("tree:", "more: 1\ntree:"),
    ] {
        assert!(TREE.contains(piece), "{piece}");
        let text = TREE.replacen(piece, by, 1);
        assert!(!schema.is_valid(&yaml(&text)), "the schema takes {by}");
        assert!(city("tree", piece, by).is_err(), "the checks take {by}");
    }
}
