//! Another city is other files, not other code: three levels everywhere, three languages, and the limits reached.

use flow_json::{Taxonomy, generate};

use crate::support::{rows, screens};

const CATALOGS: [(&str, &str); 3] = [
    ("ca", include_str!("../city/catalogs/ca.yaml")),
    ("en", include_str!("../city/catalogs/en.yaml")),
    ("gl", include_str!("../city/catalogs/gl.yaml")),
];

pub(crate) fn harbour() -> Taxonomy {
    let tree = include_str!("../city/flows/report/taxonomy.yaml");
    let partner = include_str!("../city/catalogs/partner.yaml");
    Taxonomy::from_yaml(tree, &CATALOGS, partner).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

#[test]
fn it_reaches_the_limits_of_screens_and_rows_with_three_levels() {
    let taxonomy = harbour();
    let json = generate(&taxonomy, "ca").expect("the language is known").json;
    let screens = screens(&json);
    assert_eq!(screens.len(), 11);
    assert_eq!(screens.values().map(|screen| rows(screen).len()).max(), Some(20));
    assert!(taxonomy.leaves().all(|leaf| leaf.route.split('/').count() == 3));
    assert_eq!(taxonomy.languages().count(), 3);
}

#[test]
fn its_forms_are_right_in_every_language_and_differ_in_words_only() {
    let taxonomy = harbour();
    let first = generate(&taxonomy, "ca").expect("the language is known");
    for language in ["ca", "en", "gl"] {
        let form = generate(&taxonomy, language).expect("the language is known");
        assert_eq!(form.lint(), []);
        assert_eq!(first.lint_language(&form), [], "{language}");
        for leaf in taxonomy.leaves() {
            assert_eq!(taxonomy.labels(&leaf.route, language).map(|labels| labels.len()), Some(3));
        }
    }
}

#[test]
fn one_more_row_or_screen_is_refused_with_file_line_and_key() {
    let tree = include_str!("../city/flows/report/taxonomy.yaml");
    let partner = include_str!("../city/catalogs/partner.yaml");
    for (piece, by, told) in [
        (
            "          - report: sand\n",
            "          - report: sand\n          - report: shell\n",
            ":15: tree.harbour/beach: the list has 21 rows",
        ),
        (
            "  - group: streets\n",
            "  - group: more\n    options: hour\n  - group: streets\n",
            ":7: tree: the form would have 12 screens",
        ),
    ] {
        assert!(tree.contains(piece));
        let problems = Taxonomy::from_yaml(&tree.replacen(piece, by, 1), &CATALOGS, partner).expect_err(told);
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.iter().any(|line| line.contains(told)), "{lines:#?}");
    }
}

#[test]
fn all_its_languages_pass_the_linter() {
    let taxonomy = harbour();
    for language in ["ca", "en", "gl"] {
        assert!(generate(&taxonomy, language).expect("the language is known").lint().is_empty());
    }
}
