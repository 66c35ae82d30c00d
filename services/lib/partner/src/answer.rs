//! Reading what the contractor's platform answers, without trusting any of it: bounded, and never quoted, since an
//! error text may repeat what a citizen wrote.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::Found;
use crate::platform::{Platform, Search};

/// No answer that matters is longer.
const MAX_BODY_BYTES: usize = 1 << 20;
/// No id that matters is longer.
const MAX_ID_CHARS: usize = 200;
/// A pause that is asked for is kept up to this length.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);
/// The whole body, or nothing if it was cut or is too long.
pub(crate) async fn body(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Some(body)
}

/// `Retry-After`, seconds or a date, capped at an hour.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    parse_retry_after(value, DateTime::<Utc>::from(SystemTime::now()))
}

fn parse_retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    let wait = if let Ok(seconds) = value.parse::<u64>() {
        Duration::from_secs(seconds)
    } else {
        // An HTTP date is a date of RFC 2822 in GMT. One in the past means now.
        let at = DateTime::parse_from_rfc2822(value).ok()?;
        at.with_timezone(&Utc).signed_duration_since(now).to_std().unwrap_or_default()
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// `name` of a JSON object, text or number.
pub(crate) fn record_id(body: &[u8], name: &str) -> Option<String> {
    usable_id(serde_json::from_slice::<Value>(body).ok()?.get(name)?)
}

pub(crate) fn usable_id(id: &Value) -> Option<String> {
    let id = match id {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let usable = !id.is_empty() && id.chars().count() <= MAX_ID_CHARS && !id.chars().any(char::is_control);
    usable.then_some(id)
}

/// Which of the fields that we send an error text names.
pub(crate) fn fields_named<'a>(body: &[u8], platform: &'a Platform) -> Vec<&'a str> {
    let text = error_text(body);
    let fields = &platform.fields;
    let mut names = fields.names();
    names.push(&fields.photo_content_type);
    names.into_iter().filter(|name| text.contains(&name.to_lowercase())).collect()
}

/// Whether an error text says that this external code is there already. It must name the code: "duplicate" alone
/// can mean anything, and a report taken for delivered is a report lost.
pub(crate) fn says_it_exists(body: &[u8], code_field: &str) -> bool {
    let text = error_text(body);
    text.contains(&code_field.to_lowercase()) && means_exists(&text)
}

/// Whether a text in lower case speaks of something that is there already.
pub(crate) fn means_exists(text: &str) -> bool {
    let exists = ["already exists", "already registered", "duplicate", "ya existe", "duplicado"];
    exists.iter().any(|words| text.contains(words))
}

/// `error` of a JSON object in lower case, else nothing.
fn error_text(body: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    value.as_ref().and_then(|value| value.get("error")?.as_str()).map(str::to_lowercase).unwrap_or_default()
}

/// The answer to a search. Only an empty list says "absent": records of other codes show that the search was not
/// understood, or that what we look for may be on another page.
pub(crate) fn search_result(body: &[u8], external_code: &str, names: &Search) -> Found {
    let Ok(Value::Array(records)) = serde_json::from_slice::<Value>(body) else {
        return Found::Unclear("the search was not answered by a list".to_owned());
    };
    let ours =
        |record: &&Value| record.get(&names.external_code).and_then(Value::as_str) == Some(external_code);
    let found: Vec<&Value> = records.iter().filter(ours).collect();
    match found.first() {
        Some(record) => Found::Record { id: record.get(&names.id).and_then(usable_id), count: found.len() },
        None if records.is_empty() => Found::Absent,
        None => Found::Unclear("the search found other records only".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_after_is_seconds_or_a_date_and_at_most_an_hour() {
        let now = DateTime::parse_from_rfc3339("2026-10-21T07:28:00Z").unwrap().with_timezone(&Utc);
        let parsed = |value| parse_retry_after(value, now).map(|wait| wait.as_secs());
        assert_eq!(parsed(" 120 "), Some(120));
        assert_eq!(parsed("Wed, 21 Oct 2026 07:28:30 GMT"), Some(30));
        assert_eq!(parsed("Wed, 21 Oct 2026 07:27:00 GMT"), Some(0));
        assert_eq!(parsed("86400"), Some(3600));
        assert_eq!(parsed("soon"), None);
        assert_eq!(parsed("-1"), None);
    }

    #[test]
    fn an_id_is_a_short_text_or_a_number() {
        assert_eq!(record_id(br#"{"id":"INC-1"}"#, "id").as_deref(), Some("INC-1"));
        assert_eq!(record_id(br#"{"id":17}"#, "id").as_deref(), Some("17"));
        for bad in [r#"{"id":""}"#, r#"{"id":null}"#, r#"{"id":"a\u0000"}"#, r#"{"id":["#, "[]", ""] {
            assert_eq!(record_id(bad.as_bytes(), "id"), None, "{bad}");
        }
    }

    #[test]
    fn only_a_text_about_the_code_says_that_it_exists() {
        assert!(says_it_exists(br#"{"error":"external_code already exists"}"#, "external_code"));
        assert!(says_it_exists(br#"{"error":"El external_code ya existe"}"#, "external_code"));
        assert!(!says_it_exists(br#"{"error":"duplicate field note"}"#, "external_code"));
        assert!(!says_it_exists(br#"{"error":"external_code is missing"}"#, "external_code"));
        assert!(!says_it_exists(b"external_code already exists", "external_code"));
    }

    #[test]
    fn a_refusal_is_told_by_field_names_only() {
        let platform = Platform::default();
        let named =
            fields_named(br#"{"error":"Note 'my neighbour' is too long, category unknown"}"#, &platform);
        assert_eq!(named, ["category", "note"]);
    }

    #[test]
    fn only_an_empty_list_proves_absence() {
        let found = |body: &str| search_result(body.as_bytes(), "REF-2026-00001", &Search::default());
        assert_eq!(found("[]"), Found::Absent);
        let ours = r#"[{"external_code":"REF-2026-00009","id":1},{"external_code":"REF-2026-00001","id":2}]"#;
        assert_eq!(found(ours), Found::Record { id: Some("2".to_owned()), count: 1 });
        assert!(matches!(found(r#"[{"external_code":"REF-2026-00009"}]"#), Found::Unclear(_)));
        assert!(matches!(found("{}"), Found::Unclear(_)));
    }
}
