//! From `main` to exit code: the order of start and stop, the same for every service.

use std::future::Future;
use std::process::ExitCode;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{ConfigError, ServiceArgs, ShellArgs};
use crate::shell::{Ended, Shell};
use crate::{admin, telemetry, usage};

/// Exit code for bad configuration (`EX_USAGE`).
const EXIT_CONFIG: u8 = 64;

/// Runs a service: `run` wires it and spawns its tasks on the shell, then returns.
///
/// Exit codes: 0 after a clean drain, 64 for bad configuration, 1 for anything else.
pub fn main<A, F, Fut>(service: &'static str, run: F) -> ExitCode
where
    A: ServiceArgs,
    F: FnOnce(A::Config, Shell) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            return refuse(service, &ConfigError::Usage(usage::line(&A::command(), &error)));
        }
        Err(help) => {
            // Nowhere to say it if this fails.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    let shell_args = args.shell().clone();
    let config = match args.config() {
        Ok(config) => config,
        Err(error) => return refuse(service, &error),
    };
    // Fails only if a provider is installed already, which is as good.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().max(2));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(service, &error.into()),
    };
    let code = runtime.block_on(async {
        let telemetry = match telemetry::start(service, &shell_args) {
            Ok(telemetry) => telemetry,
            Err(error) => return refuse(service, &error),
        };
        let code = match supervise(service, &shell_args, config, run).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "{service} ends: {error:#}");
                ExitCode::FAILURE
            }
        };
        telemetry.stop().await;
        code
    });
    runtime.shutdown_background();
    code
}

async fn supervise<C, F, Fut>(
    service: &'static str,
    args: &ShellArgs,
    config: C,
    run: F,
) -> anyhow::Result<()>
where
    F: FnOnce(C, Shell) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    let mut signals = Signals::new()?;
    let (shell, mut ended) = Shell::new(service);
    let listener = TcpListener::bind(args.admin_listen)
        .await
        .with_context(|| format!("ABISU_ADMIN_LISTEN: cannot listen on {}", args.admin_listen))?;
    let admin = tokio::spawn(admin::serve(listener, shell.inner.clone()));
    run(config, shell.clone()).await?;
    shell.started();
    tracing::info!(version = crate::VERSION, commit = crate::COMMIT, "{service} {} started", crate::VERSION);
    let outcome = tokio::select! {
        () = signals.recv() => Ok(()),
        Some((name, result)) = ended.recv() => {
            result.with_context(|| format!("task {name} failed")).and_then(|()| anyhow::bail!("task {name} ended"))
        }
    };
    let drained = drain(&shell, args, &mut signals, &mut ended).await;
    admin.abort();
    outcome.and(drained)
}

/// Unready first, then a pause in which load balancers notice, then no new work, then a deadline for the old.
async fn drain(
    shell: &Shell,
    args: &ShellArgs,
    signals: &mut Signals,
    ended: &mut Ended,
) -> anyhow::Result<()> {
    tracing::info!("draining");
    shell.drain();
    let finish = async {
        tokio::time::sleep(args.drain_delay).await;
        match tokio::time::timeout(args.grace, shell.stop()).await {
            Ok(()) => Ok(()),
            Err(_) => anyhow::bail!("work was still in flight after {} ms", args.grace.as_millis()),
        }
    };
    tokio::select! {
        result = finish => result?,
        () = signals.recv() => anyhow::bail!("a second signal ended the drain"),
    }
    while let Ok((name, result)) = ended.try_recv() {
        result.with_context(|| format!("task {name} failed while draining"))?;
    }
    tracing::info!("drained");
    Ok(())
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn recv(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[expect(clippy::print_stderr, reason = "logging is not up yet")]
fn refuse(service: &str, error: &dyn std::error::Error) -> ExitCode {
    eprintln!("{service}: {error}");
    EXIT_CONFIG.into()
}

#[expect(clippy::print_stderr, reason = "logging is not up yet")]
fn fail(service: &str, error: &anyhow::Error) -> ExitCode {
    eprintln!("{service}: {error:#}");
    ExitCode::FAILURE
}
