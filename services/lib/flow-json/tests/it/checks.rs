//! Every check, by the one line that breaks it.

use flow_json::{Taxonomy, generate};

use crate::support::{CATALOG, PARTNER, TREE, city, small_city};

/// What is replaced, by what, and the file, key and words of the problem that must come of it.
struct Case(&'static str, &'static str, String, &'static str, &'static str, &'static str);

fn case(
    file: &'static str,
    piece: &'static str,
    by: impl Into<String>,
    told: (&'static str, &'static str, &'static str),
) -> Case {
    Case(file, piece, by.into(), told.0, told.1, told.2)
}

fn refused(cases: impl IntoIterator<Item = Case>) {
    for Case(file, piece, by, told_file, key, words) in cases {
        let problems = city(file, piece, &by).expect_err(&by);
        assert!(
            problems.iter().any(|problem| {
                problem.file.contains(told_file)
                    && problem.key == key
                    && problem.message.contains(words)
                    && !problem.remedy.is_empty()
            }),
            "{piece:?} → {by:?}: {problems:#?}"
        );
    }
}

#[test]
fn the_small_city_is_right() {
    assert_eq!(small_city().report_leaves().count(), 3);
}

#[test]
fn a_broken_tree_is_refused() {
    let many = |count: usize| -> String {
        let names: Vec<String> = (0..count).map(|place| format!("{}x", "a".repeat(place + 1))).collect();
        format!("[red, blue, {}]", names.join(", "))
    };
    let t = "taxonomy.yaml";
    refused([
        case("tree", "tree:", "tree", (t, "", "cannot be read")),
        case("tree", "  - report: noise", "  - reprt: noise", (t, "", "cannot be read")),
        case("tree", "report: noise", "report: Noise", (t, "tree.Noise", "not a key")),
        case("tree", "report: noise", "report: no/ise", (t, "tree.no/ise", "not a key")),
        case("tree", "report: noise", "report: \"${noise}\"", (t, "tree.${noise}", "not a key")),
        case("tree", "report: noise", "report: \"`noise`\"", (t, "tree.`noise`", "not a key")),
        case("tree", "blue]", "blue2]", (t, "option_sets.colour", "not a key")),
        case("tree", "options: colour", "options: size", (t, "tree.bin", "no option set")),
        case("tree", "    options: colour\n", "", (t, "tree.bin", "items or options")),
        case("tree", "options: colour", "items: []\n    options: colour", (t, "tree.bin", "not both")),
        case("tree", "options: colour", "items: []", (t, "tree.bin", "0 rows")),
        case("tree", "[red, blue]", many(19), (t, "tree.bin", "21 rows")),
        case("tree", "[red, blue]", "[red, blue, red]", (t, "tree.bin", "stands twice")),
        case("tree", "report: noise", "report: bin", (t, "tree", "stands twice")),
        case("tree", "report: noise", "report: noise\n    options: colour", (t, "tree.noise", "a leaf has")),
        case("tree", "report: noise", "report: noise\n    group: noise", (t, "tree.", "one of group")),
        case("tree", "[red, blue]", "[red, blue]\n  size: [big]", (t, "option_sets.size", "no group uses")),
        case("tree", "group: bin", "group: root", (t, "tree.root", "reserved")),
        case("tree", "group: bin", "group: summary", (t, "tree.summary", "reserved")),
        case("tree", "group: bin", "group: info", (t, "tree.info", "reserved")),
        case("tree", "group: bin", "group: success", (t, "tree.success", "reserved")),
        case("tree", "group: bin", "group: bridge", (t, "tree.bridge", "reserved")),
        case(
            "tree",
            "report: noise",
            "report: noise\n    bridge: bin/red",
            (t, "tree.noise", "only an inform"),
        ),
        case("tree", "tional: help", "tional: help\n    bridge: bin", (t, "tree.help", "no report leaf")),
        case("tree", "tional: help", "tional: help\n    bridge: help", (t, "tree.help", "no report leaf")),
        case(
            "tree",
            "tional: help",
            "tional: help\n    bridge: noise",
            ("en.yaml", "form.bridge_report", "missing"),
        ),
        case(
            "tree",
            "  - report: noise",
            "  - group: noise\n    items:\n      - group: bin\n        options: colour",
            (t, "tree.noise/bin", "used twice"),
        ),
    ]);
}

#[test]
fn a_tree_without_report_leaves_is_refused() {
    let tree = "tree: [{ informational: help }]";
    let problems = Taxonomy::from_yaml(tree, &[("en", CATALOG)], PARTNER).expect_err("nothing to report");
    assert!(problems.iter().any(|problem| problem.message.contains("nothing can be reported")));
}

#[test]
fn eleven_screens_pass_and_a_twelfth_is_refused() {
    // Two screens are always there, one is the information, so eight groups fit.
    for (groups, passes) in [(8, true), (9, false)] {
        let mut tree = TREE.to_owned();
        let mut catalog = CATALOG.to_owned();
        let mut partner = PARTNER.to_owned();
        for place in 1..groups {
            let key = "x".repeat(place);
            tree.push_str(&format!("  - group: {key}\n    options: colour\n"));
            catalog.push_str(&format!("  {key}: {{ title: {key}, prompt: Which }}\n"));
            partner.push_str(&format!("  {key}: {{ category: {key}, note: colour }}\n"));
        }
        let result = Taxonomy::from_yaml(&tree, &[("en", &catalog)], &partner);
        match result {
            Ok(_) => assert!(passes, "{groups} groups"),
            Err(problems) => {
                assert!(!passes, "{problems:#?}");
                assert!(problems[0].message.contains("12 screens"), "{problems:#?}");
                assert_eq!(problems.len(), 1);
            }
        }
    }
}

#[test]
fn a_broken_catalog_is_refused() {
    let c = "catalogs/en.yaml";
    refused([
        case("catalog", "  submit: Send\n", "", (c, "", "cannot be read")),
        case("catalog", "submit: Send", "submit: Send\n  extra: x", (c, "", "cannot be read")),
        case("catalog", "taxonomy:", "taxonmy:", (c, "", "cannot be read")),
        case(
            "catalog",
            "submit: Send",
            "submit: Send\n  bridge_title: x",
            (c, "form.bridge_title", "never shown"),
        ),
        case("catalog", "submit: Send", "submit: ' '", (c, "form.submit", "blank")),
        case("catalog", "submit: Send", "submit: ' Send'", (c, "form.submit", "space around")),
        case("catalog", "submit: Send", "submit: \"a\\tb\"", (c, "form.submit", "control")),
        case("catalog", "title: Red", "title: '`Red`'", (c, "taxonomy.red.title", "expression")),
        case("catalog", "title: Red", "title: 'R${ed}'", (c, "taxonomy.red.title", "expression")),
        case("catalog", "title: Red", "title: Blue", (c, "taxonomy.blue.title", "same title")),
        case("catalog", "  red: { title: Red }\n", "", (c, "taxonomy.bin/red", "no texts")),
        case("catalog", "noise: {", "noses: {", (c, "taxonomy.noses", "no node")),
        case("catalog", "red: {", "can/red: {", (c, "taxonomy.can/red", "no node")),
        case("catalog", ", prompt: Which bin", "", (c, "taxonomy.bin.prompt", "missing")),
        case("catalog", ", text: Call us", "", (c, "taxonomy.help.text", "missing")),
        case("catalog", "title: Red", "title: Red, prompt: x", (c, "taxonomy.red.prompt", "never shown")),
        case("catalog", "title: Red", "title: Red, text: x", (c, "taxonomy.red.text", "never shown")),
        case("catalog", ", metadata: Loud", "", ("fr.yaml", "taxonomy.noise.metadata", "differs from")),
        case(
            "catalog",
            "title: Red",
            "title: Red, description: x",
            ("fr.yaml", "taxonomy.red.description", "differs from"),
        ),
    ]);
}

#[test]
fn a_text_passes_at_its_limit_and_is_refused_one_above_it() {
    // Letter, accented letter, and a sign that is one scalar but two units.
    let table = [
        ("form.root_title", "root_title: Root title", "root_title: ", 30),
        ("form.root_prompt", "root_prompt: Root prompt", "root_prompt: ", 80),
        ("form.summary_title", "summary_title: Summary title", "summary_title: ", 30),
        ("form.category_heading", "category_heading: What", "category_heading: ", 80),
        ("form.address_heading", "address_heading: Where", "address_heading: ", 80),
        ("form.photo_label", "photo_label: Photo", "photo_label: ", 80),
        ("form.photo_description", "photo_description: One photo", "photo_description: ", 300),
        ("form.note_label", "note_label: Note", "note_label: ", 20),
        ("form.note_helper", "note_helper: Helper", "note_helper: ", 80),
        ("form.submit", "submit: Send", "submit: ", 35),
        ("form.info_title", "info_title: Info title", "info_title: ", 30),
        ("form.info_close", "info_close: Close", "info_close: ", 35),
        ("taxonomy.red.title", "title: Red", "title: ", 30),
        ("taxonomy.noise.metadata", "metadata: Loud", "metadata: ", 80),
        ("taxonomy.noise.description", "title: Noise", "title: Noise, description: ", 20),
        ("taxonomy.bin.prompt", "prompt: Which bin", "prompt: ", 80),
        ("taxonomy.help.text", "text: Call us", "text: ", 4096),
    ];
    for (key, piece, start, limit) in table {
        for (sign, units) in [("x", 1), ("ñ", 1), ("🗑", 2)] {
            // The line must be in both languages, so this checks the broken language's own problems only.
            let problems_with = |count: usize| -> Vec<String> {
                let by = format!("{start}{}", sign.repeat(count));
                let problems = city("catalog", piece, &by).err().unwrap_or_default();
                problems
                    .into_iter()
                    .filter(|problem| problem.file == "catalogs/en.yaml")
                    .map(|problem| problem.key)
                    .collect()
            };
            assert_eq!(problems_with(limit / units), Vec::<String>::new(), "{key} {sign}");
            assert_eq!(problems_with(limit / units + 1), [key], "{sign}");
        }
    }
}

#[test]
fn the_texts_of_a_bridge_are_counted_and_its_screen_too() {
    let texts =
        [("bridge_title", 30), ("bridge_question", 4096), ("bridge_report", 25), ("bridge_continue", 35)];
    let tree = TREE.replace("tional: help", "tional: help\n    bridge: bin/red");
    let with = |tree: &str, long: Option<&str>| {
        let lines = texts.iter().map(|(key, limit)| {
            let more = usize::from(long == Some(key));
            format!("  {key}: {}\n", "x".repeat(limit + more))
        });
        let catalog = CATALOG.replace("taxonomy:\n", &(lines.collect::<String>() + "taxonomy:\n"));
        Taxonomy::from_yaml(tree, &[("en", &catalog)], PARTNER)
    };
    let json = generate(&with(&tree, None).expect("right"), "en").expect("known");
    assert_eq!(json.lint(), []);
    assert!(json.json.contains("\"id\": \"BRIDGE\""));
    for (key, _) in texts {
        let problems = with(&tree, Some(key)).expect_err(key);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert_eq!(problems[0].key, format!("form.{key}"));
    }
}

#[test]
fn a_broken_mapping_is_refused() {
    let p = "partner.yaml";
    refused([
        case("partner", "entries:", "entires:", (p, "", "cannot be read")),
        case("partner", "  noise: { category: N }\n", "", (p, "entries.noise", "no category")),
        case("partner", "  bin: {", "  bun: {", (p, "entries.bin/red", "no category")),
        case("partner", "  bin: {", "  bun: {", (p, "entries.bun", "no report leaf")),
        case(
            "partner",
            "noise: {",
            "help: { category: H }\n  noise: {",
            (p, "entries.help", "no report leaf"),
        ),
        case("partner", "category: N", "category: ''", (p, "entries.noise.category", "blank")),
        case("partner", "category: N", "category: ' N'", (p, "entries.noise.category", "space")),
        case(
            "partner",
            "category: N",
            "category: N, note: colour",
            (p, "entries.noise.note", "not the options"),
        ),
        case("partner", "note: colour", "note: size", (p, "entries.bin.note", "not the options")),
        case("partner", ", note: colour", "", (p, "options.colour", "no entry writes")),
        case("partner", "{option}", "option", (p, "options.colour.note", "exactly once")),
        case("partner", ", blue: BLUE", "", (p, "options.colour.values.blue", "no text")),
        case(
            "partner",
            "blue: BLUE",
            "blue: BLUE, green: G",
            (p, "options.colour.values.green", "no such member"),
        ),
        case(
            "partner",
            "options:\n  colour:",
            "options:\n  size:",
            (p, "options.size", "no such option set"),
        ),
        case("partner", "options:\n  colour:", "options:\n  size:", (p, "entries.bin.note", "no texts")),
    ]);
}

#[test]
fn a_leaf_of_an_option_set_may_have_a_category_of_its_own() {
    let taxonomy =
        city("partner", "  noise:", "  bin/red: { category: R }\n  noise:").expect("it is allowed");
    let category = |route: &str| taxonomy.leaf(route).and_then(|leaf| leaf.partner.clone());
    let red = category("bin/red").expect("mapped");
    assert_eq!((red.category.as_str(), red.option_note), ("R", None));
    let blue = category("bin/blue").expect("mapped");
    assert_eq!((blue.category.as_str(), blue.option_note.as_deref()), ("B", Some("Colour: BLUE")));
}

#[test]
fn a_text_under_the_whole_route_wins_over_the_last_key() {
    let taxonomy = city("catalog", "  red:", "  bin/red: { title: Crimson }\n  red:");
    // The general entry is then used by nobody.
    assert_eq!(taxonomy.expect_err("an orphan").len(), 1);
    let taxonomy = city("catalog", "  red:", "  bin/red:").expect("it is allowed");
    assert_eq!(taxonomy.labels("bin/red", "en").expect("known"), ["Bin", "Red"]);
}

#[test]
fn languages_are_codes_and_given_once() {
    for (catalogs, words) in [
        (&[][..], "no catalog"),
        (&[("en", CATALOG), ("en", CATALOG)][..], "given twice"),
        (&[("../en", CATALOG)][..], "not a language code"),
    ] {
        let problems = Taxonomy::from_yaml(TREE, catalogs, PARTNER).expect_err(words);
        assert!(problems.iter().any(|problem| problem.message.contains(words)), "{problems:#?}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let catalog = CATALOG.replace("submit: Send", "submit: ''").replace("title: Red", "title: ''");
    let partner = PARTNER.replace("category: N", "category: ''");
    let problems = Taxonomy::from_yaml(TREE, &[("en", &catalog)], &partner).expect_err("three problems");
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert_eq!(
        problems[0].to_string(),
        "catalogs/en.yaml:11: form.submit: blank; write a text; the platform refuses blank ones"
    );
}
