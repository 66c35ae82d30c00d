//! What the text of a refusal says, in whatever shape it comes: whether the record exists already, whether it is our token
//! that is refused, and which of our fields it is about.
//!
//! A report that is taken for delivered and is not is lost, so little counts as "already exists": the words must be the
//! platform's own and not what we sent it, and be about the record. "Duplicate" alone can mean anything.

use serde_json::Value;

use crate::answer::json;
use crate::platform::Platform;

/// They speak of the whole record, unless another of our fields is named.
pub(crate) const EXISTS: [&str; 9] = [
    "already exists",
    "already exist",
    "already registered",
    "already been registered",
    "ya existe",
    "ya registrado",
    "ya registrada",
    "ya está registrado",
    "ya está registrada",
];
/// They count where the external code is named, and no other of our fields.
pub(crate) const PERHAPS: [&str; 7] = [
    "duplicate",
    "duplicated",
    "duplicado",
    "duplicada",
    "must be unique",
    "already been taken",
    "already in use",
];
/// They speak of our token, unless one of our fields is named: some platforms say by a 400 what a 401 is for.
const TOKEN: [&str; 9] = [
    "invalid token",
    "token invalid",
    "token is invalid",
    "token expired",
    "token has expired",
    "expired token",
    "jwt expired",
    "not authenticated",
    "unauthorized",
];
/// No error text that matters is longer.
const MOST_TEXT: usize = 64 << 10;

/// The texts of a refusal, each of one object of its body, in words.
pub(crate) struct Refusal(Vec<Vec<String>>);

impl Refusal {
    pub(crate) fn read(body: &[u8]) -> Self {
        let body = &body[..body.len().min(MOST_TEXT)];
        let mut texts = Vec::new();
        match json(body) {
            Some(value) => collect(&value, "", &mut texts),
            None => texts.push(String::from_utf8_lossy(body).into_owned()),
        }
        Self(texts.iter().map(|text| words(text)).collect())
    }

    /// Which of the fields that we send are named.
    pub(crate) fn fields_named<'a>(&self, platform: &'a Platform) -> Vec<&'a str> {
        let mut names = platform.fields.names();
        names.extend(platform.fields.photo_content_type.as_deref());
        names.dedup();
        names.retain(|name| self.0.iter().any(|text| has(text, name)));
        names
    }

    /// Whether it says that the record of `external_code` is there already. `sent`: what we sent, whose words prove
    /// nothing when they come back.
    pub(crate) fn says_it_exists(&self, platform: &Platform, external_code: &str, sent: &[u8]) -> bool {
        let (exists, perhaps) = (unsent(&EXISTS, sent), unsent(&PERHAPS, sent));
        let code = platform.fields.external_code.as_str();
        let others: Vec<&str> = platform.fields.names().into_iter().filter(|name| *name != code).collect();
        self.0.iter().any(|text| {
            let names_code = has(text, code) || has(text, external_code);
            let names_another = others.iter().any(|name| has(text, name));
            let any = |phrases: &[&str]| phrases.iter().any(|phrase| has(text, phrase));
            any(&exists) && (names_code || !names_another) || any(&perhaps) && names_code && !names_another
        })
    }

    /// Whether it says that our token is refused, which is no matter of the report.
    pub(crate) fn keeps_us_out(&self, platform: &Platform, sent: &[u8]) -> bool {
        let (phrases, names) = (unsent(&TOKEN, sent), platform.fields.names());
        self.0.iter().any(|text| {
            phrases.iter().any(|phrase| has(text, phrase)) && !names.iter().any(|name| has(text, name))
        })
    }
}

/// The phrases that are not in what we sent, whose words prove nothing when they come back.
fn unsent(phrases: &[&'static str], sent: &[u8]) -> Vec<&'static str> {
    let sent = words(&String::from_utf8_lossy(sent));
    phrases.iter().copied().filter(|phrase| !has(&sent, phrase)).collect()
}

/// One text for each object: its names and the texts under them, since a name says what the text is about.
fn collect(value: &Value, name: &str, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(format!("{name} {text}")),
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, texts)),
        Value::Object(map) => {
            let mut all = name.to_owned();
            for (key, value) in map {
                match value {
                    Value::String(text) => all.push_str(&format!(" {key} {text}")),
                    Value::Array(items) if items.iter().all(Value::is_string) => {
                        let items = items.iter().filter_map(Value::as_str);
                        all.push_str(&format!(" {key} {}", items.collect::<Vec<_>>().join(" ")));
                    }
                    inner => collect(inner, key, texts),
                }
            }
            texts.push(all);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// In lower case, however they are joined: `external_code`, `externalCode` and `External code` are the same.
pub(crate) fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut small) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        let new = !letter.is_alphanumeric() || small && letter.is_uppercase();
        if new && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        small = letter.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether the words of `phrase` stand in a text one after another.
pub(crate) fn has(text: &[String], phrase: &str) -> bool {
    let phrase = words(phrase);
    !phrase.is_empty() && text.windows(phrase.len()).any(|window| window == phrase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &[u8] = br#"{"external_code":"REF-2026-00001","note":"junto al portal"}"#;

    fn exists(body: &str) -> bool {
        Refusal::read(body.as_bytes()).says_it_exists(&Platform::default(), "REF-2026-00001", SENT)
    }

    #[test]
    fn a_record_that_exists_is_recognised_in_every_shape() {
        for body in [
            r#"{"error":"external_code already exists"}"#,
            r#"{"error":"El external_code ya existe"}"#,
            r#"{"error":"already exists"}"#,
            r#"{"error":{"code":"ALREADY_EXISTS","message":"conflict"}}"#,
            r#"{"message":"Incident with this External Code already exists."}"#,
            r#"{"errors":{"external_code":["has already been taken"],"category":["is unknown"]}}"#,
            r#"{"errors":[{"field":"externalCode","message":"must be unique"}]}"#,
            r#"{"errors":[{"source":{"pointer":"/data/external_code"},"title":"already exists"}]}"#,
            r#"{"detail":"Duplicate incident REF-2026-00001"}"#,
            r#"["external_code already exists"]"#,
            "El aviso REF-2026-00001 ya está registrado",
            "IncidentAlreadyExistsException: already exists",
        ] {
            let counts = exists(body);
            // A list of what is wrong with two fields is a refusal of the whole.
            let two = body.contains("category");
            assert_eq!(counts, !two, "{body}");
        }
    }

    #[test]
    fn what_only_may_mean_it_is_a_refusal() {
        for body in [
            r#"{"error":"duplicate field note"}"#,
            r#"{"error":"duplicate"}"#,
            r#"{"error":"external_code is missing"}"#,
            r#"{"error":"photo already exists"}"#,
            r#"{"external_code":"REF-2026-00001","error":"duplicate photo"}"#,
            r#"{"error":"nothing of this kind exists"}"#,
            "",
            "<html><h1>422</h1></html>",
        ] {
            assert!(!exists(body), "{body}");
        }
    }

    #[test]
    fn our_own_words_prove_nothing() {
        let sent = br#"{"external_code":"REF-2026-00001","note":"Ya existe un aviso, duplicado"}"#;
        let said = |body: &str| {
            Refusal::read(body.as_bytes()).says_it_exists(&Platform::default(), "REF-2026-00001", sent)
        };
        assert!(!said(r#"{"error":"'Ya existe un aviso, duplicado' is not allowed in REF-2026-00001"}"#));
        assert!(said(r#"{"error":"external_code already exists"}"#));
    }

    #[test]
    fn a_token_that_is_refused_by_another_status_is_recognised() {
        let kept_out =
            |body: &str, sent: &[u8]| Refusal::read(body.as_bytes()).keeps_us_out(&Platform::default(), sent);
        for body in [
            r#"{"error":"Token expired"}"#,
            r#"{"error":"invalid_token","error_description":"The access token is invalid"}"#,
            r#"{"errors":[{"title":"JWT expired"}]}"#,
            "unauthorized",
        ] {
            assert!(kept_out(body, SENT), "{body}");
        }
        for body in [
            r#"{"error":"note: invalid token '<'"}"#,
            r#"{"error":"category is invalid"}"#,
            r#"{"error":"the token of the event is missing"}"#,
            "",
        ] {
            assert!(!kept_out(body, SENT), "{body}");
        }
        assert!(!kept_out(r#"{"error":"'token expired' is not allowed"}"#, b"{\"note\":\"token expired\"}"));
    }

    #[test]
    fn a_short_name_is_a_word_and_no_part_of_one() {
        let platform = Platform::parse("fields: {external_code: ref}").unwrap();
        let said =
            |body: &str| Refusal::read(body.as_bytes()).says_it_exists(&platform, "REF-2026-00001", SENT);
        assert!(said(r#"{"error":"Ref: duplicado"}"#));
        assert!(!said(r#"{"error":"refused: duplicado"}"#));
    }

    #[test]
    fn a_refusal_is_told_by_field_names_only() {
        let platform = Platform::default();
        let refusal = Refusal::read(br#"{"error":"Note 'my neighbour' is too long, category unknown"}"#);
        assert_eq!(refusal.fields_named(&platform), ["category", "note"]);
        let refusal =
            Refusal::read(br#"{"errors":[{"loc":["body","reported_at"],"msg":"denoted wrongly"}]}"#);
        assert_eq!(refusal.fields_named(&platform), ["reported_at"]);
    }
}
