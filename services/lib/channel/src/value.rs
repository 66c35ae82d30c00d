//! Reading parsed JSON leniently: a key that is missing, null or of another type is simply not there.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

/// The last second of the year 9999; what lies beyond is no time of a message and no timestamp of Postgres.
pub(crate) const LATEST_SECOND: i64 = 253_402_300_799;

/// A non-empty string, or a number as its digits: ids come as either.
pub(crate) fn word(value: &Value, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A string as it is, an empty one included.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

/// An object.
pub(crate) fn object<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|inner| inner.is_object())
}

/// The elements of an array; none where there is no array.
pub(crate) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A finite number, or a string that spells one.
pub(crate) fn degrees(value: &Value, key: &str) -> Option<f64> {
    let number = match value.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

/// A whole number, or a string that spells one.
pub(crate) fn whole(value: &Value, key: &str) -> Option<i64> {
    match value.get(key)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Unix seconds, as a string or a number.
pub(crate) fn time(value: &Value, key: &str) -> Option<DateTime<Utc>> {
    let seconds = whole(value, key)?;
    (0..=LATEST_SECOND).contains(&seconds).then(|| DateTime::from_timestamp(seconds, 0)).flatten()
}

/// A MIME type without its parameters, in lower case.
pub(crate) fn mime(value: &Value, key: &str) -> Option<String> {
    let full = word(value, key)?;
    let bare = full.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!bare.is_empty()).then_some(bare)
}

/// Copies what is there and not null.
pub(crate) fn keep(metadata: &mut Map<String, Value>, name: &str, value: Option<&Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        metadata.insert(name.to_owned(), value.clone());
    }
}
