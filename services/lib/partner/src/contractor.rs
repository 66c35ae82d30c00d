//! The contractor's JSON API: a login for a short-lived token, a create with the photo inline, perhaps a search. Paths
//! and names come from the configuration.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::answer;
use crate::args::PartnerConfig;
use crate::list::{self, Listed, Listing};
use crate::platform::{List, Platform, Remarks};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::wire::{Timeouts, client, get, in_json, look, send};
use crate::{
    Answer, Found, Incident, NoPass, Partner, Pass, Photos, Picture, Prepared, Proof, Redeemed, Reply, Seen,
};

/// The adapter.
pub(crate) struct Contractor {
    client: Client,
    base_url: String,
    incidents: String,
    search: String,
    searchable: bool,
    search_timeout: Duration,
    session: Session,
    platform: Platform,
}

impl Contractor {
    /// # Errors
    /// The TLS backend cannot be set up.
    pub(crate) fn new(partner: &PartnerConfig, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        let client = client(timeouts)?;
        let platform = partner.platform.clone();
        Ok(Self {
            session: Session::new(client.clone(), partner, timeouts.login),
            client,
            base_url: partner.base_url.clone(),
            incidents: format!("{}{}", partner.base_url, platform.create.path),
            search: format!("{}{}", partner.base_url, platform.search.path),
            searchable: partner.search,
            search_timeout: timeouts.login,
            platform,
        })
    }

    /// With the token in its header. One that no header can hold makes the request one that cannot be built.
    fn as_ourselves(&self, request: RequestBuilder, pass: &Pass) -> RequestBuilder {
        let scheme = self.platform.login.scheme.as_ref();
        let said = scheme.map_or_else(|| pass.0.to_string(), |scheme| format!("{scheme} {}", pass.0));
        match HeaderValue::try_from(&said) {
            Ok(mut value) => {
                value.set_sensitive(true);
                request.header(AUTHORIZATION, value)
            }
            Err(_) => request.bearer_auth(&pass.0),
        }
    }

    /// The body of a create: exactly the fields that are named, none left out.
    fn body(&self, incident: &Incident) -> Value {
        let names = &self.platform.fields;
        let mut body = Map::new();
        let mut put = |name: Option<&String>, value: Value| {
            if let Some(name) = name {
                insert(&mut body, name, value);
            }
        };
        put(Some(&names.external_code), json!(incident.external_code));
        put(names.category.as_ref(), json!(self.platform.category(&incident.category)));
        put(names.latitude.as_ref(), json!(incident.latitude));
        put(names.longitude.as_ref(), json!(incident.longitude));
        put(names.address.as_ref(), json!(incident.address.as_deref().unwrap_or_default()));
        put(names.note.as_ref(), json!(note(incident, &self.platform.remarks)));
        let reported_at = incident.reported_at.to_rfc3339_opts(SecondsFormat::Millis, true);
        put(names.reported_at.as_ref(), json!(reported_at));
        let (content_type, data) = match &incident.picture {
            Picture::Photo { content_type, bytes } => (json!(content_type), json!(STANDARD.encode(bytes))),
            Picture::Link(_) | Picture::None | Picture::TooLarge | Picture::Missing => {
                (Value::Null, Value::Null)
            }
        };
        match (&names.photo, &names.photo_data) {
            (None, _) => {}
            (Some(_), None) => {
                put(names.photo.as_ref(), data);
                put(names.photo_content_type.as_ref(), content_type);
            }
            (Some(_), Some(_)) if data.is_null() => put(names.photo.as_ref(), Value::Null),
            (Some(_), Some(name)) => {
                let mut photo = Map::new();
                if let Some(name) = &names.photo_content_type {
                    insert(&mut photo, name, content_type);
                }
                insert(&mut photo, name, data);
                put(names.photo.as_ref(), Value::Object(photo));
            }
        }
        for (name, value) in &self.platform.constants {
            insert(&mut body, name, value.clone());
        }
        Value::Object(body)
    }

    /// What a head and its body prove. A body that is cut, stalls or makes no sense takes nothing from the head.
    async fn read_answer(&self, prepared: &Prepared, response: Response) -> Seen {
        let status = response.status().as_u16();
        let retry_after = answer::retry_after(response.headers());
        let body = answer::body(response, answer::MOST_BYTES).await;
        let mut answer = Answer { status, retry_after, ..Answer::default() };
        let mut detail = format!("http {status}");
        match body.as_deref() {
            None => detail.push_str(", its body was cut or too long"),
            // Only a success or a conflict names the record that we asked for.
            Some(body) if matches!(status, 200..=299 | 409) => {
                answer.id = answer::record_id(body, &self.platform.create.id);
                if answer.id.is_none() {
                    detail.push_str(", no id in its body");
                }
            }
            Some(body) => {
                let refusal = Refusal::read(body);
                let named = refusal.fields_named(&self.platform);
                if !named.is_empty() {
                    detail.push_str(&format!(", naming {}", named.join(", ")));
                }
                answer.already_exists =
                    refusal.says_it_exists(&self.platform, &prepared.external_code, &prepared.body);
                answer.access_refused =
                    !answer.already_exists && refusal.keeps_us_out(&self.platform, &prepared.body);
            }
        }
        Seen { proof: Proof::Answer(answer), detail }
    }
}

/// The note, with a line of its own for a photo that is not there.
pub(crate) fn note(incident: &Incident, remarks: &Remarks) -> String {
    let remark = match &incident.picture {
        Picture::Photo { .. } | Picture::Link(_) | Picture::None => None,
        Picture::TooLarge => Some(remarks.photo_too_large.as_str()),
        Picture::Missing => Some(remarks.photo_missing.as_str()),
    };
    let lines = [incident.note.as_deref(), remark];
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Puts a value at a dotted path. The configuration has been checked: no name is also the beginning of another.
fn insert(map: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            map.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = map.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

impl Partner for Contractor {
    fn searchable(&self) -> bool {
        self.searchable
    }

    fn photos(&self) -> Photos {
        if self.platform.fields.photo.is_some() { Photos::Inline } else { Photos::Unwanted }
    }

    fn prepare(&self, incident: &Incident) -> Prepared {
        let body = self.body(incident).to_string();
        let body_sha256 = Sha256::digest(&body).into();
        Prepared {
            external_code: incident.external_code.clone(),
            endpoint: self.incidents.clone(),
            body: body.into(),
            body_sha256,
        }
    }

    fn pass(&self) -> Reply<'_, Result<Pass, NoPass>> {
        Box::pin(self.session.pass())
    }

    fn knock(&self) -> Reply<'_, Result<(), NoPass>> {
        Box::pin(self.session.renew())
    }

    fn browse<'a>(&'a self, pass: &'a Pass) -> Reply<'a, Result<(), NoPass>> {
        let request = if self.searchable {
            let nothing = [(self.platform.search.query.as_str(), "")];
            self.client.get(&self.search).query(&nothing)
        } else {
            self.client.get(&self.incidents)
        };
        Box::pin(look(self.as_ourselves(in_json(request).timeout(self.search_timeout), pass)))
    }

    fn forget<'a>(&'a self, pass: &'a Pass) -> Reply<'a, ()> {
        Box::pin(self.session.forget(pass))
    }

    fn create<'a>(&'a self, pass: &'a Pass, prepared: &'a Prepared) -> Reply<'a, Seen> {
        let request = self
            .as_ourselves(in_json(self.client.post(&prepared.endpoint)), pass)
            .header(CONTENT_TYPE, "application/json")
            .body(prepared.body.clone());
        Box::pin(async {
            match send(request).await {
                Ok(response) => self.read_answer(prepared, response).await,
                Err(failure) => Seen { proof: failure.proof, detail: failure.detail },
            }
        })
    }

    fn find<'a>(&'a self, pass: &'a Pass, external_code: &'a str) -> Reply<'a, Found> {
        let request = self
            .as_ourselves(in_json(self.client.get(&self.search)), pass)
            .timeout(self.search_timeout)
            .query(&[(self.platform.search.query.as_str(), external_code)]);
        Box::pin(async move {
            match get(request, answer::MOST_BYTES).await {
                Ok(body) => answer::search_result(&body, external_code, &self.platform.search),
                Err(seen) => Found::Unclear(seen),
            }
        })
    }

    fn listing(&self) -> Option<Listing> {
        let list = self.platform.list.as_ref()?;
        Some(Listing {
            most: list.most,
            longest: Duration::from_secs(u64::from(list.longest_days) * 24 * 3600),
        })
    }

    fn list<'a>(&'a self, pass: &'a Pass, from: DateTime<Utc>, until: DateTime<Utc>) -> Reply<'a, Listed> {
        let Some(List { path, since, until: to, items, .. }) = &self.platform.list else {
            return Box::pin(async { Listed::Unclear("this platform has no list".to_owned()) });
        };
        let moment = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Millis, true);
        let request = self
            .as_ourselves(in_json(self.client.get(format!("{}{path}", self.base_url))), pass)
            .query(&[(since.as_str(), moment(from)), (to.as_str(), moment(until))]);
        let names = &self.platform.search;
        Box::pin(async move {
            let code = |one: &Value| Some(answer::at(one, &names.external_code)?.as_str()?.to_owned());
            match get(request, answer::MOST_BYTES_OF_LIST).await {
                Ok(body) => list::read(answer::records(&body, items.as_deref(), |_| false), &names.id, code),
                Err(seen) => Listed::Unclear(seen),
            }
        })
    }

    fn redeem<'a>(&'a self, _: &'a Pass, _: &'a str) -> Reply<'a, Redeemed> {
        Box::pin(async { Redeemed::Unclear("this platform gives no tokens".to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_names_are_nested() {
        let mut body = Map::new();
        insert(&mut body, "at.lat", json!(1));
        insert(&mut body, "at.lon", json!(2));
        insert(&mut body, "code", json!("x"));
        assert_eq!(Value::Object(body), json!({ "at": { "lat": 1, "lon": 2 }, "code": "x" }));
    }
}
