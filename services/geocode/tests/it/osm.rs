//! Nominatim and Photon over one small map. They share no code with the adapters: the answers are written out as JSON,
//! in the shapes that both document.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::Response;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::cartociudad::{Trap, get_one, json_answer, sprung};

/// The running services, under `/nominatim` and `/photon`.
pub(crate) struct Osm {
    pub(crate) nominatim: String,
    pub(crate) photon: String,
    state: Arc<Mutex<Inner>>,
}

struct Inner {
    trap: Trap,
    requests: Vec<Vec<(String, String)>>,
}

type Shared = State<Arc<Mutex<Inner>>>;
type Parameters = Query<Vec<(String, String)>>;

impl Osm {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(Mutex::new(Inner { trap: Trap::None, requests: Vec::new() }));
        let router = Router::new()
            .route("/nominatim/search", get(nominatim))
            .route("/nominatim/reverse", get(nominatim))
            .route("/photon/api", get(photon))
            .route("/photon/reverse", get(photon))
            .with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            nominatim: format!("http://{address}/nominatim"),
            photon: format!("http://{address}/photon"),
            state,
        }
    }

    pub(crate) fn set(&self, trap: Trap) {
        self.state.lock().unwrap().trap = trap;
    }

    /// The value of one parameter in each request so far.
    pub(crate) fn sent(&self, parameter: &str) -> Vec<String> {
        let inner = self.state.lock().unwrap();
        inner
            .requests
            .iter()
            .map(|query| get_one(query, parameter))
            .filter(|value| !value.is_empty())
            .collect()
    }
}

/// What the map has: kind, name, road, number.
const THINGS: [(&str, &str, &str, &str); 4] = [
    ("house", "", "Calle Dato / Dato kalea", "12"),
    ("street", "Calle Dato / Dato kalea", "", ""),
    ("street", "Plaza de la Virgen Blanca", "", ""),
    ("place", "Parque de la Florida", "", ""),
];
/// Where all of it is.
const AT: (f64, f64) = (42.8461, -2.672);

async fn enter(state: &Arc<Mutex<Inner>>, query: &[(String, String)]) -> (Trap, Option<Response<Body>>) {
    let trap = {
        let mut inner = state.lock().unwrap();
        inner.requests.push(query.to_vec());
        let trap = inner.trap;
        if trap == Trap::OneServerError {
            inner.trap = Trap::None;
        }
        trap
    };
    (trap, sprung(trap).await)
}

/// A search has a text, a reverse has a point and gets the house.
fn things(query: &[(String, String)]) -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let text = get_one(query, "q").to_lowercase();
    let words: Vec<&str> =
        text.split([' ', ',']).filter(|word| word.len() > 3 && !word.contains("vitoria")).collect();
    let number = text.split([' ', ',']).any(|word| word.parse::<u32>().is_ok());
    let fits = |thing: &(&str, &str, &str, &str)| match text.is_empty() {
        true => thing.0 == "house",
        false => {
            let all = format!("{} {}", thing.1, thing.2).to_lowercase();
            (thing.0 == "house") == number && words.iter().all(|word| all.contains(word))
        }
    };
    THINGS.into_iter().filter(fits).collect()
}

async fn nominatim(State(state): Shared, Query(query): Parameters) -> Response<Body> {
    let (trap, answer) = enter(&state, &query).await;
    if let Some(answer) = answer {
        return answer;
    }
    assert_eq!(get_one(&query, "format"), "jsonv2");
    let city = if trap == Trap::OtherTown { "Donostia / San Sebastián" } else { "Vitoria-Gasteiz" };
    let object = |(kind, name, road, number): (&str, &str, &str, &str)| {
        let (category, class) = match (kind, name.starts_with("Plaza")) {
            ("house", _) => ("place", "place"),
            ("street", true) => ("place", "square"),
            ("street", false) => ("highway", "road"),
            _ => ("leisure", "park"),
        };
        json!({
            "place_id": 1, "licence": "ODbL", "osm_type": "way", "osm_id": 2, "lat": AT.0.to_string(),
            "lon": AT.1.to_string(), "category": category, "type": "x", "place_rank": 30, "importance": 0.1,
            "addresstype": class, "name": name, "display_name": "x", "boundingbox": ["1", "2", "3", "4"],
            "address": {"house_number": number, "road": road, "suburb": "Ensanche", "city": city,
                "county": "x", "postcode": "01005", "country": "España", "country_code": "es"}
        })
    };
    let mut list: Vec<Value> = things(&query).into_iter().map(object).collect();
    if trap == Trap::OddTypes {
        list.insert(0, json!("not even an object"));
        list.insert(0, json!({"lat": 3, "address": []}));
        let mut nowhere = object(THINGS[0]);
        nowhere["lat"] = json!("0.0");
        nowhere["lon"] = json!("0.0");
        list.push(nowhere);
    }
    if get_one(&query, "q").is_empty() {
        return json_answer(&list.pop().unwrap_or_else(|| json!({"error": "Unable to geocode"})));
    }
    json_answer(&Value::Array(list))
}

async fn photon(State(state): Shared, Query(query): Parameters) -> Response<Body> {
    let (trap, answer) = enter(&state, &query).await;
    if let Some(answer) = answer {
        return answer;
    }
    if !get_one(&query, "lang").is_empty() {
        return Response::builder()
            .status(400)
            .body("{\"message\":\"Language is not supported\"}".into())
            .unwrap();
    }
    let city = if trap == Trap::OtherTown { "Donostia / San Sebastián" } else { "Vitoria-Gasteiz" };
    let feature = |(kind, name, road, number): (&str, &str, &str, &str)| {
        let (key, value, class) = match (kind, name.starts_with("Plaza")) {
            ("house", _) => ("place", "house", "house"),
            ("street", true) => ("place", "square", "locality"),
            ("street", false) => ("highway", "pedestrian", "street"),
            _ => ("leisure", "park", "other"),
        };
        let mut properties = json!({
            "osm_type": "W", "osm_id": 2, "osm_key": key, "osm_value": value, "type": class, "postcode": "01005",
            "countrycode": "ES", "city": city, "state": "Euskadi", "country": "España", "extent": [1, 2, 3, 4]
        });
        for (name, text) in [("name", name), ("street", road), ("housenumber", number)] {
            if !text.is_empty() {
                properties[name] = json!(text);
            }
        }
        json!({"type": "Feature", "geometry": {"type": "Point", "coordinates": [AT.1, AT.0]}, "properties": properties})
    };
    let mut list: Vec<Value> = things(&query).into_iter().map(feature).collect();
    if trap == Trap::OddTypes {
        list.insert(0, json!("not even an object"));
        list.insert(0, json!({"geometry": null, "properties": {"countrycode": "ES"}}));
        let mut abroad = feature(THINGS[0]);
        abroad["properties"]["countrycode"] = json!("MX");
        list.push(abroad);
        let mut nowhere = feature(THINGS[0]);
        nowhere["geometry"]["coordinates"] = json!([0.0, 0.0]);
        list.push(nowhere);
    }
    json_answer(&json!({"type": "FeatureCollection", "features": list}))
}
