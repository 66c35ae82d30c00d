//! `abisu geocoder`: the streets and doors that the service `geocode` searches by itself (`ABISU_GEOCODER=offline`).
//!
//! A load replaces everything that is known of one municipality, in one transaction: whoever searches meanwhile sees
//! the old streets until the new ones are all there.

mod args;
mod read;
mod rows;
mod store;

use crate::Failure;
use crate::connect::connect;
pub(crate) use args::GeocoderCommand;
use args::LoadArgs;
use read::Read;

/// Runs one of the commands and returns what it says.
pub(crate) async fn run(command: GeocoderCommand) -> Result<String, Failure> {
    match command {
        GeocoderCommand::Load(args) => load(*args).await,
        GeocoderCommand::Status { database } => store::status(&mut connect(database).await?).await,
    }
}

async fn load(args: LoadArgs) -> Result<String, Failure> {
    let LoadArgs { file, city_ine_code, columns, dry_run, database } = args;
    let name = file.display();
    let bytes =
        std::fs::read(&file).map_err(|error| Failure::Usage(format!("{name}: cannot read it: {error}")))?;
    let Read { streets, doors, elsewhere, skipped } = read::read(&bytes, &city_ine_code, &columns)
        .map_err(|problem| Failure::Usage(format!("{name}: {problem}")))?;
    if streets.is_empty() {
        return Err(Failure::Usage(format!(
            "{name}: no street of municipality {city_ine_code} in it ({elsewhere} rows of others, {} not \
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
    store::replace(&mut connect(database).await?, &city_ine_code, streets).await?;
    Ok(format!("{said}; loaded\n"))
}
