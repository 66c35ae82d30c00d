//! What an Open311 endpoint answers: a list of one record, or of what is wrong, in JSON or in XML.
//!
//! An error's `code` and text say more than the status, which for much is just 400. They are read for four things, in this
//! order: the request is there already; our key, our jurisdiction or our path is refused, which is no matter of the report;
//! the report itself is wrong; and everything else, behind which something may have been made. A report that is given up
//! for a failure of theirs is lost, so it counts as wrong only where one of its fields is named, and nothing that fails.

use reqwest::Response;
use serde_json::Value;

use super::xml;
use crate::refusal::{EXISTS, PERHAPS, has, words};
use crate::{Answer, Prepared, Proof, Seen, answer};

/// Words that find fault with what was sent.
const FAULTS: [&str; 22] = [
    "missing",
    "required",
    "mandatory",
    "invalid",
    "not valid",
    "unknown",
    "unrecognized",
    "unrecognised",
    "not recognized",
    "not recognised",
    "not supported",
    "not allowed",
    "not found",
    "not provided",
    "does not exist",
    "must be",
    "must have",
    "out of",
    "outside",
    "too long",
    "blank",
    "empty",
];
/// Words for what was sent. Not "long", which is no field in "took too long".
const FIELDS: [&str; 15] = [
    "service code",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "coordinate",
    "coordinates",
    "location",
    "address",
    "description",
    "media",
    "photo",
    "image",
    "attribute",
    "attributes",
];
/// Words for what is on their side: where one of these is said too, something there may have failed half way.
const THEIRS: [&str; 17] = [
    "try again",
    "later",
    "temporarily",
    "timeout",
    "timed out",
    "unavailable",
    "internal",
    "server",
    "backend",
    "back office",
    "backoffice",
    "database",
    "connection",
    "upstream",
    "unexpected",
    "exception",
    "failed",
];
/// Words for what lets us in.
const ACCESS: [&str; 4] = ["api key", "apikey", "jurisdiction", "not authorized"];

/// The records, or the errors, of a body.
pub(super) fn entries(body: &[u8]) -> Option<Vec<Value>> {
    match answer::json(body) {
        Some(Value::Array(entries)) => Some(entries),
        Some(Value::Object(mut object)) => match object.remove("errors") {
            Some(Value::Array(errors)) => Some(errors),
            Some(other) => {
                object.insert("errors".to_owned(), other);
                Some(vec![Value::Object(object)])
            }
            None => Some(vec![Value::Object(object)]),
        },
        Some(_) => None,
        None => xml::records(&String::from_utf8_lossy(body)).map(|(_, entries)| entries),
    }
}

/// The records of a body that is a list of them, and nothing else: an error is no empty list.
pub(super) fn list(body: &[u8]) -> Option<Vec<Value>> {
    match answer::json(body) {
        Some(Value::Array(records)) => Some(records),
        Some(_) => None,
        None => {
            let text = String::from_utf8_lossy(body);
            let (name, records) = xml::records(&text)?;
            name.ends_with("requests").then_some(records)
        }
    }
}

/// What the head and the body of an answer to a create prove.
pub(super) async fn read(prepared: &Prepared, response: Response) -> Seen {
    let status = response.status().as_u16();
    let retry_after = answer::retry_after(response.headers());
    let mut answer = Answer { status, retry_after, ..Answer::default() };
    let mut detail = format!("http {status}");
    let body = answer::body(response, answer::MOST_BYTES).await;
    let entries = body.and_then(|body| entries(&body)).unwrap_or_default();
    let id = || entries.first().and_then(|one| one.get("service_request_id")).and_then(answer::usable_id);
    match status {
        200..=299 => {
            answer.id = id();
            // Accepted, with the id to come: it is asked for, and never posted again.
            let token = entries.first().and_then(|one| one.get("token")).and_then(answer::usable_id);
            answer.token = token.filter(|_| answer.id.is_none());
            if answer.token.is_some() {
                detail.push_str(", the id will be told for a token");
            } else if answer.id.is_none() {
                detail.push_str(", no id in its body");
            }
        }
        400..=499 => {
            let Refusal { exists, access, unclear, codes } = Refusal::read(&entries, prepared);
            answer.already_exists = exists;
            answer.id = exists.then(id).flatten();
            answer.access_refused = access;
            // Other statuses say by themselves that nothing was made, unless they are contradicted.
            answer.unclear = match status {
                400 => unclear,
                _ => codes.iter().any(|code| fails(code)),
            };
            if !codes.is_empty() {
                detail.push_str(&format!(", code {}", codes.join(", ")));
            }
        }
        _ => {}
    }
    Seen { proof: Proof::Answer(answer), detail }
}

/// What errors say.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    exists: bool,
    access: bool,
    /// Neither of these, and no fault of the report's either.
    unclear: bool,
    codes: Vec<String>,
}

impl Refusal {
    fn read(errors: &[Value], prepared: &Prepared) -> Self {
        let said: Vec<Vec<String>> =
            errors.iter().filter_map(|error| error.get("description")?.as_str()).map(words).collect();
        let codes: Vec<String> =
            errors.iter().filter_map(|error| error.get("code")).filter_map(answer::usable_id).collect();
        let any = |phrases: &[&str]| said.iter().any(|text| phrases.iter().any(|phrase| has(text, phrase)));
        let code = |known: &[&str]| codes.iter().any(|code| known.contains(&code.as_str()));
        let (names_field, names_theirs) = (any(&FIELDS), any(&THEIRS));
        let exists =
            code(&["409"]) || (any(&EXISTS) || any(&PERHAPS) && !names_field) && !says_so_itself(prepared);
        let access = !exists && (code(&["401", "403", "404", "405"]) || any(&ACCESS) && !names_theirs);
        let wrong = any(&FAULTS) && names_field && !names_theirs && !codes.iter().any(|code| fails(code));
        Self { exists, access, unclear: !exists && !access && !wrong, codes }
    }
}

/// Whether a code is one of those behind which something may have been made.
fn fails(code: &str) -> bool {
    code.parse().is_ok_and(|code: u16| matches!(code, 408 | 425 | 500..=599))
}

/// Whether words that mean "already exists" are in what we sent: they prove nothing when they come back.
fn says_so_itself(prepared: &Prepared) -> bool {
    form_urlencoded::parse(&prepared.body).any(|(_, sent)| {
        let sent = words(&sent);
        EXISTS.iter().chain(&PERHAPS).any(|phrase| has(&sent, phrase))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> (bool, bool, bool) {
        let prepared = Prepared {
            external_code: "REF-2026-00001".to_owned(),
            endpoint: "https://city.example/requests.json".to_owned(),
            body: "service_code=0417&lat=42.8&long=-2.6&description=junto+al+portal".into(),
            body_sha256: [0; 32],
        };
        let Refusal { exists, access, unclear, .. } =
            Refusal::read(&entries(body.as_bytes()).unwrap_or_default(), &prepared);
        (exists, access, unclear)
    }

    #[test]
    fn an_error_is_no_list() {
        for none in ["", "{}", r#"{"errors":[]}"#, "<errors></errors>", "<html><body></body></html>", "ok"] {
            assert_eq!(list(none.as_bytes()), None, "{none}");
        }
        for empty in ["[]", "<service_requests/>", "<service_requests type=\"array\"></service_requests>"] {
            assert_eq!(list(empty.as_bytes()), Some(Vec::new()), "{empty}");
        }
    }

    const EXISTS_ALREADY: (bool, bool, bool) = (true, false, false);
    const NO_ACCESS: (bool, bool, bool) = (false, true, false);
    const UNCLEAR: (bool, bool, bool) = (false, false, true);
    const WRONG: (bool, bool, bool) = (false, false, false);

    #[test]
    fn what_a_400_means_is_read_from_its_code_and_its_text() {
        for (expected, bodies) in [
            (
                WRONG,
                &[
                    r#"[{"code":400,"description":"service_code was not provided"}]"#,
                    r#"[{"code":"400","description":"lat/long is out of the city"}]"#,
                    r#"[{"description":"Invalid media_url"}]"#,
                    r#"[{"code":1,"description":"Description must be shorter"},{"code":2,"description":"Attribute WIDTH is required"}]"#,
                    r#"{"code":400,"description":"The address is missing"}"#,
                    r#"{"errors":[{"code":400,"description":"unknown service_code 0417"}]}"#,
                    "<errors><error><code>400</code><description>service_code is not valid</description></error></errors>",
                ][..],
            ),
            (
                EXISTS_ALREADY,
                &[
                    r#"[{"code":400,"description":"This request is a duplicate of R-7"}]"#,
                    r#"[{"code":"409","description":"conflict"}]"#,
                    r#"[{"code":422,"description":"External reference already exists"}]"#,
                    "<errors><error><description>Already exists</description></error></errors>",
                ],
            ),
            (
                NO_ACCESS,
                &[
                    r#"[{"code":403,"description":"Missing or invalid"}]"#,
                    r#"[{"code":400,"description":"api_key is invalid"}]"#,
                    r#"[{"code":"400","description":"jurisdiction_id was not provided"}]"#,
                    r#"[{"code":404,"description":"service_code was not found"}]"#,
                    "<errors><error><code>403</code><description>API key</description></error></errors>",
                ],
            ),
            (
                UNCLEAR,
                &[
                    "",
                    "[]",
                    "{}",
                    "<html><body><p>Bad request</p></body></html>",
                    r#"[{"code":400,"description":"General service error"}]"#,
                    r#"[{"code":400,"description":"Unknown error"}]"#,
                    r#"[{"code":400,"description":"The server ran out of memory"}]"#,
                    r#"[{"code":400,"description":"Invalid response of the backend for this location"}]"#,
                    r#"[{"code":400,"description":"location lookup failed, invalid address"}]"#,
                    r#"[{"code":500,"description":"description is required"}]"#,
                    r#"[{"code":400,"description":"The request took too long"}]"#,
                    r#"[{"code":400,"description":"A required system is down"}]"#,
                    r#"[{"code":400,"description":"duplicate attribute"}]"#,
                ],
            ),
        ] {
            for body in bodies {
                assert_eq!(refusal(body), expected, "{body}");
            }
        }
    }
}
