//! Reading what the contractor's platform answers, without trusting any of it: bounded, and never quoted, since an
//! error text may repeat what a citizen wrote.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDateTime, Utc};
use reqwest::Response;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::Found;
use crate::platform::Search;

/// No answer to a create, a login or a search that matters is longer.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// A list may show a thousand records with all that they hold.
pub(crate) const MOST_BYTES_OF_LIST: usize = 64 << 20;
/// No id that matters is longer.
const MAX_ID_CHARS: usize = 200;
/// A pause that is asked for is kept up to this length.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// The whole body, or nothing if it was cut or is too long.
pub(crate) async fn body(mut response: Response, most: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > most {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Some(body)
}

/// `Retry-After`, seconds or a date, capped at an hour. A date is taken by the platform's own clock where it tells it:
/// ours may be another.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let now = date(headers).unwrap_or_else(|| SystemTime::now().into());
    parse_retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?, now)
}

/// What time it is there, where the platform says so.
pub(crate) fn date(headers: &HeaderMap) -> Option<DateTime<Utc>> {
    headers.get(DATE).and_then(|value| value.to_str().ok()).and_then(http_date)
}

fn parse_retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let wait = match value.trim().parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        // One in the past means now.
        Err(_) => http_date(value)?.signed_duration_since(now).to_std().unwrap_or_default(),
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// A date of HTTP, in the form of today or in one of the two that old servers still use.
fn http_date(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let old = |form| NaiveDateTime::parse_from_str(text, form).ok().map(|at| at.and_utc());
    let new = DateTime::parse_from_rfc2822(text).ok().map(|at| at.with_timezone(&Utc));
    new.or_else(|| old("%A, %d-%b-%y %H:%M:%S GMT")).or_else(|| old("%a %b %e %H:%M:%S %Y"))
}

/// A body as JSON. What surrounds or fills it in ways that JSON forbids and platforms do is let pass: a byte order
/// mark, letters of another encoding in a text that is not ours to keep.
pub(crate) fn json(body: &[u8]) -> Option<Value> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    serde_json::from_slice(body).ok().or_else(|| serde_json::from_str(&String::from_utf8_lossy(body)).ok())
}

/// The value at a name, or at a dotted path of names and of places in a list.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let step = |name: &str| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    };
    // A name may itself hold a dot.
    step(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        at(step(first)?, rest)
    })
}

/// The id at `path` of a JSON body, text or number.
pub(crate) fn record_id(body: &[u8], path: &str) -> Option<String> {
    at(&json(body)?, path).and_then(usable_id)
}

pub(crate) fn usable_id(id: &Value) -> Option<String> {
    let id = match id {
        Value::String(text) => text.trim().to_owned(),
        // One that is no whole number of 64 bits would be another one when it is written down.
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let usable = !id.is_empty() && id.chars().count() <= MAX_ID_CHARS && !id.chars().any(char::is_control);
    usable.then_some(id)
}

/// The records of a body: a list, the list at `items` of an object, or, where that is what `one` knows, the object.
pub(crate) fn records(body: &[u8], items: Option<&str>, one: impl Fn(&Value) -> bool) -> Option<Vec<Value>> {
    let mut value = json(body)?;
    if let Some(items) = items {
        value = at(&value, items)?.clone();
    }
    match value {
        Value::Array(records) => Some(records),
        object if one(&object) => Some(vec![object]),
        _ => None,
    }
}

/// The answer to a search. Only an empty list says "absent": records of other codes show that the search was not
/// understood, or that what we look for may be on another page.
pub(crate) fn search_result(body: &[u8], external_code: &str, names: &Search) -> Found {
    let code = |record: &Value| at(record, &names.external_code).and_then(Value::as_str).map(str::to_owned);
    let Some(records) = records(body, names.items.as_deref(), |object| code(object).is_some()) else {
        return Found::Unclear("the search was not answered by a list".to_owned());
    };
    let ours = |record: &&Value| code(record).as_deref() == Some(external_code);
    let found: Vec<&Value> = records.iter().filter(ours).collect();
    match found.first() {
        Some(record) => Found::Record { id: at(record, &names.id).and_then(usable_id), count: found.len() },
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
        assert_eq!(parsed("Wednesday, 21-Oct-26 07:28:30 GMT"), Some(30));
        assert_eq!(parsed("Wed Oct 21 07:28:30 2026"), Some(30));
        assert_eq!(parsed("Wed, 21 Oct 2026 07:27:00 GMT"), Some(0));
        assert_eq!(parsed("86400"), Some(3600));
        assert_eq!(parsed("soon"), None);
        assert_eq!(parsed("-1"), None);
    }

    #[test]
    fn a_date_is_taken_by_the_clock_of_who_says_it() {
        // Their clock is years from ours.
        let headers = [
            (DATE, "Sun, 06 Nov 1994 08:49:00 GMT".parse().unwrap()),
            (RETRY_AFTER, "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap()),
        ];
        assert_eq!(retry_after(&headers.into_iter().collect()), Some(Duration::from_secs(37)));
    }

    #[test]
    fn an_id_is_a_short_text_or_a_whole_number_wherever_it_stands() {
        for (body, path, id) in [
            (r#"{"id":"INC-1"}"#, "id", "INC-1"),
            (r#"{"id":17}"#, "id", "17"),
            (r#"{"id":18446744073709551615}"#, "id", "18446744073709551615"),
            (r#"{"data":{"order":{"id":" 7 "}}}"#, "data.order.id", "7"),
            (r#"{"data.id":8,"data":{"id":9}}"#, "data.id", "8"),
            (r#"[{"id":9}]"#, "0.id", "9"),
            ("\u{feff}{\"id\":10}", "id", "10"),
        ] {
            assert_eq!(record_id(body.as_bytes(), path).as_deref(), Some(id), "{body}");
        }
        assert_eq!(record_id(b"{\"text\":\"aver\xeda\",\"id\":11}", "id").as_deref(), Some("11"), "Latin-1");
        let bad = [r#"{"id":""}"#, r#"{"id":null}"#, r#"{"id":"a\u0000"}"#, r#"{"id":["#, "[]", "", "<html>"];
        for bad in bad.into_iter().chain([r#"{"id":1e30}"#, r#"{"id":99999999999999999999999}"#]) {
            assert_eq!(record_id(bad.as_bytes(), "id"), None, "{bad}");
        }
    }

    #[test]
    fn only_an_empty_list_proves_absence() {
        let found = |body: &str| search_result(body.as_bytes(), "REF-2026-00001", &Search::default());
        assert_eq!(found("[]"), Found::Absent);
        let ours = r#"[{"external_code":"REF-2026-00009","id":1},{"external_code":"REF-2026-00001","id":2}]"#;
        let two = Found::Record { id: Some("2".to_owned()), count: 1 };
        assert_eq!(found(ours), two);
        assert_eq!(found(r#"{"external_code":"REF-2026-00001","id":2}"#), two, "the record itself");
        for unclear in [
            r#"[{"external_code":"REF-2026-00009"}]"#,
            r#"{"external_code":"REF-2026-00009"}"#,
            "{}",
            "null",
            r#"{"items":[]}"#,
            "",
        ] {
            assert!(matches!(found(unclear), Found::Unclear(_)), "{unclear}");
        }
    }

    #[test]
    fn a_list_in_an_envelope_is_found_by_its_name() {
        let names =
            Search { items: Some("data.items".to_owned()), id: "key.id".to_owned(), ..Search::default() };
        let found = |body: &str| search_result(body.as_bytes(), "REF-2026-00001", &names);
        assert_eq!(found(r#"{"data":{"items":[],"total":0}}"#), Found::Absent);
        let ours = r#"{"data":{"items":[{"external_code":"REF-2026-00001","key":{"id":5}}]}}"#;
        assert_eq!(found(ours), Found::Record { id: Some("5".to_owned()), count: 1 });
        for unclear in ["[]", r#"{"data":{}}"#, r#"{"data":{"items":null}}"#] {
            assert!(matches!(found(unclear), Found::Unclear(_)), "{unclear}");
        }
    }
}
