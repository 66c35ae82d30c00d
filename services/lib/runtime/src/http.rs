//! The one way to make an HTTP client: always with timeouts, a name, and no redirect followed unasked.

use std::time::Duration;

/// A client that connects within `connect`, finishes within `total` and follows no redirect. Idle connections are
/// kept for `idle`, which must be shorter than the other side keeps them: a connection closed while a request is
/// written cannot be told from a request that was read.
///
/// # Errors
/// The TLS backend cannot be set up.
pub fn client(connect: Duration, total: Duration, idle: Duration) -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .user_agent(concat!("abisu/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        .timeout(total)
        .pool_idle_timeout(idle)
        .redirect(reqwest::redirect::Policy::none())
        .build()
}
