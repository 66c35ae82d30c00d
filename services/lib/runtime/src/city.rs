//! The files of a city, as the folders hold them that the configuration names: what may be reported, how it is called,
//! what the contractor is told. Read once, at the start; what they mean is for `flow-json` to say.

use std::path::{Path, PathBuf};

use crate::config::ConfigError;

/// Where the files of the city are.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct CityFilesArgs {
    /// Folder that holds report/taxonomy.yaml; the built-in city's without it
    #[arg(long, env = "ABISU_FLOWS_DIR", value_name = "DIR")]
    flows_dir: Option<PathBuf>,
    /// Folder that holds a catalog for each language and partner.yaml; the built-in city's without it
    #[arg(long, env = "ABISU_CATALOGS_DIR", value_name = "DIR")]
    catalogs_dir: Option<PathBuf>,
}

/// The texts. Where a folder is not named, the built-in city's are meant.
#[derive(Debug, Clone, Default)]
pub struct CityFiles {
    /// `report/taxonomy.yaml`.
    pub taxonomy: Option<String>,
    /// Every catalog by its language, and `partner.yaml`.
    pub catalogs: Option<Catalogs>,
}

/// The folder of catalogs.
#[derive(Debug, Clone)]
pub struct Catalogs {
    /// Language and text, in the order of the languages.
    pub languages: Vec<(String, String)>,
    /// The mapping to the contractor's categories.
    pub partner: String,
}

impl CityFilesArgs {
    /// The folders as they were given: of the taxonomy, and of the catalogs.
    pub fn folders(&self) -> (Option<&Path>, Option<&Path>) {
        fn named(folder: &Option<PathBuf>) -> Option<&Path> {
            folder.as_deref().filter(|folder| !folder.as_os_str().is_empty())
        }
        (named(&self.flows_dir), named(&self.catalogs_dir))
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// A folder or a file that cannot be read.
    pub fn read(self) -> Result<CityFiles, ConfigError> {
        let named = |folder: Option<PathBuf>| folder.filter(|folder| !folder.as_os_str().is_empty());
        let Self { flows_dir, catalogs_dir } = self;
        let taxonomy = named(flows_dir)
            .map(|folder| read("ABISU_FLOWS_DIR", &folder.join("report/taxonomy.yaml")))
            .transpose()?;
        let catalogs = named(catalogs_dir).map(|folder| read_catalogs(&folder)).transpose()?;
        Ok(CityFiles { taxonomy, catalogs })
    }
}

const CATALOGS: &str = "ABISU_CATALOGS_DIR";

/// Every YAML file of the folder but the mapping is a catalog, named by its language.
fn read_catalogs(folder: &Path) -> Result<Catalogs, ConfigError> {
    let failed = |error: std::io::Error| unreadable(CATALOGS, folder, &error);
    let mut languages = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml");
        match path.file_stem().and_then(|stem| stem.to_str()) {
            Some(language) if is_yaml && language != "partner" => {
                languages.push((language.to_owned(), read(CATALOGS, &path)?));
            }
            Some(_) | None => {}
        }
    }
    // So that the order of the folder does not count.
    languages.sort();
    Ok(Catalogs { languages, partner: read(CATALOGS, &folder.join("partner.yaml"))? })
}

fn read(name: &'static str, path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|error| unreadable(name, path, &error))
}

fn unreadable(name: &'static str, path: &Path, error: &std::io::Error) -> ConfigError {
    ConfigError::invalid(name, format!("cannot read {}: {}", path.display(), error.kind()))
}
