//! One request, on a connection of its own, and what its failure proves.
//!
//! No connection is kept between requests. A pooled connection that the other side closes while a create is being
//! written cannot be told from one that read it, and a handshake costs less than a person's look at the report. For the
//! same reason only HTTP/1.1 is spoken: what a stream that is refused or cut proves is less than what a connection does.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONNECTION};
use reqwest::{Client, RequestBuilder, Response};

use crate::{NoPass, Proof, answer};

/// Never reached, as every request closes its connection.
const IDLE: Duration = Duration::from_secs(1);

/// How long the platform may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For a connection; shorter than the others, so that a stall before a request is told from one after it.
    pub connect: Duration,
    /// For a create, connection and answer included.
    pub send: Duration,
    /// For a login or a search, connection and answer included.
    pub login: Duration,
}

pub(crate) fn client(timeouts: Timeouts) -> Result<Client, reqwest::Error> {
    runtime::http::client(timeouts.connect, timeouts.send, IDLE)
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

/// Asks for an answer in JSON: some platforms have another form for those who do not say.
pub(crate) fn in_json(request: RequestBuilder) -> RequestBuilder {
    request.header(ACCEPT, "application/json")
}

/// Sends a question and returns the body of its 200, `most` bytes of it at most, or what was seen instead.
pub(crate) async fn get(request: RequestBuilder, most: usize) -> Result<Vec<u8>, String> {
    let response = send(request).await.map_err(|failure| failure.detail)?;
    match response.status().as_u16() {
        200 => answer::body(response, most)
            .await
            .ok_or_else(|| "http 200, its body was cut or too long".to_owned()),
        status => Err(format!("http {status}")),
    }
}

/// Sends a question whose answer is of no interest, and says whether the platform is at work behind its door: any answer
/// of its own is a sign of that, a refusal or "not implemented" too. Only the head is read.
pub(crate) async fn look(request: RequestBuilder) -> Result<(), NoPass> {
    let response = send(request).await.map_err(|failure| NoPass::Unavailable(failure.detail))?;
    match response.status().as_u16() {
        429 => Err(NoPass::Throttled(answer::retry_after(response.headers()))),
        501 => Ok(()),
        status @ (408 | 425 | 500..=u16::MAX) => Err(NoPass::Unavailable(format!("http {status}"))),
        0..=499 => Ok(()),
    }
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
