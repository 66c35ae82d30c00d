//! The Graph API's front: token and version, reading a node, and sending a message.

use axum::{
    Extension, Json,
    extract::{FromRequestParts, Path, Query, State as Extract},
    http::{StatusCode, header::AUTHORIZATION, request::Parts},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    error::GraphError,
    flows, media,
    validate::{self, Outgoing, Recipient, Request},
    webhook,
};
use crate::faults::FailsLater;
use crate::state::{Message, Shared, State, wamid};

/// A longer answer of this age is outside the window in which free messages are allowed.
const WINDOW_SECONDS: u64 = 24 * 3600;
/// Above it Meta accepts a form and never delivers it.
const LARGEST_DELIVERED_FORM: usize = 1_000_000;

/// Proof that the request carries our token and a well-formed version.
pub(crate) struct Caller;

impl FromRequestParts<Shared> for Caller {
    type Rejection = GraphError;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, GraphError> {
        let version = parts.uri.path().split('/').nth(1).unwrap_or_default();
        if version != "media-download" && !is_version(version) {
            return Err(GraphError::with_code(
                2500,
                StatusCode::BAD_REQUEST,
                format!("Unknown path components: /{version}"),
            ));
        }
        let token = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        if token == Some(state.config.access_token.as_str()) { Ok(Self) } else { Err(GraphError::token()) }
    }
}

/// `v`, one or two digits, a dot, one digit.
fn is_version(text: &str) -> bool {
    let digits = |text: &str, longest| {
        (1..=longest).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.strip_prefix('v')
        .and_then(|rest| rest.split_once('.'))
        .is_some_and(|(major, minor)| digits(major, 2) && digits(minor, 1))
}

#[derive(Deserialize)]
pub(crate) struct ReadQuery {
    fields: Option<String>,
    phone_number_id: Option<String>,
}

/// `GET /{node}`: the business number, a form or a file.
pub(crate) async fn read(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
    Query(query): Query<ReadQuery>,
) -> Response {
    if node == state.config.phone_number_id {
        return Json(json!({
            "id": node,
            "display_phone_number": state.config.display_phone_number,
            "verified_name": "Vitoria-Gasteiz",
        }))
        .into_response();
    }
    if let Some(found) = flows::read(&state, &node, query.fields.as_deref()) {
        return found.map(Json).into_response();
    }
    if query.phone_number_id.is_some_and(|id| id != state.config.phone_number_id) {
        return GraphError::no_object(&node).into_response();
    }
    media::read(&state, &node).map(Json).into_response()
}

/// `POST /{phone_number_id}/messages`: a message, or the mark that one was read.
pub(crate) async fn messages(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
    fails: Option<Extension<FailsLater>>,
    body: Bytes,
) -> Result<Json<Value>, GraphError> {
    if node != state.config.phone_number_id {
        return Err(GraphError::no_object(&node));
    }
    let request: Value =
        serde_json::from_slice(&body).map_err(|_| GraphError::parameter("The body is not valid JSON"))?;
    let request = validate::read(&state.lock(), &request)?;
    match request {
        Request::MarkRead { message_id } => {
            if !state.lock().knows_inbound(&message_id) {
                return Err(GraphError::invalid("message_id is not a message of this number"));
            }
            Ok(Json(json!({"success": true})))
        }
        Request::Send(outgoing) => send(&state, *outgoing, body.len(), fails.map(|Extension(fails)| fails)),
    }
}

fn send(
    state: &Shared,
    outgoing: Outgoing,
    size: usize,
    fails: Option<FailsLater>,
) -> Result<Json<Value>, GraphError> {
    let Outgoing { recipient, mut message, callback_data } = outgoing;
    message.wamid = wamid();
    let answer = accept(state, &recipient, message, size, fails.is_none())?;
    if let Some(FailsLater(code)) = fails {
        webhook::failure(state, answer.citizen, answer.wamid.clone(), callback_data, code);
    } else if state.config.statuses && answer.delivered {
        webhook::statuses(state, answer.citizen, answer.wamid.clone(), callback_data);
    }
    let contact = match &recipient {
        Recipient::Phone { input, digits } => json!({"input": input, "wa_id": digits}),
        Recipient::User(user_id) => json!({"input": user_id, "user_id": user_id}),
    };
    Ok(Json(json!({
        "messaging_product": "whatsapp",
        "contacts": [contact],
        "messages": [{"id": answer.wamid}],
    })))
}

struct Accepted {
    citizen: crate::state::Citizen,
    wamid: String,
    delivered: bool,
}

/// Finds the recipient, checks the window and, if it `arrives`, puts the message on the phone.
fn accept(
    state: &State,
    recipient: &Recipient,
    message: Message,
    size: usize,
    arrives: bool,
) -> Result<Accepted, GraphError> {
    let mut inner = state.lock();
    let found = inner.citizens.iter().position(|citizen| match recipient {
        Recipient::Phone { digits, .. } => citizen.phone.as_ref() == Some(digits),
        Recipient::User(user_id) => citizen.user_id == *user_id,
    });
    let place = found.ok_or_else(|| match recipient {
        Recipient::Phone { .. } => GraphError::send(131_030, "The recipient is not in the allowed list"),
        Recipient::User(_) => GraphError::send(131_026, "Message undeliverable"),
    })?;
    let open = inner.citizens[place]
        .wrote_at
        .and_then(|at| at.elapsed().ok())
        .is_some_and(|elapsed| elapsed.as_secs() < WINDOW_SECONDS);
    if !open {
        return Err(GraphError::send(
            131_047,
            "More than 24 hours have passed since the recipient last replied to the sender number",
        ));
    }
    let delivered = arrives && (message.flow.is_none() || size <= LARGEST_DELIVERED_FORM);
    let wamid = message.wamid.clone();
    if delivered {
        inner.push(place, message);
    }
    Ok(Accepted { citizen: inner.citizens[place].who(), wamid, delivered })
}
