//! Reads what a phone sends back when the form is completed.
//!
//! Phones and providers differ: the answer comes as a string of JSON or as an object, the token may be
//! missing or the provider's placeholder, an empty note may be absent, a media id may be a number larger than
//! a float can hold. All of these are read alike. What names nothing to report, or cannot be read, is an
//! error; whether the route exists is for the taxonomy of the version that the answer names.

mod repair;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use repair::repair_escapes;

/// The provider's placeholder for a message that was sent without a token.
const NO_TOKEN: &str = "unused";

/// A completed form.
#[derive(Clone, PartialEq, Eq)]
pub struct Completion {
    /// The route of the leaf, as sent: it may be unknown.
    pub route: String,
    /// The citizen's note; none if empty.
    pub note: Option<String>,
    /// The photos, in order. The form asks for exactly one.
    pub photos: Vec<PhotoRef>,
    /// The token of the message that carried the form; some phones leave it out.
    pub flow_token: Option<String>,
    /// The version of the taxonomy the form was made from.
    pub version: Option<String>,
    /// The language of the form.
    pub language: Option<String>,
}

/// A photo that is still to be fetched from the provider.
#[derive(Clone, PartialEq, Eq)]
pub struct PhotoRef {
    /// The provider's media id, digit for digit.
    pub id: String,
    /// SHA-256 of the file, in the provider's base64; empty if it was not told.
    pub sha256: String,
    /// As told, as `image/jpeg`; empty if it was not told.
    pub mime_type: String,
    /// As told; empty if it was not told.
    pub file_name: String,
}

/// An answer that cannot be read. Says nothing of its content, so it can be logged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompletionError {
    /// Not JSON.
    #[error("the answer of the form is not JSON (line {line}, column {column})")]
    NotJson {
        /// Line of the string, from 1.
        line: usize,
        /// Column of that line, from 1.
        column: usize,
    },
    /// JSON, but not an object.
    #[error("the answer of the form is not an object")]
    NotObject,
    /// There is no route, so nothing was chosen.
    #[error("the answer of the form names no route")]
    MissingRoute,
    /// A member has a type it cannot have.
    #[error("the member {0} of the form's answer has a wrong type")]
    Malformed(&'static str),
}

/// What the citizen wrote stays out of logs.
impl std::fmt::Debug for Completion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Completion")
            .field("route", &self.route)
            .field("photos", &self.photos.len())
            .field("version", &self.version)
            .field("language", &self.language)
            .finish_non_exhaustive()
    }
}

/// A media id opens the photo for whoever holds the access token.
impl std::fmt::Debug for PhotoRef {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PhotoRef").field("mime_type", &self.mime_type).finish_non_exhaustive()
    }
}

type Members = BTreeMap<String, Box<RawValue>>;

/// Reads the `response_json` of a completed form, given as a string of JSON or as an object.
///
/// # Errors
/// See [`CompletionError`]; members this crate does not know are ignored.
pub fn parse_completion(response_json: &Value) -> Result<Completion, CompletionError> {
    let text = match response_json {
        Value::String(text) => repair_escapes(text),
        Value::Object(_) => response_json.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(CompletionError::NotObject);
        }
    };
    // Members stay text until their type is known, so that no number passes through a float.
    let members: Members = serde_json::from_str(&text).map_err(|error| {
        if error.is_data() {
            CompletionError::NotObject
        } else {
            CompletionError::NotJson { line: error.line(), column: error.column() }
        }
    })?;
    let route = string(&members, "route")?.ok_or(CompletionError::MissingRoute)?;
    Ok(Completion {
        route,
        note: string(&members, "note")?,
        photos: photos(&members)?,
        flow_token: string(&members, "flow_token")?.filter(|token| token != NO_TOKEN),
        version: string(&members, "version")?,
        language: string(&members, "language")?,
    })
}

/// A string without the space around it; none if absent, null or blank.
fn string(members: &Members, name: &'static str) -> Result<Option<String>, CompletionError> {
    let Some(raw) = members.get(name) else { return Ok(None) };
    let text: Option<String> =
        serde_json::from_str(raw.get()).map_err(|_| CompletionError::Malformed(name))?;
    // The database takes no NUL.
    let text = text.unwrap_or_default().replace('\0', "");
    Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned))
}

#[derive(Deserialize)]
struct Photo {
    id: Box<RawValue>,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    file_name: Option<String>,
}

/// An empty picker is absent, null or an empty list.
fn photos(members: &Members) -> Result<Vec<PhotoRef>, CompletionError> {
    const NAME: &str = "photo";
    let Some(raw) = members.get(NAME) else { return Ok(Vec::new()) };
    let photos: Option<Vec<Photo>> =
        serde_json::from_str(raw.get()).map_err(|_| CompletionError::Malformed(NAME))?;
    photos
        .unwrap_or_default()
        .into_iter()
        .map(|Photo { id, sha256, mime_type, file_name }| {
            Ok(PhotoRef {
                id: media_id(&id).ok_or(CompletionError::Malformed(NAME))?,
                sha256: plain(sha256),
                mime_type: plain(mime_type),
                file_name: plain(file_name),
            })
        })
        .collect()
}

/// A non-empty string, or a whole number digit for digit.
fn media_id(raw: &RawValue) -> Option<String> {
    let raw = raw.get();
    let id = if raw.starts_with('"') { plain(serde_json::from_str(raw).ok()) } else { raw.to_owned() };
    let whole = raw.starts_with('"') || id.bytes().all(|byte| byte.is_ascii_digit());
    (whole && !id.is_empty()).then_some(id)
}

fn plain(text: Option<String>) -> String {
    text.unwrap_or_default().replace('\0', "").trim().to_owned()
}
