//! What is wrong with the files a city maintains, said to the person who edits them.

use std::fmt;

/// One thing to repair in the taxonomy, a catalog or the partner mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as a path from the root of the tree: `catalogs/es.yaml`.
    pub file: String,
    /// The line of the key, from 1; none where the key is not in the file and nothing is around it.
    pub line: Option<usize>,
    /// The key within the file, dotted: `taxonomy.container.title`; empty when it is the file as a whole.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, message, remedy } = self;
        write!(formatter, "{file}:")?;
        if let Some(line) = line {
            write!(formatter, "{line}:")?;
        }
        if !key.is_empty() {
            write!(formatter, " {key}:")?;
        }
        write!(formatter, " {message}; {remedy}")
    }
}

impl std::error::Error for Problem {}

/// Problems of one file, gathered so that a person sees all of them in one run.
pub(crate) struct Problems<'a> {
    file: &'a str,
    found: &'a mut Vec<Problem>,
}

impl<'a> Problems<'a> {
    pub(crate) fn of(file: &'a str, found: &'a mut Vec<Problem>) -> Self {
        Self { file, found }
    }

    /// A problem whose line the parser knows.
    pub(crate) fn add_at(&mut self, line: Option<usize>, message: String, remedy: &str) {
        self.add("", message, remedy);
        if let Some(problem) = self.found.last_mut() {
            problem.line = line;
        }
    }

    pub(crate) fn add(
        &mut self,
        key: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.found.push(Problem {
            file: self.file.to_owned(),
            line: None,
            key: key.into(),
            message: message.into(),
            remedy: remedy.into(),
        });
    }
}
