//! `abisu flows`: the forms that citizens fill in, from the files of a city to what is live on the account.

mod accounts;
mod args;
mod check;
mod city;
mod diff;
mod explain;
mod preview;
mod publish;
mod target;

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, anyhow};
use flow_json::{FlowDocument, Taxonomy, generate};

pub(crate) use args::FlowsCommand;
use city::City;

use crate::Failure;

pub(crate) async fn run(command: FlowsCommand) -> Result<String, Failure> {
    match command {
        FlowsCommand::Check { files, city } if files.is_empty() => check::city(&city.into()),
        FlowsCommand::Check { files, .. } => check::files(&files),
        FlowsCommand::Preview { lang, city } => {
            let taxonomy = City::from(city).load()?;
            let (_, form) = forms(&taxonomy, Some(&lang))?.pop_first().context("the language has no form")?;
            preview::tree(&form)
        }
        FlowsCommand::Build { lang, out, city } => {
            build(&City::from(city).load()?, lang.as_deref(), out.as_deref())
        }
        FlowsCommand::Diff { old, new } => diff::files(&old, &new),
        FlowsCommand::Publish(args) => publish::publish(*args).await,
    }
}

/// The forms of all languages, or of one.
fn forms<'t>(taxonomy: &'t Taxonomy, only: Option<&str>) -> Result<BTreeMap<&'t str, FlowDocument>, Failure> {
    let all: Vec<&str> = taxonomy.languages().collect();
    if let Some(only) = only
        && !all.contains(&only)
    {
        let known = all.join(", ");
        return Err(Failure::Usage(format!("--lang: no catalog for {only:?}; there are {known}")));
    }
    let wanted = all.into_iter().filter(|language| only.is_none_or(|only| only == *language));
    wanted
        .map(|language| {
            let form = generate(taxonomy, language).context("no form can be generated")?;
            Ok((language, form))
        })
        .collect()
}

fn build(taxonomy: &Taxonomy, only: Option<&str>, out: Option<&std::path::Path>) -> Result<String, Failure> {
    let forms = forms(taxonomy, only)?;
    let Some(folder) = out else {
        let mut forms = forms.into_values();
        return match (forms.next(), forms.next()) {
            (Some(form), None) => Ok(form.json),
            _ => Err(Failure::Usage(
                "--out: there are several languages; give a folder, or one --lang".to_owned(),
            )),
        };
    };
    std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    let mut said = String::new();
    for (language, form) in forms {
        let path = folder.join(format!("report.{language}.json"));
        std::fs::write(&path, &form.json)
            .with_context(|| format!("{}: cannot be written", path.display()))?;
        let _ = writeln!(said, "{}: {} bytes, {}", path.display(), form.json.len(), form.content_hash);
    }
    Ok(said)
}

/// A file's text, for commands that take files.
fn read(path: &std::path::Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::Failed(anyhow!(error).context(format!("{}: cannot be read", path.display())))
    })
}
