//! What the services asked of the providers, in order, for a test to read.

use serde_json::{Value, json};

use crate::{
    faults::Surface,
    state::{State, now_text},
};

/// Older requests are forgotten, so that a long load test does not fill the memory.
const KEPT: usize = 20_000;
/// Longer texts (photos in base64) are replaced by their length.
const LONGEST_TEXT: usize = 4096;

/// One request.
pub(crate) struct Entry {
    surface: Surface,
    method: String,
    path: String,
    at: String,
    /// Null when the connection was closed without an answer.
    status: Option<u16>,
    body: Value,
}

impl Entry {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "surface": self.surface,
            "method": self.method,
            "path": self.path,
            "at": self.at,
            "status": self.status,
            "body": self.body,
        })
    }
}

/// A request as it came in; kept with `answered`.
pub(crate) struct Incoming {
    pub(crate) surface: Surface,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) at: String,
}

impl Incoming {
    pub(crate) fn new(surface: Surface, method: String, path: String) -> Self {
        Self { surface, method, path, at: now_text() }
    }

    /// `worked` is the status of the work itself, `status` what the caller was told.
    pub(crate) fn answered(self, state: &State, body: &[u8], worked: Option<u16>, status: Option<u16>) {
        let body = serde_json::from_slice(body).map_or(Value::Null, shorten);
        let mut inner = state.lock();
        if self.surface == Surface::PartnerIncidents && self.method == "POST" {
            let outcome = match worked {
                Some(201) => "created",
                Some(_) => "refused",
                None => "not handled",
            };
            inner.posts.push(json!({
                "at": self.at,
                "outcome": outcome,
                "status": status,
                "external_code": body["external_code"],
            }));
        }
        let Self { surface, method, path, at } = self;
        if inner.journal.len() == KEPT {
            inner.journal.pop_front();
        }
        inner.journal.push_back(Entry { surface, method, path, at, status, body });
    }
}

fn shorten(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            Value::String(format!("<text of {} bytes>", text.len()))
        }
        Value::Array(items) => items.into_iter().map(shorten).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, shorten(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}
