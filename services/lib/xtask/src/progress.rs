//! What is going on, with the time since the start, on standard error: standard output belongs to results.

use std::fmt::Display;
use std::sync::OnceLock;
use std::time::Instant;

static START: OnceLock<Instant> = OnceLock::new();

/// Prints one line.
pub fn say(line: impl Display) {
    let elapsed = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    eprintln!("[{elapsed:7.1} s] {line}");
}
