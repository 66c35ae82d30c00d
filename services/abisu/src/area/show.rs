//! What is loaded: areas, their versions, and which of them covers a point.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use runtime::config::DatabaseArgs;

use crate::Failure;
use crate::connect::connect;

/// The size of a shape. Displayed as indented lines.
pub(super) struct Figures {
    pub(super) km2: f64,
    pub(super) vertices: i32,
    pub(super) parts: i32,
    pub(super) holes: i32,
    /// South, north, west, east, in degrees.
    pub(super) box_: [f64; 4],
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [south, north, west, east] = self.box_;
        let count = |n: i32, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let (parts, holes) = (count(self.parts, "part"), count(self.holes, "hole"));
        writeln!(f, "  area          {:.3} km² in {parts} with {holes}", self.km2)?;
        writeln!(f, "  vertices      {}", self.vertices)?;
        writeln!(f, "  bounding box  latitude {south:.6} to {north:.6}, longitude {west:.6} to {east:.6}")
    }
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

pub(super) async fn list(database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let areas = sqlx::query_file!("src/area/store/list_areas.sql").fetch_all(&mut on).await?;
    if areas.is_empty() {
        return Ok("no area is loaded; load one with `abisu area load FILE.geojson`\n".to_owned());
    }
    let width = areas.iter().map(|area| area.area_id.len()).chain([4]).max().unwrap_or(4);
    let mut out = format!("{:width$}  version  in force since        km²       vertices\n", "area");
    for area in areas {
        let (id, version, since) = (area.area_id, area.version, time(area.loaded_at));
        out += &format!("{id:width$}  {version:<7}  {since}  {:<8.1}  {}\n", area.km2, area.vertices);
    }
    Ok(out)
}

pub(super) async fn show(
    area_id: &str,
    version: Option<i32>,
    geojson: bool,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let mut versions =
        sqlx::query_file!("src/area/store/area_versions.sql", area_id).fetch_all(&mut on).await?;
    if versions.is_empty() {
        return Err(Failure::Usage(format!("no area {area_id:?} is loaded; `abisu area list` lists them")));
    }
    if let Some(wanted) = version {
        versions.retain(|row| row.version == wanted);
    }
    let Some(newest) = versions.first() else {
        return Err(Failure::Usage(format!(
            "area {area_id} has no such version; leave --version out to see all"
        )));
    };
    if geojson {
        let geometry: serde_json::Value =
            serde_json::from_str(&newest.geojson).map_err(anyhow::Error::from)?;
        let properties = serde_json::json!({ "area_id": area_id, "version": newest.version });
        let feature =
            serde_json::json!({ "type": "Feature", "properties": properties, "geometry": geometry });
        return Ok(format!("{feature}\n"));
    }
    let mut out = format!("area {area_id}\n");
    for row in versions {
        let until = row.replaced_at.map_or_else(|| "now".to_owned(), time);
        out += &format!(
            "version {}: in force from {} until {until}, loaded by {}\n",
            row.version,
            time(row.loaded_at),
            row.loaded_by
        );
        let box_ = [row.south, row.north, row.west, row.east];
        let figures =
            Figures { km2: row.km2, vertices: row.vertices, parts: row.parts, holes: row.holes, box_ };
        out += &figures.to_string();
    }
    Ok(out)
}

/// Which areas cover a point, or how far the others are.
pub(super) async fn at(latitude: f64, longitude: f64, database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database).await?;
    let areas =
        sqlx::query_file!("src/area/store/areas_at.sql", latitude, longitude).fetch_all(&mut on).await?;
    if areas.is_empty() {
        return Err(Failure::Usage(
            "no area is loaded; load one with `abisu area load FILE.geojson`".to_owned(),
        ));
    }
    let mut out = String::new();
    for area in areas {
        let (id, version) = (area.area_id, area.version);
        out += &if area.metres > 0.0 {
            format!("area {id}, version {version}: outside, {:.0} metres from its border\n", area.metres)
        } else {
            format!("area {id}, version {version}: inside\n")
        };
    }
    Ok(out)
}
