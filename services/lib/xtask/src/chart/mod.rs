//! `cargo xtask chart`: what of the Helm chart is made from something else, and the chart's archive.
//!
//! `values.yaml` is the one source: the comment above a value is its description. From it come `values.schema.json` and
//! the table of values in the chart's README; the table of who may talk to whom there comes from the rendered network
//! policies. `--check` only compares, and the chart's tests do the same, so that neither can drift.

pub mod network;
pub mod package;
mod readme;
mod schema;
pub mod tools;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::progress::say;
use crate::tree::ROOT;

pub use package::archive;

/// What to do.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Only compare
    #[arg(long)]
    pub check: bool,
    /// Write the chart's archive into this folder; the same content gives the same bytes
    #[arg(long, value_name = "DIR")]
    pub package: Option<PathBuf>,
}

/// Where the chart is.
pub fn folder() -> PathBuf {
    ROOT.join("charts/abisu")
}

/// Renews or compares what is made, then packs the chart if that is asked.
///
/// # Errors
/// Something differs or cannot be made; what, is said.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let folder = folder();
    // The schema first: Helm holds the values against it when it renders for the README.
    for (file, make) in MADE {
        let (path, text) = (folder.join(file), make(&folder)?);
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            continue;
        }
        if args.check {
            bail!(
                "{}: is not what values.yaml and the templates give; run `cargo xtask chart`",
                path.display()
            );
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say(format!("wrote {}", path.display()));
    }
    if let Some(output) = &args.package {
        let (name, bytes) = archive(&folder)?;
        fs::create_dir_all(output).with_context(|| format!("cannot make {}", output.display()))?;
        let path = output.join(name);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Makes the content of a file from the chart in a folder.
type Make = fn(&Path) -> anyhow::Result<String>;

/// The files that are made, and how.
pub const MADE: [(&str, Make); 2] = [("values.schema.json", schema), ("README.md", readme)];

fn schema(folder: &Path) -> anyhow::Result<String> {
    let root = values::parse(&read(folder, "values.yaml")?)?;
    let mut text = serde_json::to_string_pretty(&schema::of(&root)?)?;
    text.push('\n');
    Ok(text)
}

fn readme(folder: &Path) -> anyhow::Result<String> {
    let root = values::parse(&read(folder, "values.yaml")?)?;
    let rendered = tools::Helm::find()?.render("abisu", folder, &["--values", &example(folder)])?;
    let parts = [("values", readme::values(&root)), ("network", network::table(&rendered)?)];
    readme::fill(&read(folder, "README.md")?, &parts)
}

fn read(folder: &Path, name: &str) -> anyhow::Result<String> {
    fs::read_to_string(folder.join(name)).with_context(|| format!("cannot read {name} of the chart"))
}

/// The values that the README's table of who talks to whom is made from: every peer that can be named is.
fn example(folder: &Path) -> String {
    folder.join("ci/full.yaml").display().to_string()
}

/// All documents of a YAML text, without empty ones.
///
/// # Errors
/// Not YAML.
pub fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    let found: Vec<Value> = serde_saphyr::from_multiple(text).context("what Helm rendered is not YAML")?;
    Ok(found.into_iter().filter(|document| !document.is_null()).collect())
}
