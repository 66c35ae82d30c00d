//! From a normalised message to an event of the dialogue, and from a reply to what is stored and sent.
//!
//! The dialogue never sees a provider's payload; this is the border.

use channel::normalised::{Interactive, Kind, Message};
use channel::outgoing::{Button, FormShape, Row};
use channel::{Outgoing, Recipient};
use dialogue::{EventKind, PhotoRef, Point, ReplyBody};
use serde_json::Value;

/// What a message is to the dialogue, or the form that must be read first.
#[derive(Debug)]
pub enum Heard {
    /// Ready to decide on.
    Kind(EventKind),
    /// A completed form, as received.
    Form(Value),
    /// A picture that can be fetched, which may be the new photo of a report.
    Picture(PhotoRef),
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
        Kind::Image | Kind::Document => match picture(message) {
            Some(photo) => return Heard::Picture(photo),
            None => EventKind::Photo,
        },
        Kind::Video | Kind::Audio | Kind::Sticker => EventKind::Photo,
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

fn picture(message: Message) -> Option<PhotoRef> {
    let file = message.attachments.into_iter().find(|file| file.content_type.starts_with("image/"))?;
    let (id, sha256) = (file.provider_media_id?, file.sha256.unwrap_or_default());
    Some(PhotoRef { id, sha256, mime_type: file.content_type })
}

fn location(message: Message) -> Option<EventKind> {
    let pin = message.attachments.into_iter().find(|a| a.latitude.is_some() && a.longitude.is_some())?;
    let point = Point { latitude: pin.latitude?, longitude: pin.longitude? };
    Some(EventKind::Location { point, name: pin.name, address: pin.address })
}

/// A form of the provider that a form reply opens.
#[derive(Debug, Clone)]
pub struct Release {
    /// The provider's id of it.
    pub provider_flow_id: String,
    /// The screen it opens at.
    pub first_screen: String,
    /// It is not published yet.
    pub draft: bool,
}

/// Builds what leaves. `shape` is needed for a form only; `None` comes back where it is missing.
pub fn say(body: ReplyBody, prompt: Option<uuid::Uuid>, shape: Option<FormShape>) -> Option<Outgoing> {
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
        ReplyBody::Form { text, cta, language: _, address: _ } => {
            Outgoing::Form { text, cta, token: prompt?.to_string(), shape: shape? }
        }
    })
}

fn row((id, title, description): (String, String, String)) -> Row {
    Row { id, title, description: Some(description).filter(|description| !description.is_empty()) }
}

/// Whom a chat's replies go to, from its aliases.
///
/// A person who changed numbers is known by both, and the old one may be somebody else's by now. The business-scoped
/// id is always the person's, so then it decides.
pub fn recipient(aliases: Vec<(String, String)>) -> Recipient {
    let (mut phones, mut user_id) = (Vec::new(), None);
    for (kind, value) in aliases {
        match kind.as_str() {
            "phone" => phones.push(value),
            "user_id" => user_id = Some(value),
            // The table's constraint allows no other.
            _ => {}
        }
    }
    let phone = if user_id.is_some() && phones.len() > 1 { None } else { phones.pop() };
    Recipient { phone, user_id }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(aliases: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let aliases = aliases.iter().map(|(kind, value)| ((*kind).to_owned(), (*value).to_owned())).collect();
        let Recipient { phone, user_id } = recipient(aliases);
        (phone, user_id)
    }

    #[test]
    fn an_old_number_is_never_written_to() {
        let known = Some("ES.1".to_owned());
        assert_eq!(of(&[("phone", "34600000001"), ("user_id", "ES.1")]).0.as_deref(), Some("34600000001"));
        assert_eq!(
            of(&[("phone", "34600000001"), ("phone", "34600000002"), ("user_id", "ES.1")]),
            (None, known.clone())
        );
        assert_eq!(of(&[("user_id", "ES.1")]), (None, known));
        assert_eq!(of(&[("phone", "34600000001")]), (Some("34600000001".to_owned()), None));
    }
}
