//! Nominatim, over OpenStreetMap. The public one allows one request a second and wants a name in the client; for more,
//! run one of your own.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::Point;
use crate::http::Http;
use crate::osm::{Thing, text};
use crate::provider::{Away, Found, Provider};
use crate::query::Query;

/// The name that answers carry.
pub const NAME: &str = "nominatim";

/// What both methods are asked for. Spanish names first: kinds of streets are read from them.
const COMMON: [(&str, &str); 3] =
    [("format", "jsonv2"), ("addressdetails", "1"), ("accept-language", "es,eu")];

/// The adapter.
pub struct Nominatim {
    http: Http,
    city_name: String,
}

impl Nominatim {
    /// An adapter for one municipality; `base` is the URL before the method.
    ///
    /// # Errors
    /// The TLS backend cannot be set up.
    pub fn new(base: &str, timeout: Duration, city_name: &str) -> Result<Self, reqwest::Error> {
        Ok(Self { http: Http::new(base, timeout)?, city_name: city_name.to_owned() })
    }

    async fn call(&self, method: &str, parameters: &[(&str, &str)]) -> Result<Value, Away> {
        let parameters = [&COMMON[..], parameters].concat();
        let body = self.http.get(method, &parameters).await?.unwrap_or_default();
        serde_json::from_slice(&body).map_err(|_| Away::Unreadable)
    }

    fn found(&self, entry: &Value) -> Option<Found> {
        let address = entry.get("address")?;
        let degrees = |name: &str| text(entry, name).parse::<f64>().ok();
        let point = degrees("lat").zip(degrees("lon")).and_then(|(north, east)| Point::new(north, east).ok());
        let towns = ["city", "town", "village", "municipality"].map(|name| text(address, name));
        let locality = ["hamlet", "village", "suburb"].iter().map(|name| text(address, name));
        let kind = text(entry, "addresstype");
        let is_way = text(entry, "category") == "highway" && kind == "road";
        Thing {
            name: text(entry, "name"),
            house_number: text(address, "house_number"),
            road: text(address, "road"),
            locality: locality.into_iter().find(|name| !name.is_empty()).unwrap_or_default(),
            is_street: is_way || matches!(kind, "square" | "pedestrian"),
            is_house: matches!(text(entry, "category"), "building" | "place"),
            towns: towns.into_iter().filter(|town| !town.is_empty()).collect(),
            point,
        }
        .found(NAME, &self.city_name)
    }
}

impl Provider for Nominatim {
    fn name(&self) -> &'static str {
        NAME
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Found>, Away>> {
        Box::pin(async move {
            let text = format!("{}, {}", query.plain(), self.city_name);
            let parameters = [("q", text.as_str()), ("countrycodes", "es"), ("limit", "10")];
            match self.call("search", &parameters).await? {
                Value::Array(list) => Ok(list.iter().filter_map(|entry| self.found(entry)).collect()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    Err(Away::Unreadable)
                }
            }
        })
    }

    fn locate<'a>(&'a self, found: &'a Found) -> BoxFuture<'a, Result<Option<Point>, Away>> {
        Box::pin(async { Ok(found.point) })
    }

    fn reverse(&self, point: Point) -> BoxFuture<'_, Result<Option<Found>, Away>> {
        Box::pin(async move {
            let (latitude, longitude) = (point.latitude.to_string(), point.longitude.to_string());
            let parameters = [("lat", latitude.as_str()), ("lon", &longitude), ("zoom", "18")];
            // Nothing near is an object with an error in it, and status 200.
            match self.call("reverse", &parameters).await? {
                entry @ Value::Object(_) => Ok(self.found(&entry)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    Err(Away::Unreadable)
                }
            }
        })
    }
}
