//! The message as the rest of Abisu sees it, whatever provider it came from.
//!
//! Its JSON stands in `inbound.event.payload`. The names there are camel case, and what only some messages have is
//! under `metadata` with the names that every channel shares (`whatsapp_type`, `reply_to`, `profile_name`,
//! `forwarded`, `interactive_reply`, `reaction`, `referral`). In Rust the three that decide a conversation are fields
//! of their own; the conversion is in one place below, so neither side carries them twice.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Content type of an attachment that is a pin.
pub const LOCATION_CONTENT_TYPE: &str = "application/geo+json";
/// Content type of an attachment that is a contact card.
pub const CONTACT_CONTENT_TYPE: &str = "text/vcard";

/// One inbound message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Wire", from = "Wire")]
pub struct Message {
    /// The provider's id, unique on the channel.
    pub message_id: String,
    /// What it is.
    pub kind: Kind,
    /// The sender's phone, digits without `+`. One of `phone` and `user_id` is there.
    pub phone: Option<String>,
    /// The sender's business-scoped id.
    pub user_id: Option<String>,
    /// The name the sender shows.
    pub profile_name: Option<String>,
    /// The provider's time.
    pub sent_at: Option<DateTime<Utc>>,
    /// What was written: a text, a caption, the title of a tapped button. Never cut.
    pub text: Option<String>,
    /// The provider's id of the message that this one answers or quotes.
    pub reply_to: Option<String>,
    /// Media, pins and contact cards.
    pub attachments: Vec<Attachment>,
    /// The answer to something that was offered.
    pub interactive: Option<Interactive>,
    /// Sent in a group: kept, never answered.
    pub group: bool,
    /// All else that was understood, and the raw message where nothing was.
    pub metadata: Map<String, Value>,
}

/// The kinds of message. The words are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Written words.
    Text,
    /// A picture.
    Image,
    /// A film.
    Video,
    /// A recording.
    Audio,
    /// A file.
    Document,
    /// A sticker.
    Sticker,
    /// A pin.
    Location,
    /// Contact cards.
    Contacts,
    /// A tapped button.
    ButtonReply,
    /// A chosen list row.
    ListReply,
    /// A completed form.
    Form,
    /// A quick reply of a template.
    TemplateButton,
    /// A reaction to a message, or its removal.
    Reaction,
    /// An order from a catalogue.
    Order,
    /// A changed message.
    Edit,
    /// A deleted message.
    Revoke,
    /// A notice of the provider about the sender.
    System,
    /// What the provider could not show us, or a known kind whose body is missing.
    Unsupported,
    /// A kind that we do not know; kept raw.
    Unknown,
}

impl Kind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Document => "document",
            Self::Sticker => "sticker",
            Self::Location => "location",
            Self::Contacts => "contacts",
            Self::ButtonReply => "button_reply",
            Self::ListReply => "list_reply",
            Self::Form => "form",
            Self::TemplateButton => "template_button",
            Self::Reaction => "reaction",
            Self::Order => "order",
            Self::Edit => "edit",
            Self::Revoke => "revoke",
            Self::System => "system",
            Self::Unsupported => "unsupported",
            Self::Unknown => "unknown",
        }
    }
}

/// A file, a pin or a contact card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// MIME type without parameters; [`LOCATION_CONTENT_TYPE`] and [`CONTACT_CONTENT_TYPE`] for the other two.
    pub content_type: String,
    /// Who keeps the bytes (`meta`), if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's id of the bytes; may be longer than 53 bits, so always a string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_media_id: Option<String>,
    /// The hash that the provider promises, base64 or hex as received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// File name, name of the place, or name on the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Degrees north (WGS 84), of a pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    /// Degrees east (WGS 84), of a pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    /// The address that the client gives with a pin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// The answer to something that was offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Interactive {
    /// A tapped button.
    Button {
        /// The id we gave it.
        id: String,
        /// The title it was shown with.
        title: String,
    },
    /// A chosen list row.
    List {
        /// The id we gave it.
        id: String,
        /// The title it was shown with.
        title: String,
        /// The description it was shown with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
    /// A completed form.
    Form {
        /// As received: a string that should hold JSON, or an object. See [`form_fields`].
        response: Value,
    },
}

/// The fields of a completed form, whether they came as an object or as a string of JSON. `None` for anything else:
/// the form was received and cannot be read.
pub fn form_fields(response: &Value) -> Option<Map<String, Value>> {
    match response {
        Value::Object(fields) => Some(fields.clone()),
        // The inner document has escapes of its own, with the same traps as the outer one.
        Value::String(text) => serde_json::from_str(&crate::repair::storable(text.as_bytes())).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// The stored form of [`Message`].
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    message_id: String,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    #[serde(default)]
    group: bool,
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl From<Message> for Wire {
    fn from(message: Message) -> Self {
        let Message {
            message_id,
            kind,
            phone,
            user_id,
            profile_name,
            sent_at,
            text,
            reply_to,
            attachments,
            interactive,
            group,
            mut metadata,
        } = message;
        for (name, value) in [("profile_name", profile_name), ("reply_to", reply_to)] {
            if let Some(value) = value {
                metadata.insert(name.to_owned(), Value::String(value));
            }
        }
        if let Some(value) = interactive.and_then(|interactive| serde_json::to_value(interactive).ok()) {
            metadata.insert("interactive_reply".to_owned(), value);
        }
        Self { message_id, kind, phone, user_id, sent_at, text, attachments, group, metadata }
    }
}

impl From<Wire> for Message {
    fn from(wire: Wire) -> Self {
        let Wire { message_id, kind, phone, user_id, sent_at, text, attachments, group, mut metadata } = wire;
        let mut word = |name: &str| match metadata.remove(name) {
            Some(Value::String(value)) => Some(value),
            _ => None,
        };
        let (profile_name, reply_to) = (word("profile_name"), word("reply_to"));
        let interactive =
            metadata.remove("interactive_reply").and_then(|value| serde_json::from_value(value).ok());
        Self {
            message_id,
            kind,
            phone,
            user_id,
            profile_name,
            sent_at,
            text,
            reply_to,
            attachments,
            interactive,
            group,
            metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_survives_being_stored_and_its_names_are_the_shared_ones() {
        let stored = json!({
            "messageId": "wamid.1", "kind": "button_reply", "phone": "34600000001", "userId": "ES.1",
            "sentAt": "2026-11-30T10:00:00Z", "text": "Castellano", "attachments": [], "group": false,
            "metadata": {
                "whatsapp_type": "interactive", "profile_name": "Ane", "reply_to": "wamid.0",
                "interactive_reply": {"type": "button", "id": "lang:es", "title": "Castellano"},
            },
        });
        let message: Message = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(message.reply_to.as_deref(), Some("wamid.0"));
        assert_eq!(
            message.interactive,
            Some(Interactive::Button { id: "lang:es".into(), title: "Castellano".into() })
        );
        assert!(!message.metadata.contains_key("reply_to"));
        assert_eq!(serde_json::to_value(message).unwrap(), stored);
    }

    #[test]
    fn the_stored_word_of_a_kind_is_the_one_it_says() {
        for kind in [Kind::Text, Kind::ButtonReply, Kind::TemplateButton, Kind::Unsupported, Kind::Unknown] {
            assert_eq!(serde_json::to_value(kind).unwrap(), json!(kind.as_str()));
        }
    }

    #[test]
    fn a_form_is_read_from_a_string_or_an_object_and_ids_keep_their_digits() {
        let object = json!({"route": "a/b", "photo": [{"id": 9_007_199_254_740_993_u64}]});
        let text = json!(object.to_string());
        for response in [object, text] {
            let fields = form_fields(&response).unwrap();
            assert_eq!(fields["photo"][0]["id"].to_string(), "9007199254740993");
        }
        let broken_emoji = form_fields(&json!(r#"{"note":"\ud83d","route":"a"}"#)).unwrap();
        assert_eq!(broken_emoji["note"], json!("\u{fffd}"));
        for unreadable in [json!("{"), json!("[]"), json!(null), json!(7)] {
            assert!(form_fields(&unreadable).is_none());
        }
    }
}
