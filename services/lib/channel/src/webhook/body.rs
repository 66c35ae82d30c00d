//! What a message in our own form says, by its kind: the names are those of the normalised form.

use serde_json::{Map, Value};

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

/// Reads what the kind asks for. The error says what is missing, in the words of the schema.
pub(super) fn read(message: &Value) -> Result<Body, &'static str> {
    let word = text(message, "type").filter(|kind| !kind.is_empty()).ok_or("`type` is not a text")?;
    let kind = serde_json::from_value(Value::String(word)).unwrap_or(Kind::Unknown);
    let mut body = Body {
        kind,
        text: text(message, "text"),
        attachments: attachments(message)?,
        interactive: None,
        metadata: Map::new(),
    };
    match kind {
        Kind::Text => drop(body.text.as_ref().ok_or("a text needs `text`")?),
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document | Kind::Sticker => {
            let has_bytes = |file: &Attachment| file.provider_media_id.is_some();
            if !body.attachments.iter().any(has_bytes) {
                return Err("media need an entry of `attachments` with `contentType` and `providerMediaId`");
            }
        }
        Kind::Location => {
            let pin = object(message, "location").map_or_else(|| first_pin(&body.attachments), pin);
            body.attachments = vec![pin.ok_or("a location needs `location` with degrees of WGS 84")?];
        }
        Kind::Contacts => {
            let cards = array(message, "contacts");
            body.attachments.extend(cards.iter().map(card));
            if body.attachments.is_empty() || !cards.iter().all(Value::is_object) {
                return Err("contacts need `contacts`, an array of objects");
            }
            keep(&mut body.metadata, "contacts", message.get("contacts"));
        }
        Kind::ButtonReply | Kind::TemplateButton | Kind::ListReply => answer(&mut body, message)?,
        Kind::Form => {
            let response = object(message, "interactive_reply").and_then(|reply| reply.get("response"));
            let mut response = response.ok_or("a form needs `interactive_reply` with `response`")?.clone();
            // The token under the name that it was sent with.
            if let Some(fields) = response.as_object_mut()
                && !fields.contains_key("flow_token")
                && let Some(token) = fields.remove("token")
            {
                fields.insert("flow_token".to_owned(), token);
            }
            body.interactive = Some(Interactive::Form { response });
        }
        Kind::Reaction => {
            let reaction = object(message, "reaction").filter(|part| part.get("message_id").is_some());
            keep(
                &mut body.metadata,
                "reaction",
                Some(reaction.ok_or("a reaction needs `reaction` with `message_id`")?),
            );
        }
        Kind::Order | Kind::Edit | Kind::Revoke | Kind::System => {
            keep(&mut body.metadata, kind.as_str(), message.get(kind.as_str()));
        }
        Kind::Unsupported | Kind::Unknown => keep(&mut body.metadata, "raw", Some(message)),
    }
    Ok(body)
}

/// The title that was tapped is the text, as for every provider.
fn answer(body: &mut Body, message: &Value) -> Result<(), &'static str> {
    const NEEDED: &str = "an answer needs `interactive_reply` with `id`";
    let reply = object(message, "interactive_reply").ok_or(NEEDED)?;
    let id = word(reply, "id").ok_or(NEEDED)?;
    let title = text(reply, "title").or_else(|| body.text.clone());
    body.text.clone_from(&title);
    let title = title.unwrap_or_default();
    body.interactive = Some(match body.kind {
        Kind::ListReply => Interactive::List { id, title, description: text(reply, "description") },
        _ => Interactive::Button { id, title },
    });
    Ok(())
}

fn attachments(message: &Value) -> Result<Vec<Attachment>, &'static str> {
    const SHAPE: &str = "`attachments` is not an array of objects with `contentType`";
    let given = match message.get("attachments") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(given)) => given,
        Some(_) => return Err(SHAPE),
    };
    let all = given.iter().map(|file| {
        let content_type = mime(file, "contentType").ok_or(SHAPE)?;
        Ok(Attachment {
            provider_media_id: word(file, "providerMediaId"),
            provider: word(file, "provider"),
            sha256: word(file, "sha256"),
            name: word(file, "name"),
            ..pin(file).filter(|_| content_type == LOCATION_CONTENT_TYPE).unwrap_or_default()
        })
        .map(|file| Attachment { content_type, ..file })
    });
    all.collect()
}

fn first_pin(attachments: &[Attachment]) -> Option<Attachment> {
    attachments.iter().find(|file| file.latitude.is_some()).cloned()
}

fn pin(part: &Value) -> Option<Attachment> {
    Some(Attachment {
        content_type: LOCATION_CONTENT_TYPE.to_owned(),
        latitude: Some(degrees(part, "latitude").filter(|degrees| degrees.abs() <= 90.0)?),
        longitude: Some(degrees(part, "longitude").filter(|degrees| degrees.abs() <= 180.0)?),
        name: word(part, "name"),
        address: word(part, "address"),
        ..Attachment::default()
    })
}

fn card(card: &Value) -> Attachment {
    Attachment {
        content_type: CONTACT_CONTENT_TYPE.to_owned(),
        name: word(card, "name"),
        ..Attachment::default()
    }
}
