//! A webhook body, taken apart: every entry, every change, every message.
//!
//! Whatever is wrong with one message stays with it: it becomes [`Item::Rejected`] with its reason, its neighbours go
//! on. Unknown keys are ignored, missing ones never fail, kinds that we do not know are kept raw.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::{self, Change, alone, elements, present};
use super::message::{self, Contact};
use super::value::{array, object, text, time, whole, word};
use crate::normalised::Message;
use crate::repair::storable;

/// Everything that one HTTP call brought, in the provider's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delivery {
    /// What was in it.
    pub items: Vec<Item>,
}

/// One thing that a webhook brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A message.
    Message {
        /// The number it was sent to, as the provider names it.
        phone_number_id: String,
        /// What it says.
        message: Box<Message>,
        /// A webhook of its own with this message as received.
        raw: Vec<u8>,
    },
    /// A status of something we sent.
    Receipt {
        /// The number that sent it.
        phone_number_id: String,
        /// The provider's id of what was sent.
        provider_id: String,
        /// The provider's word: `sent`, `delivered`, `read`, `played`, `failed`.
        status: String,
        /// Whom it was for: a phone or a business-scoped id; empty where it is not said.
        recipient: String,
        /// The provider's time; the epoch where it is not said, so that a repeat is the same receipt.
        occurred_at: DateTime<Utc>,
        /// Why it failed.
        error_code: Option<i64>,
        /// What we sent along with it.
        callback_data: Option<String>,
    },
    /// Something that can never be stored or understood.
    Rejected {
        /// The number it was for, where it is said.
        phone_number_id: Option<String>,
        /// The provider's id, where there is one.
        message_id: Option<String>,
        /// A stable word: `malformed`, `no_id`, `bad_id`, `no_sender`, `unknown_number`.
        reason: &'static str,
        /// What exactly is wrong, without quoting it.
        detail: String,
        /// A webhook of its own with this piece as received; the bare piece where it fits in none.
        raw: Vec<u8>,
    },
    /// News about the account, a template, a flow or our own echo: acknowledged, nothing to store.
    Notice {
        /// The webhook field, `messages` for errors of the number that belong to no message.
        field: String,
    },
}

/// A body that is no webhook. Displayed without quoting it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unparsable(String);

/// Takes a webhook body apart.
///
/// # Errors
/// It is not JSON, or JSON that is no webhook. Whatever is wrong deeper inside is an item.
pub fn parse(body: &[u8]) -> Result<Delivery, Unparsable> {
    // The text as received comes first, so that what is kept is what came. Only a wrapping that cannot be read as it
    // stands is mended.
    if let Ok(text) = std::str::from_utf8(body)
        && let Ok(envelope) = envelope::open(text)
        && envelope.unreadable.is_empty()
    {
        return Ok(unpack(&envelope));
    }
    envelope::open(&storable(body)).map(|envelope| unpack(&envelope)).map_err(Unparsable)
}

fn unpack(envelope: &envelope::Envelope<'_>) -> Delivery {
    let mut delivery = Delivery::default();
    for change in &envelope.changes {
        if matches!(change.field.as_str(), "messages" | "") {
            delivery.items.extend(Number::new(change).items());
        } else {
            delivery.items.push(Item::Notice { field: change.field.clone() });
        }
    }
    for raw in &envelope.unreadable {
        delivery.items.push(Item::Rejected {
            phone_number_id: None,
            message_id: None,
            reason: "malformed",
            detail: "an entry or a change is not an object".to_owned(),
            raw: raw.get().as_bytes().to_vec(),
        });
    }
    delivery
}

/// One change of the field `messages`, with what its pieces share.
struct Number<'a> {
    change: &'a Change<'a>,
    phone_number_id: Option<String>,
    contacts: Vec<(Contact, &'a RawValue)>,
    by_wa_id: HashMap<String, usize>,
    by_user_id: HashMap<String, usize>,
    errors: Option<Value>,
}

impl<'a> Number<'a> {
    fn new(change: &'a Change<'a>) -> Self {
        let read_key = |key| present(&change.value, key).and_then(read);
        let metadata = read_key("metadata");
        let contacts: Vec<_> = present(&change.value, "contacts")
            .and_then(elements)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|raw| Some((Contact::read(&read(raw)?), raw)))
            .collect();
        let index = |id: fn(&Contact) -> Option<&String>| {
            let ids =
                contacts.iter().enumerate().filter_map(|(at, (contact, _))| Some((id(contact)?.clone(), at)));
            ids.collect()
        };
        Self {
            change,
            phone_number_id: metadata.as_ref().and_then(|metadata| word(metadata, "phone_number_id")),
            by_wa_id: index(|contact| contact.phone.as_ref()),
            by_user_id: index(|contact| contact.user_id.as_ref()),
            contacts,
            errors: read_key("errors"),
        }
    }

    fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut nothing = true;
        for (list, item) in
            [("messages", Self::message as fn(&Self, &RawValue) -> Item), ("statuses", Self::receipt)]
        {
            let Some(raw) = present(&self.change.value, list) else { continue };
            nothing = false;
            match elements(raw) {
                Some(pieces) => items.extend(pieces.into_iter().map(|piece| item(self, piece))),
                None => items.push(self.rejected(list, raw, None, None, "malformed", "is not in an array")),
            }
        }
        if nothing {
            items.push(Item::Notice { field: "messages".to_owned() });
        }
        items
    }

    fn message(&self, raw: &RawValue) -> Item {
        let Some(value) = read(raw) else {
            return self.rejected("messages", raw, None, None, "malformed", "the message is not an object");
        };
        let contact = self.contact(&value);
        match (
            message::read(&value, contact.map(|(contact, _)| contact), self.errors.as_ref()),
            &self.phone_number_id,
        ) {
            (Ok(message), Some(phone_number_id)) => Item::Message {
                phone_number_id: phone_number_id.clone(),
                message: Box::new(message),
                raw: alone(self.change, "messages", raw, contact.map(|(_, raw)| raw)),
            },
            (Ok(message), None) => self.rejected(
                "messages",
                raw,
                contact.map(|(_, raw)| raw),
                Some(message.message_id),
                "unknown_number",
                "it does not say which number it was sent to",
            ),
            (Err(fault), _) => self.rejected(
                "messages",
                raw,
                contact.map(|(_, raw)| raw),
                fault.message_id,
                fault.reason,
                fault.detail,
            ),
        }
    }

    /// The sender's contact: joined by either id, never by place. A message that names nobody belongs to the only
    /// contact there is.
    fn contact(&self, message: &Value) -> Option<(&Contact, &'a RawValue)> {
        let (phone, user_id) = message::sender(message);
        let at = match (&phone, &user_id) {
            (None, None) => (self.contacts.len() == 1).then_some(0),
            _ => user_id
                .and_then(|id| self.by_user_id.get(&id))
                .or_else(|| phone.and_then(|id| self.by_wa_id.get(&id)))
                .copied(),
        }?;
        self.contacts.get(at).map(|(contact, raw)| (contact, *raw))
    }

    fn receipt(&self, raw: &RawValue) -> Item {
        let Some(value) = read(raw) else {
            return self.rejected("statuses", raw, None, None, "malformed", "the status is not an object");
        };
        // A payment's course is no receipt of a message.
        if word(&value, "type").is_some_and(|kind| kind == "payment") {
            return Item::Notice { field: "messages".to_owned() };
        }
        let (Some(provider_id), Some(status)) = (word(&value, "id"), word(&value, "status")) else {
            return self.rejected(
                "statuses",
                raw,
                None,
                None,
                "malformed",
                "the status lacks an id or its word",
            );
        };
        let Some(phone_number_id) = self.phone_number_id.clone() else {
            let detail = "it does not say which number it is about";
            return self.rejected("statuses", raw, None, None, "unknown_number", detail);
        };
        Item::Receipt {
            phone_number_id,
            provider_id,
            status,
            recipient: word(&value, "recipient_id")
                .or_else(|| word(&value, "recipient_user_id"))
                .unwrap_or_default(),
            occurred_at: time(&value, "timestamp").unwrap_or(DateTime::UNIX_EPOCH),
            error_code: array(&value, "errors").first().and_then(|error| whole(error, "code")),
            callback_data: text(&value, "biz_opaque_callback_data"),
        }
    }

    fn rejected(
        &self,
        list: &str,
        piece: &RawValue,
        contact: Option<&RawValue>,
        message_id: Option<String>,
        reason: &'static str,
        detail: &str,
    ) -> Item {
        Item::Rejected {
            phone_number_id: self.phone_number_id.clone(),
            message_id,
            reason,
            detail: detail.to_owned(),
            raw: alone(self.change, list, piece, contact),
        }
    }
}

/// A piece, mended and parsed; `None` if it is not an object or still not readable (deeper than the parser goes).
fn read(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(&storable(raw.get().as_bytes())).ok()
}

impl Contact {
    fn read(value: &Value) -> Self {
        Self {
            phone: word(value, "wa_id").and_then(|id| message::phone(&id)),
            user_id: word(value, "user_id").and_then(|id| message::user_id(&id)),
            name: object(value, "profile").and_then(|profile| word(profile, "name")),
        }
    }
}
