//! The chart's archive: the same content gives the same bytes, whenever and wherever it is packed.
//!
//! `helm package` keeps the times of the files, so the same chart has another digest after every checkout.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::{Compression, GzBuilder};
use serde_json::Value;
use tar::{EntryType, Header};

/// Left out, as `.helmignore` says: values for tests, and hidden files.
const LEFT_OUT: [&str; 1] = ["ci"];

/// The name and the bytes of the archive of the chart in a folder.
///
/// # Errors
/// A file cannot be read, or `Chart.yaml` names no chart.
pub fn archive(folder: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    let text = fs::read_to_string(folder.join("Chart.yaml")).context("cannot read Chart.yaml")?;
    let chart: Value = serde_saphyr::from_str(&text).context("Chart.yaml")?;
    let field = |name: &str| chart[name].as_str().with_context(|| format!("Chart.yaml has no {name}"));
    let (name, version) = (field("name")?, field("version")?);
    let mut files = Vec::new();
    list(folder, folder, &mut files)?;
    // Helm looks for this one first.
    files.sort_by_key(|path| (path != Path::new("Chart.yaml"), path.clone()));
    let mut archive = tar::Builder::new(Vec::new());
    for path in files {
        let bytes =
            fs::read(folder.join(&path)).with_context(|| format!("cannot read {}", path.display()))?;
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, Path::new(name).join(path), bytes.as_slice())?;
    }
    // Without name and time; the field for the system says "unknown".
    let mut packer = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    packer.write_all(&archive.into_inner()?)?;
    Ok((format!("{name}-{version}.tgz"), packer.finish()?))
}

fn list(root: &Path, folder: &Path, into: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let inside = path.strip_prefix(root).unwrap_or(&path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.')
            || LEFT_OUT.iter().any(|out| inside == Path::new(out))
            || name.ends_with(".tgz")
        {
            continue;
        }
        if path.is_dir() {
            list(root, &path, into)?;
        } else {
            into.push(inside.to_owned());
        }
    }
    Ok(())
}
