//! The files of a city: the built-in one's, or those of the folders that the configuration names.

use std::path::PathBuf;

use anyhow::anyhow;
use dialogue::Language;
use dialogue::texts::check_all;
use flow_json::{BUILTIN, GivenFiles, Taxonomy};
use runtime::city::{CityFiles, CityFilesArgs};

use crate::Failure;

/// Where the files are, as it was given.
pub(crate) struct City {
    args: CityFilesArgs,
    flows: Option<PathBuf>,
    catalogs: Option<PathBuf>,
}

impl From<CityFilesArgs> for City {
    fn from(args: CityFilesArgs) -> Self {
        let (flows, catalogs) = args.folders();
        let owned = |folder: Option<&std::path::Path>| folder.map(std::path::Path::to_path_buf);
        Self { flows: owned(flows), catalogs: owned(catalogs), args }
    }
}

impl City {
    /// Reads and checks the files of the form.
    ///
    /// # Errors
    /// A folder or file that cannot be read; else every problem, one a line.
    pub(crate) fn load(&self) -> Result<Taxonomy, Failure> {
        let CityFiles { taxonomy, catalogs } = self.args.clone().read()?;
        let catalogs = catalogs.as_ref();
        let given = GivenFiles {
            taxonomy: taxonomy.as_deref(),
            catalogs: catalogs.map(|catalogs| (&catalogs.languages[..], catalogs.partner.as_str())),
        };
        given.taxonomy().map_err(|problems| {
            self.refuse("the files of the form", problems.iter().map(ToString::to_string).collect())
        })
    }

    /// Checks the words of the conversation. Returns the languages of the files that it speaks, and those that it does
    /// not: a form may be in any language, the conversation's are a part of its code.
    ///
    /// # Errors
    /// A folder or file that cannot be read; else every problem, one a line.
    pub(crate) fn check_texts(&self) -> Result<(Vec<String>, Vec<String>), Failure> {
        let catalogs = match self.args.clone().read()?.catalogs {
            Some(catalogs) => catalogs.languages,
            None => {
                let built_in = BUILTIN.catalogs.iter();
                built_in.map(|(language, text)| ((*language).to_owned(), (*text).to_owned())).collect()
            }
        };
        let spoken = |code: &str| Language::ALL.into_iter().find(|language| language.as_str() == code);
        let texts: Vec<(Language, String)> =
            catalogs.iter().filter_map(|(code, text)| Some((spoken(code)?, text.clone()))).collect();
        let problems: Vec<String> = check_all(&texts).iter().map(ToString::to_string).collect();
        if !problems.is_empty() {
            return Err(self.refuse("the words of the conversation", problems));
        }
        Ok(catalogs.into_iter().map(|(code, _)| code).partition(|code| spoken(code).is_some()))
    }

    fn refuse(&self, what: &str, problems: Vec<String>) -> Failure {
        let mut lines = vec![format!("{} problem(s) in {what}", problems.len())];
        lines.extend(problems.iter().map(|problem| self.in_folder(problem)));
        Failure::Failed(anyhow!(lines.join("\n")))
    }

    /// A problem or a key with the folder as it was given, so that an editor finds the file.
    pub(crate) fn in_folder(&self, line: &str) -> String {
        for (prefix, folder) in [("flows/", &self.flows), ("catalogs/", &self.catalogs)] {
            if let (Some(rest), Some(folder)) = (line.strip_prefix(prefix), folder) {
                return folder.join(rest).display().to_string();
            }
        }
        line.to_owned()
    }
}
