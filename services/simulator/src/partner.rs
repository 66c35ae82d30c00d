//! The contractor's platform: a login with a short-lived JWT, and a create that does not deduplicate.
//!
//! The body must hold exactly the agreed fields with the agreed types; a refusal names the first wrong one.
//! The same external code twice makes two incidents: keeping that from happening is the caller's duty.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::{
    Json, Router,
    extract::{Query, State as Extract},
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use bytes::Bytes;
use chrono::DateTime;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::state::{Shared, State, now_text};

const FIELDS: [&str; 8] =
    ["external_code", "category", "latitude", "longitude", "address", "note", "reported_at", "photo"];

/// One record of the contractor, as the control API shows it.
#[derive(Clone, Serialize)]
pub(crate) struct Incident {
    id: String,
    external_code: String,
    category: String,
    latitude: f64,
    longitude: f64,
    address: String,
    note: String,
    reported_at: String,
    photo_sha256: Option<String>,
    photo_content_type: Option<String>,
    received_at: String,
}

pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route("/api/login", post(login))
        .route("/api/incidents", get(search).post(create))
        .fallback(async || error(StatusCode::NOT_FOUND, "not found"))
}

fn error(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": message}))).into_response()
}

async fn login(Extract(state): Extract<Shared>, body: Bytes) -> Response {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Login {
        user: String,
        password: String,
    }
    let Ok(Login { user, password }) = serde_json::from_slice(&body) else {
        return error(StatusCode::BAD_REQUEST, "user and password are expected");
    };
    if user != state.config.partner_user || password != state.config.partner_password {
        return error(StatusCode::UNAUTHORIZED, "wrong user or password");
    }
    let life = state.config.partner_token_life;
    Json(json!({"token": token(&state, life), "expires_in": life.as_secs()})).into_response()
}

async fn create(Extract(state): Extract<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(message) = authorize(&state, &headers) {
        return error(StatusCode::UNAUTHORIZED, message);
    }
    let Ok(body) = serde_json::from_slice(&body) else {
        return error(StatusCode::BAD_REQUEST, "the body is not JSON");
    };
    let mut incident = match read(&state.config.partner_categories, &body) {
        Ok(incident) => incident,
        Err(message) => return error(StatusCode::UNPROCESSABLE_ENTITY, &message),
    };
    let mut inner = state.lock();
    incident.id = format!("INC-{:06}", inner.incidents.len() + 1);
    let id = incident.id.clone();
    inner.incidents.push(incident);
    drop(inner);
    (StatusCode::CREATED, Json(json!({"id": id}))).into_response()
}

#[derive(Deserialize)]
struct Search {
    external_code: Option<String>,
}

async fn search(
    Extract(state): Extract<Shared>,
    headers: HeaderMap,
    Query(Search { external_code }): Query<Search>,
) -> Response {
    if !state.config.partner_search {
        return error(StatusCode::NOT_FOUND, "not found");
    }
    if let Err(message) = authorize(&state, &headers) {
        return error(StatusCode::UNAUTHORIZED, message);
    }
    let Some(external_code) = external_code else {
        return error(StatusCode::UNPROCESSABLE_ENTITY, "external_code is missing");
    };
    let found: Vec<Incident> =
        state.lock().incidents.iter().filter(|one| one.external_code == external_code).cloned().collect();
    Json(found).into_response()
}

/// The agreed body, or what is wrong with it.
fn read(categories: &[String], body: &Value) -> Result<Incident, String> {
    let map = body.as_object().ok_or("the body is not an object")?;
    if let Some(key) = map.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("{key} is not a field"));
    }
    let external_code = text(map, "external_code")?;
    if !is_reference(&external_code) {
        return Err("external_code is not of the form REF-<year>-<number>".to_owned());
    }
    let category = text(map, "category")?;
    let known = if categories.is_empty() {
        !category.trim().is_empty() && category.chars().count() <= 40
    } else {
        categories.contains(&category)
    };
    if !known {
        return Err("category is unknown".to_owned());
    }
    let reported_at = text(map, "reported_at")?;
    DateTime::parse_from_rfc3339(&reported_at).map_err(|_| "reported_at is not RFC 3339")?;
    let photo = match map.get("photo") {
        None | Some(Value::Null) => None,
        Some(photo) => Some(read_photo(photo)?),
    };
    let (photo_content_type, photo_sha256) = photo.unzip();
    Ok(Incident {
        id: String::new(),
        external_code,
        category,
        latitude: degrees(map, "latitude", 90.0)?,
        longitude: degrees(map, "longitude", 180.0)?,
        address: text(map, "address")?,
        note: text(map, "note")?,
        reported_at,
        photo_sha256,
        photo_content_type,
        received_at: now_text(),
    })
}

/// Content type and hash of the bytes.
fn read_photo(photo: &Value) -> Result<(String, String), String> {
    let map = photo.as_object().ok_or("photo is not an object")?;
    if let Some(key) = map.keys().find(|key| !["content_type", "data"].contains(&key.as_str())) {
        return Err(format!("photo.{key} is not a field"));
    }
    let content_type = text(map, "content_type").map_err(|problem| format!("photo.{problem}"))?;
    if !content_type.starts_with("image/") {
        return Err("photo.content_type is not an image type".to_owned());
    }
    let data = text(map, "data").map_err(|problem| format!("photo.{problem}"))?;
    let bytes = STANDARD.decode(data).map_err(|_| "photo.data is not base64")?;
    if bytes.is_empty() {
        return Err("photo.data is empty".to_owned());
    }
    Ok((content_type, hex::encode(Sha256::digest(&bytes))))
}

fn text(map: &Map<String, Value>, key: &str) -> Result<String, String> {
    match map.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{key} is not a text")),
        None => Err(format!("{key} is missing")),
    }
}

fn degrees(map: &Map<String, Value>, key: &str, limit: f64) -> Result<f64, String> {
    let value = map.get(key).ok_or_else(|| format!("{key} is missing"))?;
    let number = value.as_f64().ok_or_else(|| format!("{key} is not a number"))?;
    if number.abs() <= limit { Ok(number) } else { Err(format!("{key} is out of range")) }
}

/// `REF-`, four digits, `-`, at least five digits.
fn is_reference(code: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    code.strip_prefix("REF-")
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(year, number)| year.len() == 4 && digits(year) && number.len() >= 5 && digits(number))
}

fn mac(state: &State) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(&state.token_key).expect("HMAC takes a key of any length")
}

/// A JWT, signed with HS256.
fn token(state: &State, life: Duration) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (issued, life) = (now.as_secs(), life.as_secs());
    let claims = json!({"sub": state.config.partner_user, "iat": issued, "exp": issued + life});
    let header = URL_SAFE_NO_PAD.encode(json!({"alg": "HS256", "typ": "JWT"}).to_string());
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    let mut mac = mac(state);
    mac.update(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

fn authorize(state: &State, headers: &HeaderMap) -> Result<(), &'static str> {
    let token = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .ok_or("a bearer token is expected")?;
    let (signed, signature) = token.rsplit_once('.').ok_or("the token is not valid")?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "the token is not valid")?;
    let mut mac = mac(state);
    mac.update(signed.as_bytes());
    mac.verify_slice(&signature).map_err(|_| "the token is not valid")?;
    let claims = signed.split('.').nth(1).and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
    let claims: Value =
        claims.and_then(|claims| serde_json::from_slice(&claims).ok()).ok_or("the token is not valid")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match claims["exp"].as_u64() {
        Some(end) if now < end => Ok(()),
        _ => Err("the token is spent"),
    }
}
