//! Reading a body whole, under three bounds: its own size, the time it takes, and the memory of all bodies together.
//!
//! Memory is counted as it arrives and not as it is announced, so that a caller who announces much and sends little
//! takes no room from others. The beginning of a body takes none at all: it is bounded by the number of connections, and
//! most honest deliveries are no longer, so they get in while someone fills the room with large ones.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::error::Error;

/// What a provider sends at most.
pub(crate) const LARGEST_BODY: usize = 3 * 1024 * 1024;
/// All bodies that are being read or stored, beyond their beginnings: ten of the largest. With what they become while
/// they wait to be stored (the appender weighs that) the process stays below 100 MiB whoever sends.
const ALL_BODIES: usize = 32 * 1024 * 1024;
/// The beginning of a body. Times the connections that are served by default it is 64 MiB.
const BEGINNING: usize = 8 * 1024;
/// A provider sends 3 MiB in well under a second.
const TIME_TO_READ: Duration = Duration::from_secs(5);
/// How much of a body that is too large is read and thrown away, so that its sender gets to read the answer.
const PATIENCE_WITH_TOO_LARGE: usize = 8 * LARGEST_BODY;

/// The bodies of all calls.
#[derive(Clone)]
pub(crate) struct Bodies {
    room: Arc<Semaphore>,
}

/// A body, with the room that it takes until it is dropped.
pub(crate) struct Held {
    pub(crate) bytes: Vec<u8>,
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

impl Bodies {
    pub(crate) fn new() -> Self {
        Self { room: Arc::new(Semaphore::new(ALL_BODIES)) }
    }

    pub(crate) async fn read(&self, mut body: Body) -> Result<Held, Error> {
        let deadline = Instant::now() + TIME_TO_READ;
        let mut held = Held { bytes: Vec::new(), room: None };
        while let Some(frame) = timeout_at(deadline, body.frame()).await.map_err(|_| Error::TooSlow)? {
            let Ok(data) = frame.map_err(|_| Error::BrokenBody)?.into_data() else { continue };
            if held.bytes.len() + data.len() > LARGEST_BODY {
                drop(held);
                discard_until(body, deadline).await;
                return Err(Error::TooLarge);
            }
            self.make_room(&mut held, data.len())?;
            held.bytes.extend_from_slice(&data);
        }
        // It waits for a while, and has grown by doubling.
        held.bytes.shrink_to_fit();
        Ok(held)
    }

    /// Reads a body that nobody wants and keeps nothing of it, so that its sender gets to read the answer.
    pub(crate) async fn discard(&self, body: Body) {
        discard_until(body, Instant::now() + TIME_TO_READ).await;
    }

    fn make_room(&self, held: &mut Held, bytes: usize) -> Result<(), Error> {
        let counted = |length: usize| length.saturating_sub(BEGINNING);
        let bytes = counted(held.bytes.len() + bytes) - counted(held.bytes.len());
        if bytes == 0 {
            return Ok(());
        }
        let bytes = u32::try_from(bytes).map_err(|_| Error::Overloaded)?;
        let more = Arc::clone(&self.room).try_acquire_many_owned(bytes).map_err(|_| Error::Overloaded)?;
        match &mut held.room {
            Some(room) => room.merge(more),
            None => held.room = Some(more),
        }
        Ok(())
    }
}

async fn discard_until(mut body: Body, deadline: Instant) {
    let mut seen = 0;
    while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
        seen += frame.data_ref().map_or(0, |data| data.len());
        if seen > PATIENCE_WITH_TOO_LARGE {
            return;
        }
    }
}
