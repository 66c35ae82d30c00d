//! How a server is made and started: its folder, its address, its arguments.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{IpAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, bail};

use super::OWNER;
use super::account::Account;
use crate::ports;
use crate::progress::say;

/// How the server is started, the first time and again.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) log: PathBuf,
}

/// What may differ from server to server.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wishes {
    pub(super) durable: bool,
    /// An address of this machine beside 127.0.0.1.
    pub(super) also: Option<IpAddr>,
}

/// Makes an empty cluster of databases.
pub(super) fn init(programs: &Path, account: &Account, data: &Path, wishes: Wishes) -> anyhow::Result<()> {
    say(format!("starting a private PostgreSQL from {}", programs.display()));
    let mut initdb = account.command(&programs.join("initdb"));
    initdb.args(["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--username", OWNER]);
    let output = initdb.arg("--pgdata").arg(data).output().context("cannot run initdb")?;
    if !output.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    if wishes.also.is_some() {
        let mut access = OpenOptions::new().append(true).open(data.join("pg_hba.conf"))?;
        writeln!(access, "host all all all scram-sha-256")?;
    }
    Ok(())
}

/// A port that is free on every address that the server is to listen on.
pub(super) fn free_port(also: Option<IpAddr>) -> anyhow::Result<u16> {
    for _ in 0..100 {
        let port = ports::free()?;
        match also.map(|address| TcpListener::bind((address, port))) {
            None | Some(Ok(_)) => return Ok(port),
            Some(Err(error)) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            Some(Err(error)) => return Err(error).context("the address is not of this machine"),
        }
    }
    bail!("no port is free on all addresses")
}

pub(super) fn arguments(data: &Path, port: u16, wishes: Wishes) -> Vec<String> {
    let mut args = vec!["-D".to_owned(), data.display().to_string(), "-p".to_owned(), port.to_string()];
    let mut set = |name: &str, value: &str| args.extend(["-c".to_owned(), format!("{name}={value}")]);
    let also = wishes.also.map(|address| format!(",{address}")).unwrap_or_default();
    set("listen_addresses", &format!("127.0.0.1{also}"));
    set("unix_socket_directories", "");
    set("timezone", "UTC");
    // Two processes per core with their pools, times the tests that run side by side.
    set("max_connections", "400");
    if !wishes.durable {
        set("fsync", "off");
        set("full_page_writes", "off");
    }
    args
}

impl Program {
    pub(super) fn spawn(&self, account: &Account) -> anyhow::Result<Child> {
        let log = OpenOptions::new().append(true).create(true).open(&self.log)?;
        account
            .command(&self.path)
            .args(&self.args)
            // A group of its own: Ctrl-C must reach the services first.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("cannot run postgres")
    }
}
