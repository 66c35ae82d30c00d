//! What phones and providers send back.

use flow_json::{CompletionError, PhotoRef, parse_completion};
use serde_json::{Value, json};

const TOKEN: &str = "0190a6f2-6d0c-7000-8000-000000000001";

fn answer() -> Value {
    json!({
        "route": "container/overflowing/glass",
        "note": " Junto al portal ",
        "photo": [{
            "file_name": "photo.jpg",
            "mime_type": "image/jpeg",
            "sha256": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "id": "3631120727156756",
        }],
        "version": "0123456789ab",
        "language": "es",
        "flow_token": TOKEN,
    })
}

#[test]
fn a_string_and_an_object_are_read_alike() {
    let object = answer();
    let completion = parse_completion(&object).expect("an answer");
    assert_eq!(completion.route, "container/overflowing/glass");
    assert_eq!(completion.note.as_deref(), Some("Junto al portal"));
    assert_eq!(
        completion.photos,
        [PhotoRef {
            id: "3631120727156756".to_owned(),
            sha256: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".to_owned(),
            mime_type: "image/jpeg".to_owned(),
            file_name: "photo.jpg".to_owned(),
        }]
    );
    assert_eq!(completion.flow_token.as_deref(), Some(TOKEN));
    assert_eq!(completion.version.as_deref(), Some("0123456789ab"));
    assert_eq!(completion.language.as_deref(), Some("es"));
    assert_eq!(parse_completion(&Value::String(object.to_string())), Ok(completion));
}

#[test]
fn what_may_be_missing_is_none() {
    for (name, value) in [
        ("flow_token", Value::Null),
        ("flow_token", json!("unused")),
        ("flow_token", json!("")),
        ("note", Value::Null),
        ("note", json!(" \n")),
        ("note", json!("\u{0}")),
        ("photo", Value::Null),
        ("photo", json!([])),
        ("version", Value::Null),
        ("language", json!("")),
    ] {
        let mut with = answer();
        with[name] = value;
        let mut without = answer();
        without.as_object_mut().expect("an object").remove(name);
        let expected = parse_completion(&without).expect("an answer");
        assert_eq!(parse_completion(&with), Ok(expected.clone()), "{name}");
        let absent = match name {
            "flow_token" => expected.flow_token.is_none(),
            "note" => expected.note.is_none(),
            "photo" => expected.photos.is_empty(),
            "version" => expected.version.is_none(),
            _ => expected.language.is_none(),
        };
        assert!(absent, "{name}");
    }
}

#[test]
fn media_ids_keep_every_digit() {
    for (raw, id) in [
        ("\"3631120727156756\"", Some("3631120727156756")),
        ("9007199254740993", Some("9007199254740993")),
        ("18446744073709551615", Some("18446744073709551615")),
        ("123456789012345678901234567890", Some("123456789012345678901234567890")),
        ("\"a1-b2\"", Some("a1-b2")),
        ("1.5", None),
        ("1e20", None),
        ("-1", None),
        ("\"\"", None),
        ("null", None),
        ("true", None),
        ("{}", None),
    ] {
        let text = format!(r#"{{"route":"r","photo":[{{"id":{raw},"sha256":"s"}}]}}"#);
        let parsed = parse_completion(&Value::String(text.clone()));
        match id {
            Some(id) => assert_eq!(parsed.expect(raw).photos[0].id, id),
            None => assert_eq!(parsed, Err(CompletionError::Malformed("photo")), "{raw}"),
        }
    }
    let object = json!({ "route": "r", "photo": [{ "id": 9_007_199_254_740_993_u64 }] });
    assert_eq!(parse_completion(&object).expect("an answer").photos[0].id, "9007199254740993");
    let rounded = json!({ "route": "r", "photo": [{ "id": 1e30 }] });
    assert_eq!(parse_completion(&rounded), Err(CompletionError::Malformed("photo")));
}

#[test]
fn what_cannot_be_read_says_why() {
    for (value, error) in [
        (json!("{"), CompletionError::NotJson { line: 1, column: 1 }),
        (json!("{\"route\":\n\"r\""), CompletionError::NotJson { line: 2, column: 3 }),
        (json!(""), CompletionError::NotJson { line: 1, column: 0 }),
        (json!("[]"), CompletionError::NotObject),
        (json!("\"{}\""), CompletionError::NotObject),
        (json!("null"), CompletionError::NotObject),
        (json!([]), CompletionError::NotObject),
        (json!(7), CompletionError::NotObject),
        (Value::Null, CompletionError::NotObject),
        (json!({}), CompletionError::MissingRoute),
        (json!({ "route": " " }), CompletionError::MissingRoute),
        (json!({ "route": null }), CompletionError::MissingRoute),
        (json!({ "route": 1 }), CompletionError::Malformed("route")),
        (json!({ "route": "r", "note": 1 }), CompletionError::Malformed("note")),
        (json!({ "route": "r", "flow_token": {} }), CompletionError::Malformed("flow_token")),
        (json!({ "route": "r", "photo": "x" }), CompletionError::Malformed("photo")),
        (json!({ "route": "r", "photo": [1] }), CompletionError::Malformed("photo")),
        (json!({ "route": "r", "photo": [{ "sha256": "s" }] }), CompletionError::Malformed("photo")),
    ] {
        assert_eq!(parse_completion(&value), Err(error), "{value}");
    }
}

#[test]
fn half_an_emoji_costs_no_report() {
    let text = r#"{"route":"r","note":"roto \ud83d","photo":[]}"#;
    let completion = parse_completion(&Value::String(text.to_owned())).expect("an answer");
    assert_eq!(completion.note.as_deref(), Some("roto \u{FFFD}"));
    let text = r#"{"route":"r","note":"roto \ud83d\ude00"}"#;
    let completion = parse_completion(&Value::String(text.to_owned())).expect("an answer");
    assert_eq!(completion.note.as_deref(), Some("roto 😀"));
}

#[test]
fn unknown_members_and_more_photos_are_no_obstacle() {
    let object = json!({ "route": "r", "wa_extra": { "deep": [1] }, "photo": [{ "id": 1 }, { "id": "2" }] });
    let completion = parse_completion(&object).expect("an answer");
    assert_eq!(completion.photos.iter().map(|photo| photo.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn a_debug_line_holds_nothing_personal() {
    let line = format!("{:?}", parse_completion(&answer()).expect("an answer"));
    assert!(line.contains("container/overflowing/glass"));
    for secret in ["portal", "3631120727156756", TOKEN, "47DEQ"] {
        assert!(!line.contains(secret), "{line}");
    }
}
