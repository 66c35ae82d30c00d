//! The JSON of an outgoing message.

use serde_json::{Value, json};

use crate::outgoing::{FormShape, Outgoing, Recipient};
use crate::send_error::Failure;

/// The body, or why there can be none.
pub(super) fn body(recipient: &Recipient, message: &Outgoing, callback: &str) -> Result<Value, Failure> {
    let mut body = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "biz_opaque_callback_data": callback,
    });
    match recipient {
        // With `+`, or the business's own country code may be put before it.
        Recipient { phone: Some(phone), .. } => {
            body["to"] = json!(format!("+{}", phone.trim_start_matches('+')));
        }
        Recipient { phone: None, user_id: Some(user_id) } => body["recipient"] = json!(user_id),
        Recipient { phone: None, user_id: None } => return Err(Failure::NoRecipient),
    }
    let (kind, part) = part(message).ok_or(Failure::Unsayable)?;
    body["type"] = json!(kind);
    body[kind] = part;
    Ok(body)
}

/// `None`: a form that is not one of Meta's.
fn part(message: &Outgoing) -> Option<(&'static str, Value)> {
    Some(match message {
        Outgoing::Text { text } => ("text", json!({"body": text, "preview_url": false})),
        Outgoing::Buttons { text, buttons } => {
            let buttons: Vec<Value> = buttons
                .iter()
                .map(|button| json!({"type": "reply", "reply": {"id": button.id, "title": button.title}}))
                .collect();
            interactive("button", text, json!({"buttons": buttons}))
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
            interactive("list", text, json!({"button": button, "sections": [{"rows": rows}]}))
        }
        Outgoing::LocationRequest { text } => {
            interactive("location_request_message", text, json!({"name": "send_location"}))
        }
        Outgoing::Form { text, cta, token, shape } => {
            let FormShape::Flow { flow_id, first_screen, data, draft } = shape else { return None };
            let mut payload = json!({"screen": first_screen});
            // Meta refuses an empty object.
            if data.as_object().is_some_and(|data| !data.is_empty()) {
                payload["data"] = data.clone();
            }
            let parameters = json!({
                "flow_message_version": "3",
                "flow_id": flow_id,
                "flow_cta": cta,
                "flow_token": token,
                "flow_action": "navigate",
                "flow_action_payload": payload,
                "mode": if *draft { "draft" } else { "published" },
            });
            interactive("flow", text, json!({"name": "flow", "parameters": parameters}))
        }
    })
}

fn interactive(kind: &str, text: &str, action: Value) -> (&'static str, Value) {
    ("interactive", json!({"type": kind, "body": {"text": text}, "action": action}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::{Button, Row};

    fn sent(message: &Outgoing) -> Value {
        let recipient = Recipient { phone: Some("34600000001".into()), user_id: Some("ES.1".into()) };
        body(&recipient, message, "cb").unwrap()
    }

    #[test]
    fn the_phone_comes_first_then_the_business_scoped_id() {
        let text = Outgoing::Text { text: "Kaixo".into() };
        let by_phone = sent(&text);
        assert_eq!((&by_phone["to"], by_phone.get("recipient")), (&json!("+34600000001"), None));
        let recipient = Recipient { phone: None, user_id: Some("ES.1".into()) };
        let by_id = body(&recipient, &text, "cb").unwrap();
        assert_eq!((by_id.get("to"), &by_id["recipient"]), (None, &json!("ES.1")));
        let nobody = Recipient { phone: None, user_id: None };
        assert_eq!(body(&nobody, &text, "cb"), Err(Failure::NoRecipient));
    }

    #[test]
    fn each_kind_has_metas_shape() {
        let table = [
            (Outgoing::Text { text: "Kaixo".into() }, "text", json!({"body": "Kaixo", "preview_url": false})),
            (
                Outgoing::Buttons {
                    text: "?".into(),
                    buttons: vec![Button { id: "a".into(), title: "A".into() }],
                },
                "interactive",
                json!({"type": "button", "body": {"text": "?"},
                       "action": {"buttons": [{"type": "reply", "reply": {"id": "a", "title": "A"}}]}}),
            ),
            (
                Outgoing::List {
                    text: "?".into(),
                    button: "Open".into(),
                    rows: vec![
                        Row { id: "a".into(), title: "A".into(), description: Some("first".into()) },
                        Row { id: "b".into(), title: "B".into(), description: None },
                    ],
                },
                "interactive",
                json!({"type": "list", "body": {"text": "?"},
                       "action": {"button": "Open", "sections": [{"rows": [
                           {"id": "a", "title": "A", "description": "first"}, {"id": "b", "title": "B"}]}]}}),
            ),
            (
                Outgoing::LocationRequest { text: "?".into() },
                "interactive",
                json!({"type": "location_request_message", "body": {"text": "?"},
                       "action": {"name": "send_location"}}),
            ),
            (
                Outgoing::Form {
                    text: "?".into(),
                    cta: "Fill in".into(),
                    token: "t".into(),
                    shape: FormShape::Flow {
                        flow_id: "77".into(),
                        first_screen: "START".into(),
                        data: json!({}),
                        draft: false,
                    },
                },
                "interactive",
                json!({"type": "flow", "body": {"text": "?"}, "action": {"name": "flow", "parameters": {
                    "flow_message_version": "3", "flow_id": "77", "flow_cta": "Fill in", "flow_token": "t",
                    "flow_action": "navigate", "flow_action_payload": {"screen": "START"}, "mode": "published"}}}),
            ),
        ];
        for (message, kind, part) in table {
            let body = sent(&message);
            assert_eq!(body["type"], json!(kind));
            assert_eq!(body[kind], part);
            assert_eq!(body["biz_opaque_callback_data"], json!("cb"));
        }
    }
}
