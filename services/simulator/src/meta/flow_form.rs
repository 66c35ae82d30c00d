//! The parameters of the calls that make and fill a form: JSON or multipart.

use axum::{
    extract::{FromRequest as _, Multipart, Request},
    http::header::CONTENT_TYPE,
};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::error::GraphError;

const CATEGORIES: [&str; 8] = [
    "SIGN_UP",
    "SIGN_IN",
    "APPOINTMENT_BOOKING",
    "LEAD_GENERATION",
    "CONTACT_US",
    "CUSTOMER_SUPPORT",
    "SURVEY",
    "OTHER",
];
/// The categories of a new form; a form-encoded call carries them as JSON in a text.
pub(super) fn categories(value: Option<Value>) -> Result<Vec<String>, GraphError> {
    let value = match value {
        Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::Null),
        Some(value) => value,
        None => return Err(GraphError::parameter("The parameter categories is required.")),
    };
    let list: Vec<String> = serde_json::from_value(value)
        .map_err(|_| GraphError::parameter("categories must be an array of strings"))?;
    if list.is_empty() || list.iter().any(|one| !CATEGORIES.contains(&one.as_str())) {
        return Err(GraphError::parameter("categories must hold one or more of the known categories"));
    }
    Ok(list)
}

/// The parameters of a call, as JSON or as a multipart form. A form's file becomes a text.
pub(super) async fn fields(request: Request) -> Result<Map<String, Value>, GraphError> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        let body = Bytes::from_request(request, &()).await;
        let body = body.map_err(|_| GraphError::parameter("The body cannot be read"))?;
        return serde_json::from_slice(&body)
            .map_err(|_| GraphError::parameter("The body is not a JSON object"));
    }
    let bad = |_| GraphError::parameter("A JSON or multipart body is expected");
    let mut form = Multipart::from_request(request, &()).await.map_err(bad)?;
    let bad = |_| GraphError::parameter("The multipart body is malformed");
    let mut fields = Map::new();
    while let Some(field) = form.next_field().await.map_err(bad)? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            if field.file_name().is_none() {
                return Err(GraphError::parameter("file must be a file"));
            }
            if field.content_type() != Some("application/json") {
                return Err(GraphError::parameter("file must be of type application/json"));
            }
        }
        let text = field.text().await.map_err(bad)?;
        if fields.insert(name, Value::String(text)).is_some() {
            return Err(GraphError::parameter("A parameter is given twice"));
        }
    }
    Ok(fields)
}
