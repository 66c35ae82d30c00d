//! CartoCiudad: an address service with no state, no word for "not exact", and many traps.
//!
//! Search is as its published source does it: the last number is the house number, a missing number gives
//! a neighbour without a word, streets have no coordinates, and a postcode or the province in the text
//! makes the answer empty. Nothing found is an empty list in `candidates` and 204 elsewhere. What does not happen to
//! every request is a [`Trap`], which a test sets.

mod record;
mod search;
mod trap;

use axum::{
    Extension, Json, Router,
    extract::Query,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    state::Shared,
    streets::{Portal, STREETS, Street},
};
use record::Record;
pub(crate) use trap::Trap;

/// A reverse answer lies within this distance, in metres.
const REACH_M: f64 = 350.0;
/// What the source uses when no limit is given.
const DEFAULT_LIMIT: usize = 35;

pub(crate) fn router() -> Router<Shared> {
    Router::new()
        .route("/candidates", get(candidates))
        .route("/find", get(find))
        .route("/reverseGeocode", get(reverse))
        .fallback(async || html(StatusCode::NOT_FOUND))
}

/// What the servlet container answers when anything goes wrong.
pub(crate) fn html(status: StatusCode) -> Response {
    let body = format!(
        "<!doctype html><html lang=\"en\"><head><title>HTTP Status {status}</title></head>\
         <body><h1>HTTP Status {status}</h1></body></html>"
    );
    (status, [(CONTENT_TYPE, "text/html;charset=utf-8")], body).into_response()
}

#[derive(Deserialize)]
struct CandidatesQuery {
    q: Option<String>,
    limit: Option<String>,
    no_process: Option<String>,
    municipio_filter: Option<String>,
    cod_postal_filter: Option<String>,
}

async fn candidates(trap: Option<Extension<Trap>>, Query(query): Query<CandidatesQuery>) -> Response {
    let trap = trap.map(|Extension(trap)| trap);
    if let Some(answer) = trap.and_then(Trap::instead) {
        return answer;
    }
    let Some(q) = query.q else { return StatusCode::NO_CONTENT.into_response() };
    let limit = match query.limit.as_deref().map(str::parse) {
        None | Some(Ok(0)) => DEFAULT_LIMIT,
        Some(Ok(limit)) => limit,
        Some(Err(_)) => return html(StatusCode::NOT_FOUND),
    };
    let Ok(mut found) = search::search(&q) else { return html(StatusCode::INTERNAL_SERVER_ERROR) };
    let skipped = query.no_process.unwrap_or_default().to_lowercase();
    found.retain(|one| !skipped.contains(&one.kind().to_lowercase()));
    if let Some(filter) = query.municipio_filter {
        let names: Vec<String> = filter.to_lowercase().split(',').map(str::to_owned).collect();
        found.retain(|one| names.contains(&one.town().to_lowercase()));
    }
    if let Some(filter) = query.cod_postal_filter {
        found.retain(|one| filter.split(',').any(|code| one.postcode() == code));
    }
    found.truncate(limit);
    let mut list: Vec<Value> = found.iter().map(Record::candidate).collect();
    if let Some(trap) = trap {
        trap.among(&mut list);
    }
    Json(list).into_response()
}

#[derive(Deserialize)]
struct FindQuery {
    q: Option<String>,
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Filters are not read here: that is how it is.
async fn find(trap: Option<Extension<Trap>>, Query(query): Query<FindQuery>) -> Response {
    let trap = trap.map(|Extension(trap)| trap);
    if let Some(answer) = trap.and_then(Trap::instead) {
        return answer;
    }
    let found = match (query.q, query.id) {
        (Some(q), _) => search::search(&q).map(|found| found.into_iter().next()),
        (None, Some(id)) => search::by_id(&id, query.kind.as_deref().unwrap_or_default()),
        (None, None) => Err(search::Broken),
    };
    match found {
        Ok(Some(record)) => Json(Trap::of_one(trap, record.found())).into_response(),
        Ok(None) => StatusCode::NO_CONTENT.into_response(),
        Err(search::Broken) => html(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

#[derive(Deserialize)]
struct ReverseQuery {
    lon: Option<String>,
    lat: Option<String>,
}

async fn reverse(trap: Option<Extension<Trap>>, Query(query): Query<ReverseQuery>) -> Response {
    let trap = trap.map(|Extension(trap)| trap);
    if let Some(answer) = trap.and_then(Trap::instead) {
        return answer;
    }
    // A missing parameter counts as zero, which is far out at sea.
    let number = |text: Option<String>| text.map_or(Ok(0.0), |text| text.parse::<f64>());
    let (Ok(longitude), Ok(latitude)) = (number(query.lon), number(query.lat)) else {
        return html(StatusCode::NOT_FOUND);
    };
    let distance = |portal: &Portal| metres((latitude, longitude), (portal.latitude, portal.longitude));
    let nearest = STREETS
        .iter()
        .flat_map(|street| street.portals.iter().map(move |portal| (street, portal)))
        .map(|(street, portal)| (distance(portal), street, portal))
        .filter(|(distance, ..)| *distance <= REACH_M)
        .min_by(|one, other| one.0.total_cmp(&other.0));
    match nearest {
        Some((_, street, portal)) => {
            Json(Trap::of_one(trap, Record::Portal(street, portal).found())).into_response()
        }
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

/// Great-circle distance of two points given as latitude and longitude in degrees.
fn metres(from: (f64, f64), to: (f64, f64)) -> f64 {
    const EARTH_M: f64 = 6_371_008.8;
    let (lat_a, lat_b) = (from.0.to_radians(), to.0.to_radians());
    let half = |angle: f64| (angle / 2.0).sin().powi(2);
    let chord = half(lat_b - lat_a) + lat_a.cos() * lat_b.cos() * half((to.1 - from.1).to_radians());
    2.0 * EARTH_M * chord.sqrt().min(1.0).asin()
}

/// A point on a street to stand for all of it: its middle portal.
fn middle(street: &Street) -> Option<&Portal> {
    street.portals.get(street.portals.len() / 2)
}
