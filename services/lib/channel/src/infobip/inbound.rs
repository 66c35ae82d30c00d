//! A body of Infobip, taken apart: messages in both dialects, delivery and seen reports, which may come to one address.

use chrono::{DateTime, Utc};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{body, report};
use crate::identity::{LONGEST_ID, phone, user_id};
use crate::inbound::{Delivery, Item, Unparsable};
use crate::normalised::Message;
use crate::pieces::{as_received, elements, fields, read, whole};
use crate::value::{keep, object, word};

/// Takes a body apart.
///
/// # Errors
/// It is not JSON, or JSON without `results`.
pub fn parse(body: &[u8]) -> Result<Delivery, Unparsable> {
    as_received(body, unpack).map_err(Unparsable)
}

fn unpack(text: &str) -> Result<Delivery, String> {
    let root = fields(whole(text)?).ok_or("not a JSON object")?;
    let results = root.get("results").and_then(|raw| elements(raw)).ok_or("has no array `results`")?;
    Delivery::of(results.into_iter().map(item).collect(), Vec::new())
}

fn item(raw: &RawValue) -> Item {
    let Some(result) = read(raw).filter(Value::is_object) else {
        return rejected(raw, None, None, "malformed", "the result cannot be read as an object");
    };
    // One account has many channels, and all may be sent to one address.
    let of_whatsapp = ["integrationType", "channel"]
        .iter()
        .filter_map(|key| word(&result, key))
        .all(|name| name.eq_ignore_ascii_case("WHATSAPP"));
    if !of_whatsapp {
        return Item::Notice { field: "another channel".to_owned() };
    }
    if let Some(item) = report::read(&result) {
        return item.unwrap_or_else(|detail| rejected(raw, None, None, "malformed", detail));
    }
    message(raw, &result)
}

fn message(raw: &RawValue, result: &Value) -> Item {
    let to = word(result, "to").or_else(|| word(result, "destination"));
    let to = to.map(|to| phone(&to).unwrap_or(to));
    let Some(message_id) = word(result, "messageId") else {
        return rejected(raw, to, None, "no_id", "the message has no id");
    };
    if message_id.len() > LONGEST_ID {
        return rejected(raw, to, None, "bad_id", "the message's id is longer than 512 bytes");
    }
    let contact = object(result, "contact");
    let (by_phone, by_id) = sender(result, contact);
    if by_phone.is_none() && by_id.is_none() {
        let detail = "neither a phone nor a business-scoped id names the sender";
        return rejected(raw, to, Some(message_id), "no_sender", detail);
    }
    let Some(to) = to else {
        let detail = "it does not say which sender it was sent to";
        return rejected(raw, None, Some(message_id), "unknown_number", detail);
    };
    let body = body::read(result);
    let context = object(result, "message")
        .and_then(|message| object(message, "context"))
        .or_else(|| object(result, "context"));
    let mut metadata = body.metadata;
    common(&mut metadata, result, context);
    let message = Message {
        message_id,
        kind: body.kind,
        phone: by_phone,
        user_id: by_id,
        profile_name: contact.and_then(|contact| word(contact, "name")),
        sent_at: time(result, "receivedAt").or_else(|| time(result, "createdAt")),
        text: body.text,
        reply_to: context.and_then(|context| word(context, "id")).or_else(|| word(result, "pairedMessageId")),
        attachments: body.attachments,
        interactive: body.interactive,
        group: context.and_then(|context| word(context, "groupId")).is_some(),
        metadata,
    };
    Item::Message { phone_number_id: to, message: Box::new(message), raw: alone(raw) }
}

/// The message's own word first; the contact knows the other identity.
fn sender(result: &Value, contact: Option<&Value>) -> (Option<String>, Option<String>) {
    let from = word(result, "from").or_else(|| word(result, "sender"));
    let of_contact = |key| contact.and_then(|contact| word(contact, key));
    let by_phone = from.as_deref().and_then(phone);
    let misplaced = || from.as_deref().filter(|from| from.contains('.')).and_then(user_id);
    let by_id = of_contact("userId").as_deref().and_then(user_id).or_else(misplaced);
    (by_phone.or_else(|| of_contact("phoneNumber").as_deref().and_then(phone)), by_id)
}

fn common(metadata: &mut Map<String, Value>, result: &Value, context: Option<&Value>) {
    let message = object(result, "message");
    let kind = message.and_then(|message| message.get("type"));
    keep(metadata, "whatsapp_type", kind.or_else(|| body::content(result).first()?.get("type")));
    keep(metadata, "referral", message.and_then(|message| message.get("referral")));
    keep(metadata, "keyword", result.get("keyword"));
    if let Some(context) = context {
        keep(metadata, "group_id", context.get("groupId"));
        keep(metadata, "referred_product", context.get("referredProduct"));
        for name in ["forwarded", "frequentlyForwarded"] {
            if context.get(name) == Some(&Value::Bool(true)) {
                let name = if name == "forwarded" { name } else { "frequently_forwarded" };
                metadata.insert(name.to_owned(), Value::Bool(true));
            }
        }
    }
}

/// Infobip writes offsets without a colon; what it writes one day as RFC 3339 is understood too.
pub(super) fn time(value: &Value, key: &str) -> Option<DateTime<Utc>> {
    let text = word(value, key)?;
    let parsed = DateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f%z")
        .or_else(|_| DateTime::parse_from_rfc3339(&text))
        .ok()?;
    let time = parsed.with_timezone(&Utc);
    // Postgres has more years than a message can have.
    (0..=crate::value::LATEST_SECOND).contains(&time.timestamp()).then_some(time)
}

/// A body that holds this one piece and nothing else.
fn alone(piece: &RawValue) -> Vec<u8> {
    format!(r#"{{"results":[{}],"messageCount":1,"pendingMessageCount":0}}"#, piece.get()).into_bytes()
}

fn rejected(
    raw: &RawValue,
    to: Option<String>,
    message_id: Option<String>,
    reason: &'static str,
    detail: &str,
) -> Item {
    Item::Rejected { phone_number_id: to, message_id, reason, detail: detail.to_owned(), raw: alone(raw) }
}
