//! Batches, identities, receipts and rubbish.

use channel::meta::inbound::{Item, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::payload::{NUMBER, items, message, messages, rejected, text, webhook};

#[test]
fn every_entry_change_and_message_is_read_in_order() {
    let mut body = webhook(json!({"messages": [text("a", "1"), text("b", "2")]}));
    let more = webhook(json!({"messages": [text("c", "3")]}))["entry"][0]["changes"][0].clone();
    let entry = webhook(json!({"messages": [text("d", "4")], "statuses": [{"id": "s", "status": "read"}]}));
    body["entry"][0]["changes"].as_array_mut().unwrap().push(more);
    body["entry"].as_array_mut().unwrap().push(entry["entry"][0].clone());
    let items = items(&body);
    let ids: Vec<_> = messages(&items).iter().map(|message| message.message_id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(items.len(), 5);
}

#[test]
fn one_bad_message_costs_no_other() {
    let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
    let body = webhook(json!({"messages": [
        text("a", "1"),
        "not a message",
        {"id": "no-sender", "type": "text", "text": {"body": "x"}},
        {"from": "34600000001", "type": "text", "text": {"body": "no id"}},
        {"from": "not a number", "id": "bad-sender", "type": "text", "text": {"body": "x"}},
        text(&"x".repeat(600), "long id"),
        {"from": "34600000001", "id": "deep", "type": "text", "text": {"body": "DEEP"}},
        text("b", "2"),
    ]}));
    let body = body.to_string().replace("\"DEEP\"", &deep);
    let items = parse(body.as_bytes()).unwrap().items;
    let ids: Vec<_> = messages(&items).iter().map(|message| message.message_id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(
        rejected(&items),
        [
            ("malformed", None),
            ("no_sender", Some("no-sender")),
            ("no_id", None),
            ("no_sender", Some("bad-sender")),
            // An id that is too long to be stored is not stored as one either.
            ("bad_id", None),
            ("malformed", None),
        ]
    );
}

#[test]
fn what_was_kept_of_a_message_is_a_webhook_of_its_own() {
    let raw_text = r#"{"body":"\ud800 \u00e9"}"#;
    let contact = json!({"profile": {"name": "Ane"}, "wa_id": "34600000001", "user_id": "ES.1"});
    let body = webhook(json!({"contacts": [contact], "messages": [message("a", "text", json!("TEXT"))]}))
        .to_string()
        .replace("\"TEXT\"", raw_text);
    let items = parse(body.as_bytes()).unwrap().items;
    let [Item::Message { raw, message, .. }] = items.as_slice() else { panic!("{items:?}") };
    assert!(String::from_utf8_lossy(raw).contains(raw_text), "kept as it came");
    assert_eq!(message.user_id.as_deref(), Some("ES.1"));
    assert_eq!(parse(raw).unwrap().items, items);
}

#[test]
fn lone_surrogates_and_nul_become_storable_and_neighbours_are_untouched() {
    let body = webhook(json!({"messages": [text("a", "WORDS"), text("b", "next")]}))
        .to_string()
        .replace("WORDS", r"x\ud83dy\u0000z\ud83d\ude2e");
    let items = parse(body.as_bytes()).unwrap().items;
    let texts: Vec<_> = messages(&items).iter().map(|message| message.text.clone().unwrap()).collect();
    assert_eq!(texts, ["x\u{fffd}y\u{fffd}z😮", "next"]);
}

#[test]
fn faults_in_the_wrapping_itself_are_mended_too() {
    for trouble in [&b"\"\\ud800\":1,"[..], b"\"\xff\":1,"] {
        let body = webhook(json!({"messages": [text("a", "1")]})).to_string();
        let (head, tail) = body.split_at(body.find("\"metadata\"").unwrap());
        let body = [head.as_bytes(), trouble, tail.as_bytes()].concat();
        assert_eq!(messages(&parse(&body).unwrap().items).len(), 1);
    }
}

#[test]
fn a_sender_is_known_by_either_identity_and_contacts_are_joined_by_it() {
    let contacts = json!([
        {"wa_id": "34600000002", "user_id": "ES.2", "profile": {"name": "Two"}},
        {"user_id": "ES.3"},
        {"wa_id": "34600000001", "user_id": "ES.1", "profile": {}},
    ]);
    let from = |phone: Value, id: Value| {
        let mut message = text("m", "x");
        message["from"] = phone;
        message["from_user_id"] = id;
        message
    };
    let body = webhook(json!({"contacts": contacts, "messages": [
        from(json!("34600000001"), Value::Null),
        from(Value::Null, json!("ES.2")),
        from(Value::Null, json!("ES.3")),
        from(json!("+34600000009"), json!("ES.9")),
        from(json!("ES.3"), Value::Null),
        from(json!(34_600_000_002_u64), Value::Null),
    ]}));
    let items = items(&body);
    let senders: Vec<_> = messages(&items)
        .iter()
        .map(|message| (message.phone.as_deref(), message.user_id.as_deref()))
        .collect();
    assert_eq!(
        senders,
        [
            (Some("34600000001"), Some("ES.1")),
            (Some("34600000002"), Some("ES.2")),
            (None, Some("ES.3")),
            (Some("34600000009"), Some("ES.9")),
            (None, Some("ES.3")),
            (Some("34600000002"), Some("ES.2")),
        ]
    );
    assert_eq!(messages(&items)[1].profile_name.as_deref(), Some("Two"));
}

#[test]
fn a_notice_of_a_changed_identity_belongs_to_the_one_we_know() {
    let body = webhook(json!({"messages": [
        {"id": "a", "type": "system", "timestamp": "1764500000",
         "system": {"type": "user_changed_user_id", "user_id": "ES.new", "previous_user_id": "ES.old"}},
        {"id": "b", "from": "34600000001", "type": "system",
         "system": {"type": "user_changed_number", "wa_id": "34600000002"}},
    ]}));
    let items = items(&body);
    let [first, second] = messages(&items)[..] else { panic!("{items:?}") };
    assert_eq!((first.kind.as_str(), first.user_id.as_deref()), ("system", Some("ES.old")));
    assert_eq!(first.metadata["system"]["user_id"], json!("ES.new"));
    assert_eq!(second.phone.as_deref(), Some("34600000001"));
}

#[test]
fn receipts_are_read_with_whatever_is_missing() {
    let body = webhook(json!({"contacts": [{"wa_id": "34600000001"}], "statuses": [
        {"id": "wamid.1", "status": "sent", "timestamp": "1764500000", "recipient_id": "34600000001",
         "biz_opaque_callback_data": "cb"},
        {"id": "wamid.1", "status": "failed", "timestamp": 1_764_500_001, "recipient_user_id": "ES.1",
         "errors": [{"code": 131_047}]},
        {"id": "wamid.2", "status": "read"},
        {"id": "p", "type": "payment", "status": "captured"},
        {"status": "read"},
    ]}));
    let items = items(&body);
    let Item::Receipt {
        phone_number_id,
        provider_id,
        status,
        recipient,
        occurred_at,
        error_code,
        callback_data,
    } = &items[0]
    else {
        panic!("{items:?}")
    };
    assert_eq!([phone_number_id, provider_id, status, recipient], [NUMBER, "wamid.1", "sent", "34600000001"]);
    assert_eq!(
        (occurred_at.timestamp(), *error_code, callback_data.as_deref()),
        (1_764_500_000, None, Some("cb"))
    );
    let Item::Receipt { recipient, error_code, .. } = &items[1] else { panic!("{items:?}") };
    assert_eq!((recipient.as_str(), *error_code), ("ES.1", Some(131_047)));
    let Item::Receipt { occurred_at, .. } = &items[2] else { panic!("{items:?}") };
    assert_eq!(occurred_at.timestamp(), 0);
    assert_eq!(items[3], Item::Notice { field: "messages".into() });
    assert_eq!(rejected(&items), [("malformed", None)]);
}

#[test]
fn news_of_other_fields_and_empty_values_are_acknowledged() {
    let other = json!({"entry": [{"id": "1", "time": 1, "changes": [
        {"field": "account_update", "value": {"event": "ACCOUNT_RESTRICTION"}},
        {"field": "smb_message_echoes", "value": {"message_echoes": [text("a", "ours")]}},
    ]}]});
    let fields: Vec<_> = items(&other)
        .into_iter()
        .map(|item| match item {
            Item::Notice { field } => field,
            Item::Message { .. } | Item::Receipt { .. } | Item::Rejected { .. } => {
                panic!("not a notice: {item:?}")
            }
        })
        .collect();
    assert_eq!(fields, ["account_update", "smb_message_echoes"]);
    assert_eq!(
        items(&webhook(json!({"errors": [{"code": 130_429}]}))),
        [Item::Notice { field: "messages".into() }]
    );
    assert_eq!(items(&webhook(json!({"messages": []}))), []);
    assert_eq!(items(&json!({"object": "whatsapp_business_account", "entry": []})), []);
}

#[test]
fn a_message_that_names_no_number_of_ours_is_kept_aside() {
    let mut body = webhook(json!({"messages": [text("a", "1")]}));
    body["entry"][0]["changes"][0]["value"]["metadata"] = Value::Null;
    assert_eq!(rejected(&items(&body)), [("unknown_number", Some("a"))]);
}

#[test]
fn what_is_no_webhook_is_unparsable_and_is_not_quoted() {
    for body in ["", "hello 34600000001", "{\"entry\":", "[]", "7", "{}", r#"{"entry":{}}"#, "\u{feff}{}"] {
        let error = parse(body.as_bytes()).unwrap_err().to_string();
        assert!(!error.contains("34600000001"), "{error}");
    }
    let odd = json!({"entry": [7, {"id": "1"}, {"id": "2", "changes": 3}, {"changes": [null, {"field": "messages"}]}]});
    assert_eq!(rejected(&items(&odd)).len(), 4);
}

#[test]
fn a_thousand_messages_are_a_thousand_messages() {
    let all: Vec<Value> = (0..1000).map(|n| text(&format!("wamid.{n}"), "é\u{202e}")).collect();
    assert_eq!(messages(&items(&webhook(json!({"messages": all})))).len(), 1000);
}

proptest! {
    #[test]
    fn no_damage_to_a_webhook_makes_the_parser_panic(cut in 0usize..900, put in ".{0,6}", skip in 0usize..9) {
        let body = webhook(json!({
            "contacts": [{"profile": {"name": "Ane"}, "wa_id": "34600000001", "user_id": "ES.1"}],
            "messages": [
                text("a", "\u{0}\\ud800 x"),
                message("b", "location", json!({"latitude": "42.8", "longitude": -2.6})),
                message("c", "interactive", json!({"type": "nfm_reply", "nfm_reply": {"response_json": "{}"}})),
            ],
            "statuses": [{"id": "s", "status": "read", "timestamp": "99999999999999999999"}],
        })).to_string().into_bytes();
        let cut = cut.min(body.len());
        let rest = (cut + skip).min(body.len());
        let damaged = [&body[..cut], put.as_bytes(), &body[rest..]].concat();
        if let Ok(delivery) = parse(&damaged) {
            for message in messages(&delivery.items) {
                let stored = serde_json::to_string(message).unwrap();
                prop_assert!(!stored.contains("\\u0000"), "{stored}");
            }
        }
    }
}
