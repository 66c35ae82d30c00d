//! The Graph API's endpoints for forms: create, upload, read, publish, deprecate, delete.
//!
//! An upload succeeds even when the document has errors; only publishing refuses it. An upload to a
//! published form makes it a draft again, while messages keep showing the last published version.

use axum::{
    Json,
    extract::{Path, Query, Request, State as Extract},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    error::GraphError,
    flow::{Flow, Status},
    flow_form::{categories, fields},
    graph::Caller,
};
use crate::state::{Inner, Shared, State};

const PAGE: usize = 25;

pub(crate) fn read(state: &State, id: &str, fields: Option<&str>) -> Option<Result<Value, GraphError>> {
    state.lock().flows.iter().find(|flow| flow.id == id).map(|flow| flow.to_json(fields))
}

fn find<'a>(inner: &'a mut Inner, id: &str) -> Result<&'a mut Flow, GraphError> {
    inner.flows.iter_mut().find(|flow| flow.id == id).ok_or_else(|| GraphError::no_object(id))
}

#[derive(Deserialize)]
pub(crate) struct Paging {
    limit: Option<usize>,
    after: Option<String>,
    fields: Option<String>,
}

pub(crate) async fn list(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
    Query(paging): Query<Paging>,
) -> Result<Json<Value>, GraphError> {
    if node != state.config.waba_id {
        return Err(GraphError::no_object(&node));
    }
    let start = match &paging.after {
        Some(cursor) => STANDARD
            .decode(cursor)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok())
            .ok_or_else(|| GraphError::parameter("Invalid cursor"))?,
        None => 0,
    };
    let limit = paging.limit.unwrap_or(PAGE).clamp(1, 100);
    let inner = state.lock();
    let page: Vec<Value> = inner
        .flows
        .iter()
        .skip(start)
        .take(limit)
        .map(|flow| flow.to_json(paging.fields.as_deref()))
        .collect::<Result<_, _>>()?;
    let end = start + page.len();
    let mut answer = json!({
        "data": page,
        "paging": {"cursors": {
            "before": STANDARD.encode(start.to_string()),
            "after": STANDARD.encode(end.to_string()),
        }},
    });
    if end < inner.flows.len() {
        let cursor = STANDARD.encode(end.to_string()).replace('=', "%3D");
        let next = format!("{}/meta/v26.0/{node}/flows?limit={limit}&after={cursor}", state.url);
        answer["paging"]["next"] = json!(next);
    }
    Ok(Json(answer))
}

pub(crate) async fn create(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
    request: Request,
) -> Result<Json<Value>, GraphError> {
    if node != state.config.waba_id {
        return Err(GraphError::no_object(&node));
    }
    let mut fields = fields(request).await?;
    let name = match fields.remove("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        Some(_) => return Err(GraphError::parameter("name must be a non-empty string")),
        None => return Err(GraphError::parameter("The parameter name is required.")),
    };
    let categories = categories(fields.remove("categories"))?;
    let text = match fields.remove("flow_json") {
        Some(Value::String(text)) => Some(text),
        Some(_) => return Err(GraphError::parameter("flow_json must be a string")),
        None => None,
    };
    let publish = match fields.remove("publish") {
        None => false,
        Some(value) if value == true || value == "true" => true,
        Some(value) if value == false || value == "false" => false,
        Some(_) => return Err(GraphError::parameter("publish must be a boolean")),
    };
    if let Some((key, _)) = fields.iter().next() {
        return Err(GraphError::parameter(format!("Unexpected parameter {key}")));
    }
    let mut inner = state.lock();
    if inner.flows.iter().any(|flow| flow.name == name) {
        return Err(GraphError::parameter("Flow name is not unique: another Flow of this account has it"));
    }
    let mut flow = Flow::new(name, categories);
    if let Some(text) = text {
        flow.upload(text);
    }
    let mut success = true;
    if publish {
        // The form is created even when it cannot be published.
        success = flow.publish().is_ok();
    }
    let answer = json!({"id": flow.id, "success": success, "validation_errors": flow.problems()});
    inner.flows.push(flow);
    Ok(Json(answer))
}

pub(crate) async fn upload(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
    request: Request,
) -> Result<Json<Value>, GraphError> {
    find(&mut state.lock(), &node)?;
    let mut fields = fields(request).await?;
    let mut take = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(GraphError::parameter(format!("The parameter {key} is required."))),
    };
    let (text, name, kind) = (take("file")?, take("name")?, take("asset_type")?);
    if name != "flow.json" || kind != "FLOW_JSON" {
        return Err(GraphError::parameter("name must be flow.json and asset_type FLOW_JSON"));
    }
    if let Some((key, _)) = fields.iter().next() {
        return Err(GraphError::parameter(format!("Unexpected parameter {key}")));
    }
    let mut inner = state.lock();
    let flow = find(&mut inner, &node)?;
    match flow.status {
        Status::Draft | Status::Published => flow.upload(text),
        Status::Deprecated | Status::Throttled | Status::Blocked => {
            return Err(GraphError::flow(139_001, "The Flow cannot be updated in its state"));
        }
    }
    Ok(Json(json!({"success": true, "validation_errors": flow.problems()})))
}

pub(crate) async fn assets(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
) -> Result<Json<Value>, GraphError> {
    let mut inner = state.lock();
    let flow = find(&mut inner, &node)?;
    let url = format!("{}/meta/flow-asset/{node}", state.url);
    let asset = json!({"name": "flow.json", "asset_type": "FLOW_JSON", "download_url": url});
    let data: Vec<Value> = flow.text().iter().map(|_| asset.clone()).collect();
    Ok(Json(json!({"data": data, "paging": {"cursors": {"before": "MAZDZD", "after": "MAZDZD"}}})))
}

/// The download behind `assets`; its address is the secret, so no token is asked for.
pub(crate) async fn asset(Extract(state): Extract<Shared>, Path(id): Path<String>) -> Response {
    match find(&mut state.lock(), &id).ok().and_then(|flow| flow.text().map(str::to_owned)) {
        Some(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(crate) async fn publish(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
) -> Result<Json<Value>, GraphError> {
    find(&mut state.lock(), &node)?.publish()?;
    Ok(Json(json!({"success": true})))
}

pub(crate) async fn deprecate(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
) -> Result<Json<Value>, GraphError> {
    let mut inner = state.lock();
    let flow = find(&mut inner, &node)?;
    if flow.published.is_none() || flow.status == Status::Deprecated {
        return Err(GraphError::flow(139_003, "Only a published Flow can be deprecated, and only once"));
    }
    flow.status = Status::Deprecated;
    Ok(Json(json!({"success": true})))
}

pub(crate) async fn delete(
    _: Caller,
    Extract(state): Extract<Shared>,
    Path((_, node)): Path<(String, String)>,
) -> Result<Json<Value>, GraphError> {
    let mut inner = state.lock();
    if find(&mut inner, &node)?.status != Status::Draft {
        return Err(GraphError::flow(139_004, "Only a Flow in DRAFT status can be deleted"));
    }
    inner.flows.retain(|flow| flow.id != node);
    Ok(Json(json!({"success": true})))
}
