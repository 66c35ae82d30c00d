//! Payloads in Meta's shape.

use channel::Message;
use channel::meta::inbound::{Item, parse};
use serde_json::{Value, json};

pub(crate) const NUMBER: &str = "100200300";

/// A webhook with one value of the field `messages`.
pub(crate) fn webhook(rest: Value) -> Value {
    let mut value = json!({
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "34945000000", "phone_number_id": NUMBER},
    });
    for (key, part) in rest.as_object().expect("an object") {
        value[key] = part.clone();
    }
    json!({"object": "whatsapp_business_account",
           "entry": [{"id": "900", "changes": [{"field": "messages", "value": value}]}]})
}

/// A message of the given type with its body.
pub(crate) fn message(id: &str, kind: &str, body: Value) -> Value {
    let mut message = json!({"from": "34600000001", "id": id, "timestamp": "1764500000", "type": kind});
    message[kind] = body;
    message
}

pub(crate) fn text(id: &str, words: &str) -> Value {
    message(id, "text", json!({"body": words}))
}

pub(crate) fn items(body: &Value) -> Vec<Item> {
    parse(body.to_string().as_bytes()).expect("a webhook").items
}

/// The messages that were understood, in order.
pub(crate) fn messages(items: &[Item]) -> Vec<&Message> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Message { message, .. } => Some(&**message),
            Item::Receipt { .. } | Item::Rejected { .. } | Item::Notice { .. } => None,
        })
        .collect()
}

/// The only message of a webhook with only this one.
pub(crate) fn read(message: Value) -> Message {
    let items = items(&webhook(json!({
        "contacts": [{"profile": {"name": "Ane"}, "wa_id": "34600000001"}], "messages": [message]})));
    match items.as_slice() {
        [Item::Message { message, .. }] => (**message).clone(),
        other => panic!("not one message: {other:?}"),
    }
}

/// Reasons and ids of what was rejected, in order.
pub(crate) fn rejected(items: &[Item]) -> Vec<(&'static str, Option<&str>)> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Rejected { reason, message_id, .. } => Some((*reason, message_id.as_deref())),
            Item::Message { .. } | Item::Receipt { .. } | Item::Notice { .. } => None,
        })
        .collect()
}
