//! One message: who sent it, when, to what it answers. What it says is read by [`super::body`].

use serde_json::{Map, Value};

use super::body;
use crate::identity::{LONGEST_ID, phone, user_id};
use crate::normalised::{Kind, Message};
use crate::value::{flag, keep, object, time, word};

/// Someone whom the webhook introduces.
#[derive(Debug, Clone, Default)]
pub(super) struct Contact {
    pub(super) phone: Option<String>,
    pub(super) user_id: Option<String>,
    pub(super) name: Option<String>,
}

/// Why a message can never be stored.
pub(super) struct Fault {
    pub(super) message_id: Option<String>,
    pub(super) reason: &'static str,
    pub(super) detail: &'static str,
}

/// Phone and business-scoped id of the sender, as far as the message itself says.
pub(super) fn sender(message: &Value) -> (Option<String>, Option<String>) {
    let from = word(message, "from");
    let by_phone = from.as_deref().and_then(phone);
    let by_id = word(message, "from_user_id").as_deref().and_then(user_id);
    // Business-scoped ids look like `ES.1a2b`: one that stands in `from` is taken for what it is.
    let misplaced = || from.as_deref().filter(|from| from.contains('.')).and_then(user_id);
    let by_id = by_id.or_else(misplaced);
    if by_phone.is_some() || by_id.is_some() {
        return (by_phone, by_id);
    }
    // A notice about a change of identity may name its person only inside; the old one is whom we know.
    let of_notice = |key| object(message, "system").and_then(|system| word(system, key));
    let id = of_notice("previous_user_id").or_else(|| of_notice("user_id"));
    (of_notice("wa_id").as_deref().and_then(phone), id.as_deref().and_then(user_id))
}

/// Reads one message. `errors` are those of the number, beside which a message may lack its body.
pub(super) fn read(
    message: &Value,
    contact: Option<&Contact>,
    errors: Option<&Value>,
) -> Result<Message, Fault> {
    let fault = |message_id, reason, detail| Err(Fault { message_id, reason, detail });
    if !message.is_object() {
        return fault(None, "malformed", "the message is not an object");
    }
    let Some(message_id) = word(message, "id") else {
        return fault(None, "no_id", "the message has no id");
    };
    if message_id.len() > LONGEST_ID {
        return fault(None, "bad_id", "the message's id is longer than 512 bytes");
    }
    let (own_phone, own_user_id) = sender(message);
    let phone = own_phone.or_else(|| contact.and_then(|contact| contact.phone.clone()));
    let user_id = own_user_id.or_else(|| contact.and_then(|contact| contact.user_id.clone()));
    if phone.is_none() && user_id.is_none() {
        return fault(
            Some(message_id),
            "no_sender",
            "neither a phone nor a business-scoped id names the sender",
        );
    }
    let body = body::read(message, errors);
    let context = object(message, "context");
    let mut metadata = body.metadata;
    common(&mut metadata, message, context);
    Ok(Message {
        message_id,
        kind: body.kind,
        phone,
        user_id,
        profile_name: contact.and_then(|contact| contact.name.clone()),
        sent_at: time(message, "timestamp"),
        text: body.text,
        reply_to: context.and_then(|context| word(context, "id")),
        attachments: body.attachments,
        interactive: body.interactive,
        group: word(message, "group_id").is_some(),
        metadata,
    })
}

/// What any kind of message may carry.
fn common(metadata: &mut Map<String, Value>, message: &Value, context: Option<&Value>) {
    keep(metadata, "whatsapp_type", message.get("type"));
    keep(metadata, "referral", message.get("referral"));
    keep(metadata, "group_id", message.get("group_id"));
    if !metadata.contains_key("errors") {
        keep(metadata, "errors", message.get("errors"));
    }
    if let Some(context) = context {
        for name in ["forwarded", "frequently_forwarded"] {
            if flag(context, name) {
                metadata.insert(name.to_owned(), Value::Bool(true));
            }
        }
        keep(metadata, "referred_product", context.get("referred_product"));
    }
}

/// The raw message and why it is not understood.
pub(super) fn not_understood(kind: Kind, message: &Value, errors: Option<&Value>) -> body::Body {
    let mut metadata = Map::new();
    keep(&mut metadata, "raw", Some(message));
    keep(&mut metadata, "errors", message.get("errors").or(errors));
    body::Body { metadata, ..body::Body::new(kind) }
}
