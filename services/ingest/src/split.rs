//! The pure verb of the service: a verified body becomes what is to be stored.

use bus::append::{Delivery, NewEvent, NewReceipt, NewRejection};
use channel::meta::inbound::{Item, parse};
use uuid::Uuid;

use crate::config::MetaChannel;

/// What is to be stored, and what was only seen.
pub(crate) struct Split {
    pub(crate) delivery: Delivery,
    /// News about account, templates, forms.
    pub(crate) notices: u64,
    /// Receipts for numbers that are not ours.
    pub(crate) foreign_receipts: u64,
}

/// Takes a body apart for the channel that it was addressed to. Cannot fail: what cannot be read is a rejection.
pub(crate) fn split(
    channel: &MetaChannel,
    delivery_id: Uuid,
    trace_context: Option<String>,
    body: Vec<u8>,
) -> Split {
    let parsed = parse(&body);
    let mut split = Split {
        delivery: Delivery {
            channel: channel.id.clone(),
            delivery_id,
            body,
            trace_context,
            events: Vec::new(),
            rejections: Vec::new(),
            receipts: Vec::new(),
        },
        notices: 0,
        foreign_receipts: 0,
    };
    match parsed {
        Ok(parsed) => parsed.items.into_iter().for_each(|item| split.add(channel, item)),
        Err(error) => {
            let raw = split.delivery.body.clone();
            split.reject(None, "unparsable", error.to_string(), raw);
        }
    }
    split
}

impl Split {
    fn add(&mut self, channel: &MetaChannel, item: Item) {
        match item {
            Item::Message { phone_number_id, message, raw } => {
                if !channel.owns(&phone_number_id) {
                    let detail = "the message was sent to a number that no channel has".to_owned();
                    return self.reject(Some(message.message_id), "unknown_number", detail, raw);
                }
                match serde_json::to_value(&*message) {
                    Ok(payload) => self.delivery.events.push(NewEvent {
                        activity_id: Uuid::now_v7(),
                        message_id: message.message_id,
                        kind: message.kind.as_str().to_owned(),
                        user_id: message.user_id,
                        phone: message.phone,
                        payload,
                        sent_at: message.sent_at,
                    }),
                    Err(_) => {
                        let detail = "the message has no JSON form".to_owned();
                        self.reject(Some(message.message_id), "malformed", detail, raw);
                    }
                }
            }
            Item::Receipt { phone_number_id, .. } if !channel.owns(&phone_number_id) => {
                self.foreign_receipts += 1
            }
            Item::Receipt {
                phone_number_id: _,
                provider_id,
                status,
                recipient,
                occurred_at,
                error_code,
                callback_data,
            } => self.delivery.receipts.push(NewReceipt {
                provider_id,
                outbound_id: callback_data.and_then(|data| data.parse().ok()),
                status,
                recipient,
                error_code,
                occurred_at,
            }),
            Item::Rejected { phone_number_id: _, message_id, reason, detail, raw } => {
                self.reject(message_id, reason, detail, raw);
            }
            Item::Notice { field: _ } => self.notices += 1,
        }
    }

    fn reject(&mut self, message_id: Option<String>, reason: &str, detail: String, raw: Vec<u8>) {
        let reason = reason.to_owned();
        self.delivery.rejections.push(NewRejection { message_id, reason, detail, raw });
    }
}
