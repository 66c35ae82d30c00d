//! What a message says, by its kind. A known kind whose body is missing is `unsupported`, a kind that we do not know
//! is `unknown`; both keep the raw message, so that a later version can read what this one could not.

use serde_json::{Map, Value, json};

use super::message::not_understood;
use crate::normalised::{Attachment, CONTACT_CONTENT_TYPE, Interactive, Kind, LOCATION_CONTENT_TYPE};
use crate::value::{array, degrees, flag, keep, mime, object, text, word};

/// The part of a message that depends on its kind.
pub(super) struct Body {
    pub(super) kind: Kind,
    pub(super) text: Option<String>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) interactive: Option<Interactive>,
    pub(super) metadata: Map<String, Value>,
}

impl Body {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, text: None, attachments: Vec::new(), interactive: None, metadata: Map::new() }
    }
}

pub(super) fn read(message: &Value, errors: Option<&Value>) -> Body {
    let kind = word(message, "type").unwrap_or_default();
    let part = object(message, &kind);
    let understood = match kind.as_str() {
        "text" => part.and_then(written),
        "image" => part.map(|part| media(Kind::Image, part)),
        "video" => part.map(|part| media(Kind::Video, part)),
        "audio" => part.map(|part| media(Kind::Audio, part)),
        "document" => part.map(|part| media(Kind::Document, part)),
        "sticker" => part.map(|part| media(Kind::Sticker, part)),
        "location" => part.and_then(location),
        "contacts" => contacts(message),
        "interactive" => match part {
            Some(part) => match interactive(part) {
                Some(body) => Some(body),
                None => return not_understood(Kind::Unknown, message, errors),
            },
            None => None,
        },
        "button" => part.map(template_button),
        "order" => part.map(|part| kept(Kind::Order, "order", part, text(part, "text"))),
        "reaction" => part.map(reaction),
        "system" => part.map(|part| kept(Kind::System, "system", part, None)),
        "edit" => part.map(edit),
        "revoke" => part.map(|part| kept(Kind::Revoke, "revoke", part, None)),
        // `unknown` is the older name of `unsupported`; `ephemeral` has not been seen here and would have no content.
        "unsupported" | "unknown" | "ephemeral" => Some(unsupported(message)),
        _ => return not_understood(Kind::Unknown, message, errors),
    };
    understood.unwrap_or_else(|| not_understood(Kind::Unsupported, message, errors))
}

fn written(part: &Value) -> Option<Body> {
    Some(Body { text: Some(text(part, "body")?), ..Body::new(Kind::Text) })
}

fn media(kind: Kind, part: &Value) -> Body {
    let mut body = Body { text: text(part, "caption"), ..Body::new(kind) };
    // Without an id there is nothing to fetch; the errors beside it say why.
    if let Some(id) = word(part, "id") {
        body.attachments.push(Attachment {
            content_type: mime(part, "mime_type").unwrap_or_else(|| "application/octet-stream".to_owned()),
            provider: Some("meta".to_owned()),
            provider_media_id: Some(id),
            sha256: word(part, "sha256"),
            name: word(part, "filename"),
            ..Attachment::default()
        });
    }
    for name in ["voice", "animated"] {
        if flag(part, name) {
            body.metadata.insert(name.to_owned(), Value::Bool(true));
        }
    }
    body
}

fn location(part: &Value) -> Option<Body> {
    let latitude = degrees(part, "latitude").filter(|degrees| degrees.abs() <= 90.0)?;
    let longitude = degrees(part, "longitude").filter(|degrees| degrees.abs() <= 180.0)?;
    let pin = Attachment {
        content_type: LOCATION_CONTENT_TYPE.to_owned(),
        latitude: Some(latitude),
        longitude: Some(longitude),
        name: word(part, "name"),
        address: word(part, "address"),
        ..Attachment::default()
    };
    Some(Body { attachments: vec![pin], ..Body::new(Kind::Location) })
}

fn contacts(message: &Value) -> Option<Body> {
    let cards = message.get("contacts").filter(|cards| cards.is_array())?;
    let attachments = array(message, "contacts")
        .iter()
        .map(|card| Attachment {
            content_type: CONTACT_CONTENT_TYPE.to_owned(),
            name: object(card, "name").and_then(|name| word(name, "formatted_name")),
            ..Attachment::default()
        })
        .collect();
    let mut body = Body { attachments, ..Body::new(Kind::Contacts) };
    keep(&mut body.metadata, "contacts", Some(cards));
    Some(body)
}

fn interactive(part: &Value) -> Option<Body> {
    let kind = word(part, "type")?;
    let reply = object(part, &kind)?;
    let title = || text(reply, "title").unwrap_or_default();
    match kind.as_str() {
        "button_reply" => Some(Body {
            text: text(reply, "title"),
            interactive: Some(Interactive::Button { id: word(reply, "id")?, title: title() }),
            ..Body::new(Kind::ButtonReply)
        }),
        "list_reply" => Some(Body {
            text: text(reply, "title"),
            interactive: Some(Interactive::List {
                id: word(reply, "id")?,
                title: title(),
                description: text(reply, "description"),
            }),
            ..Body::new(Kind::ListReply)
        }),
        "nfm_reply" => {
            let mut body = Body {
                interactive: Some(Interactive::Form { response: reply.get("response_json")?.clone() }),
                ..Body::new(Kind::Form)
            };
            keep(&mut body.metadata, "form_name", reply.get("name"));
            Some(body)
        }
        _ => None,
    }
}

fn template_button(part: &Value) -> Body {
    let title = text(part, "text");
    let id = word(part, "payload").or_else(|| title.clone()).unwrap_or_default();
    Body {
        interactive: Some(Interactive::Button { id, title: title.clone().unwrap_or_default() }),
        text: title,
        ..Body::new(Kind::TemplateButton)
    }
}

/// A reaction without an emoji takes an earlier one back.
fn reaction(part: &Value) -> Body {
    let mut body = Body::new(Kind::Reaction);
    let reaction = json!({
        // One published sample misspells the key.
        "message_id": word(part, "message_id").or_else(|| word(part, "messsage_id")),
        "emoji": word(part, "emoji"),
    });
    body.metadata.insert("reaction".to_owned(), reaction);
    body
}

fn edit(part: &Value) -> Body {
    let new_text =
        object(part, "message").and_then(|new| object(new, "text")).and_then(|new| text(new, "body"));
    kept(Kind::Edit, "edit", part, new_text)
}

fn unsupported(message: &Value) -> Body {
    let mut body = not_understood(Kind::Unsupported, message, None);
    let kind = object(message, "unsupported").and_then(|part| part.get("type"));
    keep(&mut body.metadata, "unsupported_type", kind);
    body
}

fn kept(kind: Kind, name: &str, part: &Value, text: Option<String>) -> Body {
    let mut body = Body { text, ..Body::new(kind) };
    keep(&mut body.metadata, name, Some(part));
    body
}
