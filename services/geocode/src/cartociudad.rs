//! CartoCiudad, the address service of Spain's geographic institute.
//!
//! It is free, keyless and without promise, so every call has a deadline, few run at once, and only a 5xx is asked
//! again, once: parallel requests to it can trip over each other. Whatever is not a readable answer is [`Away`], never
//! "nothing found". Only the municipality's own candidates come through; `find` ignores every filter, so it is asked by
//! id alone and its answer is compared with what was asked.

mod answer;

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::Point;
use crate::metrics::{Metrics, Outcome};
use crate::provider::{Away, Found, Provider};

/// Kinds of things that are no answer to a typed address.
const NOT_WANTED: &str =
    "municipio,provincia,comunidad autonoma,poblacion,expendeduria,punto_recarga_electrica,ngbe";
/// Answers counted over all kinds; a lower limit may leave no room for doors.
const LIMIT: &str = "10";
/// Requests at once, from one process.
const AT_ONCE: usize = 8;
/// A longer body is no answer.
const LONGEST_BODY: usize = 2 * 1024 * 1024;
/// Shorter than any server is likely to keep an idle connection.
const IDLE: Duration = Duration::from_secs(4);

/// The adapter.
pub struct CartoCiudad {
    client: reqwest::Client,
    base: String,
    city_name: String,
    city_ine_code: String,
    room: Semaphore,
    metrics: Metrics,
}

impl CartoCiudad {
    /// An adapter for one municipality; `base` is the URL before the method.
    ///
    /// # Errors
    /// The TLS backend cannot be set up.
    pub fn new(
        base: &str,
        timeout: Duration,
        city_name: &str,
        city_ine_code: &str,
        metrics: Metrics,
    ) -> Result<Self, reqwest::Error> {
        Ok(Self {
            client: runtime::http::client(timeout.mul_f64(0.6), timeout, IDLE)?,
            base: base.to_owned(),
            city_name: city_name.to_owned(),
            city_ine_code: city_ine_code.to_owned(),
            room: Semaphore::new(AT_ONCE),
            metrics,
        })
    }

    /// One call, asked again after a 5xx. `Value::Null` is the answer that there is nothing.
    async fn call(&self, method: &'static str, parameters: &[(&str, &str)]) -> Result<Value, Away> {
        // Never closed; without a permit the call is merely not counted.
        let _permit = self.room.acquire().await;
        let mut answer = self.once(method, parameters).await;
        if matches!(answer, Err(Away::Status(500..=599))) {
            answer = self.once(method, parameters).await;
        }
        answer
    }

    async fn once(&self, method: &'static str, parameters: &[(&str, &str)]) -> Result<Value, Away> {
        let started = Instant::now();
        let answer = self.exchange(method, parameters).await;
        let outcome = match &answer {
            Ok(Value::Null) => Outcome::Empty,
            Ok(_) => Outcome::Answered,
            Err(Away::Timeout) => Outcome::Timeout,
            Err(Away::Unreachable) => Outcome::Unreachable,
            Err(Away::Status(_)) => Outcome::Refused,
            Err(Away::Unreadable) => Outcome::Unreadable,
        };
        self.metrics.provider(outcome, started.elapsed());
        if let Err(error) = &answer {
            // Neither the address nor the error's own text: it has the URL with the query.
            tracing::warn!(error.code = "provider", method, %error, "cartociudad {method}: {error}");
        }
        answer
    }

    async fn exchange(&self, method: &str, parameters: &[(&str, &str)]) -> Result<Value, Away> {
        let url = format!("{}/{method}", self.base);
        let request = self.client.get(url).query(parameters).header("accept", "application/json");
        let mut response = request.send().await.map_err(|error| away(&error))?;
        let status = response.status();
        if status == reqwest::StatusCode::NO_CONTENT {
            return Ok(Value::Null);
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
        answer::read(&body)
    }
}

fn away(error: &reqwest::Error) -> Away {
    if error.is_timeout() { Away::Timeout } else { Away::Unreachable }
}

impl Provider for CartoCiudad {
    fn name(&self) -> &'static str {
        "cartociudad"
    }

    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            let parameters = [
                ("q", query),
                ("municipio_filter", &self.city_name),
                ("no_process", NOT_WANTED),
                ("limit", LIMIT),
            ];
            match self.call("candidates", &parameters).await? {
                Value::Null => Ok(Vec::new()),
                Value::Array(list) => {
                    Ok(list.iter().filter_map(|entry| answer::found(entry, &self.city_ine_code)).collect())
                }
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    Err(Away::Unreadable)
                }
            }
        })
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(async move {
            let Some((id, kind)) = &found.id else {
                return Ok(found.point);
            };
            let answer = self.call("find", &[("id", id), ("type", kind)]).await?;
            // A stale id can come back as something else.
            Ok(answer::is(&answer, id).then(|| answer::point(&answer)).flatten())
        })
    }

    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        Box::pin(async move {
            let (longitude, latitude) = (point.longitude.to_string(), point.latitude.to_string());
            let answer = self.call("reverseGeocode", &[("lon", &longitude), ("lat", &latitude)]).await?;
            Ok(answer::found(&answer, &self.city_ine_code))
        })
    }
}
