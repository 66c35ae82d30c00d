//! The outbox: one POST per report to the contractor.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::main::<partner_push::args::Args, _, _>("partner-push", partner_push::run)
}
