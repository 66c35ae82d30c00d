//! The arguments of `abisu area`.

use std::path::PathBuf;

use clap::Subcommand;
use runtime::config::DatabaseArgs;

/// What can be done to service areas.
#[derive(Subcommand)]
pub(crate) enum AreaCommand {
    /// Load a service area from GeoJSON as its next version; a shape that is in force already changes nothing
    Load {
        #[command(flatten)]
        file: FileArgs,
        /// Say what would be loaded and how it differs from the version in force, and load nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Check a file as `load` does and load nothing, or ask which area covers a point
    Check(CheckArgs),
    /// List the areas with the versions in force
    List {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Show an area: its versions and when they were in force
    Show {
        /// Id of the area
        area_id: String,
        /// Only this version
        #[arg(long)]
        version: Option<i32>,
        /// The shape, as a GeoJSON feature that `load` takes; of the version in force unless another is given
        #[arg(long)]
        geojson: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

/// A file with an area.
#[derive(clap::Args)]
pub(crate) struct FileArgs {
    /// Feature, FeatureCollection, Polygon or MultiPolygon in WGS 84, longitude first
    pub(crate) file: PathBuf,
    /// Id of the area; by default the property `area_id`, else the file's name without its ending
    #[arg(long)]
    pub(crate) area_id: Option<String>,
}

/// A file or a point.
#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// Feature, FeatureCollection, Polygon or MultiPolygon in WGS 84, longitude first
    #[arg(required_unless_present = "at")]
    pub(crate) file: Option<PathBuf>,
    /// Id of the area; by default the property `area_id`, else the file's name without its ending
    #[arg(long)]
    pub(crate) area_id: Option<String>,
    /// Degrees north and east, as 42.8467,-2.6727: the latitude first, as people say it
    #[arg(long, value_name = "LATITUDE,LONGITUDE", allow_hyphen_values = true, value_parser = parse_point,
        conflicts_with_all = ["file", "area_id"])]
    pub(crate) at: Option<(f64, f64)>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

/// Latitude and longitude in degrees, for clap.
fn parse_point(text: &str) -> Result<(f64, f64), String> {
    let numbers = text.split_once(',').and_then(|(north, east)| {
        Some((north.trim().parse::<f64>().ok()?, east.trim().parse::<f64>().ok()?))
    });
    // The ranges are false for what is not a number, too.
    numbers
        .filter(|(north, east)| (-90.0..=90.0).contains(north) && (-180.0..=180.0).contains(east))
        .ok_or_else(|| "degrees, as 42.8467,-2.6727 (latitude, longitude)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_two_degrees_with_the_latitude_first() {
        assert_eq!(parse_point("42.8467, -2.6727"), Ok((42.8467, -2.6727)));
        for wrong in ["42.8467", "91,0", "0,181", "NaN,0", "a,b", ""] {
            assert!(parse_point(wrong).is_err(), "{wrong}");
        }
    }
}
