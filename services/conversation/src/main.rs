//! Queue workers, the sender of replies and the photo fetcher.
fn main() {}
