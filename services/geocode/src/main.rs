//! Typed addresses to points, and the coverage gate.

use std::process::ExitCode;

fn main() -> ExitCode {
    runtime::main::<geocode::args::Args, _, _>("geocode", geocode::run)
}
