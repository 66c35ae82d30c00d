//! The taxonomy of the city's files: the built-in city's, or those of the folders that the configuration names.

use flow_json::{GivenFiles, Taxonomy, in_one_line};
use runtime::ConfigError;
use runtime::city::CityFilesArgs;

/// Reads and checks the files.
///
/// # Errors
/// A file that cannot be read; else the first problem in them, and how many there are.
pub(crate) fn taxonomy(args: CityFilesArgs) -> Result<Taxonomy, ConfigError> {
    let files = args.read()?;
    let catalogs = files.catalogs.as_ref();
    let given = GivenFiles {
        taxonomy: files.taxonomy.as_deref(),
        catalogs: catalogs.map(|catalogs| (&catalogs.languages[..], catalogs.partner.as_str())),
    };
    let name = if files.catalogs.is_some() { "ABISU_CATALOGS_DIR" } else { "ABISU_FLOWS_DIR" };
    given.taxonomy().map_err(|problems| ConfigError::invalid(name, in_one_line(&problems)))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use flow_json::BUILTIN;

    use super::*;

    #[derive(Parser)]
    struct Args {
        #[command(flatten)]
        city: CityFilesArgs,
    }

    fn of(partner: Option<&str>) -> Result<Taxonomy, String> {
        let folder = std::env::temp_dir().join(format!("abisu-city-{}", rand::random::<u64>()));
        std::fs::create_dir(&folder).unwrap();
        for (language, text) in BUILTIN.catalogs {
            std::fs::write(folder.join(format!("{language}.yaml")), text).unwrap();
        }
        if let Some(partner) = partner {
            std::fs::write(folder.join("partner.yaml"), partner).unwrap();
        }
        let flag = format!("--catalogs-dir={}", folder.display());
        let read = taxonomy(Args::try_parse_from(["test", &flag]).unwrap().city);
        std::fs::remove_dir_all(folder).unwrap();
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn the_contractors_codes_come_from_the_folder_of_the_city() {
        let other = BUILTIN.partner.replace("CONTENEDOR_DESBORDADO", "CD-1");
        let (ours, theirs) = (Taxonomy::builtin().unwrap(), of(Some(&other)).unwrap());
        let code = |taxonomy: &Taxonomy| {
            taxonomy.leaf("container/overflowing/glass").unwrap().partner.clone().unwrap().category
        };
        assert_eq!((code(&ours).as_str(), code(&theirs).as_str()), ("CONTENEDOR_DESBORDADO", "CD-1"));
        assert_ne!(ours.version(), theirs.version());
    }

    #[test]
    fn files_that_cannot_be_used_refuse_to_start_in_one_line_that_names_the_place() {
        let missing = of(None).unwrap_err();
        assert!(missing.starts_with("ABISU_CATALOGS_DIR: cannot read"), "{missing}");
        let wrong = of(Some("categories: 1\n")).unwrap_err();
        assert!(wrong.starts_with("ABISU_CATALOGS_DIR: catalogs/partner.yaml:"), "{wrong}");
        assert_eq!(wrong.lines().count(), 1, "{wrong}");
    }
}
