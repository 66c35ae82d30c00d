//! CartoCiudad, the address service of Spain's geographic institute.
//!
//! It is free, keyless and without promise, and parallel requests to it can trip over each other: it stands behind
//! [`crate::guard`]. Whatever is not a readable answer is [`Away`], never "nothing found". Only the municipality's own candidates come through; `find` ignores every filter, so it is asked by
//! id alone and its answer is compared with what was asked.

mod answer;

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::Point;
use crate::http::Http;
use crate::provider::{Away, Found, Provider};
use crate::query::Query;

/// Kinds of things that are no answer to a typed address.
const NOT_WANTED: &str =
    "municipio,provincia,comunidad autonoma,poblacion,expendeduria,punto_recarga_electrica,ngbe";
/// Answers counted over all kinds; a lower limit may leave no room for doors.
const LIMIT: &str = "10";
/// The name that answers carry.
pub const NAME: &str = "cartociudad";

/// The adapter.
pub struct CartoCiudad {
    http: Http,
    city_name: String,
    city_ine_code: String,
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
    ) -> Result<Self, reqwest::Error> {
        Ok(Self {
            http: Http::new(base, timeout)?,
            city_name: city_name.to_owned(),
            city_ine_code: city_ine_code.to_owned(),
        })
    }

    /// One call. `Value::Null` is the answer that there is nothing.
    async fn call(&self, method: &'static str, parameters: &[(&str, &str)]) -> Result<Value, Away> {
        match self.http.get(method, parameters).await? {
            Some(body) => answer::read(&body),
            None => Ok(Value::Null),
        }
    }
}

impl Provider for CartoCiudad {
    fn name(&self) -> &'static str {
        NAME
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            let text = query.to_string();
            let parameters = [
                ("q", text.as_str()),
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
