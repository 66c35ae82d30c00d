//! The whole system as processes: simulators, services, a database with its roles, all on free ports.
//!
//! ```text
//!  Postgres ▶ abisu migrate ▶ roles ▶ abisu area load ▶ simulator ▶ abisu flows publish ▶ services ▶ all ready
//! ```
//!
//! A service that ends is started again on its old addresses, as a cluster would. The environment is passed on; where
//! it sets a variable that a default exists for, it wins (see [`settings`]). Dropping a [`Stack`] stops everything.

pub(crate) mod ready;
mod roles;
pub mod settings;
pub(crate) mod supervise;
mod up_file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::postgres::Cluster;
use crate::progress::say;
use crate::tree::{ROOT, STATE};
use crate::{ledger, ports};
use settings::Settings;
use supervise::{Program, Supervised};
use up_file::UpFile;

/// The services, in the order in which they are started.
pub const SERVICES: [&str; 4] = ["geocode", "ingest", "conversation", "partner-push"];

/// The area that demo, tests and `up` serve.
pub(crate) const AREA: &str = "services/geocode/areas/vitoria-gasteiz.geojson";

/// What to start.
pub struct Options {
    /// Folder with the built binaries.
    pub binaries: PathBuf,
    /// Which of [`SERVICES`], in the order in which they are started.
    pub services: Vec<&'static str>,
    /// Start the simulators of Meta, CartoCiudad and the contractor.
    pub simulator: bool,
    /// Owner's URL of the database; a private server is started without it and without `ABISU_DATABASE_URL`.
    pub database: Option<String>,
    /// A private server keeps its data through a crash of the machine.
    pub durable: bool,
    /// Folder for logs: one file per process.
    pub logs: PathBuf,
    /// Variables that are set for every process, over the environment.
    pub environment: BTreeMap<String, String>,
    /// Write `.abisu/up.json` and keep it true.
    pub up_file: bool,
}

impl Options {
    /// All services, simulators, a private server, logs in `.abisu/logs`.
    pub fn new(binaries: PathBuf) -> Self {
        Self {
            binaries,
            services: SERVICES.to_vec(),
            simulator: true,
            database: None,
            durable: false,
            logs: STATE.join("logs"),
            environment: BTreeMap::new(),
            up_file: false,
        }
    }
}

/// Where everything listens.
#[derive(Debug, Clone)]
pub struct Urls {
    /// Webhooks.
    pub ingest: String,
    /// gRPC.
    pub geocode: String,
    /// The database, as its owner.
    pub database: String,
    /// The simulators, if they run.
    pub simulator: Option<String>,
    /// The admin port of each service.
    pub admin: BTreeMap<&'static str, String>,
}

/// The running system.
pub struct Stack {
    /// Where everything listens.
    pub urls: Urls,
    binaries: PathBuf,
    settings: Settings,
    // Stopped in this order: services, simulators, database.
    services: BTreeMap<&'static str, Supervised>,
    _simulator: Option<Supervised>,
    up_file: Option<Arc<UpFile>>,
    _cluster: Option<Cluster>,
}

impl Stack {
    /// Starts everything and returns when all services are ready.
    ///
    /// # Errors
    /// What could not be started, with the last lines of its log. All that was started is stopped.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        ledger::clean(&STATE)?;
        std::fs::create_dir_all(&options.logs)?;
        let mut settings = Settings::new(options.environment.clone());
        settings.check(options.simulator, &options.services)?;
        let given = options.database.clone().or(settings.resolve("ABISU_DATABASE_URL")?);
        let (cluster, database) = match given {
            Some(url) => (None, url),
            None => {
                let cluster = Cluster::start(&STATE, options.durable).await?;
                let url = cluster.url("abisu");
                (Some(cluster), url)
            }
        };
        let address = || ports::free().map(|port| format!("127.0.0.1:{port}"));
        let (ingest, geocode, simulator) = (address()?, address()?, address()?);
        let admin = options
            .services
            .iter()
            .map(|&name| Ok((name, address()?)))
            .collect::<anyhow::Result<BTreeMap<_, _>>>()?;
        let http = |address: &String| format!("http://{address}");
        let urls = Urls {
            ingest: http(&ingest),
            geocode: http(&geocode),
            database,
            simulator: options.simulator.then(|| http(&simulator)),
            admin: admin.iter().map(|(&name, address)| (name, http(address))).collect(),
        };
        settings.fill(&urls)?;
        let listen = BTreeMap::from([("ingest", ingest), ("geocode", geocode)]);
        let mut stack = Self {
            urls,
            binaries: options.binaries.clone(),
            settings,
            services: BTreeMap::new(),
            _simulator: None,
            up_file: options
                .up_file
                .then(|| Arc::new(UpFile::new(STATE.join("up.json"), options.services.iter().copied()))),
            _cluster: cluster,
        };
        stack.prepare_database().await?;
        if options.simulator {
            stack._simulator = Some(stack.start_simulator(&simulator, &options.logs).await?);
        }
        if options.services.contains(&"conversation") {
            say("publishing the forms of every language");
            stack.abisu(&["flows", "publish"]).await?;
        }
        for &name in &options.services {
            let service = stack.start_service(name, listen.get(name), &admin[name], &options.logs)?;
            stack.services.insert(name, service);
        }
        stack.wait_ready().await?;
        if let Some(file) = &stack.up_file {
            file.publish(stack.urls.to_json())?;
        }
        say("all services are ready");
        Ok(stack)
    }

    /// Runs the operator's command line on this database and returns what it printed.
    ///
    /// # Errors
    /// It fails; the message is its own.
    pub async fn abisu(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(self.binaries.join("abisu"));
        self.settings.apply(command.as_std_mut());
        command.env("ABISU_DATABASE_URL", &self.urls.database).env_remove("ABISU_DATABASE_URL_FILE");
        let output = command
            .args(args)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .context("cannot run the command line `abisu`: build it first")?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "abisu {}: {}", args.join(" "), error.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Ends a service at once, as a crash does. It is started again.
    pub fn kill(&self, service: &str) {
        if let Some(service) = self.services.get(service) {
            service.kill();
        }
    }

    /// Ends a service at once and keeps it down until [`Stack::resume`].
    pub fn hold(&self, service: &str) {
        if let Some(service) = self.services.get(service) {
            service.hold();
        }
    }

    /// Starts a held service again; see [`Stack::wait_ready`].
    pub fn resume(&self, service: &str) {
        if let Some(service) = self.services.get(service) {
            service.resume();
        }
    }

    /// The process of a service at this moment; none while it is down.
    pub fn pid(&self, service: &str) -> Option<u32> {
        self.services.get(service).and_then(Supervised::pid)
    }

    /// Waits until every service is ready.
    ///
    /// # Errors
    /// One does not become ready, with the last lines of its log.
    pub async fn wait_ready(&self) -> anyhow::Result<()> {
        for (name, service) in &self.services {
            let url = format!("{}/readyz", self.urls.admin[name]);
            ready::wait(name, &url, service).await?;
        }
        Ok(())
    }

    /// What no log line may hold: the secrets that the services were given.
    pub fn secrets(&self) -> Vec<String> {
        let secrets = self.settings.secrets().unwrap_or_default();
        secrets.into_iter().map(|(_, value)| value).collect()
    }

    async fn prepare_database(&self) -> anyhow::Result<()> {
        say("migrating the database");
        self.abisu(&["migrate"]).await?;
        roles::set_passwords(&self.urls.database).await?;
        self.abisu(&["area", "load", &ROOT.join(AREA).to_string_lossy()]).await?;
        Ok(())
    }

    async fn start_simulator(&self, address: &str, logs: &Path) -> anyhow::Result<Supervised> {
        let mut program = self.program("simulator", logs);
        program.set("SIMULATOR_LISTEN", address);
        let webhook = format!("{}/whatsapp/webhook", self.urls.ingest);
        if self.settings.environment("SIMULATOR_WEBHOOK_URL").is_none() {
            program.set("SIMULATOR_WEBHOOK_URL", &webhook);
        }
        // It reads them from variables only.
        for (name, value) in self.settings.secrets()? {
            program.set(name, &value);
        }
        let simulator = Supervised::start(program, None)?;
        ready::wait("simulator", &format!("http://{address}/control/health"), &simulator).await?;
        Ok(simulator)
    }

    fn start_service(
        &self,
        name: &'static str,
        listen: Option<&String>,
        admin: &str,
        logs: &Path,
    ) -> anyhow::Result<Supervised> {
        let mut program = self.program(name, logs);
        program.set("ABISU_ADMIN_LISTEN", admin);
        if let Some(listen) = listen {
            program.set("ABISU_LISTEN", listen);
        }
        program.set("ABISU_DATABASE_URL", &roles::url(&self.urls.database, &roles::role(name))?);
        program.unset("ABISU_DATABASE_URL_FILE");
        Supervised::start(program, self.up_file.clone())
    }

    fn program(&self, name: &'static str, logs: &Path) -> Program {
        let mut program = Program::new(name, self.binaries.join(name), logs.join(format!("{name}.log")));
        self.settings.apply(&mut program.command);
        program
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // First, so that nobody reads that a service is down which is only being stopped.
        if let Some(file) = &self.up_file {
            file.remove();
        }
        supervise::stop_all(self.services.values());
    }
}

impl Urls {
    fn to_json(&self) -> Value {
        json!({
            "ingest": self.ingest,
            "geocode": self.geocode,
            "database": self.database,
            "simulator": self.simulator,
            "admin": self.admin,
        })
    }
}
