//! See the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::main::<conversation::args::Args, _, _>("conversation", conversation::run)
}
