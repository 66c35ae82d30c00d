//! Starts `ingest`.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::main::<ingest::Args, _, _>("ingest", |config, shell| async move {
        ingest::start(config, &shell).await?;
        Ok(())
    })
}
