//! The city this crate is built with.

use std::collections::{BTreeMap, BTreeSet};

use flow_json::{Kind, Taxonomy, generate};

use crate::support::{builtin, small_city};

#[test]
fn it_has_35_report_leaves_with_14_different_keys() {
    let taxonomy = builtin();
    let routes: BTreeSet<&str> = taxonomy.report_leaves().map(|leaf| leaf.route.as_str()).collect();
    assert_eq!(routes.len(), 35);
    assert_eq!(taxonomy.report_leaves().count(), 35);
    let keys: BTreeSet<&str> = routes.iter().filter_map(|route| route.rsplit('/').next()).collect();
    assert_eq!(keys.len(), 14, "{keys:?}");
    for action in ["overflowing", "damaged", "missing", "dirty"] {
        for fraction in ["paper", "organic", "glass", "packaging", "residual", "textile", "used_oil"] {
            let route = format!("container/{action}/{fraction}");
            assert!(routes.contains(route.as_str()), "{route}");
        }
    }
}

#[test]
fn two_leaves_only_inform_and_go_to_nobody() {
    let taxonomy = builtin();
    let informational: Vec<_> = taxonomy.leaves().filter(|leaf| leaf.kind == Kind::Informational).collect();
    assert_eq!(informational.len(), 2);
    assert!(informational.iter().all(|leaf| leaf.partner.is_none()));
}

#[test]
fn the_35_leaves_reach_11_categories_and_only_fractions_travel_in_the_note() {
    let taxonomy = builtin();
    let mut by_category: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for leaf in taxonomy.report_leaves() {
        let partner = leaf.partner.as_ref().expect("every report leaf is mapped");
        by_category.entry(&partner.category).or_default().push(partner.option_note.as_deref());
        let is_container = leaf.route.starts_with("container/");
        assert_eq!(partner.option_note.is_some(), is_container, "{}", leaf.route);
    }
    assert_eq!(by_category.len(), 11);
    let mut sizes: Vec<usize> = by_category.values().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7]);
    for notes in by_category.values() {
        assert_eq!(notes.iter().collect::<BTreeSet<_>>().len(), notes.len(), "{notes:?}");
    }
    let glass = taxonomy.leaf("container/overflowing/glass").and_then(|leaf| leaf.partner.clone());
    let glass = glass.expect("the leaf is mapped");
    assert_eq!(glass.category, "CONTENEDOR_DESBORDADO");
    assert_eq!(glass.option_note.as_deref(), Some("Fracción: vidrio"));
}

#[test]
fn labels_are_the_path_from_the_top_in_the_language_asked_for() {
    let taxonomy = builtin();
    let route = "container/overflowing/glass";
    for (language, expected) in
        [("es", ["Contenedor", "Desbordado", "Vidrio"]), ("eu", ["Edukiontzia", "Gainezka", "Beira"])]
    {
        assert_eq!(taxonomy.labels(route, language).expect("both are known"), expected);
    }
    assert_eq!(taxonomy.labels(route, "fr"), None);
    assert_eq!(taxonomy.labels("container/overflowing", "es"), None);
    assert_eq!(taxonomy.labels("container/overflowing/gold", "es"), None);
    assert_eq!(taxonomy.languages().collect::<Vec<_>>(), ["es", "eu"]);
}

#[test]
fn only_leaves_are_routes() {
    let taxonomy = builtin();
    for route in ["", "container", "container/overflowing", "glass", "container/overflowing/glass/", "ROOT"] {
        assert_eq!(taxonomy.leaf(route), None, "{route}");
    }
}

#[test]
fn a_compiled_taxonomy_answers_the_same_questions() {
    for taxonomy in [builtin(), small_city()] {
        let compiled = taxonomy.compiled();
        let read = Taxonomy::from_compiled(&compiled).expect("it reads what it wrote");
        assert_eq!(read.version(), taxonomy.version());
        assert_eq!(read.languages().collect::<Vec<_>>(), taxonomy.languages().collect::<Vec<_>>());
        assert_eq!(read.leaves().collect::<Vec<_>>(), taxonomy.leaves().collect::<Vec<_>>());
        for leaf in taxonomy.leaves() {
            for language in taxonomy.languages() {
                let labels = taxonomy.labels(&leaf.route, language);
                assert!(labels.is_some());
                assert_eq!(read.labels(&leaf.route, language), labels);
            }
        }
        assert_eq!(read.compiled(), compiled);
        assert!(generate(&read, "es").is_err(), "the form is not in the row");
    }
}

#[test]
fn a_compiled_taxonomy_of_another_shape_is_refused() {
    let mut newer = builtin().compiled();
    newer["format"] = 2.into();
    for value in [serde_json::Value::Null, serde_json::json!({}), newer] {
        assert!(Taxonomy::from_compiled(&value).is_err(), "{value}");
    }
}
