//! The files of a city: the built-in one's, or those of the folders that the configuration names.

use std::path::Path;

use anyhow::anyhow;
use flow_json::{BUILTIN, Problem, Taxonomy};

use super::args::CityArgs;
use super::read;
use crate::Failure;

/// Reads and checks the files.
///
/// # Errors
/// A folder or file that cannot be read; else every problem, one a line.
pub(crate) fn load(city: &CityArgs) -> Result<Taxonomy, Failure> {
    let CityArgs { flows_dir, catalogs_dir } = city;
    let taxonomy = match flows_dir {
        Some(folder) => read(&folder.join("report/taxonomy.yaml"))?,
        None => BUILTIN.taxonomy.to_owned(),
    };
    let (catalogs, partner) = match catalogs_dir {
        Some(folder) => (catalogs(folder)?, read(&folder.join("partner.yaml"))?),
        None => {
            let catalogs = BUILTIN.catalogs.iter();
            let owned = catalogs.map(|(language, text)| ((*language).to_owned(), (*text).to_owned()));
            (owned.collect(), BUILTIN.partner.to_owned())
        }
    };
    let catalogs: Vec<(&str, &str)> =
        catalogs.iter().map(|(language, text)| (language.as_str(), text.as_str())).collect();
    Taxonomy::from_yaml(&taxonomy, &catalogs, &partner).map_err(|problems| refuse(&problems, city))
}

/// Every file of the folder but the mapping is a catalog, named by its language; sorted, so that the order of the
/// folder does not count.
fn catalogs(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::Failed(anyhow!(error).context(format!("{}: cannot be read", folder.display())))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml");
        if is_yaml && stem != "partner" {
            found.push((stem.to_owned(), read(&path)?));
        }
    }
    found.sort();
    Ok(found)
}

fn refuse(problems: &[Problem], city: &CityArgs) -> Failure {
    let mut lines = vec![format!("{} problem(s) in the files of the form", problems.len())];
    lines.extend(problems.iter().map(|problem| in_folder(&problem.to_string(), city)));
    Failure::Failed(anyhow!(lines.join("\n")))
}

/// A problem or a key with the folder as it was given, so that an editor finds the file.
pub(crate) fn in_folder(line: &str, city: &CityArgs) -> String {
    for (prefix, folder) in [("flows/", &city.flows_dir), ("catalogs/", &city.catalogs_dir)] {
        if let (Some(rest), Some(folder)) = (line.strip_prefix(prefix), folder) {
            return folder.join(rest).display().to_string();
        }
    }
    line.to_owned()
}
