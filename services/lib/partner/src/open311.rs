//! Open311 GeoReport v2: a form-encoded create, a list of one as its answer, no login, the photo as a link, and no way to
//! look for a record by our reference. So what is in doubt there always waits for a person.
//!
//! * The key is a parameter of each call. It is added when the request leaves, so that nothing that is kept holds it.
//! * The reference travels as an attribute where the service declares one, else as the last line of the description.
//! * A 400 also says "our back office is down", so it refuses for good only where its text says what is wrong with
//!   the request; otherwise something may have been made.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::answer;
use crate::args::PartnerConfig;
use crate::contractor::note;
use crate::list::{self, Listed, Listing};
use crate::platform::Platform;
use crate::refusal::means_exists;
use crate::secret::Rotating;
use crate::wire::{Timeouts, client, get, look, send};
use crate::{
    Answer, Found, Incident, NoPass, Partner, Pass, Photos, Picture, Prepared, Proof, Redeemed, Reply, Seen,
};

/// The specification's limit of a description.
const DESCRIPTION_CHARS: usize = 4000;

/// An answer holds no more records, and no longer time may be asked for at once.
const LIST_RECORDS: usize = 1000;
const LIST_LENGTH: Duration = Duration::from_secs(90 * 24 * 3600);

/// The adapter.
pub(crate) struct Open311 {
    client: Client,
    requests: String,
    services: String,
    tokens: String,
    key: Rotating<SecretString>,
    knock_timeout: Duration,
    platform: Platform,
}

impl Open311 {
    /// # Errors
    /// The TLS backend cannot be set up.
    pub(crate) fn new(partner: &PartnerConfig, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        Ok(Self {
            client: client(timeouts)?,
            requests: format!("{}/requests.json", partner.base_url),
            services: format!("{}/services.json", partner.base_url),
            tokens: format!("{}/tokens", partner.base_url),
            key: Rotating::new(partner.password.clone(), partner.password_file.clone(), Some),
            knock_timeout: timeouts.login,
            platform: partner.platform.clone(),
        })
    }

    /// What the citizen wrote and where it is, within the limit; the reference is never what is cut.
    fn description(&self, incident: &Incident) -> String {
        let tail = match self.platform.open311.reference_attribute {
            Some(_) => String::new(),
            None => format!("\n[{}]", incident.external_code),
        };
        let room = DESCRIPTION_CHARS - tail.chars().count();
        let text: String = note(incident, &self.platform.remarks).chars().take(room).collect();
        format!("{text}{tail}").trim_start().to_owned()
    }

    async fn ask_for_id(&self, token: &str) -> Redeemed {
        // A token is the platform's text: one path segment, whatever it holds.
        let Ok(mut url) = reqwest::Url::parse(&self.tokens) else {
            return Redeemed::Unclear("the request cannot be built".to_owned());
        };
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(&format!("{token}.json"));
        }
        let mut request = self.client.get(url).timeout(self.knock_timeout);
        if let Some(jurisdiction) = &self.platform.open311.jurisdiction_id {
            request = request.query(&[("jurisdiction_id", jurisdiction)]);
        }
        let body = match get(request, answer::MOST_BYTES).await {
            Ok(body) => body,
            Err(seen) => return Redeemed::Unclear(seen),
        };
        match first(&body).as_ref() {
            Some(record) => record
                .get("service_request_id")
                .and_then(answer::usable_id)
                .map_or(Redeemed::NotYet, Redeemed::Id),
            None => Redeemed::Unclear("the answer names no request".to_owned()),
        }
    }

    async fn ask_for_services(&self) -> Result<(), NoPass> {
        let mut request = self.client.get(&self.services).timeout(self.knock_timeout);
        if let Some(jurisdiction) = &self.platform.open311.jurisdiction_id {
            request = request.query(&[("jurisdiction_id", jurisdiction)]);
        }
        let response = send(request).await.map_err(|failure| match failure.proof {
            Proof::Unbuilt => NoPass::Refused(0),
            Proof::NoConnection | Proof::NoAnswer | Proof::Answer(_) => NoPass::Unavailable(failure.detail),
        })?;
        match response.status().as_u16() {
            200..=299 => Ok(()),
            429 => Err(NoPass::Throttled(answer::retry_after(response.headers()))),
            status @ (401 | 403 | 404 | 405) => Err(NoPass::Refused(status)),
            status => Err(NoPass::Unavailable(format!("http {status}"))),
        }
    }
}

impl Partner for Open311 {
    fn searchable(&self) -> bool {
        false
    }

    fn photos(&self) -> Photos {
        if self.platform.open311.photos { Photos::Linked } else { Photos::Unwanted }
    }

    fn prepare(&self, incident: &Incident) -> Prepared {
        let options = &self.platform.open311;
        let mut form = form_urlencoded::Serializer::new(String::new());
        if let Some(jurisdiction) = &options.jurisdiction_id {
            form.append_pair("jurisdiction_id", jurisdiction);
        }
        form.append_pair("service_code", self.platform.category(&incident.category))
            .append_pair("lat", &incident.latitude.to_string())
            .append_pair("long", &incident.longitude.to_string())
            .append_pair("description", &self.description(incident));
        if let Some(address) = &incident.address {
            form.append_pair("address_string", address);
        }
        if let Some(attribute) = &options.reference_attribute {
            form.append_pair(&format!("attribute[{attribute}]"), &incident.external_code);
        }
        for (attribute, value) in &options.attributes {
            form.append_pair(&format!("attribute[{attribute}]"), value);
        }
        if let Picture::Link(link) = &incident.picture {
            form.append_pair("media_url", link);
        }
        let body = form.finish();
        let body_sha256 = Sha256::digest(&body).into();
        Prepared {
            external_code: incident.external_code.clone(),
            endpoint: self.requests.clone(),
            body: body.into(),
            body_sha256,
        }
    }

    fn pass(&self) -> Reply<'_, Result<Pass, NoPass>> {
        Box::pin(async { Ok(Pass(self.key.now().await.expose_secret().into())) })
    }

    fn knock(&self) -> Reply<'_, Result<(), NoPass>> {
        Box::pin(self.ask_for_services())
    }

    fn browse<'a>(&'a self, _: &'a Pass) -> Reply<'a, Result<(), NoPass>> {
        let mut request = self.client.get(&self.requests).timeout(self.knock_timeout);
        if let Some(jurisdiction) = &self.platform.open311.jurisdiction_id {
            request = request.query(&[("jurisdiction_id", jurisdiction)]);
        }
        Box::pin(look(request))
    }

    fn forget<'a>(&'a self, _: &'a Pass) -> Reply<'a, ()> {
        // There is only the one key; the next pass is as its file says then.
        Box::pin(async {})
    }

    fn create<'a>(&'a self, pass: &'a Pass, prepared: &'a Prepared) -> Reply<'a, Seen> {
        let key: String = form_urlencoded::byte_serialize(pass.0.as_bytes()).collect();
        let mut body = prepared.body.to_vec();
        body.extend_from_slice(b"&api_key=");
        body.extend_from_slice(key.as_bytes());
        let request = self
            .client
            .post(&prepared.endpoint)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded; charset=utf-8")
            .body(body);
        Box::pin(async {
            match send(request).await {
                Ok(response) => read_answer(prepared, response).await,
                Err(failure) => Seen { proof: failure.proof, detail: failure.detail },
            }
        })
    }

    fn find<'a>(&'a self, _: &'a Pass, _: &'a str) -> Reply<'a, Found> {
        Box::pin(async { Found::Unclear("an Open311 endpoint cannot be searched by reference".to_owned()) })
    }

    fn listing(&self) -> Option<Listing> {
        // A list shows the description, where our reference then stands, but no attributes.
        let shown = self.platform.open311.reference_attribute.is_none();
        shown.then_some(Listing { most: LIST_RECORDS, longest: LIST_LENGTH })
    }

    fn list<'a>(&'a self, _: &'a Pass, from: DateTime<Utc>, until: DateTime<Utc>) -> Reply<'a, Listed> {
        let moment = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
        let mut request = self
            .client
            .get(&self.requests)
            .query(&[("start_date", moment(from)), ("end_date", moment(until))]);
        if let Some(jurisdiction) = &self.platform.open311.jurisdiction_id {
            request = request.query(&[("jurisdiction_id", jurisdiction)]);
        }
        Box::pin(async {
            match get(request, answer::MOST_BYTES_OF_LIST).await {
                Ok(body) => {
                    let code = |one: &Value| tail(one.get("description")?.as_str()?);
                    list::read(&body, None, "service_request_id", code)
                }
                Err(seen) => Listed::Unclear(seen),
            }
        })
    }

    fn redeem<'a>(&'a self, _: &'a Pass, token: &'a str) -> Reply<'a, Redeemed> {
        Box::pin(self.ask_for_id(token))
    }
}

async fn read_answer(prepared: &Prepared, response: Response) -> Seen {
    let status = response.status().as_u16();
    let retry_after = answer::retry_after(response.headers());
    let mut answer = Answer { status, retry_after, ..Answer::default() };
    let mut detail = format!("http {status}");
    let body = answer::body(response, answer::MOST_BYTES).await;
    let first = body.and_then(|body| first(&body));
    match (status, first.as_ref()) {
        (200..=299, Some(record)) => {
            answer.id = record.get("service_request_id").and_then(answer::usable_id);
            // Accepted, with the id to come: it is asked for, and never posted again.
            answer.token = record.get("token").and_then(answer::usable_id).filter(|_| answer.id.is_none());
            if answer.token.is_some() {
                detail.push_str(", the id will be told for a token");
            }
        }
        (200..=299, None) => detail.push_str(", no readable record in its body"),
        (400, error) => {
            let said = error.and_then(|error| error.get("description")?.as_str()).unwrap_or_default();
            let said = said.to_lowercase();
            answer.already_exists = means_exists(&said) && !says_so_itself(prepared);
            answer.unclear = !answer.already_exists && !blames_the_request(&said);
            if let Some(code) = error.and_then(|error| error.get("code")).and_then(answer::usable_id) {
                detail.push_str(&format!(", code {code}"));
            }
        }
        (_, _) => {}
    }
    Seen { proof: Proof::Answer(answer), detail }
}

/// The only record or error of an answer: of a list, as it should be, or by itself.
fn first(body: &[u8]) -> Option<Value> {
    match answer::json(body)? {
        Value::Array(mut list) if !list.is_empty() => Some(list.swap_remove(0)),
        Value::Array(_) => None,
        object @ Value::Object(_) => Some(object),
        _ => None,
    }
}

/// Whether words that mean "already exists" are in what we sent: they prove nothing when they come back.
fn says_so_itself(prepared: &Prepared) -> bool {
    form_urlencoded::parse(&prepared.body).any(|(_, sent)| means_exists(&sent))
}

/// Our reference at the end of a description.
fn tail(description: &str) -> Option<String> {
    let (_, last) = description.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    Some(last.to_owned())
}

/// Whether an error text in lower case says what is wrong with the request.
fn blames_the_request(said: &str) -> bool {
    let words =
        ["missing", "required", "invalid", "not valid", "unknown", "must be", "out of", "not provided"];
    words.iter().any(|word| said.contains(word))
}
