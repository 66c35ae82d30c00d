//! What the raw bytes of a rejection say when they are read again.

use bus::append::{Delivery, NewEvent, NewReceipt, NewRejection};
use bus::operate::rejected::{Content, Rejected};
use channel::inbound::Item;
use channel::{Message, infobip, meta, webhook};
use uuid::Uuid;

use super::args::Kind;

/// The reason under which the append itself keeps a message that the database refuses. Its bytes are the normalised
/// message, no provider's.
const REFUSED: &str = "refused_by_database";

/// What came of it.
pub(super) enum Reread {
    /// It can be appended now.
    Readable(Box<Delivery>),
    /// It is as it was.
    Rejected { reason: String, detail: String },
}

/// Whose words they look like: only Meta's have entries, and only Infobip's have results.
fn looks_like(raw: &[u8]) -> Kind {
    if meta::inbound::parse(raw).is_ok() {
        Kind::WhatsappMeta
    } else if infobip::inbound::parse(raw).is_ok() {
        Kind::WhatsappInfobip
    } else {
        Kind::Webhook
    }
}

/// Reads it again, for its own channel or for `to`.
pub(super) fn read(one: &Rejected, content: Content, kind: Option<Kind>, to: Option<&str>) -> Reread {
    let kind = kind.unwrap_or_else(|| looks_like(&content.raw));
    let mut delivery = Delivery {
        channel: to.unwrap_or(&one.channel).to_owned(),
        delivery_id: Uuid::now_v7(),
        body: Vec::new(),
        trace_context: one.trace_context.clone(),
        events: Vec::new(),
        rejections: Vec::new(),
        receipts: Vec::new(),
    };
    let added = if one.reason == REFUSED {
        serde_json::from_slice::<Message>(&content.raw)
            .map_err(|_| "not a message".to_owned())
            .and_then(|message| add_message(&mut delivery, &message))
    } else {
        add_items(&mut delivery, one.id, &content.raw, kind)
    };
    if delivery.events.is_empty() && delivery.receipts.is_empty() {
        let first = delivery.rejections.into_iter().next();
        let (reason, detail) = match (first, added) {
            (Some(rejection), _) => (rejection.reason, rejection.detail),
            (None, Err(detail)) => (one.reason.clone(), detail),
            (None, Ok(())) => (one.reason.clone(), "there is no message in it".to_owned()),
        };
        return Reread::Rejected { reason, detail };
    }
    delivery.body = content.raw;
    Reread::Readable(Box::new(delivery))
}

fn add_items(delivery: &mut Delivery, id: Uuid, raw: &[u8], kind: Kind) -> Result<(), String> {
    let mut minted = 0;
    let parsed = match kind {
        Kind::WhatsappMeta => meta::inbound::parse(raw),
        Kind::WhatsappInfobip => infobip::inbound::parse(raw),
        // A message without an id gets the same one however often this is done.
        Kind::Webhook => webhook::inbound::parse(raw, || {
            minted += 1;
            format!("abisu.{id}.{minted}")
        }),
    };
    for item in parsed.map_err(|error| error.to_string())?.items {
        match item {
            Item::Message { message, .. } => add_message(delivery, &message)?,
            Item::Receipt {
                provider_id, status, recipient, occurred_at, error_code, callback_data, ..
            } => {
                delivery.receipts.push(NewReceipt {
                    provider_id,
                    outbound_id: callback_data.and_then(|data| data.parse().ok()),
                    status,
                    recipient,
                    error_code,
                    occurred_at,
                });
            }
            Item::Rejected { message_id, reason, detail, raw, .. } => {
                let reason = reason.to_owned();
                delivery.rejections.push(NewRejection { message_id, reason, detail, raw });
            }
            Item::Notice { .. } => {}
        }
    }
    Ok(())
}

fn add_message(delivery: &mut Delivery, message: &Message) -> Result<(), String> {
    delivery.events.push(NewEvent {
        activity_id: Uuid::now_v7(),
        message_id: message.message_id.clone(),
        kind: message.kind.as_str().to_owned(),
        user_id: message.user_id.clone(),
        phone: message.phone.clone(),
        payload: serde_json::to_value(message).map_err(|_| "the message has no JSON form".to_owned())?,
        sent_at: message.sent_at,
    });
    Ok(())
}
