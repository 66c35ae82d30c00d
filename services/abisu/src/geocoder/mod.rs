//! `abisu geocoder`: the streets and doors that the service `geocode` searches by itself (`ABISU_GEOCODER=offline`).
//!
//! A load replaces everything that is known of one municipality, in one transaction: whoever searches meanwhile sees
//! the old streets until the new ones are all there.

mod args;
mod geopackage;
mod read;
mod rows;
mod store;

use std::io::Read as _;

use crate::Failure;
use crate::connect::connect;
pub(crate) use args::GeocoderCommand;
use args::LoadArgs;
use read::Read;

/// Coordinate systems whose coordinates are degrees as we have them: WGS 84, and ETRS 89, which is the same to a metre.
const DEGREES: [i32; 2] = [4326, 4258];

/// Runs one of the commands and returns what it says.
pub(crate) async fn run(command: GeocoderCommand) -> Result<String, Failure> {
    match command {
        GeocoderCommand::Load(args) => load(*args).await,
        GeocoderCommand::Status { database } => store::status(&mut connect(database).await?).await,
    }
}

async fn load(args: LoadArgs) -> Result<String, Failure> {
    let LoadArgs { file, layer, city_ine_code, columns, dry_run, database } = args;
    let name = file.display();
    let unusable = |problem: String| Failure::Usage(format!("{name}: {problem}"));
    let mut head = [0; 16];
    let read = std::fs::File::open(&file).and_then(|mut file| file.read(&mut head));
    read.map_err(|error| unusable(format!("cannot read it: {error}")))?;
    let mut on = None;
    let found = if geopackage::is_geopackage(&head) {
        let theirs = |ours: &str| read::theirs(ours, &columns);
        let mut layer = geopackage::read(&file, layer.as_deref(), theirs)
            .map_err(|problem| unusable(problem.to_string()))?;
        if !DEGREES.contains(&layer.srid) {
            let on = on.insert(connect(database.clone()).await?);
            store::to_degrees(on, &mut layer).await?;
        }
        read::features(layer, &city_ine_code)
    } else {
        if layer.is_some() {
            return Err(Failure::Usage("--layer: only a GeoPackage has layers".to_owned()));
        }
        let bytes = std::fs::read(&file).map_err(|error| unusable(format!("cannot read it: {error}")))?;
        read::read(&bytes, &city_ine_code, &columns)
    };
    let Read { streets, doors, elsewhere, skipped } =
        found.map_err(|problem| unusable(problem.to_string()))?;
    if streets.is_empty() {
        return Err(unusable(format!(
            "no street of municipality {city_ine_code} in it ({elsewhere} rows of others, {} not \
             understood); ABISU_CITY_INE_CODE says which one is meant",
            skipped.count
        )));
    }
    let mut said = format!("municipality {city_ine_code}: {} streets and {doors} doors", streets.len());
    if elsewhere > 0 {
        said += &format!(", {elsewhere} rows of other municipalities left out");
    }
    if let Some(first) = &skipped.first {
        said += &format!(", {} rows not understood, the first in {first}", skipped.count);
    }
    if dry_run {
        return Ok(format!("{said}; nothing loaded\n"));
    }
    let mut on = match on {
        Some(on) => on,
        None => connect(database).await?,
    };
    store::replace(&mut on, &city_ine_code, streets).await?;
    Ok(format!("{said}; loaded\n"))
}
