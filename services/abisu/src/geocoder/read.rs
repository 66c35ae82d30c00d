//! A file with streets, CSV, GeoJSON or a layer of a GeoPackage, as streets with their doors. Pure.

use std::collections::BTreeMap;

use geojson::{Feature, GeoJson, GeometryValue, JsonValue};

use super::geopackage::{Layer, Record};
use super::rows::{self, Door, Row, Street, Wrong};

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Each street with its own point (latitude, longitude), where there is one, and its doors.
    pub(super) streets: BTreeMap<Street, Known>,
    /// Doors in all.
    pub(super) doors: usize,
    /// Rows of other municipalities.
    pub(super) elsewhere: usize,
    /// Rows that are not understood.
    pub(super) skipped: Skipped,
}

/// What is known of one street.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) point: Option<(f64, f64)>,
    pub(super) doors: Vec<Door>,
}

/// Rows that are not understood.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub(super) count: usize,
    /// The place of the first, and what is wrong with it.
    pub(super) first: Option<String>,
}

/// Why a file cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// Not text.
    #[error("not UTF-8; save the file as CSV in UTF-8, as GeoJSON or as a GeoPackage")]
    NotUtf8,
    /// Broken CSV.
    #[error("not CSV: {0}")]
    NotCsv(#[from] csv::Error),
    /// Broken GeoJSON.
    #[error("not GeoJSON: {0}")]
    NotGeoJson(String),
    /// A column that must be there.
    #[error("no column {0:?}; name it by --column {0}=THEIRS (there are: {1})")]
    NoColumn(String, String),
    /// Something that is wrong in all rows.
    #[error("{0}: {1}")]
    Row(String, String),
}

/// The name that a file has for one of our columns.
pub(super) fn theirs(ours: &str, columns: &[(String, String)]) -> String {
    let named = columns.iter().find(|(name, _)| name == ours);
    named.map_or_else(|| ours.to_owned(), |(_, theirs)| theirs.clone())
}

/// Understands a layer whose points are in degrees.
pub(super) fn features(layer: Layer, ine_code: &str) -> Result<Read, ReadError> {
    let mut read = Read::default();
    for (n, Record { values, point }) in layer.records.into_iter().enumerate() {
        let get = |column: &str| match column {
            "latitude" => point.map(|point| point.1.to_string()).unwrap_or_default(),
            "longitude" => point.map(|point| point.0.to_string()).unwrap_or_default(),
            _ => {
                let place = rows::COLUMNS.iter().position(|known| *known == column);
                place.and_then(|place| values.get(place)).cloned().unwrap_or_default()
            }
        };
        read.add(&format!("row {}", n + 1), rows::row(get, ine_code))?;
    }
    Ok(read)
}

/// Reads a file; `columns` are the names that it has for some of ours.
pub(super) fn read(bytes: &[u8], ine_code: &str, columns: &[(String, String)]) -> Result<Read, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ReadError::NotUtf8)?.trim_start_matches('\u{feff}');
    let theirs = |ours: &str| theirs(ours, columns);
    let mut read = Read::default();
    if text.trim_start().starts_with('{') {
        read.geojson(text, ine_code, theirs)?;
    } else {
        read.csv(text, ine_code, theirs)?;
    }
    Ok(read)
}

impl Read {
    fn csv(&mut self, text: &str, ine_code: &str, theirs: impl Fn(&str) -> String) -> Result<(), ReadError> {
        let header = text.lines().next().unwrap_or_default();
        let separator =
            [b';', b'\t', b','].into_iter().max_by_key(|s| header.matches(char::from(*s)).count());
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator.unwrap_or(b','))
            .flexible(true)
            .from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_lowercase()).collect();
        let place = |ours: &str| header.iter().position(|name| *name == theirs(ours).to_lowercase());
        for needed in ["street", "latitude", "longitude"] {
            if place(needed).is_none() {
                return Err(ReadError::NoColumn(theirs(needed), header.join(", ")));
            }
        }
        let places: BTreeMap<&str, Option<usize>> =
            rows::COLUMNS.iter().map(|column| (*column, place(column))).collect();
        for record in reader.records() {
            let record = record?;
            let get = |column: &str| {
                let place = places.get(column).copied().flatten();
                place.and_then(|place| record.get(place)).unwrap_or_default().to_owned()
            };
            let line = record.position().map_or(0, csv::Position::line);
            self.add(&format!("line {line}"), rows::row(get, ine_code))?;
        }
        Ok(())
    }

    fn geojson(
        &mut self,
        text: &str,
        ine_code: &str,
        theirs: impl Fn(&str) -> String,
    ) -> Result<(), ReadError> {
        let document: GeoJson =
            text.parse().map_err(|error: geojson::Error| ReadError::NotGeoJson(error.to_string()))?;
        let features = match document {
            GeoJson::FeatureCollection(collection) => collection.features,
            GeoJson::Feature(feature) => vec![feature],
            GeoJson::Geometry(_) => {
                return Err(ReadError::NotGeoJson("a geometry without properties".to_owned()));
            }
        };
        for (n, feature) in features.into_iter().enumerate() {
            let point = point(&feature);
            let get = |column: &str| match column {
                "latitude" => point.map(|point| point.1.to_string()).unwrap_or_default(),
                "longitude" => point.map(|point| point.0.to_string()).unwrap_or_default(),
                _ => match feature.property(theirs(column)) {
                    Some(JsonValue::String(text)) => text.clone(),
                    Some(JsonValue::Number(number)) => number.to_string(),
                    Some(
                        JsonValue::Null | JsonValue::Bool(_) | JsonValue::Array(_) | JsonValue::Object(_),
                    )
                    | None => String::new(),
                },
            };
            self.add(&format!("feature {}", n + 1), rows::row(get, ine_code))?;
        }
        Ok(())
    }

    fn add(&mut self, place: &str, row: Result<Row, Wrong>) -> Result<(), ReadError> {
        match row {
            Ok(Row { street, number, latitude, longitude }) => {
                let known = self.streets.entry(street).or_default();
                match number {
                    Some((number, extension)) => {
                        known.doors.push(Door { number, extension, latitude, longitude });
                        self.doors += 1;
                    }
                    None => known.point = Some((latitude, longitude)),
                }
            }
            Err(Wrong::Elsewhere) => self.elsewhere += 1,
            Err(Wrong::Row(problem)) => {
                self.skipped.count += 1;
                self.skipped.first.get_or_insert_with(|| format!("{place}: {problem}"));
            }
            Err(Wrong::File(problem)) => return Err(ReadError::Row(place.to_owned(), problem)),
        }
        Ok(())
    }
}

/// Longitude and latitude.
fn point(feature: &Feature) -> Option<(f64, f64)> {
    match &feature.geometry.as_ref()?.value {
        GeometryValue::Point { coordinates } => match coordinates.as_slice() {
            [longitude, latitude, ..] => Some((*longitude, *latitude)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(read: &Read) -> Vec<String> {
        let one = |(street, known): (&Street, &Known)| {
            let doors: Vec<String> =
                known.doors.iter().map(|door| format!("{}{}", door.number, door.extension)).collect();
            format!("{}|{}|{}", street.kind, street.name, doors.join(","))
        };
        read.streets.iter().map(one).collect()
    }

    #[test]
    fn csv_is_read_with_any_separator_and_their_names_of_columns() {
        let text = "\u{feff}Tipo;Nombre;number;latitude;longitude;ine_code\n\
            Calle;Dato;12;42.85;-2.67;01059\nCalle;Dato;12A;42.85;-2.67;1059\nCalle;Otra;1;42.9;-2.7;01018\n\
            Calle;Dato;bajo;42.85;-2.67;01059\n;\"Parque; de la Florida\";;42.84;-2.67;\n";
        let columns = [("street", "Nombre"), ("kind", "tipo")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let read = read(text.as_bytes(), "01059", &columns).unwrap();
        assert_eq!(shown(&read), ["|Parque; de la Florida|", "Calle|Dato|12,12A"]);
        assert_eq!((read.doors, read.elsewhere, read.skipped.count), (2, 1, 1));
        assert_eq!(read.skipped.first.as_deref(), Some("line 5: the number is none"));
    }

    #[test]
    fn geojson_has_longitude_first() {
        let text = r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"street":"Dato","kind":"Calle","number":12,"extension":null},
             "geometry":{"type":"Point","coordinates":[-2.67,42.85]}},
            {"type":"Feature","properties":{"street":"Dato","kind":"Calle","number":14},"geometry":null}]}"#;
        let read = read(text.as_bytes(), "01059", &[]).unwrap();
        assert_eq!(shown(&read), ["Calle|Dato|12"]);
        assert_eq!(read.skipped.count, 1);
        let door = &read.streets.values().next().unwrap().doors[0];
        assert!((door.latitude - 42.85).abs() < 1e-9);
    }

    #[test]
    fn a_file_that_cannot_be_used_says_why_and_where() {
        for (text, says) in [
            (
                "street,latitude\nDato,42.85\n",
                "no column \"longitude\"; name it by --column longitude=THEIRS",
            ),
            ("street,latitude,longitude\nDato,42.85,-2.67\nDato,-2.67,42.85\n", "line 3: latitude -2.67"),
            ("street,latitude,longitude\nDato,4744000,526000\n", "line 2: 4744000, 526000 are not degrees"),
            ("{\"type\":\"Nothing\"}", "not GeoJSON"),
        ] {
            let error = read(text.as_bytes(), "01059", &[]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(matches!(read(&[0xff, 0xfe], "01059", &[]), Err(ReadError::NotUtf8)));
    }
}
