//! Faults: what a provider does on a bad day.
//!
//! Every request of the services passes `gate`, which reads the whole body, lets the first fault of its
//! surface act and writes the journal. A fault that closes the connection does so without a byte of an
//! answer, before or after the work was done: that difference is what a caller can never see.

use std::{num::NonZeroU32, time::Duration};

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{ConnectInfo, Request, State as Extract},
    http::{
        HeaderValue, Method, StatusCode,
        header::{LOCATION, RETRY_AFTER},
    },
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    cartociudad::{self, Trap},
    config::Config,
    journal::Incoming,
    meta,
    net::{Connection, Cut},
    state::{Inner, Shared},
};

/// Meta's own limit for media is 100 MiB; base64 and the multipart frame come on top.
const LARGEST_BODY: usize = 140 * 1024 * 1024;

/// A part of a provider that fails alone.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Surface {
    #[serde(rename = "meta.messages")]
    MetaMessages,
    /// Marks of what was read, which go to the same path.
    #[serde(rename = "meta.marks")]
    MetaMarks,
    #[serde(rename = "meta.media")]
    MetaMedia,
    #[serde(rename = "meta.download")]
    MetaDownload,
    #[serde(rename = "meta.flows")]
    MetaFlows,
    #[serde(rename = "meta.other")]
    MetaOther,
    #[serde(rename = "partner.login")]
    PartnerLogin,
    #[serde(rename = "partner.incidents")]
    PartnerIncidents,
    #[serde(rename = "partner.other")]
    PartnerOther,
    #[serde(rename = "cartociudad")]
    CartoCiudad,
}

/// A fault as a test asks for it.
#[derive(Deserialize)]
pub(crate) struct FaultRequest {
    surface: Surface,
    #[serde(flatten)]
    kind: Kind,
    /// How often it acts; absent or null means until it is cleared.
    times: Option<u32>,
    /// Requests that pass before it acts.
    #[serde(default)]
    skip: u32,
    /// It acts on every so manieth request only.
    #[serde(default = "always")]
    every: NonZeroU32,
}

fn always() -> NonZeroU32 {
    NonZeroU32::MIN
}

#[derive(Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    /// Answers without doing the work.
    Status {
        status: u16,
        body: Option<Value>,
        /// In place of a body: sent as HTML.
        html: Option<String>,
        /// Where a redirect leads.
        location: Option<String>,
        retry_after: Option<u64>,
    },
    /// Answers with Meta's error envelope without doing the work.
    MetaError { code: i64, status: Option<u16>, retry_after: Option<u64> },
    /// Reads the request and never answers.
    Hang,
    /// Closes with a reset before reading the request.
    Reset,
    /// Closes at once, in order.
    Down,
    /// Does the work, then closes with a reset.
    AcceptThenReset,
    /// Does the work, then answers something else.
    AcceptThenStatus { status: u16, body: Option<Value>, retry_after: Option<u64> },
    /// A message is taken, never comes to the phone, and a receipt says so with this code.
    FailLater { code: i64 },
    /// Waits, then goes on as if nothing was.
    Delay { ms: u64 },
    /// Does the work, with one of the provider's own oddities in the answer.
    Trap { trap: Trap },
}

/// Tells the work behind the gate that the message fails after it was taken.
#[derive(Clone, Copy)]
pub(crate) struct FailsLater(pub(crate) i64);

pub(crate) struct Fault {
    id: u64,
    surface: Surface,
    kind: Kind,
    left: Option<u32>,
    skip: u32,
    every: NonZeroU32,
    /// Requests since it could act.
    met: u32,
}

impl Inner {
    pub(crate) fn add_fault(&mut self, request: FaultRequest) -> u64 {
        self.fault_ids += 1;
        let FaultRequest { surface, kind, times, skip, every } = request;
        self.faults.push(Fault { id: self.fault_ids, surface, kind, left: times, skip, every, met: 0 });
        self.fault_ids
    }

    /// Clears the faults of one surface, or all of them.
    pub(crate) fn clear_faults(&mut self, surface: Option<Surface>) {
        self.faults.retain(|fault| surface.is_some_and(|surface| fault.surface != surface));
    }

    /// What happens to the next request: delays add up, the first other fault ends the search.
    fn take_faults(&mut self, surface: Surface) -> (Duration, Option<Kind>) {
        let mut delay = Duration::ZERO;
        let mut acting = None;
        for fault in self.faults.iter_mut().filter(|fault| fault.surface == surface) {
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.met = fault.met.wrapping_add(1);
            if fault.met % fault.every != 0 {
                continue;
            }
            match &mut fault.left {
                Some(0) => continue,
                Some(left) => *left -= 1,
                None => {}
            }
            tracing::debug!(fault.id, "a fault acts");
            if let Kind::Delay { ms } = fault.kind {
                delay += Duration::from_millis(ms);
            } else {
                acting = Some(fault.kind.clone());
                break;
            }
        }
        self.faults.retain(|fault| fault.left != Some(0));
        (delay, acting)
    }

    /// Which part of which provider a path belongs to. `mark`: the body says that a message was read.
    fn surface(&self, config: &Config, method: &Method, path: &str, mark: bool) -> Surface {
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match segments.as_slice() {
            ["meta", "media-download", ..] => Surface::MetaDownload,
            ["meta", _, _, "messages"] if mark => Surface::MetaMarks,
            ["meta", _, _, "messages"] => Surface::MetaMessages,
            ["meta", _, _, "flows" | "assets" | "publish" | "deprecate"] | ["meta", "flow-asset", ..] => {
                Surface::MetaFlows
            }
            ["meta", _, node] if self.flows.iter().any(|flow| flow.id == *node) => Surface::MetaFlows,
            ["meta", _, node] if *method == Method::GET && *node != config.phone_number_id => {
                Surface::MetaMedia
            }
            ["meta", ..] => Surface::MetaOther,
            ["partner", "api", "login"] => Surface::PartnerLogin,
            ["partner", "api", "incidents", ..] => Surface::PartnerIncidents,
            ["partner", ..] => Surface::PartnerOther,
            _ => Surface::CartoCiudad,
        }
    }
}

/// The middleware before all providers.
pub(crate) async fn gate(
    Extract(state): Extract<Shared>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    request: Request,
    next: Next,
) -> Response {
    let (mut request, mut mark) = (request, false);
    if request.uri().path().ends_with("/messages") {
        // What these are only their bodies tell.
        let (parts, body) = request.into_parts();
        let Ok(body) = to_bytes(body, LARGEST_BODY).await else {
            return StatusCode::PAYLOAD_TOO_LARGE.into_response();
        };
        mark = serde_json::from_slice::<Value>(&body).is_ok_and(|body| body.get("status").is_some());
        request = Request::from_parts(parts, Body::from(body));
    }
    let (surface, (delay, fault)) = {
        let mut inner = state.lock();
        let surface = inner.surface(&state.config, request.method(), request.uri().path(), mark);
        (surface, inner.take_faults(surface))
    };
    let incoming = Incoming::new(surface, request.method().to_string(), request.uri().to_string());
    if let Some(cut) = match fault {
        Some(Kind::Reset) => Some(Cut::Reset),
        Some(Kind::Down) => Some(Cut::Close),
        _ => None,
    } {
        incoming.answered(&state, b"", None, None);
        return close(&connection, cut);
    }

    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LARGEST_BODY).await else {
        incoming.answered(&state, b"", None, Some(413));
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let refusal = match &fault {
        Some(Kind::Status { status, html: Some(html), .. }) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Some((status, Html(html.clone())).into_response())
        }
        Some(Kind::Status { status, body, location, retry_after, .. }) => {
            let mut response = answer(surface, *status, body.clone(), *retry_after);
            if let Some(location) =
                location.as_deref().and_then(|location| HeaderValue::from_str(location).ok())
            {
                response.headers_mut().insert(LOCATION, location);
            }
            Some(response)
        }
        Some(Kind::MetaError { code, status, retry_after }) => Some(meta_error(*code, *status, *retry_after)),
        Some(Kind::Hang) => {
            incoming.answered(&state, &body, None, None);
            state.stop.cancelled().await;
            return close(&connection, Cut::Close);
        }
        _ => None,
    };
    if let Some(response) = refusal {
        incoming.answered(&state, &body, None, Some(response.status().as_u16()));
        return response;
    }

    let mut request = Request::from_parts(parts, Body::from(body.clone()));
    match fault {
        Some(Kind::Trap { trap }) => {
            request.extensions_mut().insert(trap);
        }
        Some(Kind::FailLater { code }) => {
            request.extensions_mut().insert(FailsLater(code));
        }
        _ => {}
    }
    let response = next.run(request).await;
    let worked = Some(response.status().as_u16());
    match fault {
        Some(Kind::AcceptThenReset) => {
            incoming.answered(&state, &body, worked, None);
            close(&connection, Cut::Reset)
        }
        Some(Kind::AcceptThenStatus { status, body: other, retry_after }) => {
            let response = answer(surface, status, other, retry_after);
            incoming.answered(&state, &body, worked, Some(response.status().as_u16()));
            response
        }
        _ => {
            incoming.answered(&state, &body, worked, worked);
            response
        }
    }
}

/// The response is never seen: writing it is what closes the connection.
fn close(connection: &Connection, cut: Cut) -> Response {
    connection.cut(cut);
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

fn answer(surface: Surface, status: u16, body: Option<Value>, retry_after: Option<u64>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let response = match (body, surface) {
        (Some(body), _) => (status, Json(body)).into_response(),
        (None, Surface::CartoCiudad) => cartociudad::html(status),
        (None, Surface::PartnerLogin | Surface::PartnerIncidents | Surface::PartnerOther) => {
            (status, Json(json!({"error": "the platform has a bad day"}))).into_response()
        }
        (
            None,
            Surface::MetaMessages
            | Surface::MetaMarks
            | Surface::MetaMedia
            | Surface::MetaDownload
            | Surface::MetaFlows
            | Surface::MetaOther,
        ) => meta::GraphError::with_code(131_000, status, "Something went wrong").into_response(),
    };
    with_retry_after(response, retry_after)
}

fn meta_error(code: i64, status: Option<u16>, retry_after: Option<u64>) -> Response {
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let error =
        meta::GraphError::with_code(code, status.unwrap_or(StatusCode::BAD_REQUEST), "Injected by a test");
    with_retry_after(error.into_response(), retry_after)
}

fn with_retry_after(mut response: Response, seconds: Option<u64>) -> Response {
    if let Some(seconds) = seconds {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
