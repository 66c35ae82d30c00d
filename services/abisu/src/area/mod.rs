//! `abisu area`: what a city serves, from files to versions.
//!
//! A version is never changed: decisions record the version they were made by. A shape is checked twice, by
//! [`shape::read`] for what GeoJSON allows and PostGIS would misread, and by PostGIS for geometry.

mod args;
pub mod shape;
mod show;

use std::path::Path;

use anyhow::{Context, anyhow};
use runtime::config::DatabaseArgs;
use sqlx::PgConnection;

use crate::Failure;
use crate::connect::connect;
pub(crate) use args::AreaCommand;
use args::{CheckArgs, FileArgs};

/// Runs one of the commands and returns what it says.
pub(crate) async fn run(command: AreaCommand) -> Result<String, Failure> {
    match command {
        AreaCommand::Load { file: FileArgs { file, area_id }, dry_run: false, database } => {
            load(&file, area_id, database).await
        }
        AreaCommand::Load { file: FileArgs { file, area_id }, dry_run: true, database } => {
            describe(&file, area_id, database).await
        }
        AreaCommand::Check(CheckArgs { at: Some((latitude, longitude)), database, .. }) => {
            show::at(latitude, longitude, database).await
        }
        AreaCommand::Check(CheckArgs { file: Some(file), area_id, database, .. }) => {
            describe(&file, area_id, database).await
        }
        AreaCommand::Check(CheckArgs { file: None, at: None, .. }) => {
            Err(Failure::Usage("give a file or --at LATITUDE,LONGITUDE".to_owned()))
        }
        AreaCommand::List { database } => show::list(database).await,
        AreaCommand::Show { area_id, version, geojson, database } => {
            show::show(&area_id, version, geojson, database).await
        }
    }
}

/// An area in a file, checked as far as that goes without a database.
struct Candidate {
    area_id: String,
    shape: shape::Shape,
    geometry: String,
}

fn read(file: &Path, area_id: Option<String>) -> Result<Candidate, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Usage(format!("{name}: cannot read it: {error}")))?;
    let shape = shape::read(&text).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let area_id = choose_id(file, area_id, &shape)?;
    let geometry = shape.to_geojson();
    Ok(Candidate { area_id, shape, geometry })
}

/// Refuses what PostGIS finds wrong with a shape, with the place.
async fn check(on: &mut PgConnection, file: &Path, geometry: &str) -> Result<(), Failure> {
    let name = file.display();
    let check = sqlx::query_file!("src/store/check_shape.sql", geometry)
        .fetch_one(on)
        .await
        .with_context(|| format!("{name}: PostGIS cannot read the shape"))?;
    if check.valid {
        return Ok(());
    }
    let place = match (check.longitude, check.latitude) {
        (Some(longitude), Some(latitude)) => format!(" at longitude {longitude}, latitude {latitude}"),
        _ => String::new(),
    };
    let reason = check.reason.unwrap_or_else(|| "not a valid shape".to_owned());
    Err(Failure::Usage(format!("{name}: {reason}{place}; correct the ring there and load it again")))
}

async fn load(file: &Path, area_id: Option<String>, database: DatabaseArgs) -> Result<String, Failure> {
    let Candidate { area_id, shape, geometry } = read(file, area_id)?;
    let mut on = connect(database).await?;
    check(&mut on, file, &geometry).await?;
    let loaded = sqlx::query_file!("src/store/insert_service_area.sql", area_id, geometry)
        .fetch_one(&mut on)
        .await
        .map_err(|error| match error.as_database_error().and_then(|e| e.constraint()) {
            Some("service_area_pkey") => {
                anyhow!("another load of {area_id} ran at the same time; run this one again").into()
            }
            _ => Failure::from(error),
        })?;
    let (version, km2) = (loaded.version, loaded.km2);
    Ok(if loaded.inserted {
        format!("area {area_id}: version {version} is in force ({km2:.1} km², {} points)\n", shape.points())
    } else {
        format!("area {area_id}: version {version} has this shape already, nothing loaded\n")
    })
}

/// What `load` would do, and what would change.
async fn describe(file: &Path, area_id: Option<String>, database: DatabaseArgs) -> Result<String, Failure> {
    let Candidate { area_id, geometry, .. } = read(file, area_id)?;
    let mut on = connect(database).await?;
    check(&mut on, file, &geometry).await?;
    let new =
        sqlx::query_file!("src/area/store/describe_shape.sql", area_id, geometry).fetch_one(&mut on).await?;
    let (verdict, change) = match (new.version, new.same) {
        (Some(version), Some(true)) => {
            (format!("version {version} has this shape already, nothing would be loaded"), "none".to_owned())
        }
        (Some(version), _) => (
            format!("would be version {}", version + 1),
            format!(
                "{:.3} km² gained and {:.3} km² lost against version {version}",
                new.gained.unwrap_or_default(),
                new.lost.unwrap_or_default()
            ),
        ),
        (None, _) => ("would be version 1".to_owned(), "a new area".to_owned()),
    };
    let figures = show::Figures {
        km2: new.km2,
        vertices: new.vertices,
        parts: new.parts,
        holes: new.holes,
        box_: [new.south, new.north, new.west, new.east],
    };
    Ok(format!("area {area_id}: {verdict}\n{figures}  change        {change}\n"))
}

/// The option, else the property, else the name of the file.
fn choose_id(file: &Path, option: Option<String>, shape: &shape::Shape) -> Result<String, Failure> {
    let (id, source) = if let Some(id) = option {
        (id, "--area-id")
    } else {
        match shape.area_ids() {
            [id] => (id.clone(), "property area_id"),
            [] => (file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase(), "the file's name"),
            several => {
                let list = several.join(", ");
                return Err(Failure::Usage(format!(
                    "{}: holds several areas ({list}); load one file each, or join them with --area-id",
                    file.display()
                )));
            }
        }
    };
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || id.len() > 64 || !id.chars().all(allowed) {
        return Err(Failure::Usage(format!(
            "{source}: {id:?} is not an area id; use a to z, 0 to 9 and hyphens, at most 64, with --area-id"
        )));
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(area_ids: &[&str]) -> shape::Shape {
        let features: Vec<_> = area_ids
            .iter()
            .map(|id| {
                serde_json::json!({"type": "Feature", "properties": {"area_id": id}, "geometry": {
                    "type": "Polygon", "coordinates": [[[-2.7, 42.8], [-2.6, 42.8], [-2.6, 42.9], [-2.7, 42.8]]]}})
            })
            .collect();
        shape::read(&serde_json::json!({"type": "FeatureCollection", "features": features}).to_string())
            .unwrap()
    }

    #[test]
    fn the_id_comes_from_the_option_then_the_property_then_the_file() {
        let file = Path::new("/areas/Gasteiz.geojson");
        let given = Some("center".to_owned());
        assert_eq!(choose_id(file, given, &shape(&["a"])).unwrap(), "center");
        assert_eq!(choose_id(file, None, &shape(&["a"])).unwrap(), "a");
        assert_eq!(choose_id(file, None, &shape(&["a", "a"])).unwrap(), "a");
        assert!(
            choose_id(file, None, &shape(&["a", "b"]))
                .unwrap_err()
                .to_string()
                .contains("several areas (a, b)")
        );
        assert!(
            choose_id(file, Some("á b".to_owned()), &shape(&["a"]))
                .unwrap_err()
                .to_string()
                .contains("--area-id")
        );
    }

    #[test]
    fn without_a_property_the_name_of_the_file_is_the_id() {
        let bare = r#"{"type":"Polygon","coordinates":[[[-2.7,42.8],[-2.6,42.8],[-2.6,42.9],[-2.7,42.8]]]}"#;
        let shape = shape::read(bare).unwrap();
        assert_eq!(choose_id(Path::new("/areas/Gasteiz.geojson"), None, &shape).unwrap(), "gasteiz");
    }
}
