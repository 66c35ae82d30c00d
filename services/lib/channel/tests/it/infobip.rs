//! Infobip: every kind in both dialects, reports, and what is wrong.

use channel::inbound::Item;
use channel::infobip::inbound::parse;
use channel::normalised::form_fields;
use channel::{Interactive, Kind, Message};
use serde_json::{Value, json};

use crate::payload::{messages, rejected};

fn items(results: Value) -> Vec<Item> {
    let count = results.as_array().map_or(0, Vec::len);
    let body = json!({"results": results, "messageCount": count, "pendingMessageCount": 0});
    parse(body.to_string().as_bytes()).expect("a body of Infobip").items
}

/// A result of the older dialect.
fn older(id: &str, message: Value) -> Value {
    json!({"from": "34600000001", "to": "34945000001", "integrationType": "WHATSAPP",
           "receivedAt": "2026-11-30T10:53:20.123+0000", "messageId": id, "pairedMessageId": null,
           "callbackData": null, "message": message, "contact": {"name": "Ane"},
           "price": {"pricePerMessage": 0, "currency": "EUR"}})
}

/// A result of the Messages API.
fn newer(id: &str, content: Value) -> Value {
    json!({"event": "MO", "channel": "WHATSAPP", "sender": "34600000001", "destination": "34945000001",
           "content": content, "receivedAt": "2026-11-30T10:53:20.123+0000", "messageId": id, "messageCount": 1})
}

fn read(result: Value) -> Message {
    match items(json!([result])).as_slice() {
        [Item::Message { message, phone_number_id, .. }] => {
            assert_eq!(phone_number_id, "34945000001");
            (**message).clone()
        }
        other => panic!("not one message: {other:?}"),
    }
}

/// The same content in both dialects.
fn both(content: &Value) -> [Message; 2] {
    [read(older("m", content.clone())), read(newer("m", json!([content])))]
}

#[test]
fn a_message_says_who_when_and_what() {
    let message =
        read(older("wamid.1", json!({"type": "TEXT", "text": "kaixo", "context": {"id": "wamid.0"}})));
    assert_eq!((message.kind, message.text.as_deref()), (Kind::Text, Some("kaixo")));
    assert_eq!(
        (message.phone.as_deref(), message.profile_name.as_deref()),
        (Some("34600000001"), Some("Ane"))
    );
    // The offset has no colon, as Infobip writes it.
    assert_eq!(message.sent_at.unwrap().to_rfc3339(), "2026-11-30T10:53:20.123+00:00");
    assert_eq!(
        (message.reply_to.as_deref(), &message.metadata["whatsapp_type"]),
        (Some("wamid.0"), &json!("TEXT"))
    );
    let message = read(newer("opaque", json!([{"type": "TEXT", "text": "kaixo", "cleanText": "kaixo"}])));
    assert_eq!((message.message_id.as_str(), message.text.as_deref()), ("opaque", Some("kaixo")));
}

#[test]
fn media_keep_the_id_at_the_end_of_their_address() {
    let url = "https://x.api.infobip.com/whatsapp/1/senders/34945000001/media/9f-1";
    for (word, kind) in [
        ("IMAGE", Kind::Image),
        ("VIDEO", Kind::Video),
        ("DOCUMENT", Kind::Document),
        ("AUDIO", Kind::Audio),
        ("VOICE", Kind::Audio),
        ("STICKER", Kind::Sticker),
        ("FILE", Kind::Document),
    ] {
        for message in both(&json!({"type": word, "url": url, "caption": "here"})) {
            assert_eq!((message.kind, message.text.as_deref()), (kind, Some("here")));
            let [file] = &message.attachments[..] else { panic!("{message:?}") };
            assert_eq!(
                (file.provider.as_deref(), file.provider_media_id.as_deref()),
                (Some("infobip"), Some("9f-1"))
            );
            assert_eq!(message.metadata["media_url"], json!(url));
            assert_eq!(message.metadata.contains_key("voice"), word == "VOICE");
        }
    }
    let elsewhere = read(older("m", json!({"type": "IMAGE", "url": "https://elsewhere/1"})));
    assert_eq!(elsewhere.attachments[0].provider_media_id.as_deref(), Some("https://elsewhere/1"));
    let bare = read(older("m", json!({"type": "IMAGE"})));
    assert_eq!((bare.kind, bare.attachments.len()), (Kind::Image, 0));
}

#[test]
fn pins_and_cards_are_attachments() {
    for degrees in [json!(42.5), json!("42.5")] {
        let pin = json!({"type": "LOCATION", "latitude": degrees, "longitude": -2.5, "name": "Plaza", "address": "1"});
        for message in both(&pin) {
            assert_eq!(message.kind, Kind::Location);
            assert_eq!(
                (message.attachments[0].latitude, message.attachments[0].longitude),
                (Some(42.5), Some(-2.5))
            );
        }
    }
    for wrong in [json!({"type": "LOCATION"}), json!({"type": "LOCATION", "latitude": 91, "longitude": 0})] {
        assert!(both(&wrong).iter().all(|message| message.kind == Kind::Unsupported));
    }
    for message in both(&json!({"type": "CONTACT", "contacts": [{"name": {"formattedName": "Jon"}}, {}]})) {
        assert_eq!((message.kind, message.attachments.len()), (Kind::Contacts, 2));
        assert_eq!(message.attachments[0].name.as_deref(), Some("Jon"));
    }
}

#[test]
fn answers_carry_our_id_and_the_title_as_text() {
    let button = Some(Interactive::Button { id: "lang:eu".into(), title: "Euskara".into() });
    for message in [
        read(older("m", json!({"type": "INTERACTIVE_BUTTON_REPLY", "id": "lang:eu", "title": "Euskara"}))),
        read(newer("m", json!([{"type": "BUTTON_REPLY", "id": "lang:eu", "text": "Euskara"}]))),
    ] {
        assert_eq!((message.kind, message.text.as_deref()), (Kind::ButtonReply, Some("Euskara")));
        assert_eq!(message.interactive, button);
    }
    for message in [
        read(older(
            "m",
            json!({"type": "INTERACTIVE_LIST_REPLY", "id": "r", "title": "First", "description": "d"}),
        )),
        read(newer("m", json!([{"type": "LIST_REPLY", "id": "r", "text": "First"}]))),
    ] {
        assert_eq!((message.kind, message.text.as_deref()), (Kind::ListReply, Some("First")));
        assert!(matches!(message.interactive, Some(Interactive::List { id, .. }) if id == "r"));
    }
    let template = read(older("m", json!({"type": "BUTTON", "text": "Yes", "payload": "p"})));
    assert_eq!(template.kind, Kind::TemplateButton);
    assert_eq!(template.interactive, Some(Interactive::Button { id: "p".into(), title: "Yes".into() }));
    assert_eq!(read(older("m", json!({"type": "INTERACTIVE_BUTTON_REPLY"}))).kind, Kind::Unsupported);
}

#[test]
fn a_form_comes_as_an_object_and_would_be_read_from_a_string() {
    let fields = json!({"route": "a/b", "flow_token": "t", "photo": [{"id": 9_007_199_254_740_993_u64}]});
    for response in [fields.clone(), json!(fields.to_string())] {
        for message in [
            read(older("m", json!({"type": "INTERACTIVE_FLOW_REPLY", "text": "Sent", "response": response}))),
            read(newer("m", json!([{"type": "FLOW_RESPONSE", "response": response}]))),
        ] {
            let Some(Interactive::Form { response }) = message.interactive else { panic!("no form") };
            assert_eq!(
                (message.kind, form_fields(&response).map(Value::Object)),
                (Kind::Form, Some(fields.clone()))
            );
        }
    }
}

#[test]
fn reactions_orders_and_notices_keep_what_they_say() {
    let added = json!({"type": "REACTION", "emoji": "👍", "action": "ADDED", "context": {"id": "wamid.0"}});
    let message = read(older("m", added));
    assert_eq!(message.metadata["reaction"], json!({"message_id": "wamid.0", "emoji": "👍"}));
    for message in both(&json!({"type": "REACTION", "emoji": "👍", "action": "REMOVED"})) {
        assert_eq!((message.kind, &message.metadata["reaction"]["emoji"]), (Kind::Reaction, &Value::Null));
    }
    for message in both(&json!({"type": "ORDER", "catalogId": "1", "text": "please", "productItems": []})) {
        assert_eq!((message.kind, message.text.as_deref()), (Kind::Order, Some("please")));
    }
    let notice = json!({"from": "34600000001", "to": "34945000001", "integrationType": "WHATSAPP", "messageId": "s",
                        "content": {"type": "user_identity_changed"}, "createdAt": "2026-11-30T10:53:20.000+0000"});
    let message = read(notice);
    assert_eq!((message.kind, message.sent_at.is_some()), (Kind::System, true));
}

#[test]
fn what_cannot_be_read_is_kept_raw() {
    for (word, kind) in [
        ("UNSUPPORTED", Kind::Unsupported),
        ("INFECTED_CONTENT", Kind::Unsupported),
        ("INTERACTIVE_PAYMENT_CONFIRMATION", Kind::Unknown),
        ("INTERACTIVE_CALL_PERMISSION_REPLY", Kind::Unknown),
        ("INTERACTIVE_IN_THREAD_AUTHENTICATION_REPLY", Kind::Unknown),
        ("INTERACTIVE_EXTENSION_REPLY", Kind::Unknown),
        ("HOLOGRAM", Kind::Unknown),
        ("TEXT", Kind::Unsupported),
        ("", Kind::Unknown),
    ] {
        for message in both(&json!({"type": word})) {
            assert_eq!(message.kind, kind, "{word}");
            assert_eq!(message.metadata["raw"]["messageId"], json!("m"));
        }
    }
    let infected = read(older("m", json!({"type": "INFECTED_CONTENT"})));
    assert_eq!(infected.metadata["unsupported_type"], json!("infected_content"));
    assert_eq!(read(newer("m", json!([]))).kind, Kind::Unsupported);
}

#[test]
fn the_parts_of_one_message_become_one_message() {
    let url = "https://x/whatsapp/1/senders/1/media/7";
    let message = read(newer("m", json!([{"type": "TEXT", "text": "look"}, {"type": "IMAGE", "url": url}])));
    assert_eq!((message.kind, message.text.as_deref()), (Kind::Image, Some("look")));
    assert_eq!(message.attachments.len(), 1);
}

#[test]
fn a_sender_is_known_by_phone_or_id() {
    let mut both = older("m", json!({"type": "TEXT", "text": "x"}));
    both["contact"]["userId"] = json!("ES.1a2b");
    let message = read(both.clone());
    assert_eq!(
        (message.phone.as_deref(), message.user_id.as_deref()),
        (Some("34600000001"), Some("ES.1a2b"))
    );
    both.as_object_mut().unwrap().remove("from");
    let message = read(both.clone());
    assert_eq!((message.phone, message.user_id.as_deref()), (None, Some("ES.1a2b")));
    both["contact"]["phoneNumber"] = json!("+34600000001");
    assert_eq!(read(both).phone.as_deref(), Some("34600000001"));
}

#[test]
fn one_bad_result_costs_no_other() {
    let text = json!({"type": "TEXT", "text": "x"});
    let mut no_id = older("m", text.clone());
    no_id.as_object_mut().unwrap().remove("messageId");
    let mut nobody = older("nobody", text.clone());
    nobody["from"] = json!("who?");
    let mut nowhere = older("nowhere", text.clone());
    nowhere.as_object_mut().unwrap().remove("to");
    let long = older(&"x".repeat(600), text.clone());
    let items = items(json!([older("a", text.clone()), 7, no_id, nobody, nowhere, long, older("b", text)]));
    let ids: Vec<_> = messages(&items).iter().map(|message| message.message_id.clone()).collect();
    assert_eq!(ids, ["a", "b"]);
    let expected = [
        ("malformed", None),
        ("no_id", None),
        ("no_sender", Some("nobody")),
        ("unknown_number", Some("nowhere")),
        ("bad_id", None),
    ];
    assert_eq!(rejected(&items), expected);
    for item in items {
        if let Item::Rejected { raw, reason, .. } = item {
            let again = parse(&raw).unwrap().items;
            assert_eq!(
                rejected(&again).first().map(|(reason, _)| *reason),
                Some(reason),
                "it can be replayed"
            );
        }
    }
    for wrong in ["", "[]", "{}", r#"{"results":7}"#, "x"] {
        assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn reports_become_receipts_and_a_success_is_none_of_the_failures() {
    let report = |group: &str, id: i64, error: i64| {
        json!({"bulkId": "b", "messageId": "wamid.s", "to": "34600000001", "sentAt": "2026-11-30T10:00:00.000+0000",
               "doneAt": "2026-11-30T10:00:01.000+0000", "messageCount": 1, "callbackData": "ours",
               "status": {"groupName": group, "groupId": id, "id": 5, "name": "X"},
               "error": {"groupId": 0, "id": error, "name": "NO_ERROR", "permanent": false}})
    };
    let results = json!([
        report("DELIVERED", 3, 0),
        report("UNDELIVERABLE", 2, 7012),
        report("EXPIRED", 4, 0),
        report("REJECTED", 5, 1),
        report("PENDING", 1, 0),
        report("ACCEPTED", 0, 0),
        {"messageId": "wamid.s", "from": "34600000001", "to": "34945000001", "sentAt": "2026-11-30T10:00:00.000+0000",
         "seenAt": "2026-11-30T10:00:05.000+0000"},
        {"event": "DELIVERY", "channel": "WHATSAPP", "sender": "34945000001", "destination": "34600000001",
         "messageId": "wamid.s", "doneAt": "2026-11-30T10:00:01.000+0000", "status": {"groupName": "DELIVERED"}},
        {"event": "TYPING_STARTED", "channel": "WHATSAPP", "sender": "34600000001"},
        {"status": {"groupName": "DELIVERED"}},
    ]);
    let items = items(results);
    let receipts: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            Item::Receipt { status, error_code, phone_number_id, .. } => {
                Some((status.as_str(), *error_code, phone_number_id.as_str()))
            }
            Item::Message { .. } | Item::Rejected { .. } | Item::Notice { .. } => None,
        })
        .collect();
    let expected = [
        ("delivered", None, ""),
        ("failed", Some(7012), ""),
        ("failed", None, ""),
        ("failed", Some(1), ""),
        ("sent", None, ""),
        ("read", None, ""),
        ("delivered", None, "34945000001"),
    ];
    assert_eq!(receipts, expected);
    assert_eq!(rejected(&items), [("malformed", None)]);
    let Item::Receipt { occurred_at, callback_data, recipient, .. } = &items[0] else { panic!("a receipt") };
    assert_eq!(
        (occurred_at.to_rfc3339().as_str(), callback_data.as_deref()),
        ("2026-11-30T10:00:01+00:00", Some("ours"))
    );
    assert_eq!(recipient, "34600000001");
}

#[test]
fn another_channel_of_the_account_is_not_ours() {
    let mut sms = older("m", json!({"type": "TEXT", "text": "x"}));
    sms["integrationType"] = json!("SMS");
    let mut viber = newer("m", json!([{"type": "TEXT", "text": "x"}]));
    viber["channel"] = json!("VIBER_BM");
    assert!(items(json!([sms, viber])).iter().all(|item| matches!(item, Item::Notice { .. })));
}
