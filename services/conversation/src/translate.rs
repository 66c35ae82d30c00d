//! From a normalised message to an event of the dialogue, and from a reply to what is stored and sent.
//!
//! The dialogue never sees a provider's payload; this is the border.

use channel::normalised::{Interactive, Kind, Message};
use channel::outgoing::{Button, Row};
use channel::{Outgoing, Recipient};
use dialogue::{EventKind, Point, ReplyBody};
use serde_json::Value;

/// What a message is to the dialogue, or the form that must be read first.
#[derive(Debug)]
pub enum Heard {
    /// Ready to decide on.
    Kind(EventKind),
    /// A completed form, as received.
    Form(Value),
}

/// Reads a message.
pub fn hear(message: Message) -> Heard {
    if message.group {
        return Heard::Kind(EventKind::Group);
    }
    let kind = match message.kind {
        Kind::Text | Kind::TemplateButton | Kind::Edit => match message.text {
            Some(text) => EventKind::Text(text),
            None => EventKind::Unsupported,
        },
        Kind::ButtonReply | Kind::ListReply | Kind::Form => match message.interactive {
            Some(Interactive::Button { id, title }) => EventKind::Button { id, title },
            Some(Interactive::List { id, title, description: _ }) => EventKind::ListChoice { id, title },
            Some(Interactive::Form { response }) => return Heard::Form(response),
            None => EventKind::Unsupported,
        },
        Kind::Location => location(message).unwrap_or(EventKind::Unsupported),
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document | Kind::Sticker => EventKind::Photo,
        Kind::Contacts => EventKind::Contacts,
        Kind::Reaction => EventKind::Reaction,
        Kind::Revoke => EventKind::Revoke,
        Kind::System => EventKind::System,
        Kind::Unsupported => match message.metadata.get("unsupported_type").and_then(Value::as_str) {
            // A live location is delivered as a message that cannot be shown.
            Some("location") => EventKind::LiveLocation,
            Some(_) | None => EventKind::Unsupported,
        },
        Kind::Order | Kind::Unknown => EventKind::Unsupported,
    };
    Heard::Kind(kind)
}

fn location(message: Message) -> Option<EventKind> {
    let pin = message.attachments.into_iter().find(|a| a.latitude.is_some() && a.longitude.is_some())?;
    let point = Point { latitude: pin.latitude?, longitude: pin.longitude? };
    Some(EventKind::Location { point, name: pin.name, address: pin.address })
}

/// The published form that a form reply opens.
#[derive(Debug, Clone)]
pub struct Release {
    /// The provider's id of it.
    pub provider_flow_id: String,
    /// The screen it opens at.
    pub first_screen: String,
}

/// Builds what leaves. `release` is needed for a form only; `None` comes back where it is missing.
pub fn say(body: ReplyBody, prompt: Option<uuid::Uuid>, release: Option<Release>) -> Option<Outgoing> {
    Some(match body {
        ReplyBody::Text(text) => Outgoing::Text { text },
        ReplyBody::Buttons { text, buttons } => Outgoing::Buttons {
            text,
            buttons: buttons.into_iter().map(|(id, title)| Button { id, title }).collect(),
        },
        ReplyBody::List { text, button, rows } => {
            Outgoing::List { text, button, rows: rows.into_iter().map(row).collect() }
        }
        ReplyBody::LocationRequest { text } => Outgoing::LocationRequest { text },
        ReplyBody::Form { text, cta, language: _, address } => {
            let release = release?;
            Outgoing::Form {
                text,
                cta,
                flow_id: release.provider_flow_id,
                token: prompt?.to_string(),
                first_screen: release.first_screen,
                data: flow_json::init_data(&address),
                draft: false,
            }
        }
    })
}

fn row((id, title, description): (String, String, String)) -> Row {
    Row { id, title, description: Some(description).filter(|description| !description.is_empty()) }
}

/// Whom a chat's replies go to, from its aliases.
pub fn recipient(aliases: Vec<(String, String)>) -> Recipient {
    let mut recipient = Recipient { phone: None, user_id: None };
    for (kind, value) in aliases {
        match kind.as_str() {
            "phone" => recipient.phone = Some(value),
            "user_id" => recipient.user_id = Some(value),
            // The table's constraint allows no other.
            _ => {}
        }
    }
    recipient
}
