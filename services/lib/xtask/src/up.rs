//! `cargo xtask up`: the whole system in the foreground, until a signal.

use std::future::pending;

use crate::stack::{Options, Stack};
use crate::tree;

/// Starts the stack, prints where everything is, and stays. A signal drops this future and with it the stack.
///
/// # Errors
/// Something cannot be built or started.
pub async fn run(simulator: bool) -> anyhow::Result<()> {
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
