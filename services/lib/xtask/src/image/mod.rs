//! `cargo xtask image`: one image per service, without a container engine.
//!
//! An image is two layers over nothing: the certificates of the authorities, the same for all, and one static program.
//! There is no shell, no user database and no folder to write to. Two builds of one commit, in whatever folder, have
//! the same digest (`--check` shows it); what would differ between machines (times, owners, paths, the order of files)
//! is left out or set to what the commit says.

mod archive;
mod build;
mod facts;
mod layer;
pub(crate) mod previous;
mod roots;
mod sbom;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::lint::rules::list;
use crate::progress::say;
use crate::tree::{self, ROOT, STATE};
use build::Target;
use facts::Facts;
use layer::{File, Layer};
use sbom::Subject;

/// A program that gets an image, and where it listens when nobody says otherwise.
pub(crate) struct Service {
    pub(crate) name: &'static str,
    ports: &'static [u16],
}

/// All of them: the services, and the operator's command line for migrations and tests.
pub(crate) const SERVICES: [Service; 5] = [
    Service { name: "abisu", ports: &[] },
    Service { name: "conversation", ports: &[9090] },
    Service { name: "geocode", ports: &[9090, 50051] },
    Service { name: "ingest", ports: &[8080, 9090] },
    Service { name: "partner-push", ports: &[9090] },
];

/// The most that an image may have, unpacked: 12 MB.
const MOST_BYTES: usize = 12_000_000;
/// The list of all images in a folder.
pub(crate) const LIST: &str = "images.json";
/// The annotation that names the list of what an image is made of.
const SBOM: &str = "org.cyclonedx.sbom.digest";

/// What to build, and what to call it.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Services; all of them when none is named
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(SERVICES.map(|service| service.name)))]
    pub services: Vec<String>,
    /// Folder for the archives
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What stands before the name of the service, as registry.example/abisu/
    #[arg(long, default_value = "abisu/")]
    pub prefix: String,
    /// The tag; the version when none is given
    #[arg(long)]
    pub tag: Option<String>,
    /// Where the sources can be had, for the label
    #[arg(long, value_name = "URL")]
    pub source: Option<String>,
    /// Build the commit once more, in another folder, and compare the digests
    #[arg(long)]
    pub check: bool,
}

impl Args {
    /// All images, under their usual names, in this folder.
    pub(crate) fn all_in(output: &Path) -> Self {
        let prefix = "abisu/".to_owned();
        let output = Some(output.to_owned());
        Self { services: Vec::new(), output, prefix, tag: None, source: None, check: false }
    }

    fn selected(&self) -> Vec<&'static Service> {
        let wanted = |name: &str| self.services.is_empty() || self.services.iter().any(|one| one == name);
        SERVICES.iter().filter(|service| wanted(service.name)).collect()
    }
}

/// An image on disk.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    /// As it is called where it is loaded.
    name: String,
    digest: String,
    bytes: usize,
    program_bytes: usize,
}

/// Images by service.
pub(crate) type Built = BTreeMap<&'static str, Image>;

/// Builds the images, prints name, size and digest of each, and leaves beside the archives a list of what each is made
/// of (`SERVICE.cdx.json`) and one of all (`images.json`).
///
/// # Errors
/// Something does not compile, a program is not static, an image is too large, or `--check` finds a difference.
pub async fn run(args: &Args) -> anyhow::Result<()> {
    let images = build(args).await?;
    println!("{:<32} {:>9} {:>9}  digest", "image", "archive", "program");
    let megabytes = |bytes: usize| format!("{:.2} MB", bytes as f64 / 1e6);
    for image in images.values() {
        let (archive, program) = (megabytes(image.bytes), megabytes(image.program_bytes));
        println!("{:<32} {archive:>9} {program:>9}  {}", image.name, image.digest);
    }
    if args.check { check(args, &images).await } else { Ok(()) }
}

/// As [`run`], without a word on standard output. By service.
///
/// # Errors
/// As there.
pub(crate) async fn build(args: &Args) -> anyhow::Result<Built> {
    let output = args.output.clone().unwrap_or_else(|| STATE.join("images"));
    build_from(args, &ROOT, &tree::target_folder().await?, &output).await
}

async fn build_from(args: &Args, root: &Path, built: &Path, output: &Path) -> anyhow::Result<Built> {
    let target = Target::of_this_machine()?;
    target.install().await?;
    let services = args.selected();
    let names: Vec<&str> = services.iter().map(|service| service.name).collect();
    say(format!("building {} static, for musl (the first time takes minutes)", names.join(", ")));
    let programs = target.build(root, built, &names).await?;

    let metadata = target.metadata(root).await?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let facts = Facts::gather(&ROOT, &metadata, args.source.clone())?;
    let rust_version = build::rust_version().await?;
    let authorities = roots::pem();
    let roots = pack_one(roots::PATH, 0o644, authorities.clone().into_bytes())?;
    fs::create_dir_all(output).with_context(|| format!("cannot make {}", output.display()))?;

    let mut images = BTreeMap::new();
    for service in services {
        let path = programs.join(service.name);
        let program = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(build::is_static(&program)?, "{} is not static", path.display());
        let subject = Subject {
            service: service.name,
            program: &program,
            rust_version: &rust_version,
            created: &facts.created,
        };
        let mut list = serde_json::to_vec_pretty(&sbom::describe(&subject, &metadata, &lock)?)?;
        list.push(b'\n');
        write(&output.join(format!("{}.cdx.json", service.name)), &list)?;

        let description = package(&metadata, service.name)?["description"].as_str().unwrap_or_default();
        let labels = facts.labels(service, description);
        let config = facts.config(service, target.architecture, &labels);
        let mut annotations = labels;
        annotations.insert(SBOM, layer::digest(&list));
        let name = format!("{}{}:{}", args.prefix, service.name, args.tag.as_ref().unwrap_or(&facts.version));
        let platform = json!({"architecture": target.architecture, "os": "linux"});
        let program_bytes = program.len();
        let unpacked = program_bytes + authorities.len();
        ensure!(
            unpacked <= MOST_BYTES,
            "the image of {} has {unpacked} bytes, more than {MOST_BYTES}",
            service.name
        );
        let layers = [&roots, &pack_one(&facts::program(service.name), 0o755, program)?];
        let archive = archive::write(&name, &platform, config, &annotations, &layers)?;
        let bytes = archive.bytes.len();
        write(&output.join(format!("{}.tar", service.name)), &archive.bytes)?;
        let image = Image { name, digest: archive.digest, bytes, program_bytes };
        images.insert(service.name, image);
    }
    let index: BTreeMap<&str, Value> = images.iter().map(|(&name, image)| (name, image.to_json())).collect();
    write(&output.join(LIST), format!("{:#}\n", json!(index)).as_bytes())?;
    Ok(images)
}

impl Image {
    fn to_json(&self) -> Value {
        json!({"name": self.name, "digest": self.digest, "bytes": self.bytes})
    }
}

/// Builds the commit from a copy elsewhere and compares.
async fn check(args: &Args, images: &Built) -> anyhow::Result<()> {
    let elsewhere = std::env::temp_dir().join(format!("abisu-image-{}", std::process::id()));
    let copy = elsewhere.join("somewhere/else");
    fs::create_dir_all(&copy)?;
    crate::ledger::path(&STATE, &elsewhere);
    say(format!("building the commit again in {}", copy.display()));
    let result = async {
        let packed = elsewhere.join("commit.tar");
        let mut git = tokio::process::Command::new("git");
        git.current_dir(&*ROOT).args(["archive", "--format=tar", "--output"]).arg(&packed).arg("HEAD");
        tree::run("git archive", &mut git).await?;
        tar::Archive::new(fs::File::open(&packed)?).unpack(&copy)?;
        build_from(args, &copy, &elsewhere.join("built"), &elsewhere.join("images")).await
    }
    .await;
    let removed = fs::remove_dir_all(&elsewhere);
    crate::ledger::forget_path(&STATE, &elsewhere);
    let again = result?;
    removed?;
    let differ: Vec<&str> = images
        .iter()
        .filter(|(name, image)| again[*name].digest != image.digest)
        .map(|(name, _)| *name)
        .collect();
    if !differ.is_empty() {
        bail!("built elsewhere, {} have other digests (is the tree as it was committed?)", differ.join(", "));
    }
    say("built elsewhere, all have the same digests");
    Ok(())
}

fn pack_one(path: &str, mode: u32, bytes: Vec<u8>) -> anyhow::Result<Layer> {
    layer::pack(&BTreeMap::from([(path, File { mode, bytes })]))
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// What cargo says of a package of this repository.
fn package<'m>(metadata: &'m Value, name: &str) -> anyhow::Result<&'m Value> {
    let packages = list(&metadata["packages"]);
    packages
        .iter()
        .find(|package| package["name"] == name && package["source"].is_null())
        .with_context(|| format!("no package is called {name}"))
}
