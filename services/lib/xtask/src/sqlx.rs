//! `cargo xtask sqlx`: the stored shapes of all queries in `.sqlx/`, from which everything else is built.
//!
//! The query macros write what they learn from a database into `SQLX_OFFLINE_DIR`. So the workspace is compiled once
//! against a migrated private server with that variable set to an empty folder, and what stands there afterwards is the
//! truth. Cargo does not see that the environment changed, hence the touch. Works before anything of the workspace
//! compiles against an old `.sqlx/`: migrations are read from their files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ::sqlx::migrate::Migrator;
use ::sqlx::{Connection, PgConnection};
use anyhow::{Context, bail};
use tokio::process::Command;

use crate::lint::rules::{list, strings};
use crate::postgres::Cluster;
use crate::progress::say;
use crate::tree::{self, ROOT, STATE, cargo};

/// Renews `.sqlx/`, or only compares.
///
/// # Errors
/// A query does not fit the schema, or `check` finds a difference.
pub async fn run(check: bool) -> anyhow::Result<()> {
    let cluster = Cluster::start(&STATE, false).await?;
    let live = Live::prepare(&cluster).await?;
    say("compiling against the database");
    let mut command = live.cargo();
    tree::run("cargo check", command.args(["check", "--workspace", "--all-targets"])).await?;
    if check { live.compare() } else { live.store() }
}

/// A migrated database to compile against, and the folder that takes what the macros learn.
pub struct Live {
    url: String,
    folder: PathBuf,
}

impl Live {
    /// Migrates a database of its own and makes cargo forget what it compiled without it.
    ///
    /// # Errors
    /// A migration fails.
    pub async fn prepare(cluster: &Cluster) -> anyhow::Result<Self> {
        say("migrating a database for the queries");
        cluster.database("abisu_sqlx").await?;
        let url = cluster.url("abisu_sqlx");
        let mut on = PgConnection::connect(&url).await?;
        Migrator::new(ROOT.join("migrations")).await?.run(&mut on).await.context("a migration failed")?;
        on.close().await?;
        let folder = STATE.join(format!("sqlx-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        touch(&tree::metadata(false).await?)?;
        Ok(Self { url, folder })
    }

    /// `cargo` with the macros turned to the database.
    pub fn cargo(&self) -> Command {
        let mut command = cargo();
        command
            .env("SQLX_OFFLINE", "false")
            .env("SQLX_OFFLINE_DIR", &self.folder)
            .env("DATABASE_URL", &self.url);
        command
    }

    /// Whether `.sqlx/` is what the macros learned.
    ///
    /// # Errors
    /// It is not, or cannot be read.
    pub fn compare(&self) -> anyhow::Result<()> {
        let (learned, stored) = (read(&self.folder)?, read(&ROOT.join(".sqlx"))?);
        let missing = learned.keys().filter(|name| !stored.contains_key(*name)).count();
        let unused = stored.keys().filter(|name| !learned.contains_key(*name)).count();
        let changed =
            learned.iter().filter(|(name, text)| stored.get(*name).is_some_and(|old| old != *text)).count();
        if missing + unused + changed > 0 {
            bail!(
                ".sqlx is not up to date: {missing} queries missing, {unused} no longer used, {changed} changed; \
                 run `cargo xtask sqlx` and commit it"
            );
        }
        say(format!(".sqlx is up to date ({} queries)", stored.len()));
        Ok(())
    }

    fn store(&self) -> anyhow::Result<()> {
        let (learned, stored) = (read(&self.folder)?, read(&ROOT.join(".sqlx"))?);
        let folder = ROOT.join(".sqlx");
        fs::create_dir_all(&folder)?;
        for name in stored.keys().filter(|name| !learned.contains_key(*name)) {
            fs::remove_file(folder.join(name))?;
        }
        // Files that stay as they are keep their time, or everything would be compiled again.
        for (name, text) in learned.iter().filter(|(name, text)| stored.get(*name) != Some(*text)) {
            fs::write(folder.join(name), text)?;
        }
        say(format!(".sqlx holds {} queries", learned.len()));
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // What stays is in a folder that git ignores.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Marks every target of the crates that use sqlx as changed.
fn touch(metadata: &serde_json::Value) -> anyhow::Result<()> {
    let now = SystemTime::now();
    for package in list(&metadata["packages"]) {
        let uses = list(&package["dependencies"]).iter().any(|dependency| dependency["name"] == "sqlx");
        if !uses {
            continue;
        }
        for target in
            list(&package["targets"]).iter().filter(|t| strings(&t["kind"]).all(|k| k != "custom-build"))
        {
            let path = Path::new(target["src_path"].as_str().unwrap_or_default());
            let file = File::options().append(true).open(path);
            let touched = file.and_then(|file| file.set_modified(now));
            touched.with_context(|| format!("cannot touch {}", path.display()))?;
        }
    }
    Ok(())
}

/// File name and content of every query.
fn read(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut queries = BTreeMap::new();
    if !folder.exists() {
        return Ok(queries);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            queries.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(queries)
}
