//! The simulator as a program: one port, until SIGTERM or Ctrl-C. It prints one line with its address.

mod args;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    let config = args::Args::parse().into_config();
    // Before the first line of output: whoever reads the address may already want to stop us.
    let mut terminate = signal(SignalKind::terminate())?;
    let simulator = simulator::Simulator::start(config).await?;
    println!("listening on {}", simulator.url());
    tokio::select! {
        _ = terminate.recv() => {}
        result = tokio::signal::ctrl_c() => result?,
    }
    simulator.stop().await;
    Ok(())
}
