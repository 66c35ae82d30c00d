//! The checked taxonomy: what may be reported, how it is called, and what the contractor is told.
//!
//! Its version is a hash of what the files mean, not of how they are written: a comment or a blank line
//! changes nothing, a label, a route, the order of a list or a category code does. A completed form carries
//! the version, so an answer to an older form is judged by the taxonomy it was made from.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::check::{self, PARTNER_FILE, TAXONOMY_FILE, catalog_file};
use crate::lines::Lines;
use crate::problem::Problem;
use crate::source::{CatalogFile, PartnerFile, TaxonomyFile, parse};
use crate::tree::{Entry, leaves};

/// Hex digits of a version.
const VERSION_LENGTH: usize = 12;

/// What becomes of a leaf that a citizen chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It becomes a report.
    Report,
    /// It only tells the citizen what to do; nothing is reported.
    Informational,
}

/// What the contractor is told about a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartnerCategory {
    /// The contractor's code.
    pub category: String,
    /// A sentence for the note, in the contractor's language, saying what the code does not:
    /// `Fracción: vidrio`.
    pub option_note: Option<String>,
}

/// A leaf of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The keys from the top joined by slashes: `container/overflowing/glass`.
    pub route: String,
    /// What becomes of it.
    pub kind: Kind,
    /// Present for every report leaf, absent for informational ones.
    pub partner: Option<PartnerCategory>,
}

/// The files of a city, as text.
#[derive(Debug, Clone, Copy)]
pub struct CityFiles {
    /// `flows/report/taxonomy.yaml`.
    pub taxonomy: &'static str,
    /// `catalogs/<language>.yaml`, by language.
    pub catalogs: &'static [(&'static str, &'static str)],
    /// `catalogs/partner.yaml`.
    pub partner: &'static str,
}

/// The city this crate is built with, Vitoria-Gasteiz.
pub const BUILTIN: CityFiles = CityFiles {
    taxonomy: include_str!("../../../../flows/report/taxonomy.yaml"),
    catalogs: &[
        ("es", include_str!("../../../../catalogs/es.yaml")),
        ("eu", include_str!("../../../../catalogs/eu.yaml")),
    ],
    partner: include_str!("../../../../catalogs/partner.yaml"),
};

/// What may be reported, in all languages. Exists only checked.
#[derive(Debug, Clone)]
pub struct Taxonomy {
    pub(crate) version: String,
    pub(crate) languages: Vec<String>,
    /// In the order of the tree.
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) index: BTreeMap<String, usize>,
    /// Language → route → labels from the top to the leaf.
    pub(crate) labels: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// What the form is generated from; absent when read back from its compiled shape.
    pub(crate) form: Option<Form>,
}

/// The tree and the texts on its screens.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) tree: Vec<Entry>,
    pub(crate) catalogs: BTreeMap<String, CatalogFile>,
}

impl Taxonomy {
    /// The taxonomy this crate was built with, in Spanish and Basque.
    ///
    /// # Errors
    /// What the checks found; a test sees to it that there is nothing.
    pub fn builtin() -> Result<Self, Vec<Problem>> {
        Self::from_yaml(BUILTIN.taxonomy, BUILTIN.catalogs, BUILTIN.partner)
    }

    /// Reads and checks the files of a city: the tree, a catalog for each language, the contractor's mapping.
    ///
    /// # Errors
    /// Every problem that was found, not only the first.
    pub fn from_yaml(taxonomy: &str, catalogs: &[(&str, &str)], partner: &str) -> Result<Self, Vec<Problem>> {
        Self::read(taxonomy, catalogs, partner).map_err(|mut found| {
            let mut files =
                BTreeMap::from([(TAXONOMY_FILE.to_owned(), taxonomy), (PARTNER_FILE.to_owned(), partner)]);
            files.extend(catalogs.iter().map(|(language, text)| (catalog_file(language), *text)));
            let files: BTreeMap<String, Lines> =
                files.into_iter().map(|(file, text)| (file, Lines::of(text))).collect();
            for problem in found.iter_mut().filter(|problem| problem.line.is_none()) {
                problem.line = files.get(&problem.file).and_then(|lines| lines.find(&problem.key));
            }
            found
        })
    }

    fn read(taxonomy: &str, catalogs: &[(&str, &str)], partner: &str) -> Result<Self, Vec<Problem>> {
        let mut found = Vec::new();
        let languages: Vec<&str> = catalogs.iter().map(|(language, _)| *language).collect();
        check::catalog::languages(&languages, &mut found);
        let taxonomy = parse::<TaxonomyFile>(TAXONOMY_FILE, taxonomy, &mut found);
        let partner = parse::<PartnerFile>(PARTNER_FILE, partner, &mut found);
        let catalogs: Vec<(&str, CatalogFile)> = catalogs
            .iter()
            .filter_map(|(language, text)| {
                Some((*language, parse(&catalog_file(language), text, &mut found)?))
            })
            .collect();
        let (Some(taxonomy), Some(partner), true) = (taxonomy, partner, found.is_empty()) else {
            return Err(found);
        };

        let tree = check::tree::build(&taxonomy, &mut found);
        for (language, catalog) in &catalogs {
            check::catalog::check(language, catalog, &tree, &mut found);
        }
        if let Some(((first, catalog), others)) = catalogs.split_first() {
            for (other, other_catalog) in others {
                check::catalog::same_structure((first, catalog), (other, other_catalog), &tree, &mut found);
            }
        }
        let mapping = check::partner::map(&partner, &taxonomy.option_sets, &tree, &mut found);
        if !found.is_empty() {
            return Err(each_once(found));
        }

        let catalogs: BTreeMap<String, CatalogFile> =
            catalogs.into_iter().map(|(language, catalog)| (language.to_owned(), catalog)).collect();
        let version = version(&taxonomy, &catalogs, &partner);
        Ok(Self::assemble(version, &languages, Form { tree, catalogs }, mapping))
    }

    fn assemble(
        version: String,
        languages: &[&str],
        form: Form,
        mut mapping: BTreeMap<String, PartnerCategory>,
    ) -> Self {
        let leaves_with_paths = leaves(&form.tree);
        let mut labels = BTreeMap::new();
        for (language, catalog) in &form.catalogs {
            let by_route: BTreeMap<String, Vec<String>> = leaves_with_paths
                .iter()
                .filter_map(|(path, _)| Some((path.last()?.route.clone(), titles(catalog, path))))
                .collect();
            labels.insert(language.clone(), by_route);
        }
        let leaves = leaves_with_paths
            .iter()
            .filter_map(|(path, kind)| {
                let route = path.last()?.route.clone();
                let partner = mapping.remove(&route);
                Some(Leaf { route, kind: *kind, partner })
            })
            .collect();
        let languages = languages.iter().map(|language| (*language).to_owned()).collect();
        Self::from_parts(version, languages, leaves, labels, Some(form))
    }

    pub(crate) fn from_parts(
        version: String,
        languages: Vec<String>,
        leaves: Vec<Leaf>,
        labels: BTreeMap<String, BTreeMap<String, Vec<String>>>,
        form: Option<Form>,
    ) -> Self {
        let index = leaves.iter().enumerate().map(|(place, leaf)| (leaf.route.clone(), place)).collect();
        Self { version, languages, leaves, index, labels, form }
    }

    /// Twelve hex digits that change with the meaning of the files.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The languages in the order they were given.
    pub fn languages(&self) -> impl Iterator<Item = &str> {
        self.languages.iter().map(String::as_str)
    }

    /// The leaf of a route; none if this taxonomy does not know it.
    pub fn leaf(&self, route: &str) -> Option<&Leaf> {
        self.index.get(route).and_then(|place| self.leaves.get(*place))
    }

    /// The labels from the top to the leaf, as `["Contenedor", "Desbordado", "Vidrio"]`; none if the route or
    /// the language is unknown.
    pub fn labels(&self, route: &str, language: &str) -> Option<Vec<String>> {
        self.labels.get(language)?.get(route).cloned()
    }

    /// The leaves that become reports, in the order of the tree.
    pub fn report_leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter().filter(|leaf| leaf.kind == Kind::Report)
    }

    /// All leaves, in the order of the tree.
    pub fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter()
    }
}

/// The titles along a path. A checked catalog has all of them.
pub(crate) fn titles(catalog: &CatalogFile, path: &[&Entry]) -> Vec<String> {
    path.iter()
        .filter_map(|entry| catalog.find(&entry.route, &entry.key))
        .map(|(_, texts)| texts.title.clone())
        .collect()
}

/// Languages enter sorted, so the order in which catalogs are listed does not count.
fn version(
    taxonomy: &TaxonomyFile,
    catalogs: &BTreeMap<String, CatalogFile>,
    partner: &PartnerFile,
) -> String {
    let canonical = serde_json::to_vec(&(taxonomy, catalogs, partner))
        .expect("structs and maps with string keys always serialise");
    let mut digest = hex::encode(Sha256::digest(canonical));
    digest.truncate(VERSION_LENGTH);
    digest
}

/// A shared entry can be met on several routes; its problem is told once.
fn each_once(found: Vec<Problem>) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    found.into_iter().filter(|problem| seen.insert(problem.to_string())).collect()
}
