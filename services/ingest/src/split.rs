//! The pure verb of the service: a verified body becomes what is to be stored, channel by channel.

use bus::append::{Delivery, NewEvent, NewReceipt, NewRejection};
use channel::config::{Account, Provider};
use channel::inbound::{Alert, Item};
use channel::{infobip, meta, webhook};
use secrecy::SecretString;
use uuid::Uuid;

use crate::channels::Channels;

/// A call that proved who it is.
pub(crate) struct Call<'c> {
    pub(crate) channels: &'c Channels,
    /// The channel of the address.
    pub(crate) addressed: &'c Account,
    /// The secret that the caller knows.
    pub(crate) secret: &'c SecretString,
    pub(crate) delivery_id: Uuid,
    pub(crate) trace_context: Option<String>,
}

/// What is to be stored, and what was only seen.
pub(crate) struct Split {
    /// The addressed channel's part, with the raw body.
    pub(crate) delivery: Delivery,
    /// Parts of other channels behind the same app, under the same delivery id.
    pub(crate) others: Vec<Delivery>,
    /// Our ids of all messages, in the provider's order.
    pub(crate) order: Vec<Uuid>,
    /// News about account, templates, forms.
    pub(crate) notices: u64,
    /// Receipts for numbers that are not ours.
    pub(crate) foreign_receipts: u64,
    /// Messages to numbers that are not ours.
    pub(crate) foreign_messages: u64,
    /// Trouble that a person should look at.
    pub(crate) alerts: Vec<Alert>,
}

/// Takes a body apart for the channel that it was addressed to. Cannot fail: what cannot be read is a rejection.
pub(crate) fn split(call: &Call<'_>, body: Vec<u8>) -> Split {
    let parsed = match &call.addressed.provider {
        Provider::Meta(_) => meta::inbound::parse(&body),
        Provider::Infobip(_) => infobip::inbound::parse(&body),
        Provider::Webhook(_) => webhook::inbound::parse(&body, || format!("abisu.{}", Uuid::now_v7())),
    };
    let mut split = Split {
        delivery: part(call, &call.addressed.id, body),
        others: Vec::new(),
        order: Vec::new(),
        notices: 0,
        foreign_receipts: 0,
        foreign_messages: 0,
        alerts: Vec::new(),
    };
    match parsed {
        Ok(parsed) => {
            split.alerts = parsed.alerts;
            parsed.items.into_iter().for_each(|item| split.add(call, item));
        }
        Err(error) => {
            let raw = split.delivery.body.clone();
            let detail = error.to_string();
            let reason = "unparsable".to_owned();
            split.delivery.rejections.push(NewRejection { message_id: None, reason, detail, raw });
        }
    }
    split
}

fn part(call: &Call<'_>, channel: &str, body: Vec<u8>) -> Delivery {
    Delivery {
        channel: channel.to_owned(),
        delivery_id: call.delivery_id,
        body,
        trace_context: call.trace_context.clone(),
        events: Vec::new(),
        rejections: Vec::new(),
        receipts: Vec::new(),
    }
}

impl Split {
    fn add(&mut self, call: &Call<'_>, item: Item) {
        match item {
            Item::Message { phone_number_id, message, raw } => {
                let Some(owner) = call.owner(&phone_number_id) else {
                    self.foreign_messages += 1;
                    let detail = "the message was sent to a number that no channel has".to_owned();
                    let message_id = Some(message.message_id);
                    let reason = "unknown_number".to_owned();
                    return self.delivery.rejections.push(NewRejection { message_id, reason, detail, raw });
                };
                let part = self.part(call, owner);
                match serde_json::to_value(&*message) {
                    Ok(payload) => {
                        let activity_id = Uuid::now_v7();
                        part.events.push(NewEvent {
                            activity_id,
                            message_id: message.message_id,
                            kind: message.kind.as_str().to_owned(),
                            user_id: message.user_id,
                            phone: message.phone,
                            payload,
                            sent_at: message.sent_at,
                        });
                        self.order.push(activity_id);
                    }
                    Err(_) => part.rejections.push(NewRejection {
                        message_id: Some(message.message_id),
                        reason: "malformed".to_owned(),
                        detail: "the message has no JSON form".to_owned(),
                        raw,
                    }),
                }
            }
            Item::Receipt {
                phone_number_id,
                provider_id,
                status,
                recipient,
                occurred_at,
                error_code,
                callback_data,
            } => match call.owner(&phone_number_id) {
                None => self.foreign_receipts += 1,
                Some(owner) => self.part(call, owner).receipts.push(NewReceipt {
                    provider_id,
                    outbound_id: callback_data.and_then(|data| data.parse().ok()),
                    status,
                    recipient,
                    error_code,
                    occurred_at,
                }),
            },
            Item::Rejected { phone_number_id, message_id, reason, detail, raw } => {
                let owner = phone_number_id.and_then(|number| call.owner(&number)).unwrap_or(call.addressed);
                let reason = reason.to_owned();
                self.part(call, owner).rejections.push(NewRejection { message_id, reason, detail, raw });
            }
            Item::Notice { field: _ } => self.notices += 1,
        }
    }

    /// The part of a channel.
    fn part(&mut self, call: &Call<'_>, owner: &Account) -> &mut Delivery {
        if owner.id == self.delivery.channel {
            return &mut self.delivery;
        }
        let at = self.others.iter().position(|part| part.channel == owner.id).unwrap_or_else(|| {
            // The raw body stands once, with the channel that it was addressed to.
            self.others.push(part(call, &owner.id, Vec::new()));
            self.others.len() - 1
        });
        &mut self.others[at]
    }

    /// Messages that could be stored or rejected one by one.
    pub(crate) fn messages(&self) -> usize {
        let of_part = |part: &Delivery| part.events.len() + part.rejections.len();
        of_part(&self.delivery) + self.others.iter().map(of_part).sum::<usize>()
    }
}

impl<'c> Call<'c> {
    fn owner(&self, number: &str) -> Option<&'c Account> {
        self.channels.owner(self.addressed, self.secret, number)
    }
}
