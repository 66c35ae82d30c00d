//! The JSON of an outgoing message, and the path of its kind.

use serde_json::{Value, json};

use crate::outgoing::{FormShape, Outgoing, Recipient};
use crate::send_error::Failure;

/// The path below `/whatsapp/1/message/` and the body, or why there can be none.
pub(super) fn call(
    sender: &str,
    recipient: &Recipient,
    message: &Outgoing,
    callback: &str,
) -> Result<(&'static str, Value), Failure> {
    let to = recipient.phone.as_ref().or(recipient.user_id.as_ref()).ok_or(Failure::NoRecipient)?;
    let (path, content) = content(message).ok_or(Failure::Unsayable)?;
    // Our own message id: a send whose answer was lost is found again by it.
    let body = json!({
        "from": sender,
        "to": to,
        "messageId": callback,
        "callbackData": callback,
        "content": content,
    });
    Ok((path, body))
}

/// `None`: a form that is not one of WhatsApp's.
fn content(message: &Outgoing) -> Option<(&'static str, Value)> {
    let body = |text: &str| json!({"text": text});
    Some(match message {
        Outgoing::Text { text } => ("text", json!({"text": text, "previewUrl": false})),
        Outgoing::Buttons { text, buttons } => {
            let buttons: Vec<Value> = buttons
                .iter()
                .map(|button| json!({"type": "REPLY", "id": button.id, "title": button.title}))
                .collect();
            ("interactive/buttons", json!({"body": body(text), "action": {"buttons": buttons}}))
        }
        Outgoing::List { text, button, rows } => {
            let rows: Vec<Value> = rows
                .iter()
                .map(|row| {
                    let mut item = json!({"id": row.id, "title": row.title});
                    if let Some(description) = row.description.as_deref().filter(|text| !text.is_empty()) {
                        item["description"] = json!(description);
                    }
                    item
                })
                .collect();
            let action = json!({"title": button, "sections": [{"rows": rows}]});
            ("interactive/list", json!({"body": body(text), "action": action}))
        }
        Outgoing::LocationRequest { text } => ("interactive/location-request", json!({"body": body(text)})),
        Outgoing::Form { text, cta, token, shape } => {
            let FormShape::Flow { flow_id, first_screen, data, draft } = shape else { return None };
            let mut payload = json!({"screen": first_screen});
            // WhatsApp refuses an empty object.
            if data.as_object().is_some_and(|data| !data.is_empty()) {
                payload["data"] = data.clone();
            }
            let action = json!({
                "mode": if *draft { "DRAFT" } else { "PUBLISHED" },
                "flowMessageVersion": 3,
                "flowToken": token,
                "flowId": flow_id,
                "callToActionButton": cta,
                "flowAction": "NAVIGATE",
                "flowActionPayload": payload,
            });
            ("interactive/flow", json!({"body": body(text), "action": action}))
        }
    })
}
