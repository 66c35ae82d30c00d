//! The arguments of `abisu geocoder`.

use std::path::PathBuf;

use clap::Subcommand;
use runtime::config::DatabaseArgs;

/// What can be done to the streets of the offline provider.
#[derive(Subcommand)]
pub(crate) enum GeocoderCommand {
    /// Load streets and doors from CSV, GeoJSON or a GeoPackage, in place of all that are loaded for the municipality
    ///
    /// A row is a door, or, without a number, a street or a place with a point of its own. Columns (of GeoJSON and
    /// of a GeoPackage: attributes, and a Point for the coordinates):
    ///
    ///   street      name of the street, hamlet or place; required
    ///   kind        word for the kind of street, as "Calle"; may also stand at the head or end of the name
    ///   other_name  name in the other language, where it is another one
    ///   number      "12", "12A", "12 bis", "s/n"; none for a street or a place
    ///   extension   letter of the number, where that is a column of its own
    ///   locality    village or quarter, to tell streets of one name apart
    ///   ine_code    municipality, five digits; rows of another one are left out
    ///   latitude, longitude   degrees, WGS 84 (or ETRS 89)
    ///
    /// CSV has a header, commas or semicolons, UTF-8. A layer of a GeoPackage may be in any EPSG coordinate system
    /// that the database knows; one that is not in degrees (ETRS 89 / UTM 30N) is converted by it.
    #[command(verbatim_doc_comment)]
    Load(Box<LoadArgs>),
    /// Say what is loaded, per municipality
    Status {
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

/// A file with streets.
#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    /// CSV, GeoJSON or GeoPackage
    pub(crate) file: PathBuf,
    /// Layer of a GeoPackage that has several
    #[arg(long)]
    pub(crate) layer: Option<String>,
    /// Municipality that the streets belong to, by its code at the statistics institute
    #[arg(long, env = "ABISU_CITY_INE_CODE", default_value = "01059", value_parser = parse_ine_code)]
    pub(crate) city_ine_code: String,
    /// Column of the file that holds one of ours, as street=nombre_via; may be given several times
    #[arg(long = "column", value_name = "OURS=THEIRS", value_parser = parse_column)]
    pub(crate) columns: Vec<(String, String)>,
    /// Say what would be loaded, and load nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

fn parse_ine_code(text: &str) -> Result<String, String> {
    let digits = text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    if digits { Ok(text.to_owned()) } else { Err("must be 5 digits".to_owned()) }
}

fn parse_column(text: &str) -> Result<(String, String), String> {
    let (ours, theirs) = text.split_once('=').ok_or("as street=nombre_via")?;
    if super::rows::COLUMNS.contains(&ours) {
        Ok((ours.to_owned(), theirs.to_owned()))
    } else {
        Err(format!("no column {ours:?}; there are {}", super::rows::COLUMNS.join(", ")))
    }
}
