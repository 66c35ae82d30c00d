//! GeoJSON to polygons, with every error naming the place in the file.
//!
//! What a map tool exports wrongly most often is caught here, because PostGIS would take it without a word:
//! latitude before longitude, projected metres, rings left open, a point or a line instead of an area.

use geojson::{Feature, GeoJson, Geometry, GeometryValue, PolygonType, Position};

/// The polygons of one file.
#[derive(Debug)]
pub struct Shape {
    polygons: Vec<PolygonType>,
    area_ids: Vec<String>,
}

/// What is wrong with a file. Positions are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum ShapeError {
    /// Not GeoJSON at all.
    #[error("not GeoJSON: {0}")]
    NotGeoJson(String),
    /// Nothing in it has an area.
    #[error("holds no polygon")]
    Empty,
    /// A geometry without an area.
    #[error("{place}: a {found}, but an area is a Polygon or a MultiPolygon")]
    NotAnArea {
        /// Where in the file.
        place: String,
        /// The geometry's type.
        found: &'static str,
    },
    /// Latitude stands before longitude.
    #[error("{place}: [{first}, {second}] looks like latitude first; GeoJSON wants [longitude, latitude]")]
    Swapped {
        /// Where in the file.
        place: String,
        /// First number.
        first: f64,
        /// Second number.
        second: f64,
    },
    /// Not degrees.
    #[error("{place}: [{first}, {second}] are not degrees; export the file in WGS 84 (EPSG:4326)")]
    NotDegrees {
        /// Where in the file.
        place: String,
        /// First number.
        first: f64,
        /// Second number.
        second: f64,
    },
    /// Fewer than two numbers.
    #[error("{0}: a position needs a longitude and a latitude")]
    ShortPosition(String),
    /// Another system of coordinates is declared.
    #[error("crs: {0:?} is not WGS 84; export the file in EPSG:4326")]
    OtherCrs(String),
    /// A ring that does not end where it begins.
    #[error("{0}: the ring is not closed; its last position must repeat the first")]
    Open(String),
    /// A ring with no inside.
    #[error("{0}: a ring needs at least four positions, the last repeating the first")]
    TooFew(String),
}

/// Spain with its islands, in degrees of longitude and latitude: what tells a swapped pair from a plausible one, as
/// both are within the range of degrees.
const SPAIN: ([f64; 2], [f64; 2]) = ([-19.0, 5.0], [27.0, 44.5]);

/// Reads a Feature, FeatureCollection, Polygon or MultiPolygon.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn read(text: &str) -> Result<Shape, ShapeError> {
    if let Some(crs) = declared_crs(text).filter(|crs| !is_wgs84(crs)) {
        return Err(ShapeError::OtherCrs(crs));
    }
    let document: GeoJson =
        text.parse().map_err(|error: geojson::Error| ShapeError::NotGeoJson(error.to_string()))?;
    let mut shape = Shape { polygons: Vec::new(), area_ids: Vec::new() };
    match document {
        GeoJson::Geometry(geometry) => shape.add_geometry("geometry", geometry)?,
        GeoJson::Feature(feature) => shape.add_feature("feature", feature)?,
        GeoJson::FeatureCollection(collection) => {
            for (n, feature) in collection.features.into_iter().enumerate() {
                shape.add_feature(&format!("feature {}", n + 1), feature)?;
            }
        }
    }
    if shape.polygons.is_empty() { Err(ShapeError::Empty) } else { Ok(shape) }
}

/// The system that a file names in the member `crs`, as older tools do; the standard knows only WGS 84.
fn declared_crs(text: &str) -> Option<String> {
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    let crs = document.get("crs").filter(|crs| !crs.is_null())?;
    let name = crs.pointer("/properties/name").and_then(|name| name.as_str());
    Some(name.map_or_else(|| crs.to_string(), str::to_owned))
}

/// WGS 84, and ETRS 89 (EPSG:4258), which differs from it by less than a metre and is what the institutes publish in.
fn is_wgs84(name: &str) -> bool {
    let code = name.rsplit([':', '/']).next().unwrap_or_default();
    ["CRS84", "4326", "4258"].iter().any(|known| code.eq_ignore_ascii_case(known))
}

impl Shape {
    /// The different `area_id` properties of the features, in order of appearance.
    pub fn area_ids(&self) -> &[String] {
        &self.area_ids
    }

    /// How many positions the rings have in all.
    pub fn points(&self) -> usize {
        self.polygons.iter().flatten().map(Vec::len).sum()
    }

    /// One MultiPolygon with longitude and latitude only, as text.
    pub fn to_geojson(&self) -> String {
        let flat = |position: &Position| [position[0], position[1]];
        let coordinates: Vec<Vec<Vec<[f64; 2]>>> = self
            .polygons
            .iter()
            .map(|rings| rings.iter().map(|ring| ring.iter().map(flat).collect()).collect())
            .collect();
        serde_json::json!({"type": "MultiPolygon", "coordinates": coordinates}).to_string()
    }

    fn add_feature(&mut self, place: &str, feature: Feature) -> Result<(), ShapeError> {
        let id = feature.property("area_id").and_then(|id| id.as_str()).map(str::to_owned);
        if let Some(id) = id.filter(|id| !self.area_ids.contains(id)) {
            self.area_ids.push(id);
        }
        match feature.geometry {
            Some(geometry) => self.add_geometry(place, geometry),
            None => Ok(()),
        }
    }

    fn add_geometry(&mut self, place: &str, geometry: Geometry) -> Result<(), ShapeError> {
        let polygons = match geometry.value {
            GeometryValue::Polygon { coordinates } => vec![coordinates],
            GeometryValue::MultiPolygon { coordinates } => coordinates,
            other => {
                return Err(ShapeError::NotAnArea { place: place.to_owned(), found: other.type_name() });
            }
        };
        for (p, rings) in polygons.iter().enumerate() {
            for (r, ring) in rings.iter().enumerate() {
                check_ring(&format!("{place}, polygon {}, ring {}", p + 1, r + 1), ring)?;
            }
        }
        self.polygons.extend(polygons.into_iter().filter(|rings| !rings.is_empty()));
        Ok(())
    }
}

fn check_ring(place: &str, ring: &[Position]) -> Result<(), ShapeError> {
    for (n, position) in ring.iter().enumerate() {
        let place = || format!("{place}, position {}", n + 1);
        let &[first, second, ..] = position.as_slice() else {
            return Err(ShapeError::ShortPosition(place()));
        };
        let spain = |longitude: f64, latitude: f64| {
            (SPAIN.0[0]..=SPAIN.0[1]).contains(&longitude) && (SPAIN.1[0]..=SPAIN.1[1]).contains(&latitude)
        };
        let degrees = |longitude: f64, latitude: f64| longitude.abs() <= 180.0 && latitude.abs() <= 90.0;
        let swapped = !spain(first, second) && spain(second, first);
        if swapped || !degrees(first, second) && degrees(second, first) {
            return Err(ShapeError::Swapped { place: place(), first, second });
        }
        if !degrees(first, second) {
            return Err(ShapeError::NotDegrees { place: place(), first, second });
        }
    }
    let (Some(first), Some(last)) = (ring.first(), ring.last()) else {
        return Err(ShapeError::TooFew(place.to_owned()));
    };
    if first.as_slice()[..2] != last.as_slice()[..2] {
        return Err(ShapeError::Open(place.to_owned()));
    }
    if ring.len() < 4 { Err(ShapeError::TooFew(place.to_owned())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polygon(ring: &str) -> Result<Shape, ShapeError> {
        read(&format!(r#"{{"type":"Polygon","coordinates":[{ring}]}}"#))
    }

    #[test]
    fn a_third_coordinate_is_dropped() {
        let shape = polygon("[[-2.7,42.8,500],[-2.6,42.8,500],[-2.6,42.9,500],[-2.7,42.8,500]]").unwrap();
        assert_eq!(
            shape.to_geojson(),
            r#"{"type":"MultiPolygon","coordinates":[[[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]]]}"#
        );
        assert_eq!(shape.points(), 4);
    }

    #[test]
    fn every_mistake_is_named_with_its_place() {
        let cases = [
            (
                "[[42.8,-2.7],[42.8,-2.6],[42.9,-2.6],[42.8,-2.7]]",
                "position 1: [42.8, -2.7] looks like latitude first",
            ),
            ("[[-2.7,42.8],[120.0,200.0],[-2.6,42.9],[-2.7,42.8]]", "position 2: [120, 200] are not degrees"),
            (
                "[[526000.0,4744000.0],[1.0,1.0],[2.0,2.0],[1.0,1.0]]",
                "are not degrees; export the file in WGS 84",
            ),
            (
                "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.81]]",
                "polygon 1, ring 1: the ring is not closed",
            ),
            ("[[-2.7,42.8],[-2.6,42.8],[-2.7,42.8]]", "at least four positions"),
            ("[[-2.7],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]", "needs a longitude and a latitude"),
            ("[]", "at least four positions"),
        ];
        for (ring, says) in cases {
            let error = polygon(ring).unwrap_err().to_string();
            assert!(error.contains(says), "{ring}: {error}");
        }
    }

    #[test]
    fn a_declared_system_must_be_wgs_84() {
        let with = |crs: &str| {
            let ring = "[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]";
            read(&format!(r#"{{"type":"Polygon","crs":{crs},"coordinates":[{ring}]}}"#)).map(|_| ())
        };
        let named = |name: &str| with(&format!(r#"{{"type":"name","properties":{{"name":"{name}"}}}}"#));
        for right in ["urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326", "urn:ogc:def:crs:EPSG::4258", "CRS84"] {
            named(right).unwrap();
        }
        with("null").unwrap();
        for wrong in ["urn:ogc:def:crs:EPSG::25830", "EPSG:3857", "EPSG:23030"] {
            let error = named(wrong).unwrap_err().to_string();
            assert!(error.contains(wrong) && error.contains("EPSG:4326"), "{error}");
        }
        assert!(with(r#"{"type":"link"}"#).is_err());
    }

    #[test]
    fn only_areas_are_taken() {
        let cases = [
            (r#"{"type":"Point","coordinates":[-2.7,42.8]}"#, "geometry: a Point, but an area is"),
            (r#"{"type":"FeatureCollection","features":[]}"#, "holds no polygon"),
            (r#"{"type":"Feature","properties":{},"geometry":null}"#, "holds no polygon"),
            (r#"{"coordinates":[]}"#, "not GeoJSON"),
            ("<kml/>", "not GeoJSON"),
        ];
        for (text, says) in cases {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
