//! The files of the city: what may be reported and the words of the conversation, built in or from the folders that the
//! configuration names.

use dialogue::Language;
use flow_json::{GivenFiles, Taxonomy, in_one_line};
use runtime::ConfigError;
use runtime::city::CityFiles;

const FLOWS: &str = "ABISU_FLOWS_DIR";
const CATALOGS: &str = "ABISU_CATALOGS_DIR";

/// The taxonomy of the files.
///
/// # Errors
/// The first problem in them, and how many there are.
pub(crate) fn taxonomy(files: &CityFiles) -> Result<Taxonomy, ConfigError> {
    let catalogs = files.catalogs.as_ref();
    let given = GivenFiles {
        taxonomy: files.taxonomy.as_deref(),
        catalogs: catalogs.map(|catalogs| (&catalogs.languages[..], catalogs.partner.as_str())),
    };
    let name = if files.catalogs.is_some() { CATALOGS } else { FLOWS };
    given.taxonomy().map_err(|problems| ConfigError::invalid(name, in_one_line(&problems)))
}

/// The words of the conversation, where the files bring their own. `None`: the built-in ones.
///
/// # Errors
/// A language that the conversation speaks has none, or the first problem in them.
pub(crate) fn texts(files: &CityFiles) -> Result<Option<Vec<(Language, String)>>, ConfigError> {
    let Some(catalogs) = &files.catalogs else { return Ok(None) };
    let mut texts = Vec::new();
    for language in Language::ALL {
        let code = language.as_str();
        let found = catalogs.languages.iter().find(|(known, _)| known == code);
        let (_, text) = found.ok_or_else(|| {
            ConfigError::invalid(CATALOGS, format!("{code}.yaml is missing; the conversation speaks it"))
        })?;
        texts.push((language, text.clone()));
    }
    let problems = dialogue::texts::check_all(&texts);
    if problems.is_empty() {
        Ok(Some(texts))
    } else {
        Err(ConfigError::invalid(CATALOGS, in_one_line(&problems)))
    }
}

/// Texts that cannot be used.
pub(crate) fn refuse(problems: &[dialogue::texts::Problem]) -> anyhow::Error {
    anyhow::anyhow!("the texts cannot be used: {}", in_one_line(problems))
}

#[cfg(test)]
mod tests {
    use flow_json::BUILTIN;
    use runtime::city::Catalogs;

    use super::*;

    fn files(change: impl Fn(&str, &str) -> Option<String>) -> CityFiles {
        let languages = BUILTIN.catalogs.iter();
        let languages = languages
            .filter_map(|(language, text)| Some(((*language).to_owned(), change(language, text)?)))
            .collect();
        CityFiles {
            taxonomy: None,
            catalogs: Some(Catalogs { languages, partner: BUILTIN.partner.to_owned() }),
        }
    }

    #[test]
    fn a_city_brings_its_own_words_and_labels() {
        let own = files(|_, text| Some(text.replace("Vidrio", "Cristal").replace("¡Hola!", "¡Buenas!")));
        let taxonomy = taxonomy(&own).unwrap();
        assert_eq!(taxonomy.labels("container/overflowing/glass", "es").unwrap()[2], "Cristal");
        assert_ne!(taxonomy.version(), Taxonomy::builtin().unwrap().version());
        let texts = texts(&own).unwrap().unwrap();
        assert!(texts[0].1.contains("¡Buenas!"));
    }

    #[test]
    fn files_that_cannot_be_used_refuse_to_start_in_one_line() {
        let one = files(|language, text| (language == "es").then(|| text.to_owned()));
        let error = texts(&one).unwrap_err().to_string();
        assert!(error.starts_with("ABISU_CATALOGS_DIR: eu.yaml is missing"), "{error}");
        let error = texts(&files(|_, text| Some(text.replace("  greeting:", "  greting:")))).unwrap_err();
        assert!(error.to_string().contains("chat.greeting is missing"), "{error}");
        assert_eq!(error.to_string().lines().count(), 1);
    }

    #[test]
    fn without_folders_everything_is_built_in() {
        let none = CityFiles::default();
        assert!(texts(&none).unwrap().is_none());
        assert_eq!(taxonomy(&none).unwrap().version(), Taxonomy::builtin().unwrap().version());
    }
}
