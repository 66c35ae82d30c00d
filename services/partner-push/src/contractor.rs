//! The contractor's JSON API: a login for a short-lived JWT, a create with the photo inline, perhaps a search.
//!
//! No connection is kept between requests. A pooled connection that the other side closes while a create is being
//! written cannot be told from one that read it, and a handshake costs less than a person's look at the report.

use std::error::Error as _;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::SecondsFormat;
use reqwest::header::{CONNECTION, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::answer;
use crate::config::{PartnerConfig, Sending};
use crate::partner::{Answer, Found, Incident, NoPass, Partner, Pass, Prepared, Proof, Reply, Seen};
use crate::session::Session;

/// Never reached, as every request closes its connection.
const IDLE: Duration = Duration::from_secs(1);

/// The adapter.
pub(crate) struct Contractor {
    client: Client,
    incidents: String,
    search_timeout: Duration,
    session: Session,
}

/// The body of a create: exactly these fields, none left out.
#[derive(Serialize)]
struct Body<'a> {
    external_code: &'a str,
    category: &'a str,
    latitude: f64,
    longitude: f64,
    address: &'a str,
    note: &'a str,
    reported_at: String,
    photo: Option<BodyPhoto<'a>>,
}

#[derive(Serialize)]
struct BodyPhoto<'a> {
    content_type: &'a str,
    data: String,
}

impl Contractor {
    /// # Errors
    /// The TLS backend cannot be set up.
    pub(crate) fn new(partner: &PartnerConfig, sending: &Sending) -> Result<Self, reqwest::Error> {
        let client = runtime::http::client(sending.connect_timeout, sending.send_timeout, IDLE)?;
        let login = format!("{}/api/login", partner.base_url);
        Ok(Self {
            session: Session::new(client.clone(), login, partner, sending.login_timeout),
            client,
            incidents: format!("{}/api/incidents", partner.base_url),
            search_timeout: sending.login_timeout,
        })
    }
}

impl Partner for Contractor {
    fn prepare(&self, incident: &Incident) -> Prepared {
        let body = Body {
            external_code: &incident.external_code,
            category: &incident.category,
            latitude: incident.latitude,
            longitude: incident.longitude,
            address: incident.address.as_deref().unwrap_or_default(),
            note: incident.note.as_deref().unwrap_or_default(),
            reported_at: incident.reported_at.to_rfc3339_opts(SecondsFormat::Millis, true),
            photo: incident.photo.as_ref().map(|photo| BodyPhoto {
                content_type: &photo.content_type,
                data: STANDARD.encode(&photo.bytes),
            }),
        };
        let body = serde_json::to_vec(&body).expect("texts and numbers always serialise");
        let body_sha256 = Sha256::digest(&body).into();
        Prepared { endpoint: self.incidents.clone(), body: body.into(), body_sha256 }
    }

    fn pass(&self) -> Reply<'_, Result<Pass, NoPass>> {
        Box::pin(self.session.pass())
    }

    fn knock(&self) -> Reply<'_, Result<(), NoPass>> {
        Box::pin(self.session.renew())
    }

    fn forget<'a>(&'a self, pass: &'a Pass) -> Reply<'a, ()> {
        Box::pin(self.session.forget(pass))
    }

    fn create<'a>(&'a self, pass: &'a Pass, prepared: &'a Prepared) -> Reply<'a, Seen> {
        let request = self
            .client
            .post(&prepared.endpoint)
            .bearer_auth(&pass.0)
            .header(CONTENT_TYPE, "application/json")
            .body(prepared.body.clone());
        Box::pin(async {
            match send(request).await {
                Ok(response) => read_answer(response).await,
                Err(failure) => Seen { proof: failure.proof, detail: failure.detail },
            }
        })
    }

    fn find<'a>(&'a self, pass: &'a Pass, external_code: &'a str) -> Reply<'a, Found> {
        let request = self
            .client
            .get(&self.incidents)
            .timeout(self.search_timeout)
            .query(&[("external_code", external_code)])
            .bearer_auth(&pass.0);
        Box::pin(async move {
            let response = match send(request).await {
                Ok(response) => response,
                Err(failure) => return Found::Unclear(failure.detail),
            };
            let status = response.status().as_u16();
            match answer::body(response).await {
                Some(body) if status == 200 => answer::search_result(&body, external_code),
                Some(_) | None => Found::Unclear(format!("http {status}")),
            }
        })
    }
}

/// A request that got no answer.
pub(crate) struct Failure {
    pub(crate) proof: Proof,
    pub(crate) detail: String,
}

/// Sends one request on a connection of its own, and says what a failure proves. The order of the questions matters:
/// a failed connection is also a failed request, and may also have timed out.
pub(crate) async fn send(request: RequestBuilder) -> Result<Response, Failure> {
    request.header(CONNECTION, "close").send().await.map_err(|error| {
        let (proof, what) = if error.is_builder() {
            (Proof::Unbuilt, "the request cannot be built")
        } else if error.is_connect() {
            (Proof::NoConnection, "no connection")
        } else if error.is_timeout() {
            (Proof::NoAnswer, "no answer in time")
        } else {
            (Proof::NoAnswer, "the connection broke before an answer")
        };
        Failure { proof, detail: format!("{what}{}", causes(&error)) }
    })
}

/// The chain below an error of the client. The client's own line is left out: it quotes the URL.
fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// What a head and its body prove. A body that is cut, stalls or makes no sense takes nothing from the head.
async fn read_answer(response: Response) -> Seen {
    let status = response.status().as_u16();
    let retry_after = answer::retry_after(response.headers());
    let body = answer::body(response).await;
    let mut answer = Answer { status, retry_after, ..Answer::default() };
    let mut detail = format!("http {status}");
    match body.as_deref() {
        None => detail.push_str(", its body was cut or too long"),
        // Only a success or a conflict names the record that we asked for.
        Some(body) if matches!(status, 200..=299 | 409) => answer.id = answer::record_id(body),
        Some(body) => {
            let named = answer::fields_named(body);
            if !named.is_empty() {
                detail.push_str(&format!(", naming {}", named.join(", ")));
            }
            answer.already_exists = answer::says_it_exists(body);
        }
    }
    Seen { proof: Proof::Answer(answer), detail }
}
