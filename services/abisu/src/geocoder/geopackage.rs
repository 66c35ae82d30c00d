//! A layer of a GeoPackage: an SQLite file, as geographic institutes hand out their address data.
//!
//! Only what is needed of the standard: which layers there are, the coordinate system of one, its columns as text and
//! its points. A point stands as (x, y), east before north, whatever the coordinate system says about its axes.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::rows::COLUMNS;

/// How every SQLite file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// A layer, read.
#[derive(Debug, PartialEq)]
pub(super) struct Layer {
    /// EPSG code of the coordinate system that the points are in.
    pub(super) srid: i32,
    /// In the order of the file.
    pub(super) records: Vec<Record>,
}

/// A row of a layer.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    /// The text of each of our columns, in the order of [`COLUMNS`]; empty where there is none.
    pub(super) values: Vec<String>,
    /// East and north.
    pub(super) point: Option<(f64, f64)>,
}

/// Why a layer cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum GeoPackageError {
    /// A table that must be there is not, or the file is damaged.
    #[error("not a GeoPackage: {0}")]
    NotGeoPackage(#[from] rusqlite::Error),
    /// It holds pictures or tables only.
    #[error("a GeoPackage without a layer of features")]
    NoLayer,
    /// Which one is meant?
    #[error("has the layers {0}; name one by --layer")]
    SeveralLayers(String),
    /// Not that one.
    #[error("has no layer {0:?}; there are {1}")]
    UnknownLayer(String, String),
    /// A column that must be there.
    #[error(
        "layer {layer:?} has no column {column:?}; name it by --column {column}=THEIRS (there are: {there})"
    )]
    NoColumn {
        /// The layer.
        layer: String,
        /// The name that was looked for.
        column: String,
        /// What there is.
        there: String,
    },
    /// Nobody can say where the points are.
    #[error(
        "layer {0:?} is in a coordinate system that is no EPSG one ({1}); convert it: ogr2ogr -t_srs EPSG:4326 \
         OUT.gpkg IN.gpkg {0}"
    )]
    NoSystem(String, String),
}

/// Whether a file that begins like this is one.
pub(super) fn is_geopackage(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads the layer of this name, or the only one; `theirs` is the file's name of one of our columns.
pub(super) fn read(
    path: &Path,
    layer: Option<&str>,
    theirs: impl Fn(&str) -> String,
) -> Result<Layer, GeoPackageError> {
    let file = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let layer = choose(&file, layer)?;
    let srid = srid(&file, &layer)?;
    let geometry: String = file.query_row(
        "select column_name from gpkg_geometry_columns where table_name = ?1",
        [&layer],
        |row| row.get(0),
    )?;
    let mut rows = file.prepare(&format!("select * from {}", quoted(&layer)))?;
    let names: Vec<String> = rows.column_names().into_iter().map(str::to_owned).collect();
    let place = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
    // Longitude and latitude come out of the geometry.
    let places: Vec<Option<usize>> =
        COLUMNS.iter().map(|column| if is_axis(column) { None } else { place(&theirs(column)) }).collect();
    if place(&theirs("street")).is_none() {
        let there = names.iter().filter(|name| **name != geometry).cloned().collect::<Vec<_>>().join(", ");
        return Err(GeoPackageError::NoColumn { layer, column: theirs("street"), there });
    }
    let geometry = place(&geometry);
    let mut records = Vec::new();
    let mut cursor = rows.query([])?;
    while let Some(row) = cursor.next()? {
        let text = |place: &Option<usize>| -> Result<String, rusqlite::Error> {
            place.map_or_else(|| Ok(String::new()), |place| Ok(text(row.get_ref(place)?)))
        };
        let values = places.iter().map(text).collect::<Result<_, _>>()?;
        let point = match geometry.map(|place| row.get_ref(place)).transpose()? {
            Some(ValueRef::Blob(blob)) => point(blob),
            _ => None,
        };
        records.push(Record { values, point });
    }
    Ok(Layer { srid, records })
}

fn is_axis(column: &str) -> bool {
    matches!(column, "latitude" | "longitude")
}

fn choose(file: &Connection, wanted: Option<&str>) -> Result<String, GeoPackageError> {
    let mut layers =
        file.prepare("select table_name from gpkg_contents where data_type = 'features' order by 1")?;
    let layers: Vec<String> = layers.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let all = || layers.join(", ");
    match (wanted, &layers[..]) {
        (_, []) => Err(GeoPackageError::NoLayer),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(GeoPackageError::SeveralLayers(all())),
        (Some(wanted), _) => layers
            .iter()
            .find(|layer| layer.eq_ignore_ascii_case(wanted))
            .cloned()
            .ok_or_else(|| GeoPackageError::UnknownLayer(wanted.to_owned(), all())),
    }
}

/// The EPSG code; the ids of the file are its own.
fn srid(file: &Connection, layer: &str) -> Result<i32, GeoPackageError> {
    let (organization, code, name): (String, i64, String) = file.query_row(
        "select srs.organization, srs.organization_coordsys_id, srs.srs_name
         from gpkg_geometry_columns as geometry
         join gpkg_spatial_ref_sys as srs on srs.srs_id = geometry.srs_id
         where geometry.table_name = ?1",
        [layer],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    match i32::try_from(code) {
        Ok(code) if organization.eq_ignore_ascii_case("epsg") && code > 0 => Ok(code),
        _ => Err(GeoPackageError::NoSystem(layer.to_owned(), name)),
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// The point of a geometry: of a Point, or the first of a MultiPoint, with height and measure or without. Everything
/// else, and an empty geometry, is none.
fn point(blob: &[u8]) -> Option<(f64, f64)> {
    // "GP", version, flags, four bytes of the file's own id of the coordinate system, an envelope, well-known binary.
    let flags = *blob.strip_prefix(b"GP")?.get(1)?;
    let envelope = match flags >> 1 & 0b111 {
        0 => 0,
        1 => 32,
        2 | 3 => 48,
        4 => 64,
        _ => return None,
    };
    wkb_point(blob.get(8 + envelope..)?, 1)
}

/// `deeper` is how many collections may still be looked into.
fn wkb_point(wkb: &[u8], deeper: u8) -> Option<(f64, f64)> {
    let little = match wkb.first()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let bytes = |at: usize| wkb.get(at..at + 8)?.try_into().ok();
    let kind: [u8; 4] = wkb.get(1..5)?.try_into().ok()?;
    let kind = if little { u32::from_le_bytes(kind) } else { u32::from_be_bytes(kind) };
    let number = |at: usize| {
        let bytes: [u8; 8] = bytes(at)?;
        Some(if little { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) })
    };
    // 1000, 2000 and 3000 more say that a height, a measure or both follow.
    match kind % 1000 {
        1 => {
            let (x, y) = (number(5)?, number(13)?);
            // An empty point is written as two that are no numbers.
            (x.is_finite() && y.is_finite()).then_some((x, y))
        }
        4 if deeper > 0 => wkb_point(wkb.get(9..)?, deeper - 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A geometry of this kind, with an envelope of so many numbers.
    fn blob(little: bool, kind: u32, envelope: u8, numbers: &[f64]) -> Vec<u8> {
        let mut blob = b"GP\0".to_vec();
        blob.push(envelope << 1 | u8::from(little));
        blob.extend(4326_i32.to_le_bytes());
        let size = match envelope {
            0 => 0,
            1 => 4,
            2 | 3 => 6,
            _ => 8,
        };
        blob.extend(std::iter::repeat_n(0, size * 8));
        blob.push(u8::from(little));
        blob.extend(if little { kind.to_le_bytes() } else { kind.to_be_bytes() });
        for number in numbers {
            blob.extend(if little { number.to_le_bytes() } else { number.to_be_bytes() });
        }
        blob
    }

    #[test]
    fn points_are_read_in_either_order_of_bytes_with_height_and_envelope() {
        for (little, kind, envelope, numbers) in [
            (true, 1, 0, &[-2.67, 42.85][..]),
            (false, 1, 0, &[-2.67, 42.85]),
            (true, 1001, 1, &[-2.67, 42.85, 525.0]),
            (true, 3001, 4, &[-2.67, 42.85, 525.0, 1.0]),
            (false, 2001, 2, &[-2.67, 42.85, 1.0]),
        ] {
            assert_eq!(point(&blob(little, kind, envelope, numbers)), Some((-2.67, 42.85)), "{kind}");
        }
        let mut multi = blob(true, 4, 0, &[]);
        multi.extend(1_u32.to_le_bytes());
        multi.extend(&blob(true, 1, 0, &[1.0, 2.0])[8..]);
        assert_eq!(point(&multi), Some((1.0, 2.0)));
    }

    #[test]
    fn what_is_no_point_is_none_and_nothing_cut_is_read() {
        let whole = blob(true, 1, 0, &[-2.67, 42.85]);
        for end in 0..whole.len() {
            assert_eq!(point(&whole[..end]), None, "{end}");
        }
        assert_eq!(point(&blob(true, 1, 0, &[f64::NAN, f64::NAN])), None, "an empty point");
        assert_eq!(point(&blob(true, 2, 0, &[1.0, 2.0, 3.0, 4.0])), None, "a line");
        assert_eq!(point(&blob(true, 1, 7, &[1.0, 2.0])), None, "an envelope that there is not");
        assert_eq!(point(b"XX"), None);
    }
}
