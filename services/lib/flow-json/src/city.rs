//! The files of a city as a service is given them: each folder may be missing, and then the built-in city's are meant.

use crate::problem::Problem;
use crate::taxonomy::{BUILTIN, Taxonomy};

/// The texts of a city; what is `None` is the built-in city's.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenFiles<'a> {
    /// `flows/report/taxonomy.yaml`.
    pub taxonomy: Option<&'a str>,
    /// Every `catalogs/<language>.yaml` by its language, and `catalogs/partner.yaml`.
    pub catalogs: Option<(&'a [(String, String)], &'a str)>,
}

impl GivenFiles<'_> {
    /// The checked taxonomy of these files.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn taxonomy(&self) -> Result<Taxonomy, Vec<Problem>> {
        let tree = self.taxonomy.unwrap_or(BUILTIN.taxonomy);
        match self.catalogs {
            None => Taxonomy::from_yaml(tree, BUILTIN.catalogs, BUILTIN.partner),
            Some((catalogs, partner)) => {
                let catalogs: Vec<(&str, &str)> =
                    catalogs.iter().map(|(language, text)| (language.as_str(), text.as_str())).collect();
                Taxonomy::from_yaml(tree, &catalogs, partner)
            }
        }
    }
}

/// Problems as the one line with which a service refuses to start: the first of them, and how many there are.
pub fn in_one_line<P: std::fmt::Display>(problems: &[P]) -> String {
    match problems {
        [] => "the city's files cannot be used".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => {
            format!("{first} (and {} more: `abisu flows check` says all of them)", rest.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_is_built_in() {
        let builtin = Taxonomy::builtin().unwrap();
        assert_eq!(GivenFiles::default().taxonomy().unwrap().version(), builtin.version());
        let catalogs: Vec<(String, String)> = BUILTIN
            .catalogs
            .iter()
            .map(|(language, text)| ((*language).to_owned(), text.replace("Vidrio", "Cristal")))
            .collect();
        let given = GivenFiles { taxonomy: None, catalogs: Some((&catalogs, BUILTIN.partner)) };
        let own = given.taxonomy().unwrap();
        assert_eq!(own.labels("container/overflowing/glass", "es").unwrap()[2], "Cristal");
    }

    #[test]
    fn many_problems_are_one_line() {
        let given = GivenFiles { taxonomy: Some("sections: 1"), catalogs: None };
        assert_eq!(in_one_line(&given.taxonomy().unwrap_err()).lines().count(), 1);
        assert_eq!(in_one_line(&["a", "b", "c"]), "a (and 2 more: `abisu flows check` says all of them)");
    }
}
