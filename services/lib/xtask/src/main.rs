//! Demo, tests, checks: everything a developer runs.
fn main() {}
