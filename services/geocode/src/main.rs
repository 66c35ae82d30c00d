//! Typed addresses to points, and the coverage gate.
fn main() {}
