//! The parameters of a message that carries a form.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    document::{Document, conforms},
    error::GraphError,
    flow::Status,
    validate::{object, one_of, only, text},
};
use crate::state::{Inner, SentFlow};

const PATH: &str = "parameters.";

pub(crate) fn read(inner: &Inner, action: &Map<String, Value>) -> Result<SentFlow, GraphError> {
    only(action, "interactive.action.", &["name", "parameters"])?;
    one_of(action, "interactive.action.", "name", &["flow"])?;
    let map = action.get("parameters").ok_or_else(|| GraphError::missing("parameters"))?;
    let map = object(map, "parameters")?;
    only(
        map,
        PATH,
        &[
            "flow_message_version",
            "flow_id",
            "flow_name",
            "flow_cta",
            "flow_token",
            "flow_action",
            "flow_action_payload",
            "mode",
        ],
    )?;
    one_of(map, PATH, "flow_message_version", &["3"])?;
    let cta = text(map, PATH, "flow_cta", 20)?;
    if cta.chars().any(is_emoji) {
        return Err(GraphError::invalid("parameters.flow_cta must not contain emoji"));
    }
    let token = match map.get("flow_token") {
        Some(_) => Some(text(map, PATH, "flow_token", 4096)?.to_owned()),
        None => None,
    };
    if map.contains_key("flow_action") {
        // The other action needs an endpoint, and the forms here have none.
        one_of(map, PATH, "flow_action", &["navigate"])?;
    }
    let mode = match map.get("mode") {
        Some(_) if one_of(map, PATH, "mode", &["draft", "published"])? == "draft" => "draft",
        _ => "published",
    };
    let (id, name, document) = find(inner, map, mode)?;
    let (screen, data) = start(map, &Document::new(&document))?;
    Ok(SentFlow { id, name, cta: cta.to_owned(), token, mode, screen, data, document })
}

/// The form and the version of it that this message shows.
fn find(
    inner: &Inner,
    map: &Map<String, Value>,
    mode: &str,
) -> Result<(String, String, Arc<Value>), GraphError> {
    let flow = match (map.get("flow_id"), map.get("flow_name")) {
        (Some(_), Some(_)) => return Err(GraphError::invalid("flow_id and flow_name exclude each other")),
        (None, None) => return Err(GraphError::missing("parameters.flow_id")),
        (Some(_), None) => {
            let id = text(map, PATH, "flow_id", 64)?;
            inner.flows.iter().find(|flow| flow.id == id)
        }
        (None, Some(_)) => {
            let name = text(map, PATH, "flow_name", 512)?;
            inner.flows.iter().find(|flow| flow.name == name)
        }
    };
    let flow = flow.ok_or_else(|| GraphError::invalid("The flow does not exist in this account"))?;
    let document = match flow.status {
        Status::Blocked => return Err(GraphError::send(132_068, "The flow is blocked")),
        Status::Throttled => return Err(GraphError::send(132_069, "The flow is throttled")),
        Status::Deprecated => return Err(GraphError::invalid("The flow is deprecated")),
        Status::Published if mode == "draft" => {
            return Err(GraphError::invalid("mode draft is for flows in the state DRAFT"));
        }
        Status::Draft if mode == "draft" => flow.draft_document(),
        // An edited form is a draft again, but messages keep showing what was last published.
        Status::Draft | Status::Published => flow.published.clone(),
    };
    let document = document.ok_or_else(|| GraphError::invalid(format!("The flow has no {mode} version")))?;
    Ok((flow.id.clone(), flow.name.clone(), document))
}

/// The first screen and its data, which must fit the screen's data model.
fn start(
    map: &Map<String, Value>,
    document: &Document<'_>,
) -> Result<(String, Map<String, Value>), GraphError> {
    let entries = document.entry_screens();
    let payload = match map.get("flow_action_payload") {
        Some(payload) => {
            let payload = object(payload, "flow_action_payload")?;
            only(payload, "flow_action_payload.", &["screen", "data"])?;
            Some(payload)
        }
        None => None,
    };
    let screen = match payload.filter(|payload| payload.contains_key("screen")) {
        Some(payload) => text(payload, "flow_action_payload.", "screen", 128)?,
        None => entries.first().copied().ok_or_else(|| GraphError::invalid("No entry screen"))?,
    };
    if document.screen(screen).is_none() {
        return Err(GraphError::invalid(format!("The flow has no screen {screen}")));
    }
    if !entries.contains(&screen) {
        return Err(GraphError::invalid(format!("{screen} is not an entry screen")));
    }
    let data = match payload.and_then(|payload| payload.get("data")) {
        Some(data) => {
            let data = object(data, "flow_action_payload.data")?;
            if data.is_empty() {
                return Err(GraphError::invalid("flow_action_payload.data is empty"));
            }
            data.clone()
        }
        None => Map::new(),
    };
    conforms(document.model(screen), &data)
        .map_err(|problem| GraphError::invalid(format!("flow_action_payload.data: {problem}")))?;
    Ok((screen.to_owned(), data))
}

fn is_emoji(character: char) -> bool {
    matches!(u32::from(character), 0x1f000..|0x2600..=0x27bf| 0xfe0f | 0x2b00..=0x2bff)
}
