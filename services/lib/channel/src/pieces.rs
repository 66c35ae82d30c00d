//! JSON as slices of the received text: what is wrong inside one piece is not looked at until that piece is read, and
//! every piece can be kept exactly as it came.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::inbound::MOST_PIECES;
use crate::repair::storable;

/// An object's keys with their values unread.
pub(crate) type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// A whole text, if it is JSON. The error quotes nothing of it. A byte order mark is no part of it: some libraries write
/// one, and a parser may ignore it (RFC 8259, 8.1).
pub(crate) fn whole(text: &str) -> Result<&RawValue, String> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
        .map_err(|error| format!("not JSON: line {}, column {}", error.line(), error.column()))
}

/// Takes a body apart as it was received where that can be done, so that what is kept of it is what came; else as it
/// reads when it is mended, if there is anything to mend.
pub(crate) fn as_received<T>(
    body: &[u8],
    take_apart: impl Fn(&str) -> Result<T, String>,
) -> Result<T, String> {
    let first = std::str::from_utf8(body).ok().map(&take_apart);
    if let Some(Ok(taken)) = first {
        return Ok(taken);
    }
    match (first, storable(body)) {
        (Some(Err(error)), Cow::Borrowed(_)) => Err(error),
        (_, mended) => take_apart(&mended),
    }
}

/// The value of a key, unless it is null.
pub(crate) fn present<'a>(fields: &Fields<'a>, key: &str) -> Option<&'a RawValue> {
    fields.get(key).copied().filter(|raw| raw.get() != "null")
}

/// The elements of an array; of one with too many only the first of them, one more than [`MOST_PIECES`].
pub(crate) fn elements(raw: &RawValue) -> Option<Vec<&RawValue>> {
    if !begins(raw, '[') {
        return None;
    }
    let mut first = Vec::new();
    let read = serde_json::Deserializer::from_str(raw.get()).deserialize_seq(Elements(&mut first));
    // Where the reading was broken off the array is not at its end, which is no fault of it.
    (read.is_ok() || first.len() > MOST_PIECES).then_some(first)
}

/// Puts elements away until there are too many.
struct Elements<'v, 'a>(&'v mut Vec<&'a RawValue>);

impl<'de> Visitor<'de> for Elements<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while self.0.len() <= MOST_PIECES
            && let Some(element) = sequence.next_element()?
        {
            self.0.push(element);
        }
        Ok(())
    }
}

/// The fields of an object.
pub(crate) fn fields(raw: &RawValue) -> Option<Fields<'_>> {
    begins(raw, '{').then(|| serde_json::from_str(raw.get()).ok())?
}

/// What is not even begun as it should be is not worth the making of an error, of which there may be a million.
fn begins(raw: &RawValue, with: char) -> bool {
    raw.get().trim_start().starts_with(with)
}

pub(crate) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A piece, mended and parsed; `None` if it is still not readable (deeper than the parser goes), or has more values than
/// any message: each takes many times its own bytes once it is parsed.
pub(crate) fn read(raw: &RawValue) -> Option<Value> {
    if raw.get().len() > MOST_VALUES && separators(raw.get()) > MOST_VALUES {
        return None;
    }
    serde_json::from_str(&storable(raw.get().as_bytes())).ok()
}

/// Values of one message. A form of a hundred fields with ten files has a few hundred.
const MOST_VALUES: usize = 20_000;

/// Commas, colons and opening brackets that stand outside of strings: no fewer than there are values, less one.
fn separators(json: &str) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b':' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}
