//! Wake-ups, shared out: the process hears that a queue may have work, and every channel's loop must look.
//!
//! Notifications carry nothing, so whoever is told cannot know whose work it is. Each channel has bells of its own, since
//! one bell wakes one waiter; a ring that nobody waits for yet is kept.

use std::sync::Arc;
use std::time::Duration;

use bus::wake::{Listener, Queue};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::Context;

/// The queues that are worked here.
pub(crate) const QUEUES: [Queue; 3] = [Queue::Inbound, Queue::Outbound, Queue::Photo];

/// The bells of one channel.
#[derive(Debug, Default)]
pub struct Bells([Notify; 3]);

impl Bells {
    fn bell(&self, queue: Queue) -> Option<&Notify> {
        match queue {
            Queue::Inbound => Some(&self.0[0]),
            Queue::Outbound => Some(&self.0[1]),
            Queue::Photo => Some(&self.0[2]),
            // Worked elsewhere.
            Queue::Push => None,
        }
    }

    /// Says that the channel may have work in `queue`.
    pub fn ring(&self, queue: Queue) {
        if let Some(bell) = self.bell(queue) {
            bell.notify_one();
        }
    }

    /// Waits for that, for `poll` at most.
    pub async fn wait(&self, queue: Queue, poll: Duration) {
        match self.bell(queue) {
            Some(bell) => {
                let _ = tokio::time::timeout(poll, bell.notified()).await;
            }
            None => tokio::time::sleep(poll).await,
        }
    }
}

/// Passes what the process hears of `queue` on to every channel, until `stopping`.
///
/// # Errors
/// Never.
pub(crate) async fn share(
    listener: Listener,
    queue: Queue,
    contexts: Vec<Arc<Context>>,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    // Only bounds how long this waits at a stretch; each loop has a poll of its own.
    const AT_A_STRETCH: Duration = Duration::from_secs(60);
    loop {
        tokio::select! {
            () = listener.wait(queue, AT_A_STRETCH) => {}
            () = stopping.cancelled() => return Ok(()),
        }
        for context in &contexts {
            context.bells.ring(queue);
        }
    }
}
