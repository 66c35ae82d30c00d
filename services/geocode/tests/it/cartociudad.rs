//! A CartoCiudad of a few streets. It shares no code with the adapter: its answers are written out as JSON, in the
//! shape of the published interface, and each trap is a switch.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{Response, header};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What the service does to the next requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trap {
    /// Nothing unusual.
    None,
    /// One 500 with HTML, then as usual.
    OneServerError,
    /// 500 with HTML, always.
    ServerError,
    /// HTML with status 200.
    Html,
    /// A body that is cut.
    Cut,
    /// 204 without a body.
    NoContent,
    /// `callback([])`.
    Callback,
    /// No answer at all.
    Silence,
    /// `find` answers about another id.
    OtherId,
    /// Candidates of another municipality.
    OtherTown,
    /// Types in capitals, and kinds that nobody knows.
    OddTypes,
}

/// The running service.
pub(crate) struct CartoCiudad {
    pub(crate) url: String,
    state: Arc<Mutex<Inner>>,
}

struct Inner {
    trap: Trap,
    requests: Vec<(String, Vec<(String, String)>)>,
    /// Queries with this word are not answered before it is let go.
    held: tokio::sync::watch::Sender<Option<&'static str>>,
}

impl CartoCiudad {
    pub(crate) async fn start() -> Self {
        let state = Arc::new(Mutex::new(Inner {
            trap: Trap::None,
            requests: Vec::new(),
            held: tokio::sync::watch::Sender::new(None),
        }));
        let router = Router::new()
            .route("/base/candidates", get(candidates))
            .route("/base/find", get(find))
            .route("/base/reverseGeocode", get(reverse))
            .with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/base", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, state }
    }

    pub(crate) fn set(&self, trap: Trap) {
        self.state.lock().unwrap().trap = trap;
    }

    /// Holds the answers to queries with a word back, until none is.
    pub(crate) fn hold(&self, word: Option<&'static str>) {
        self.state.lock().unwrap().held.send_replace(word);
    }

    /// The value of one parameter in each request to a method so far.
    pub(crate) fn sent(&self, method: &str, parameter: &str) -> Vec<String> {
        let inner = self.state.lock().unwrap();
        let of = inner.requests.iter().filter(|(name, _)| name == method);
        of.flat_map(|(_, query)| query.iter().filter(|(name, _)| name == parameter).map(|(_, v)| v.clone()))
            .collect()
    }
}

type Shared = State<Arc<Mutex<Inner>>>;
type Parameters = Query<Vec<(String, String)>>;

/// Notes a request and springs the trap, if it is one for every method.
async fn enter(
    state: &Arc<Mutex<Inner>>,
    method: &str,
    query: &[(String, String)],
) -> (Trap, Option<Response<Body>>) {
    let trap = {
        let mut inner = state.lock().unwrap();
        inner.requests.push((method.to_owned(), query.to_vec()));
        let trap = inner.trap;
        if trap == Trap::OneServerError {
            inner.trap = Trap::None;
        }
        trap
    };
    let mut held = state.lock().unwrap().held.subscribe();
    let text = get_one(query, "q").to_lowercase();
    held.wait_for(|word| word.is_none_or(|word| !text.contains(word))).await.unwrap();
    (trap, sprung(trap).await)
}

/// What any web server can do instead of answering.
pub(crate) async fn sprung(trap: Trap) -> Option<Response<Body>> {
    let html = "<!doctype html><html><body><h1>HTTP Status 500</h1></body></html>";
    match trap {
        Trap::OneServerError | Trap::ServerError => Some(answer(500, "text/html;charset=utf-8", html)),
        Trap::Html => Some(answer(200, "text/html;charset=utf-8", html)),
        Trap::Cut => Some(answer(200, "application/json", "[{\"id\":\"1\",")),
        Trap::NoContent => Some(answer(204, "application/json", "")),
        Trap::Callback => Some(answer(200, "application/javascript", "callback([])")),
        Trap::Silence => std::future::pending().await,
        Trap::None | Trap::OtherId | Trap::OtherTown | Trap::OddTypes => None,
    }
}

fn answer(status: u16, content_type: &str, body: &str) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, content_type)
        .body(body.to_owned().into())
        .unwrap()
}

pub(crate) fn json_answer(value: &Value) -> Response<Body> {
    answer(200, "application/json", &value.to_string())
}

pub(crate) fn get_one(query: &[(String, String)], name: &str) -> String {
    query.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap_or_default()
}

/// (kind, name, doors); doors have latitude and longitude steps of their own.
const STREETS: [(&str, &str, &[u32]); 5] = [
    ("CALLE", "DATO", &[2, 12, 15, 43]),
    ("CALLE", "PINTORERIA", &[1, 3]),
    ("CANTON", "DE SANTA MARIA", &[4]),
    ("PLAZA", "DE SANTA MARIA", &[4]),
    ("PLAZA", "DE LA VIRGEN BLANCA", &[]),
];

fn object(kind: &str, street: (&str, &str), door: Option<u32>, id: &str, point: (f64, f64)) -> Value {
    let number = door.map(|door| format!(" {door}")).unwrap_or_default();
    json!({
        "id": id, "province": "Araba/Álava", "provinceCode": "01", "comunidadAutonoma": "País Vasco/Euskadi",
        "comunidadAutonomaCode": "16", "muni": "Vitoria-Gasteiz", "muniCode": "01059", "type": kind,
        "address": format!("{} {}{number}, Vitoria-Gasteiz (Vitoria-Gasteiz)", street.0, street.1),
        "postalCode": "01005", "poblacion": "Vitoria-Gasteiz", "geom": null, "tip_via": street.0,
        "lat": point.0, "lng": point.1, "portalNumber": door, "noNumber": false, "refCatastral": null,
        "countryCode": "011", "stateMsg": "", "extension": null, "state": 0
    })
}

/// Doors for a text that ends in a number, streets and places for any other; all words must be there.
async fn candidates(State(state): Shared, Query(query): Parameters) -> Response<Body> {
    let (trap, answer) = enter(&state, "candidates", &query).await;
    if let Some(answer) = answer {
        return answer;
    }
    let text = get_one(&query, "q").to_lowercase().replace("í", "i").replace("é", "e");
    // The text goes into a JSON body as it is, and numbers into an int.
    let too_big = |word: &str| word.parse::<u64>().is_ok_and(|number| i32::try_from(number).is_err());
    if text.contains(['"', '\\', '\n']) || text.split(' ').any(too_big) {
        return sprung(Trap::ServerError).await.unwrap();
    }
    let mut words: Vec<&str> = text.split(' ').filter(|word| !["de", "la"].contains(word)).collect();
    let number = words.last().and_then(|word| word.parse::<i64>().ok());
    words.truncate(words.len() - usize::from(number.is_some()));
    let mut list = Vec::new();
    for (index, street) in STREETS.iter().enumerate() {
        let all = format!("{} {}", street.0, street.1).to_lowercase();
        if !words.iter().all(|word| all.split(' ').any(|other| other == *word)) {
            continue;
        }
        let named = (street.0, street.1);
        match number {
            None => list.push(object("callejero", named, None, &format!("0105900{index}"), (0.0, 0.0))),
            Some(number) => {
                // The nearest one, without a word about it.
                let nearest = street.2.iter().min_by_key(|door| (i64::from(**door) - number).abs());
                // The canton lies some hundred metres to the north.
                let south = if street.0 == "CANTON" { 42.847 } else { 42.846 };
                let point = |door: u32| (south + f64::from(door) / 100_000.0, -2.672);
                list.extend(
                    nearest
                        .map(|door| object("portal", named, Some(*door), &format!("p{index}"), point(*door))),
                );
            }
        }
    }
    if words.contains(&"florida") {
        let mut place = object("toponimo", ("", ""), None, "t1", (42.8439, -2.6745));
        place["address"] = json!("Parque de la Florida, Vitoria-Gasteiz (Vitoria-Gasteiz)");
        place["tip_via"] = Value::Null;
        list.push(place);
    }
    if words.contains(&"lejana") {
        // Of the municipality by its code, and yet out of the area.
        list.push(object("portal", ("CALLE", "LEJANA"), Some(1), "p9", (42.7353, -2.7443)));
    }
    for entry in &mut list {
        match trap {
            Trap::OtherTown => entry["muniCode"] = json!("17055"),
            Trap::OddTypes => entry["type"] = json!(entry["type"].as_str().unwrap().to_uppercase()),
            _ => {}
        }
    }
    if trap == Trap::OddTypes {
        list.insert(0, json!({"type": "a kind of tomorrow", "muniCode": "01059", "lat": "x"}));
        list.insert(0, json!("not even an object"));
        list.push(object("Municipio", ("", "Vitoria-Gasteiz"), None, "01059", (0.0, 0.0)));
        list.push(object("portal", ("CALLE", "-997"), Some(12), "p8", (42.85, -2.67)));
        list.push(object("portal", ("CALLE", "DATO"), Some(12), "p7", (0.0, 0.0)));
    }
    json_answer(&Value::Array(list))
}

/// The middle of a street by its id.
async fn find(State(state): Shared, Query(query): Parameters) -> Response<Body> {
    let (trap, answer) = enter(&state, "find", &query).await;
    if let Some(answer) = answer {
        return answer;
    }
    let id = get_one(&query, "id");
    let mut street = object("callejero", ("CALLE", "X"), None, &id, (42.8467, -2.6727));
    street["address"] = json!("X");
    if trap == Trap::OtherId {
        street["id"] = json!("another");
    }
    json_answer(&street)
}

/// One door, wherever it is asked within some 350 metres of it.
async fn reverse(State(state): Shared, Query(query): Parameters) -> Response<Body> {
    let (trap, answer) = enter(&state, "reverseGeocode", &query).await;
    if let Some(answer) = answer {
        return answer;
    }
    let mut door = object("portal", ("CALLE", "DATO"), Some(12), "p0", (42.8461, -2.672));
    door["address"] = json!("DATO");
    if trap == Trap::OtherTown {
        door["muniCode"] = json!("01018");
    }
    json_answer(&door)
}
