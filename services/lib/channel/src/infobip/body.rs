//! What a message of Infobip says, in either dialect: the older one has one typed object, the newer one a list.

use serde_json::{Map, Value, json};

use crate::normalised::{Attachment, CONTACT_CONTENT_TYPE, Interactive, Kind, LOCATION_CONTENT_TYPE};
use crate::value::{array, degrees, keep, mime, object, text, word};

/// The part of a message that depends on its kind.
pub(super) struct Body {
    pub(super) kind: Kind,
    pub(super) text: Option<String>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) interactive: Option<Interactive>,
    pub(super) metadata: Map<String, Value>,
}

impl Body {
    fn new(kind: Kind) -> Self {
        Self { kind, text: None, attachments: Vec::new(), interactive: None, metadata: Map::new() }
    }
}

/// The parts of a message in the newer dialect; a notice has one part that is no list.
pub(super) fn content(result: &Value) -> &[Value] {
    match result.get("content") {
        Some(Value::Array(parts)) => parts,
        Some(part @ Value::Object(_)) => std::slice::from_ref(part),
        _ => &[],
    }
}

pub(super) fn read(result: &Value) -> Body {
    if let Some(message) = object(result, "message") {
        return part(message).unwrap_or_else(|kind| not_understood(kind, result));
    }
    let mut parts = content(result).iter();
    let Some(first) = parts.next() else { return not_understood(Kind::Unsupported, result) };
    let mut body = match part(first) {
        Ok(body) => body,
        Err(kind) => return not_understood(kind, result),
    };
    // What is not words gives the message its kind; words beside it are its caption.
    for next in parts {
        match part(next) {
            Ok(next) => join(&mut body, next),
            Err(_) => keep(&mut body.metadata, "raw", Some(result)),
        }
    }
    body
}

fn join(body: &mut Body, next: Body) {
    if body.kind == Kind::Text {
        body.kind = next.kind;
    }
    body.text = match (body.text.take(), next.text) {
        (Some(first), Some(second)) => Some(format!("{first}\n{second}")),
        (first, second) => first.or(second),
    };
    body.attachments.extend(next.attachments);
    body.interactive = body.interactive.take().or(next.interactive);
    body.metadata.extend(next.metadata);
}

/// One typed object; the error is the kind of what cannot be read.
fn part(part: &Value) -> Result<Body, Kind> {
    let kind = word(part, "type").unwrap_or_default();
    let understood = match kind.as_str() {
        "TEXT" | "SUBJECT" => {
            text(part, "text").map(|text| Body { text: Some(text), ..Body::new(Kind::Text) })
        }
        "IMAGE" => Some(media(Kind::Image, part)),
        "VIDEO" => Some(media(Kind::Video, part)),
        "AUDIO" | "VOICE" => Some(media(Kind::Audio, part)),
        "DOCUMENT" | "FILE" => Some(media(Kind::Document, part)),
        "STICKER" => Some(media(Kind::Sticker, part)),
        "LOCATION" => location(part),
        "CONTACT" | "CONTACTS" => contacts(part),
        "BUTTON" => button(Kind::TemplateButton, part),
        "INTERACTIVE_BUTTON_REPLY" | "BUTTON_REPLY" => button(Kind::ButtonReply, part),
        "INTERACTIVE_LIST_REPLY" | "LIST_REPLY" => list(part),
        "INTERACTIVE_FLOW_REPLY" | "FLOW_RESPONSE" => form(part),
        "ORDER" => Some(kept(Kind::Order, "order", part, text(part, "text"))),
        "REACTION" => Some(reaction(part)),
        "user_identity_changed"
        | "user_changed_number"
        | "user_changed_user_id"
        | "USER_IDENTITY_CHANGED" => Some(kept(Kind::System, "system", part, None)),
        // The scan found malware: there are no bytes to fetch, and it is told from other unsupported messages.
        "UNSUPPORTED" | "INFECTED_CONTENT" => None,
        _ => return Err(Kind::Unknown),
    };
    understood.ok_or(Kind::Unsupported)
}

fn media(kind: Kind, part: &Value) -> Body {
    let caption = text(part, "caption").or_else(|| text(part, "text"));
    let mut body = Body { text: caption, ..Body::new(kind) };
    if let Some(url) = word(part, "url") {
        let media_id = word(part, "mediaId").or_else(|| media_id(&url));
        body.attachments.push(Attachment {
            content_type: mime(part, "contentType").unwrap_or_else(|| "application/octet-stream".to_owned()),
            provider: Some("infobip".to_owned()),
            provider_media_id: Some(media_id.unwrap_or_else(|| url.clone())),
            name: word(part, "filename"),
            ..Attachment::default()
        });
        keep(&mut body.metadata, "media_url", part.get("url"));
    }
    if word(part, "type").as_deref() == Some("VOICE") {
        body.metadata.insert("voice".to_owned(), Value::Bool(true));
    }
    body
}

/// The id at the end of `…/whatsapp/1/senders/{sender}/media/{id}`.
fn media_id(url: &str) -> Option<String> {
    let (_, path) = url.split_once("/whatsapp/1/senders/")?;
    let (_, id) = path.split_once("/media/")?;
    let id = id.split(['?', '#']).next().unwrap_or_default();
    (!id.is_empty() && !id.contains('/')).then(|| id.to_owned())
}

fn location(part: &Value) -> Option<Body> {
    let pin = Attachment {
        content_type: LOCATION_CONTENT_TYPE.to_owned(),
        latitude: Some(degrees(part, "latitude").filter(|degrees| degrees.abs() <= 90.0)?),
        longitude: Some(degrees(part, "longitude").filter(|degrees| degrees.abs() <= 180.0)?),
        name: word(part, "name"),
        address: word(part, "address"),
        ..Attachment::default()
    };
    Some(Body { attachments: vec![pin], ..Body::new(Kind::Location) })
}

fn contacts(part: &Value) -> Option<Body> {
    let cards = part.get("contacts").filter(|cards| cards.is_array())?;
    let name = |card: &Value| {
        object(card, "name").and_then(|name| word(name, "formattedName").or_else(|| word(name, "firstName")))
    };
    let attachments = array(part, "contacts").iter().map(|card| Attachment {
        content_type: CONTACT_CONTENT_TYPE.to_owned(),
        name: name(card),
        ..Attachment::default()
    });
    let mut body = Body { attachments: attachments.collect(), ..Body::new(Kind::Contacts) };
    keep(&mut body.metadata, "contacts", Some(cards));
    Some(body)
}

/// The older dialect says `title`, the newer one and templates say `text`; a template's button has a payload for an id.
fn button(kind: Kind, part: &Value) -> Option<Body> {
    let title = text(part, "title").or_else(|| text(part, "text"));
    let id = word(part, "id").or_else(|| word(part, "payload"));
    let id = if kind == Kind::TemplateButton { id.or_else(|| title.clone()) } else { id };
    Some(Body {
        interactive: Some(Interactive::Button { id: id?, title: title.clone().unwrap_or_default() }),
        text: title,
        ..Body::new(kind)
    })
}

fn list(part: &Value) -> Option<Body> {
    let title = text(part, "title").or_else(|| text(part, "text"));
    let (id, description) = (word(part, "id")?, text(part, "description"));
    Some(Body {
        interactive: Some(Interactive::List { id, title: title.clone().unwrap_or_default(), description }),
        text: title,
        ..Body::new(Kind::ListReply)
    })
}

fn form(part: &Value) -> Option<Body> {
    let response = part.get("response").filter(|response| !response.is_null())?.clone();
    Some(Body { interactive: Some(Interactive::Form { response }), ..Body::new(Kind::Form) })
}

/// A removal is a reaction without its emoji, as for every provider. What it reacts to is in the context.
fn reaction(part: &Value) -> Body {
    let mut body = Body::new(Kind::Reaction);
    let removed = word(part, "action").is_some_and(|action| action == "REMOVED");
    let context = object(part, "context");
    let reaction = json!({
        "message_id": context.and_then(|context| word(context, "id")),
        "emoji": word(part, "emoji").filter(|_| !removed),
    });
    body.metadata.insert("reaction".to_owned(), reaction);
    body
}

fn kept(kind: Kind, name: &str, part: &Value, text: Option<String>) -> Body {
    let mut body = Body { text, ..Body::new(kind) };
    keep(&mut body.metadata, name, Some(part));
    body
}

fn not_understood(kind: Kind, result: &Value) -> Body {
    let mut body = Body::new(kind);
    keep(&mut body.metadata, "raw", Some(result));
    let infected = object(result, "message").and_then(|message| word(message, "type"));
    if infected.as_deref() == Some("INFECTED_CONTENT") {
        body.metadata.insert("unsupported_type".to_owned(), Value::String("infected_content".to_owned()));
    }
    body
}
