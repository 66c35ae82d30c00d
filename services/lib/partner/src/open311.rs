//! Open311 GeoReport v2: a form-encoded create, a list of one as its answer, no login, the photo as a link, and no way to
//! look for a record by our reference. So what is in doubt there always waits for a person.
//!
//! * The key is a parameter of each call. It is added when the request leaves, so that nothing that is kept holds it.
//! * The reference travels as an attribute where the service declares one, else as the last line of the description.
//! * A 400 also says "our back office is down", so it refuses for good only where it says what is wrong with the report;
//!   otherwise something may have been made (`reply`).
//! * Answers are asked for in JSON, or in XML where the file says so, and read in both: an endpoint must speak XML, and
//!   some do whatever they are asked for (`xml`).

mod reply;
mod xml;

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::answer;
use crate::args::PartnerConfig;
use crate::contractor::note;
use crate::list::{self, Listed, Listing};
use crate::platform::{Format, Platform};
use crate::secret::Rotating;
use crate::wire::{Timeouts, client, get, look, send};
use crate::{
    Found, Incident, NoPass, Partner, Pass, Photos, Picture, Prepared, Proof, Redeemed, Reply, Seen,
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
    list_timeout: Duration,
    platform: Platform,
}

impl Open311 {
    /// # Errors
    /// The TLS backend cannot be set up.
    pub(crate) fn new(partner: &PartnerConfig, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        let format = partner.platform.open311.format;
        Ok(Self {
            client: client(timeouts)?,
            requests: format!("{}/requests.{}", partner.base_url, format.name()),
            services: format!("{}/services.{}", partner.base_url, format.name()),
            tokens: format!("{}/tokens", partner.base_url),
            key: Rotating::new(partner.password.clone(), partner.password_file.clone(), Some),
            knock_timeout: timeouts.login,
            list_timeout: timeouts.send,
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

    /// A question in the time that one may take, to the city that is meant, where the endpoint serves several.
    fn question(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.timeout(self.knock_timeout).header(ACCEPT, self.accept());
        match &self.platform.open311.jurisdiction_id {
            Some(jurisdiction) => request.query(&[("jurisdiction_id", jurisdiction)]),
            None => request,
        }
    }

    const fn accept(&self) -> &'static str {
        match self.platform.open311.format {
            Format::Json => "application/json",
            Format::Xml => "application/xml, text/xml",
        }
    }

    async fn ask_for_id(&self, token: &str) -> Redeemed {
        // A token is the platform's text: one path segment, whatever it holds.
        let Ok(mut url) = reqwest::Url::parse(&self.tokens) else {
            return Redeemed::Unclear("the request cannot be built".to_owned());
        };
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(&format!("{token}.{}", self.platform.open311.format.name()));
        }
        let body = match get(self.question(self.client.get(url)), answer::MOST_BYTES).await {
            Ok(body) => body,
            Err(seen) => return Redeemed::Unclear(seen),
        };
        match reply::entries(&body).unwrap_or_default().first() {
            Some(record) => record
                .get("service_request_id")
                .and_then(answer::usable_id)
                .map_or(Redeemed::NotYet, Redeemed::Id),
            None => Redeemed::Unclear("the answer names no request".to_owned()),
        }
    }

    async fn ask_for_services(&self) -> Result<(), NoPass> {
        let response = send(self.question(self.client.get(&self.services))).await.map_err(|failure| {
            match failure.proof {
                Proof::Unbuilt => NoPass::Refused(0),
                Proof::NoConnection | Proof::NoAnswer | Proof::Answer(_) => {
                    NoPass::Unavailable(failure.detail)
                }
            }
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
        Box::pin(look(self.question(self.client.get(&self.requests))))
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
            .header(ACCEPT, self.accept())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded; charset=utf-8")
            .body(body);
        Box::pin(async {
            match send(request).await {
                Ok(response) => reply::read(prepared, response).await,
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
        let dates = [("start_date", moment(from)), ("end_date", moment(until))];
        // A list may be long.
        let request = self.question(self.client.get(&self.requests).query(&dates)).timeout(self.list_timeout);
        Box::pin(async {
            match get(request, answer::MOST_BYTES_OF_LIST).await {
                Ok(body) => {
                    let code = |one: &Value| tail(one.get("description")?.as_str()?);
                    list::read(reply::list(&body), "service_request_id", code)
                }
                Err(seen) => Listed::Unclear(seen),
            }
        })
    }

    fn redeem<'a>(&'a self, _: &'a Pass, token: &'a str) -> Reply<'a, Redeemed> {
        Box::pin(self.ask_for_id(token))
    }
}

/// Our reference at the end of a description.
fn tail(description: &str) -> Option<String> {
    let (_, last) = description.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    Some(last.to_owned())
}
