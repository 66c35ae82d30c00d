//! One test per kind of message.

use channel::normalised::form_fields;
use channel::{Interactive, Kind, Message};
use serde_json::{Value, json};

use crate::payload::{items, message, messages, read, webhook};

#[test]
fn a_text_is_kept_whole_with_what_it_answers() {
    let mut raw = message("wamid.1", "text", json!({"body": "x".repeat(5000)}));
    raw["context"] = json!({"from": "34945000000", "id": "wamid.0", "forwarded": true});
    raw["referral"] = json!({"source_type": "ad", "source_id": "1"});
    raw["something_new"] = json!({"a": 1});
    let message = read(raw);
    assert_eq!(message.kind, Kind::Text);
    assert_eq!(message.text.unwrap().len(), 5000);
    assert_eq!(message.reply_to.as_deref(), Some("wamid.0"));
    assert_eq!(message.profile_name.as_deref(), Some("Ane"));
    assert_eq!(message.sent_at.unwrap().timestamp(), 1_764_500_000);
    assert_eq!(message.metadata["forwarded"], json!(true));
    assert_eq!(message.metadata["referral"]["source_type"], json!("ad"));
    assert_eq!(message.metadata["whatsapp_type"], json!("text"));
}

#[test]
fn media_keep_their_id_digit_by_digit_and_their_type_without_parameters() {
    for (kind, expected) in [
        ("image", Kind::Image),
        ("video", Kind::Video),
        ("audio", Kind::Audio),
        ("document", Kind::Document),
        ("sticker", Kind::Sticker),
    ] {
        for id in [json!("90071992547409931"), json!(90_071_992_547_409_931_u64)] {
            let message = read(message(
                "m",
                kind,
                json!({"id": id, "mime_type": "Audio/OGG; codecs=opus", "sha256": "aGFzaA==", "caption": "here",
                       "filename": "a.jpg", "voice": true, "url": "https://x"}),
            ));
            assert_eq!(message.kind, expected);
            let [attachment] = &message.attachments[..] else { panic!("{message:?}") };
            assert_eq!(attachment.provider_media_id.as_deref(), Some("90071992547409931"));
            assert_eq!(attachment.content_type, "audio/ogg");
            assert_eq!(attachment.name.as_deref(), Some("a.jpg"));
            assert_eq!((message.text.as_deref(), &message.metadata["voice"]), (Some("here"), &json!(true)));
        }
    }
    let bare = read(message("m", "image", json!({})));
    assert_eq!((bare.kind, bare.attachments.len()), (Kind::Image, 0));
}

#[test]
fn an_id_beyond_64_bits_keeps_its_digits_too() {
    let body = webhook(json!({"messages": [message("m", "image", json!({"id": "ID"}))]}))
        .to_string()
        .replace("\"ID\"", "123456789012345678901234567890");
    let items = channel::meta::inbound::parse(body.as_bytes()).unwrap().items;
    let id = messages(&items)[0].attachments[0].provider_media_id.clone();
    assert_eq!(id.as_deref(), Some("123456789012345678901234567890"));
}

#[test]
fn a_pin_is_read_from_numbers_or_strings() {
    for (latitude, longitude) in
        [(json!(42.846_718), json!(-2.671_635)), (json!("42.846718"), json!("-2.671635"))]
    {
        let message = read(message(
            "m",
            "location",
            json!({"latitude": latitude, "longitude": longitude, "name": "Plaza", "address": "Dato 1"}),
        ));
        let [pin] = &message.attachments[..] else { panic!("{message:?}") };
        assert_eq!((pin.latitude, pin.longitude), (Some(42.846_718), Some(-2.671_635)));
        assert_eq!((pin.name.as_deref(), pin.address.as_deref()), (Some("Plaza"), Some("Dato 1")));
    }
    for wrong in
        [json!({"latitude": "north", "longitude": 0}), json!({"latitude": 91, "longitude": 0}), json!({})]
    {
        assert_eq!(read(message("m", "location", wrong)).kind, Kind::Unsupported);
    }
}

#[test]
fn answers_carry_the_id_we_gave_and_the_title_as_text() {
    let button = interactive("button_reply", json!({"id": "lang:eu", "title": "Euskara"}));
    assert_eq!((button.kind, button.text.as_deref()), (Kind::ButtonReply, Some("Euskara")));
    assert_eq!(
        button.interactive,
        Some(Interactive::Button { id: "lang:eu".into(), title: "Euskara".into() })
    );
    let list = interactive("list_reply", json!({"id": "r1", "title": "First"}));
    assert_eq!(list.kind, Kind::ListReply);
    assert_eq!(
        list.interactive,
        Some(Interactive::List { id: "r1".into(), title: "First".into(), description: None })
    );
    let template = read(message("m", "button", json!({"payload": "p", "text": "Yes"})));
    assert_eq!(template.kind, Kind::TemplateButton);
    assert_eq!(template.interactive, Some(Interactive::Button { id: "p".into(), title: "Yes".into() }));
}

#[test]
fn a_form_comes_as_a_string_or_an_object_with_or_without_its_token() {
    let fields = json!({"route": "a/b", "flow_token": "t", "photo": [{"id": "90071992547409931"}]});
    for response in [json!(fields.to_string()), fields.clone()] {
        let form =
            interactive("nfm_reply", json!({"name": "flow", "body": "Sent", "response_json": response}));
        assert_eq!((form.kind, form.text.as_deref()), (Kind::Form, None));
        let Some(Interactive::Form { response }) = form.interactive else { panic!("no form") };
        assert_eq!(form_fields(&response).map(Value::Object), Some(fields.clone()));
    }
    let broken = interactive("nfm_reply", json!({"response_json": "{\"route\":"}));
    let Some(Interactive::Form { response }) = broken.interactive else { panic!("no form") };
    assert_eq!(form_fields(&response), None);
}

#[test]
fn what_cannot_be_read_is_kept_raw_under_a_word_that_says_so() {
    let table = [
        (message("m", "xyz", json!({"a": 1})), Kind::Unknown),
        (json!({"from": "34600000001", "id": "m"}), Kind::Unknown),
        (message("m", "interactive", json!({"type": "call_permission_reply"})), Kind::Unknown),
        (json!({"from": "34600000001", "id": "m", "type": "interactive"}), Kind::Unsupported),
        (json!({"from": "34600000001", "id": "m", "type": "text"}), Kind::Unsupported),
        (
            json!({"from": "34600000001", "id": "m", "type": "unknown", "errors": [{"code": 131_051}]}),
            Kind::Unsupported,
        ),
    ];
    for (raw, kind) in table {
        let message = read(raw.clone());
        assert_eq!(message.kind, kind, "{raw}");
        assert_eq!(message.metadata["raw"], raw);
    }
}

#[test]
fn a_live_location_can_be_told_from_other_unsupported_messages() {
    let message = read(message("m", "unsupported", json!({"type": "location"})));
    assert_eq!(
        (message.kind, &message.metadata["unsupported_type"]),
        (Kind::Unsupported, &json!("location"))
    );
}

#[test]
fn errors_beside_a_message_without_its_body_are_kept_with_it() {
    let items = items(&webhook(json!({
        "messages": [{"from": "34600000001", "id": "m", "type": "interactive"}], "errors": [{"code": 131_000}]})));
    assert_eq!(messages(&items)[0].metadata["errors"][0]["code"], json!(131_000));
}

#[test]
fn a_file_that_the_provider_could_not_fetch_is_told_from_one_that_was_never_sent() {
    let lost = json!([{"code": 131_052, "title": "Media download error"}]);
    for body in [json!({"mime_type": "image/jpeg"}), json!({"id": "7", "mime_type": "image/jpeg"}), json!({})]
    {
        let mut image = message("m", "image", body);
        image["errors"] = lost.clone();
        let read = read(image);
        assert_eq!((read.kind, &read.metadata["errors"]), (Kind::Image, &lost));
    }
    let mut without = json!({"from": "34600000001", "id": "m", "type": "image"});
    without["errors"] = lost.clone();
    let read = read(without);
    assert_eq!((read.kind, &read.metadata["errors"]), (Kind::Unsupported, &lost));
}

#[test]
fn the_other_kinds_keep_what_they_say() {
    let reaction = read(message("m", "reaction", json!({"message_id": "wamid.0", "emoji": "👍"})));
    assert_eq!(reaction.metadata["reaction"], json!({"message_id": "wamid.0", "emoji": "👍"}));
    let removed = read(message("m", "reaction", json!({"message_id": "wamid.0", "emoji": ""})));
    assert_eq!(removed.metadata["reaction"]["emoji"], Value::Null);
    let order = read(message("m", "order", json!({"catalog_id": "1", "text": "please"})));
    assert_eq!((order.kind, order.text.as_deref()), (Kind::Order, Some("please")));
    let edit = read(message(
        "m",
        "edit",
        json!({"original_message_id": "o", "message": {"type": "text", "text": {"body": "new"}}}),
    ));
    assert_eq!((edit.kind, edit.text.as_deref()), (Kind::Edit, Some("new")));
    let revoke = read(message("m", "revoke", json!({"original_message_id": "o"})));
    assert_eq!((revoke.kind, &revoke.metadata["revoke"]["original_message_id"]), (Kind::Revoke, &json!("o")));
    let cards = read(message("m", "contacts", json!([{"name": {"formatted_name": "Jon"}}, {"phones": []}])));
    assert_eq!((cards.kind, cards.attachments.len()), (Kind::Contacts, 2));
    assert_eq!(cards.attachments[0].name.as_deref(), Some("Jon"));
    let mut group = message("m", "text", json!({"body": "x"}));
    group["group_id"] = json!("g");
    assert!(read(group).group);
}

fn interactive(kind: &str, reply: Value) -> Message {
    let mut body = json!({"type": kind});
    body[kind] = reply;
    read(message("m", "interactive", body))
}
