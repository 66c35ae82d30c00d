//! What is made from `values.yaml` and the templates is what lies in the chart.

use std::fs;

use xtask::chart;
use xtask::chart::tools::Helm;

#[test]
fn the_schema_and_the_tables_of_the_readme_are_those_of_the_values() {
    let folder = chart::folder();
    for (file, make) in chart::MADE {
        let text = make(&folder).unwrap();
        let found = fs::read_to_string(folder.join(file)).unwrap();
        assert!(found == text, "{file} has drifted; run `cargo xtask chart`");
    }
}

#[test]
fn the_schema_is_a_schema() {
    let text = fs::read_to_string(chart::folder().join("values.schema.json")).unwrap();
    jsonschema::meta::validate(&serde_json::from_str(&text).unwrap()).unwrap();
}

#[test]
fn helm_lint_has_nothing_to_say() {
    let chart = chart::folder().display().to_string();
    for values in ["minimal", "full", "trial"] {
        let file = super::support::values_file(values);
        let said = Helm::find().unwrap().run(&["lint", "--strict", &chart, "--values", &file]).unwrap();
        assert!(!said.contains("[WARNING]") && !said.contains("[ERROR]"), "{said}");
    }
}
