//! A body in our own form, taken apart.
//!
//! The form is a contract, so a known kind that lacks its body is a rejection and not a guess; a kind that we do not
//! know is kept raw, as everywhere.

use chrono::{DateTime, Utc};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::body;
use crate::identity::{LONGEST_ID, phone, user_id};
use crate::inbound::{Delivery, Item, Unparsable};
use crate::normalised::Message;
use crate::pieces::{as_received, elements, fields, present, read, whole};
use crate::value::{flag, keep, object, time, word};

/// Takes a body apart. `mint` makes an id for a message that came without a key, and so cannot be told from its repeat.
///
/// # Errors
/// It is not JSON, or has too many messages.
pub fn parse(body: &[u8], mut mint: impl FnMut() -> String) -> Result<Delivery, Unparsable> {
    let text = as_received(body, |text| whole(text).map(|raw| raw.to_owned())).map_err(Unparsable)?;
    unpack(&text, &mut mint).map_err(Unparsable)
}

fn unpack(raw: &RawValue, mint: &mut impl FnMut() -> String) -> Result<Delivery, String> {
    let many = fields(raw).and_then(|root| present(&root, "messages"));
    let items = match many.map(elements) {
        Some(Some(pieces)) => pieces.into_iter().map(|piece| item(piece, mint)).collect(),
        Some(None) => vec![rejected(raw, None, "malformed", "`messages` is not an array")],
        None => vec![item(raw, mint)],
    };
    Delivery::of(items, Vec::new())
}

fn item(raw: &RawValue, mint: &mut impl FnMut() -> String) -> Item {
    let Some(value) = read(raw).filter(Value::is_object) else {
        return rejected(raw, None, "malformed", "the message cannot be read as an object");
    };
    let message_id = match key(&value) {
        Ok(key) => key,
        Err(detail) => return rejected(raw, None, "bad_id", detail),
    };
    let (by_phone, by_id) = sender(&value);
    if by_phone.is_none() && by_id.is_none() {
        let detail = "`from` is neither a phone nor an id of printable characters";
        return rejected(raw, message_id, "no_sender", detail);
    }
    let body = match body::read(&value) {
        Ok(body) => body,
        Err(detail) => return rejected(raw, message_id, "malformed", detail),
    };
    let mut metadata = object(&value, "metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.extend(body.metadata);
    keep(&mut metadata, "whatsapp_type", value.get("type"));
    let message = Message {
        message_id: message_id.unwrap_or_else(mint),
        kind: body.kind,
        phone: by_phone,
        user_id: by_id,
        profile_name: word(&value, "profile_name").or_else(|| own_word(&mut metadata, "profile_name")),
        sent_at: sent_at(&value),
        text: body.text,
        reply_to: word(&value, "reply_to").or_else(|| own_word(&mut metadata, "reply_to")),
        attachments: body.attachments,
        interactive: body.interactive,
        group: flag(&value, "group"),
        metadata,
    };
    Item::Message {
        phone_number_id: String::new(),
        message: Box::new(message),
        raw: raw.get().as_bytes().to_vec(),
    }
}

/// The key that makes a repeat known: absent, or usable, or wrong.
fn key(value: &Value) -> Result<Option<String>, &'static str> {
    match value.get("idempotency_key") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if (1..=LONGEST_ID).contains(&key.len()) => Ok(Some(key.clone())),
        Some(Value::Number(key)) => Ok(Some(key.to_string())),
        Some(_) => Err("`idempotency_key` is not a text of 1 to 512 bytes"),
    }
}

/// A number is a phone, anything else that is printable an id of the caller's own. `user_id` may stand beside either.
fn sender(value: &Value) -> (Option<String>, Option<String>) {
    let Some(from) = word(value, "from") else { return (None, None) };
    let by_id = word(value, "user_id").as_deref().and_then(user_id);
    match phone(&from) {
        Some(phone) => (Some(phone), by_id),
        None => (None, user_id(&from).map(|from| by_id.unwrap_or(from))),
    }
}

/// RFC 3339 or Unix seconds.
fn sent_at(value: &Value) -> Option<DateTime<Utc>> {
    let written = word(value, "sent_at").and_then(|text| DateTime::parse_from_rfc3339(&text).ok());
    written.map(|time| time.with_timezone(&Utc)).or_else(|| time(value, "sent_at"))
}

/// The normalised form keeps these under `metadata` as well.
fn own_word(metadata: &mut Map<String, Value>, name: &str) -> Option<String> {
    metadata.remove(name)?.as_str().map(str::to_owned)
}

fn rejected(raw: &RawValue, message_id: Option<String>, reason: &'static str, detail: &str) -> Item {
    Item::Rejected {
        phone_number_id: None,
        message_id,
        reason,
        detail: detail.to_owned(),
        raw: raw.get().as_bytes().to_vec(),
    }
}
