//! Storing the parts of a call, bounded in time whatever the database does.

use std::time::Duration;

use bus::append::{Appender, Delivery, Stored};
use bus::wake::{Notifier, Queue};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tracing::Instrument;

use crate::error::Error;

/// Beyond the appender's own patience, so that it is the appender that gives up, except where it cannot.
const LAST_RESORT: Duration = Duration::from_millis(2350);

/// Appends in a task of its own: a caller who hangs up must not cancel a statement half way, which would cost the pool
/// its connection. The body's room stays taken until the appender is through with it.
pub(crate) async fn append(
    appender: Appender,
    notifier: Notifier,
    parts: Vec<Delivery>,
    room: Option<OwnedSemaphorePermit>,
) -> Result<Stored, Error> {
    let task = async move {
        let mut all = Stored::default();
        let mut outcome = Ok(());
        // One channel after the other; what the first ones stored is a duplicate when the call comes again.
        let events = parts.iter().any(|part| !part.events.is_empty());
        for part in parts {
            match appender.append(part).await {
                Ok(stored) => {
                    all.created.extend(stored.created);
                    all.duplicates += stored.duplicates;
                    all.rejected += stored.rejected;
                    all.receipts += stored.receipts;
                }
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        // After the commit, and whatever the answer: a part may be stored although the whole is not.
        if events {
            notifier.notify(Queue::Inbound);
        }
        drop(room);
        outcome.map(|()| all)
    };
    match timeout(LAST_RESORT, tokio::spawn(task.in_current_span())).await {
        Ok(Ok(stored)) => stored.map_err(|error| Error::NotStored(Some(error))),
        // Too late, or the task panicked: in doubt, the provider must send it again.
        Err(_) | Ok(Err(_)) => Err(Error::NotStored(None)),
    }
}

/// The database's own words may quote the message, so only its code is logged.
pub(crate) fn why(error: &bus::append::Error) -> (&'static str, Option<String>) {
    let (reason, cause) = match error {
        bus::append::Error::Unavailable(cause) => ("the database is not available", cause),
        bus::append::Error::Refused(cause) => ("the database refuses the statement", cause),
        bus::append::Error::Overloaded => return ("too much waits to be stored", None),
    };
    (reason, cause.as_database_error().and_then(|cause| cause.code()).map(Into::into))
}
