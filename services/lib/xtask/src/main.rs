//! `cargo xtask …`; see the library.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Parser, Subcommand};
use dialogue::Language;
use tokio::signal::unix::{SignalKind, signal};
use xtask::{bench, chart, cluster, image};

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
    Demo {
        /// Look addresses up in the database and ask no CartoCiudad
        #[arg(long)]
        offline: bool,
    },
    /// Play one conversation in the terminal against the pure core: no database, no network
    Converse {
        /// Begin after the choice of this language: es or eu
        #[arg(long, value_parser = language)]
        lang: Option<Language>,
    },
    /// Measure on a private, durable server, release build, several rounds; asserts nothing
    Bench(bench::Args),
    /// What of the Helm chart is made from something else: the schema, the tables; and its archive
    Chart(chart::Args),
    /// Container images of the services, static and without a container engine
    Image(image::Args),
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
    /// Install the chart on a cluster and disturb it in every way; asks for KUBECONFIG and the settings in --help
    ClusterTest(cluster::Args),
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
    // Before there is a runtime: a read from the terminal cannot be cancelled, and here a signal simply ends it.
    if let Command::Converse { lang } = args.command {
        let stdin = std::io::stdin();
        let echo = !stdin.is_terminal();
        return match xtask::converse::run(lang, stdin.lock(), std::io::stdout().lock(), echo) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
    }
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
            Command::Demo { offline } => xtask::demo::run(offline).await,
            Command::Converse { .. } => Ok(()),
            Command::Bench(args) => bench::run(&args).await,
            Command::Chart(args) => chart::run(&args),
            Command::Image(args) => image::run(&args).await,
            Command::Up { no_simulator } => xtask::up::run(!no_simulator).await,
            Command::Test { filter } => xtask::test::run(&filter).await,
            Command::ClusterTest(args) => cluster::run(args).await,
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

fn language(code: &str) -> Result<Language, String> {
    Language::parse(code).ok_or_else(|| "es or eu".to_owned())
}

fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("xtask: {error:#}");
    ExitCode::FAILURE
}
