//! Where a fault is said to stand.

use flow_json::{Code, lint};

use super::frames::{Frame, document};

#[test]
fn a_fault_is_placed_by_line_column_and_pointer() {
    let text = "{\n  \"version\": \"7.3\",\n  \"ñ~/\": 1, \"x\": 2,\n  \"screens\": [\n    7\n  ]\n}\n";
    let places: Vec<(Code, usize, usize, String)> = lint(text)
        .into_iter()
        .map(|violation| (violation.code, violation.line, violation.column, violation.pointer))
        .collect();
    assert_eq!(
        places,
        [
            (Code::InvalidPropertyKey, 3, 3, "/ñ~0~1".to_owned()),
            (Code::InvalidPropertyKey, 3, 13, "/x".to_owned()),
            (Code::MissingTerminalScreen, 4, 14, "/screens".to_owned()),
            (Code::InvalidPropertyType, 5, 5, "/screens/0".to_owned()),
        ]
    );
}

#[test]
fn a_text_that_is_no_json_is_placed_where_that_showed() {
    for (text, line, column) in [
        ("", 1, 1),
        ("{\n  \"version\": \"7.3\",\n}", 3, 1),
        ("{\"a\": tru}", 1, 7),
        ("{\"a\": 01}", 1, 9),
        ("{\"a\": \"\n\"}", 1, 8),
        ("{\"a\": \"\\x\"}", 1, 9),
        ("{} {}", 1, 4),
        ("{'a': 1}", 1, 2),
        ("[1 2]", 1, 4),
        ("{\"a\": -}", 1, 8),
    ] {
        let [violation] = &lint(text)[..] else { panic!("{text}") };
        assert_eq!(
            (violation.code, violation.line, violation.column),
            (Code::InvalidFlowJson, line, column),
            "{text}"
        );
        assert_eq!(violation.pointer, "");
    }
}

#[test]
fn every_pointer_leads_to_a_value() {
    for piece in
        ["7", r#"{"type":"TextBody","text":"${data.x}","zzz":1},{"type":"If","then":[{"type":"Nope"}]}"#]
    {
        let text = document(Frame::Body, "7.3", piece);
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let violations = lint(&text);
        assert!(!violations.is_empty());
        for violation in violations {
            assert!(value.pointer(&violation.pointer).is_some(), "{violation}");
        }
    }
}

#[test]
fn a_violation_is_one_line() {
    let violations = lint(r#"{"version":"7.3","screens":[]}"#);
    assert_eq!(violations[0].to_string(), "1:28: MIN_ITEMS_REQUIRED: a form needs a screen at /screens");
}

#[test]
fn codes_are_unique_and_say_whose_they_are() {
    let names: std::collections::BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    assert!(Code::InvalidRoutingModel.is_platform());
    assert!(!Code::TextTooLong.is_platform());
}
