//! `cargo xtask …`; see the library.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

/// Demo, tests, checks: everything a developer runs
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Two citizens report from greeting to contractor's record; exit 0 only if all of it is right
    Demo,
    /// The whole system in the foreground until Ctrl-C; addresses in .abisu/up.json
    Up {
        /// Without the simulators of Meta, CartoCiudad and the contractor: name your own in the environment
        #[arg(long)]
        no_simulator: bool,
    },
    /// All checks and tests; with filters only the tests whose names contain one of them
    Test {
        /// Parts of test names
        filter: Vec<String>,
    },
    /// Formatting, clippy, and the rules of the tree
    Lint,
    /// Renew .sqlx, the stored shapes of all queries, against a migrated database
    Sqlx {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    match runtime.block_on(until_signal(args.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Runs the command; a signal drops it, and with it everything that it started.
async fn until_signal(command: Command) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let wants_signal = matches!(command, Command::Up { .. });
    let running = async {
        match command {
            Command::Demo => xtask::demo::run().await,
            Command::Up { no_simulator } => xtask::up::run(!no_simulator).await,
            Command::Test { filter } => xtask::test::run(&filter).await,
            Command::Lint => xtask::lint::run().await,
            Command::Sqlx { check } => xtask::sqlx::run(check).await,
        }
    };
    tokio::select! {
        result = running => return result,
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    if wants_signal { Ok(()) } else { bail!("interrupted") }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("xtask: {error:#}");
    ExitCode::FAILURE
}
