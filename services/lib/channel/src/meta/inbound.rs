//! A webhook body, taken apart: every entry, every change, every message.
//!
//! Whatever is wrong with one message stays with it: it becomes [`Item::Rejected`] with its reason, its neighbours go
//! on. Unknown keys are ignored, missing ones never fail, kinds that we do not know are kept raw.

use std::borrow::Cow;
use std::collections::HashMap;

use chrono::DateTime;
use serde_json::Value;
use serde_json::value::RawValue;

use super::alert;
use super::envelope::{self, Change, alone};
use super::message::{self, Contact};
use crate::identity;
use crate::inbound::{Alert, MOST_PIECES};
use crate::pieces::{elements, present, read};
use crate::repair::storable;
use crate::value::{array, object, text, time, whole, word};

pub use crate::inbound::{Delivery, Item, Unparsable};

/// Few kinds of trouble there are, and each is told once a call.
const MOST_ALERTS: usize = 16;

/// Takes a webhook body apart.
///
/// # Errors
/// It is not JSON, or JSON that is no webhook. Whatever is wrong deeper inside is an item.
pub fn parse(body: &[u8]) -> Result<Delivery, Unparsable> {
    // The text as received comes first, so that what is kept is what came. Only a wrapping that cannot be read as it
    // stands is mended, and only if there is anything to mend.
    let first = std::str::from_utf8(body).ok().map(envelope::open);
    if let Some(Ok(envelope)) = &first
        && envelope.unreadable.is_empty()
    {
        return unpack(envelope).map_err(Unparsable);
    }
    let taken = match (first, storable(body)) {
        (Some(as_it_stands), Cow::Borrowed(_)) => as_it_stands.and_then(|envelope| unpack(&envelope)),
        (_, mended) => envelope::open(&mended).and_then(|envelope| unpack(&envelope)),
    };
    taken.map_err(Unparsable)
}

fn unpack(envelope: &envelope::Envelope<'_>) -> Result<Delivery, String> {
    let mut delivery = Delivery::default();
    for change in &envelope.changes {
        if delivery.items.len() > MOST_PIECES {
            break;
        }
        if envelope::of_messages(&change.field) {
            delivery.items.extend(Number::new(change).items());
        } else {
            let alert = alert::read(&change.field, &change.value);
            // The same trouble is told once, and few kinds of it are enough.
            let news =
                |alert: &Alert| delivery.alerts.len() < MOST_ALERTS && !delivery.alerts.contains(alert);
            if let Some(alert) = alert.filter(news) {
                delivery.alerts.push(alert);
            }
            delivery.items.push(Item::Notice { field: change.field.clone() });
        }
    }
    for raw in envelope.unreadable.iter().take(MOST_PIECES) {
        delivery.items.push(Item::Rejected {
            phone_number_id: None,
            message_id: None,
            reason: "malformed",
            detail: "an entry or a change is not an object".to_owned(),
            raw: raw.get().as_bytes().to_vec(),
        });
    }
    Delivery::of(delivery.items, delivery.alerts)
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
                Some(pieces) => {
                    items.extend(pieces.into_iter().map(|piece| item(self, piece)));
                }
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
            return self.rejected(
                "messages",
                raw,
                None,
                None,
                "malformed",
                "the message cannot be read as an object",
            );
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
            return self.rejected(
                "statuses",
                raw,
                None,
                None,
                "malformed",
                "the status cannot be read as an object",
            );
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

impl Contact {
    fn read(value: &Value) -> Self {
        Self {
            phone: word(value, "wa_id").and_then(|id| identity::phone(&id)),
            user_id: word(value, "user_id").and_then(|id| identity::user_id(&id)),
            name: object(value, "profile").and_then(|profile| word(profile, "name")),
        }
    }
}
