//! One GET to a provider: with a deadline, a limit on the body, and every failure in the words of [`Away`].

use std::time::Duration;

use crate::provider::Away;

/// A longer body is no answer.
const LONGEST_BODY: usize = 2 * 1024 * 1024;
/// Shorter than any server is likely to keep an idle connection.
const IDLE: Duration = Duration::from_secs(4);

/// A client of one provider.
pub(crate) struct Http {
    client: reqwest::Client,
    base: String,
}

impl Http {
    /// `base` is the URL before the method; `timeout` is the limit of one request.
    pub(crate) fn new(base: &str, timeout: Duration) -> Result<Self, reqwest::Error> {
        let client = runtime::http::client(timeout.mul_f64(0.6), timeout, IDLE)?;
        Ok(Self { client, base: base.to_owned() })
    }

    /// The body of the answer; `None` for an answer that has none and says so.
    pub(crate) async fn get(
        &self,
        method: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Option<Vec<u8>>, Away> {
        let url = format!("{}/{method}", self.base);
        let request = self.client.get(url).query(parameters).header("accept", "application/json");
        let mut response = request.send().await.map_err(|error| away(&error))?;
        let status = response.status();
        if status == reqwest::StatusCode::NO_CONTENT {
            return Ok(None);
        }
        if !status.is_success() {
            return Err(Away::Status(status.as_u16()));
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| away(&error))? {
            if body.len() + part.len() > LONGEST_BODY {
                return Err(Away::Unreadable);
            }
            body.extend_from_slice(&part);
        }
        Ok(Some(body))
    }
}

fn away(error: &reqwest::Error) -> Away {
    if error.is_timeout() { Away::Timeout } else { Away::Unreachable }
}
