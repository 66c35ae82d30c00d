//! Photon, over OpenStreetMap. It has no Spanish and no Basque: asked for either it refuses the whole request, so it is
//! asked for no language and answers with the names as they are on the spot.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::Point;
use crate::http::Http;
use crate::osm::{Thing, text};
use crate::provider::{Away, Found, Provider};
use crate::query::Query;

/// The name that answers carry.
pub const NAME: &str = "photon";

/// The adapter.
pub struct Photon {
    http: Http,
    city_name: String,
}

impl Photon {
    /// An adapter for one municipality; `base` is the URL before the method.
    ///
    /// # Errors
    /// The TLS backend cannot be set up.
    pub fn new(base: &str, timeout: Duration, city_name: &str) -> Result<Self, reqwest::Error> {
        Ok(Self { http: Http::new(base, timeout)?, city_name: city_name.to_owned() })
    }

    /// The features of an answer.
    async fn call(&self, method: &str, parameters: &[(&str, &str)]) -> Result<Vec<Found>, Away> {
        let body = self.http.get(method, parameters).await?.unwrap_or_default();
        let answer: Value = serde_json::from_slice(&body).map_err(|_| Away::Unreadable)?;
        let features = answer.get("features").and_then(Value::as_array).ok_or(Away::Unreadable)?;
        Ok(features.iter().filter_map(|feature| self.found(feature)).collect())
    }

    fn found(&self, feature: &Value) -> Option<Found> {
        let properties = feature.get("properties")?;
        if text(properties, "countrycode") != "ES" {
            return None;
        }
        // Longitude first.
        let degrees = |place: usize| feature.pointer(&format!("/geometry/coordinates/{place}"))?.as_f64();
        let point = degrees(1).zip(degrees(0)).and_then(|(north, east)| Point::new(north, east).ok());
        let kind = text(properties, "type");
        if matches!(kind, "city" | "county" | "state" | "country") {
            return None;
        }
        let city = text(properties, "city");
        Thing {
            name: text(properties, "name"),
            house_number: text(properties, "housenumber"),
            road: text(properties, "street"),
            locality: text(properties, "locality"),
            is_street: kind == "street" || text(properties, "osm_value") == "square",
            is_house: matches!(text(properties, "osm_key"), "building" | "place") && kind == "house",
            towns: (!city.is_empty()).then_some(city).into_iter().collect(),
            point,
        }
        .found(NAME, &self.city_name)
    }
}

impl Provider for Photon {
    fn name(&self) -> &'static str {
        NAME
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            let text = format!("{}, {}", query.plain(), self.city_name);
            self.call("api", &[("q", &text), ("limit", "10")]).await
        })
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(async { Ok(found.point) })
    }

    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        Box::pin(async move {
            let (latitude, longitude) = (point.latitude.to_string(), point.longitude.to_string());
            let found =
                self.call("reverse", &[("lat", &latitude), ("lon", &longitude), ("limit", "1")]).await?;
            Ok(found.into_iter().next())
        })
    }
}
