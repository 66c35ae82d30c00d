//! `cargo xtask up`: the whole system in the foreground, until a signal.

use std::fs::File;
use std::future::pending;

use anyhow::bail;

use crate::stack::{Options, Stack};
use crate::tree::{self, STATE};

/// Starts the stack, prints where everything is, and stays. A signal drops this future and with it the stack.
///
/// # Errors
/// Something cannot be built or started.
pub async fn run(simulator: bool) -> anyhow::Result<()> {
    // One at a time in a tree: `up.json` and the logs are the running one's. The lock goes with the process.
    std::fs::create_dir_all(&*STATE)?;
    let lock = File::create(STATE.join("up.lock"))?;
    if lock.try_lock().is_err() {
        bail!("another `cargo xtask up` runs in this tree: stop it first, or use another checkout");
    }
    let mut options = Options::new(tree::binaries().await?);
    options.simulator = simulator;
    options.durable = true;
    options.up_file = true;
    let stack = Stack::start(options).await?;
    let urls = &stack.urls;
    println!("ingest        {}/whatsapp/webhook", urls.ingest);
    println!("geocode       {} (gRPC)", urls.geocode);
    println!("database      {}", urls.database);
    if let Some(simulator) = &urls.simulator {
        println!("simulator     {simulator} (/meta, /cartociudad, /partner, /control)");
    }
    for (service, url) in &urls.admin {
        println!("admin         {url} ({service}: /livez, /readyz, /metrics, /version)");
    }
    println!("\nthe same as JSON in .abisu/up.json, logs in .abisu/logs; Ctrl-C stops everything");
    pending().await
}
