//! Limits by number, size and nesting; and what no document may do to the linter.

use std::collections::BTreeSet;

use flow_json::{Code, MOST_BYTES, lint};

use super::codes;
use super::frames::{Frame, PIXEL, document};

const NONE: [&str; 0] = [];

fn told(codes: &BTreeSet<&'static str>) -> Vec<&'static str> {
    codes.iter().copied().collect()
}

fn letters(place: usize) -> String {
    (0..3)
        .map(|power| char::from(b'A' + u8::try_from(place / 26_usize.pow(power) % 26).expect("below 26")))
        .collect()
}

/// A first screen with a list or links to all others, which are terminal.
fn star(others: usize, list: bool) -> String {
    let action = |place: usize| {
        format!(
            r#"{{"name":"navigate","next":{{"type":"screen","name":"S_{}"}},"payload":{{}}}}"#,
            letters(place)
        )
    };
    let foot = r#"{"type":"Footer","label":"D","on-click-action":{"name":"complete","payload":{}}}"#;
    let first = if list {
        let rows: Vec<String> = (0..others)
            .map(|place| {
                format!(
                    r#"{{"id":"i{place}","main-content":{{"title":"T"}},"on-click-action":{}}}"#,
                    action(place)
                )
            })
            .collect();
        format!(r#"{{"type":"NavigationList","name":"c","list-items":[{}]}}"#, rows.join(","))
    } else {
        // More links than a screen may have, in conditions: the links are counted, not the components.
        let links: Vec<String> = (0..others)
            .map(|place| {
                format!(
                    r#"{{"type":"OptIn","name":"o{place}","label":"L","on-click-action":{}}}"#,
                    action(place)
                )
            })
            .collect();
        links.join(",")
    };
    let screens: Vec<String> = (0..others)
        .map(|place| {
            format!(
                r#"{{"id":"S_{}","title":"T","terminal":true,"layout":{{"type":"SingleColumnLayout","children":[{foot}]}}}}"#,
                letters(place)
            )
        })
        .collect();
    format!(
        r#"{{"version":"7.3","screens":[{{"id":"ROOT","title":"T","layout":{{"type":"SingleColumnLayout","children":[{first}]}}}},{}]}}"#,
        screens.join(",")
    )
}

#[test]
fn a_form_with_a_list_has_eleven_screens_at_most() {
    assert_eq!(told(&codes(&star(10, true))), NONE);
    assert_eq!(told(&codes(&star(11, true))), ["INVALID_ROUTING_MODEL"]);
}

#[test]
fn a_screen_leads_to_ten_others_at_most() {
    assert!(!codes(&star(10, false)).contains("INVALID_ROUTING_MODEL"));
    assert!(codes(&star(11, false)).contains("INVALID_ROUTING_MODEL"));
}

#[test]
fn a_form_has_a_hundred_screens_at_most() {
    assert!(!codes(&star(99, true)).contains("MAX_SCREENS_NUMBER"));
    assert!(codes(&star(100, true)).contains("MAX_SCREENS_NUMBER"));
}

#[test]
fn lists_options_and_components_are_counted() {
    let row = |place: usize| {
        format!(
            r#"{{"id":"{place}","main-content":{{"title":"T"}},"on-click-action":{{"name":"navigate","next":{{"type":"screen","name":"TWO"}},"payload":{{"route":"a"}}}}}}"#
        )
    };
    let option = |place: usize| format!(r#"{{"id":"{place}","title":"T"}}"#);
    let pictured = |place: usize| format!(r#"{{"id":"{place}","title":"T","image":"{PIXEL}"}}"#);
    let text = |_: usize| r#"{"type":"TextBody","text":"T"}"#.to_owned();
    let many =
        |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",");
    let group = |kind: &str, count: usize, one: &dyn Fn(usize) -> String| {
        format!(r#"{{"type":"{kind}","name":"g","label":"L","data-source":[{}]}}"#, many(count, one))
    };
    for (frame, most, code, piece) in [
        (Frame::Rows, 20, "MAX_ITEMS_REQUIRED", &(|count| many(count, &row)) as &dyn Fn(usize) -> String),
        (Frame::Body, 20, "MAX_ITEMS_REQUIRED", &|count| group("RadioButtonsGroup", count, &option)),
        (Frame::Body, 20, "MAX_ITEMS_REQUIRED", &|count| group("CheckboxGroup", count, &option)),
        (Frame::Body, 20, "MAX_ITEMS_REQUIRED", &|count| group("ChipsSelector", count, &option)),
        (Frame::Body, 200, "MAX_ITEMS_REQUIRED", &|count| group("Dropdown", count, &option)),
        (Frame::Body, 100, "MAX_ITEMS_REQUIRED", &|count| group("Dropdown", count, &pictured)),
        (Frame::Body, 49, "MAX_ALLOWED_COMPONENTS_PER_SCREEN", &|count| many(count, &text)),
    ] {
        assert_eq!(told(&codes(&document(frame, "7.3", &piece(most)))), NONE, "{frame:?} {most}");
        assert_eq!(told(&codes(&document(frame, "7.3", &piece(most + 1)))), [code], "{frame:?} {most}");
    }
}

#[test]
fn texts_pass_at_their_limit_counted_in_utf_16_units() {
    let input = |kind: &str, key: &str| {
        format!(r#"{{"type":"{kind}","name":"n","label":"L","data-source":"${{data.many}}","{key}":"@"}}"#)
    };
    let plain = |kind: &str, key: &str| format!(r#"{{"type":"{kind}","name":"n","label":"L","{key}":"@"}}"#);
    let label = |kind: &str| format!(r#"{{"type":"{kind}","name":"n","label":"@"}}"#);
    let group =
        |kind: &str| format!(r#"{{"type":"{kind}","name":"n","label":"@","data-source":"${{data.many}}"}}"#);
    for (piece, most) in [
        (r#"{"type":"TextHeading","text":"@"}"#.to_owned(), 80),
        (r#"{"type":"TextSubheading","text":"@"}"#.to_owned(), 80),
        (r#"{"type":"TextBody","text":"@"}"#.to_owned(), 4096),
        (r#"{"type":"TextCaption","text":"@"}"#.to_owned(), 409),
        (label("TextInput"), 20),
        (plain("TextInput", "helper-text"), 80),
        (label("TextArea"), 20),
        (plain("TextArea", "helper-text"), 80),
        (label("OptIn"), 120),
        (label("DatePicker"), 40),
        (plain("DatePicker", "helper-text"), 80),
        (plain("DatePicker", "error-message"), 80),
        (label("CalendarPicker"), 40),
        (label("PhotoPicker"), 80),
        (plain("PhotoPicker", "description"), 300),
        (label("DocumentPicker"), 80),
        (group("Dropdown"), 20),
        (group("RadioButtonsGroup"), 30),
        (group("CheckboxGroup"), 30),
        (group("ChipsSelector"), 80),
        (input("RadioButtonsGroup", "description"), 300),
    ] {
        for (sign, units) in [("x", 1), ("ñ", 1), ("🗑", 2)] {
            let with = |count: usize| {
                told(&codes(&document(Frame::Body, "7.3", &piece.replace('@', &sign.repeat(count)))))
            };
            assert_eq!(with(most / units), NONE, "{piece} {sign}");
            assert_eq!(with(most / units + 1), ["TEXT_TOO_LONG"], "{piece} {sign}");
        }
    }
}

#[test]
fn pictures_in_lists_have_a_size() {
    let with = |version: &str, kib: usize| {
        let image = "A".repeat(kib * 1024 / 3 * 4);
        let piece = format!(
            r#"{{"type":"Dropdown","name":"d","label":"L","data-source":[{{"id":"a","title":"A","image":"{image}"}}]}}"#
        );
        told(&codes(&document(Frame::Body, version, &piece)))
    };
    assert_eq!(with("6.0", 99), NONE);
    assert_eq!(with("6.0", 103), ["IMAGE_TOO_LARGE"]);
    assert_eq!(with("5.1", 297), NONE);
    assert_eq!(with("5.1", 303), ["IMAGE_TOO_LARGE"]);
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let text = format!("{}0{}", open.repeat(1_000_000), close.repeat(1_000_000));
        assert_eq!(told(&codes(&text)), ["INVALID_FLOW_JSON"]);
    }
    let text = "[".repeat(9_000_000);
    assert_eq!(told(&codes(&text)), ["INVALID_FLOW_JSON"]);
}

/// Ten megabytes that are costly in another way each.
#[test]
fn ten_megabytes_are_read_and_told_within_bounds() {
    let fill = |start: &str, piece: &dyn Fn(usize) -> String, end: &str| {
        let mut text = start.to_owned();
        let mut place = 0;
        while text.len() + end.len() + 400 < MOST_BYTES {
            if place > 0 {
                text.push(',');
            }
            text.push_str(&piece(place));
            place += 1;
        }
        text + end
    };
    let start = r#"{"version":"7.3","screens":[{"id":"ONE","title":"T","layout":{"type":"SingleColumnLayout","children":["#;
    let row = |place: usize| {
        format!(
            r#"{{"id":"{place}","main-content":{{"title":"T"}},"on-click-action":{{"name":"navigate","next":{{"type":"screen","name":"TWO"}},"payload":{{"route":"{place}"}}}}}}"#
        )
    };
    let texts: [(&str, String); 6] = [
        (
            "rows",
            fill(&format!(r#"{start}{{"type":"NavigationList","name":"c","list-items":["#), &row, "]}]}}]}"),
        ),
        ("unknown keys", fill("{", &|place| format!(r#""k{place}":1"#), "}")),
        (
            "components",
            fill(start, &|place| format!(r#"{{"type":"TextInput","name":"n{place}","label":"L"}}"#), "]}}]}"),
        ),
        (
            "screens",
            fill(
                r#"{"version":"7.3","screens":["#,
                &|place| format!(r#"{{"id":"S_{place}","title":"T"}}"#),
                "]}",
            ),
        ),
        ("lists", format!("[{}0]", "[],".repeat((MOST_BYTES - 3) / 3))),
        ("a long key", format!(r#"{{"{}":[{}0]}}"#, "k".repeat(MOST_BYTES / 2), "0,".repeat(MOST_BYTES / 5))),
    ];
    for (name, text) in texts {
        assert!(text.len() > MOST_BYTES * 8 / 10 && text.len() <= MOST_BYTES, "{name}: {}", text.len());
        let violations = lint(&text);
        assert!(!violations.is_empty() && violations.len() <= 10_001, "{name}");
    }
}

#[test]
fn a_document_above_ten_megabytes_is_not_read() {
    let text = " ".repeat(MOST_BYTES + 1);
    let [violation] = &lint(&text)[..] else { panic!("one violation") };
    assert_eq!((violation.code, violation.line), (Code::InvalidFlowJson, 1));
}
