//! The operator's command line: everything a person does to an installation by hand.
//!
//! Each command is one function from arguments to the text it prints, so that nothing is printed half way and a
//! closed pipe is no error. Exit codes: 0 done, 64 bad usage or configuration, 2 a comparison found a
//! difference, 1 anything else; every failure is one
//! line on standard error that names what is at fault and the way out.
#![deny(missing_docs)]

pub mod area;
mod args;
mod channels;
mod connect;
mod erase;
mod error;
mod flows;
mod geocoder;
mod migrate;
mod operator;
mod outbox;
mod queue;
mod report;
mod synthetic;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command, ReportCommand};
pub use error::Failure;

/// Parses the command line, runs the command and prints what it says.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Nowhere to say it if this fails.
            let _ = error.print();
            return if error.use_stderr() { error::EXIT_USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    // Fails only if a provider is installed already, which is as good.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    match start(args.command) {
        Ok(text) => {
            // A reader that has gone away has read what it wanted.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure @ Failure::Findings(_)) => {
            let _ = std::io::stdout().write_all(failure.to_string().as_bytes());
            failure.exit_code()
        }
        Err(failure) => {
            eprintln!("abisu: {failure}");
            failure.exit_code()
        }
    }
}

fn start(command: Command) -> Result<String, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(error.into()))?;
    runtime.block_on(run(command))
}

async fn run(command: Command) -> Result<String, Failure> {
    match command {
        Command::Migrate { database } => migrate::run(database).await,
        Command::Area(command) => area::run(command).await,
        Command::Geocoder(command) => geocoder::run(command).await,
        Command::Report(ReportCommand::Show { reference, json, database }) => {
            report::show(&reference, json, database).await
        }
        Command::Queue(command) => queue::run(command).await,
        Command::Channels(command) => channels::run(command).await,
        Command::Synthetic(command) => synthetic::run(command).await,
        Command::Erase(args) => erase::run(args).await,
        Command::Outbox(command) => outbox::run(command).await,
        Command::Flows(command) => flows::run(command).await,
    }
}
