//! What a citizen does: write, tap, share a place, send a photo, fill in a form.

use std::time::SystemTime;

use axum::{
    Json,
    extract::{Path, Query, State as Extract},
    http::StatusCode,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Answer, ControlError};
use crate::{
    meta::{Answers, Walked, walk, webhook},
    photo,
    state::{Message, Shared, random_hex},
};

#[derive(Deserialize)]
pub(super) struct Way {
    /// False: return at once and deliver in the background.
    wait: Option<bool>,
}

/// A message that a citizen is about to send.
struct Draft {
    kind: &'static str,
    text: String,
    content: Value,
    context: Option<String>,
}

/// Keeps the message and delivers it, `copies` times at once.
async fn send(
    state: &Shared,
    id: &str,
    draft: Draft,
    copies: Option<usize>,
    way: &Way,
) -> Result<Value, ControlError> {
    let (citizen, wamid, index) = {
        let mut inner = state.lock();
        if inner.webhook_url.is_none() {
            return Err(ControlError::new(StatusCode::CONFLICT, "no webhook URL is set"));
        }
        let place = inner.place(id).ok_or_else(|| ControlError::not_found("citizen"))?;
        inner.citizens[place].wrote_at = Some(SystemTime::now());
        let message = Message::new(false, draft.kind, Some(draft.text));
        let wamid = message.wamid.clone();
        let index = inner.push(place, message);
        (inner.citizens[place].who(), wamid, index)
    };
    let body = webhook::message(
        &state.config,
        &citizen,
        &wamid,
        draft.kind,
        draft.content,
        draft.context.as_deref(),
    );
    let deliveries: Vec<_> = (0..copies.unwrap_or(1).max(1))
        .map(|_| {
            let (state, body) = (state.clone(), body.clone());
            tokio::spawn(async move { webhook::deliver(&state, body).await })
        })
        .collect();
    let (mut statuses, mut attempts) = (Vec::new(), Vec::new());
    if way.wait != Some(false) {
        for delivery in deliveries {
            let end = delivery
                .await
                .map_err(|_| ControlError::new(StatusCode::INTERNAL_SERVER_ERROR, "a delivery failed"))?;
            statuses.push(end.status);
            attempts.push(end.attempts);
        }
    }
    Ok(json!({"message_id": wamid, "index": index, "statuses": statuses, "attempts": attempts}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Say {
    text: String,
    copies: Option<usize>,
}

pub(super) async fn say(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Query(way): Query<Way>,
    Json(body): Json<Say>,
) -> Answer {
    let content = json!({"body": body.text});
    let draft = Draft { kind: "text", text: body.text, content, context: None };
    send(&state, &id, draft, body.copies, &way).await.map(Json)
}

/// The newest message from the service that fits, or the one that was named.
fn received(
    state: &Shared,
    id: &str,
    message_id: Option<&str>,
    fits: impl Fn(&Message) -> bool,
) -> Result<Option<Message>, ControlError> {
    let mut inner = state.lock();
    let citizen = inner.citizen(id).ok_or_else(|| ControlError::not_found("citizen"))?;
    let found = citizen.messages.iter().rev().filter(|one| one.outgoing && fits(one));
    Ok(found.into_iter().find(|one| message_id.is_none_or(|wanted| wanted == one.wamid)).cloned())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tap {
    message_id: Option<String>,
    title: Option<String>,
    button_id: Option<String>,
    copies: Option<usize>,
}

pub(super) async fn tap(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Query(way): Query<Way>,
    Json(body): Json<Tap>,
) -> Answer {
    let message = received(&state, &id, body.message_id.as_deref(), |one| !one.buttons.is_empty())?
        .ok_or_else(|| ControlError::not_found("message with buttons"))?;
    let button = message
        .buttons
        .iter()
        .find(|one| {
            body.title.as_ref().is_none_or(|title| *title == one.title)
                && body.button_id.as_ref().is_none_or(|wanted| *wanted == one.id)
        })
        .ok_or_else(|| ControlError::not_found("button"))?;
    let mut reply = json!({"id": button.id, "title": button.title});
    let kind = if message.kind == "list" { "list_reply" } else { "button_reply" };
    if let Some(description) = &button.description {
        reply["description"] = json!(description);
    }
    let mut content = json!({"type": kind});
    content[kind] = reply;
    let text = button.title.clone();
    let draft = Draft { kind: "interactive", text, content, context: Some(message.wamid) };
    send(&state, &id, draft, body.copies, &way).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Location {
    latitude: f64,
    longitude: f64,
    name: Option<String>,
    address: Option<String>,
    /// Not as an answer to a location request.
    #[serde(default)]
    bare: bool,
    copies: Option<usize>,
}

pub(super) async fn location(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Query(way): Query<Way>,
    Json(body): Json<Location>,
) -> Answer {
    let request = received(&state, &id, None, |one| one.kind == "location_request")?;
    let context = request.filter(|_| !body.bare).map(|one| one.wamid);
    let mut content = json!({"latitude": body.latitude, "longitude": body.longitude});
    for (key, value) in [("name", body.name), ("address", body.address)] {
        if let Some(value) = value {
            content[key] = json!(value);
        }
    }
    let text = format!("{}, {}", body.latitude, body.longitude);
    let draft = Draft { kind: "location", text, content, context };
    send(&state, &id, draft, body.copies, &way).await.map(Json)
}

/// A file of the phone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    base64: String,
    mime_type: Option<String>,
}

/// Gives Meta a file; a made-up photo when there is none. Returns its id, type and hash.
fn upload(state: &Shared, file: Option<File>) -> Result<(String, String, [u8; 32]), ControlError> {
    let (bytes, mime_type) = match file {
        Some(file) => {
            let bytes = STANDARD.decode(file.base64);
            let bytes = bytes.map_err(|_| ControlError::unprocessable("base64 is malformed"))?;
            (bytes, file.mime_type)
        }
        None => (photo::jpeg(), None),
    };
    let hash = Sha256::digest(&bytes).into();
    let mime_type = mime_type.unwrap_or_else(|| "image/jpeg".to_owned());
    let (id, media) = state.store_media(Bytes::from(bytes), mime_type);
    Ok((id, media.mime_type, hash))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Photo {
    base64: Option<String>,
    mime_type: Option<String>,
    caption: Option<String>,
    copies: Option<usize>,
}

pub(super) async fn photo(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Query(way): Query<Way>,
    Json(body): Json<Photo>,
) -> Answer {
    let mime_type = body.mime_type;
    let (media_id, mime_type, hash) = upload(&state, body.base64.map(|base64| File { base64, mime_type }))?;
    let mut content = json!({
        "id": media_id,
        "mime_type": mime_type,
        "sha256": STANDARD.encode(hash),
        "url": state.link(&media_id),
    });
    let text = body.caption.clone().unwrap_or_default();
    if let Some(caption) = body.caption {
        content["caption"] = json!(caption);
    }
    let draft = Draft { kind: "image", text, content, context: None };
    let mut answer = send(&state, &id, draft, body.copies, &way).await?;
    answer["media_id"] = json!(media_id);
    answer["photo_sha256_hex"] = json!(hex::encode(hash));
    Ok(Json(answer))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FormPhoto {
    Made(bool),
    Given(File),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    message_id: Option<String>,
    #[serde(default)]
    path: Vec<String>,
    note: Option<String>,
    /// True when absent.
    photo: Option<FormPhoto>,
    /// Answers by the name of an input.
    #[serde(default)]
    answers: Map<String, Value>,
    /// Some phones leave `flow_token` out.
    #[serde(default)]
    drop_token: bool,
    copies: Option<usize>,
}

pub(super) async fn form(
    Extract(state): Extract<Shared>,
    Path(id): Path<String>,
    Query(way): Query<Way>,
    Json(body): Json<Form>,
) -> Answer {
    let message = received(&state, &id, body.message_id.as_deref(), |one| one.flow.is_some())?
        .ok_or_else(|| ControlError::not_found("form"))?;
    let flow = message.flow.as_ref().ok_or_else(|| ControlError::not_found("form"))?;
    let file = match body.photo {
        Some(FormPhoto::Made(false)) => None,
        Some(FormPhoto::Made(true)) | None => Some(upload(&state, None)?),
        Some(FormPhoto::Given(file)) => Some(upload(&state, Some(file))?),
    };
    let photos = file.iter().map(|(id, mime_type, hash)| {
        json!({
            "file_name": format!("{}.jpg", random_hex()),
            "mime_type": mime_type,
            "sha256": STANDARD.encode(hash),
            "id": id,
        })
    });
    let answers =
        Answers { path: body.path, note: body.note, photos: photos.collect(), values: body.answers };
    let Walked { mut payload, screens } = walk(flow, &answers).map_err(ControlError::unprocessable)?;
    if !body.drop_token {
        payload.insert("flow_token".to_owned(), json!(flow.token.as_deref().unwrap_or("unused")));
    }
    let response_json = Value::Object(payload).to_string();
    let content = json!({
        "type": "nfm_reply",
        "nfm_reply": {"name": "flow", "body": "Sent", "response_json": response_json},
    });
    let text = answers.path.join(" › ");
    let draft = Draft { kind: "interactive", text, content, context: Some(message.wamid) };
    let mut answer = send(&state, &id, draft, body.copies, &way).await?;
    answer["screens"] = json!(screens);
    answer["webhook_message_id"] = answer["message_id"].clone();
    answer["media_id"] = json!(file.as_ref().map(|(id, ..)| id));
    answer["photo_sha256_hex"] = json!(file.map(|(_, _, hash)| hex::encode(hash)));
    Ok(Json(answer))
}
