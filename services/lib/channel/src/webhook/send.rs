//! The JSON of a message that is posted to a webhook. It is a contract: `README.md` of this crate.

use serde_json::{Map, Value, json};

use crate::outgoing::{FormShape, Outgoing, Recipient};
use crate::send_error::Failure;

/// The body, or why there can be none.
pub(super) fn body(
    channel: &str,
    recipient: &Recipient,
    message: &Outgoing,
    id: &str,
) -> Result<Value, Failure> {
    // As `from` named them when they wrote.
    let to = recipient.phone.as_ref().or(recipient.user_id.as_ref()).ok_or(Failure::NoRecipient)?;
    let mut body = Map::new();
    body.insert("id".to_owned(), json!(id));
    body.insert("channel".to_owned(), json!(channel));
    body.insert("to".to_owned(), json!(to));
    if let (Some(_), Some(user_id)) = (&recipient.phone, &recipient.user_id) {
        body.insert("user_id".to_owned(), json!(user_id));
    }
    let Value::Object(said) = said(message).ok_or(Failure::Unsayable)? else {
        return Err(Failure::Unsayable);
    };
    body.extend(said);
    Ok(Value::Object(body))
}

/// `None`: a form of WhatsApp's, which nobody else can open.
fn said(message: &Outgoing) -> Option<Value> {
    Some(match message {
        Outgoing::Text { text } => json!({"type": "text", "text": text}),
        Outgoing::Buttons { text, buttons } => json!({"type": "buttons", "text": text, "buttons": buttons}),
        Outgoing::List { text, button, rows } => {
            let rows: Vec<Value> = rows
                .iter()
                .map(|row| match &row.description {
                    Some(description) => {
                        json!({"id": row.id, "title": row.title, "description": description})
                    }
                    None => json!({"id": row.id, "title": row.title}),
                })
                .collect();
            json!({"type": "list", "text": text, "button": button, "rows": rows})
        }
        Outgoing::LocationRequest { text } => json!({"type": "location_request", "text": text}),
        Outgoing::Form { text, cta, token, shape } => {
            let FormShape::Fields { version, language, address, fields } = shape else { return None };
            json!({
                "type": "form",
                "text": text,
                "button": cta,
                "token": token,
                "version": version,
                "language": language,
                "address": address,
                "fields": fields,
            })
        }
    })
}
