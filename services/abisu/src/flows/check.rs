//! `abisu flows check`: nothing is published that a phone would not show.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flow_json::{Kind, Taxonomy, Violation, lint};

use super::city::City;
use super::{forms, read};
use crate::Failure;

/// Screens a form may have.
const MOST_SCREENS: usize = 11;

/// The files of the city, and the forms made from them.
pub(crate) fn city(city: &City) -> Result<String, Failure> {
    let taxonomy = city.load()?;
    prove(&taxonomy, city)?;
    let count = |kind| taxonomy.leaves().filter(|leaf| leaf.kind == kind).count();
    let categories: BTreeSet<&str> = taxonomy
        .leaves()
        .filter_map(|leaf| leaf.partner.as_ref())
        .map(|partner| partner.category.as_str())
        .collect();
    let mut said = String::new();
    let _ = writeln!(
        said,
        "version {}: {} routes to report by, mapped to {} categories; {} that only inform",
        taxonomy.version(),
        count(Kind::Report),
        categories.len(),
        count(Kind::Informational)
    );
    for (language, form) in forms(&taxonomy, None)? {
        let screens = form.json.matches("\"layout\": {").count();
        let size = form.json.len();
        let _ = writeln!(said, "{language}: right; {screens} of {MOST_SCREENS} screens, {size} bytes");
    }
    let (spoken, silent) = city.check_texts()?;
    let _ = match (&spoken[..], &silent[..]) {
        (_, []) => writeln!(said, "the words of the conversation: right"),
        ([], _) => writeln!(said, "the conversation speaks none of these languages"),
        (_, silent) => {
            writeln!(said, "the words of the conversation: right; it does not speak {}", silent.join(", "))
        }
    };
    Ok(said)
}

/// The linter's word on every language, and on all of them together.
///
/// # Errors
/// Every violation, one a line.
pub(crate) fn prove(taxonomy: &Taxonomy, city: &City) -> Result<(), Failure> {
    let forms = forms(taxonomy, None)?;
    let mut found = Vec::new();
    let mut first = None;
    for (language, form) in &forms {
        let mut violations = form.lint();
        match first {
            None => first = Some(form),
            Some(first) => violations.extend(first.lint_language(form)),
        }
        found.extend(violations.into_iter().map(|violation| {
            let key = violation.key.as_deref().map(|key| format!("{}: ", city.in_folder(key)));
            format!("{}the form in {language}, {violation}", key.unwrap_or_default())
        }));
    }
    refuse("the form", found)
}

/// Flow JSON files, whoever made them.
pub(crate) fn files(paths: &[PathBuf]) -> Result<String, Failure> {
    let (mut said, mut found) = (String::new(), Vec::new());
    for path in paths {
        let violations = lint(&read(path)?);
        if violations.is_empty() {
            let _ = writeln!(said, "{}: right", path.display());
        }
        found.extend(violations.iter().map(|violation| at(path, violation)));
    }
    refuse("the files", found)?;
    Ok(said)
}

fn at(path: &Path, violation: &Violation) -> String {
    format!("{}:{violation}", path.display())
}

fn refuse(what: &str, found: Vec<String>) -> Result<(), Failure> {
    if found.is_empty() {
        return Ok(());
    }
    let mut lines = vec![format!("{} violation(s) in {what}", found.len())];
    lines.extend(found);
    Err(Failure::Failed(anyhow!(lines.join("\n"))))
}
