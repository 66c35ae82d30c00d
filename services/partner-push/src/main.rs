//! The outbox: one POST per report to the contractor.
fn main() {}
