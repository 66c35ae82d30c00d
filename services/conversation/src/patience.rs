//! Settles survive a database that restarts.
//!
//! A settle is conditional on its epoch, so it may be repeated when its outcome is unknown: if the first one was
//! committed, the second is fenced. Without this a dropped connection would cost the citizen a whole lease of silence
//! and count as a lost one.

use std::time::Duration;

use tokio::time::Instant;

/// How long a settle is repeated: well within a lease, and within the grace of a drain.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Repeats `settle` while the database is away or lets it lose a race.
///
/// # Errors
/// What the last try said.
pub(crate) async fn patiently<T, F>(mut settle: impl FnMut() -> F) -> Result<T, bus::Error>
where
    F: Future<Output = Result<T, bus::Error>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        match settle().await {
            Err(bus::Error::Database(error)) if may_pass(&error) && Instant::now() < deadline => {
                tokio::time::sleep(PAUSE).await;
            }
            ended => return ended,
        }
    }
}

/// Whether the same statement may succeed in a moment.
pub(crate) fn may_pass(error: &sqlx::Error) -> bool {
    match bus::classify(error) {
        bus::Class::Repeat | bus::Class::Unavailable => true,
        bus::Class::Data | bus::Class::Bug => false,
    }
}
