//! Wake-ups, shared out: the process hears that a queue may have work, and every channel's loop must look.
//!
//! Notifications carry nothing, so whoever is told cannot know whose work it is. Each channel has bells of its own, since
//! one bell wakes one waiter; a ring that nobody waits for yet is kept. What nobody told of (a backoff that is over, a
//! lease that ran out, a notification that was lost) is found by the poll: one question for all queues of all channels,
//! so that a process at rest asks once a second however many channels it has.

use std::sync::Arc;
use std::time::Duration;

use bus::wake::{Listener, Queue};
use runtime::backoff::jitter;
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

    /// Waits for that.
    pub async fn wait(&self, queue: Queue) {
        match self.bell(queue) {
            Some(bell) => bell.notified().await,
            None => std::future::pending().await,
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
    // Only bounds how long this waits at a stretch; the poll finds what was not told.
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

/// Rings where something is due, once every `config.poll`, until `stopping`.
///
/// # Errors
/// Never.
pub(crate) async fn poll(contexts: Vec<Arc<Context>>, stopping: CancellationToken) -> anyhow::Result<()> {
    let Some(first) = contexts.first().map(Arc::clone) else {
        stopping.cancelled().await;
        return Ok(());
    };
    let channels: Vec<String> = contexts.iter().map(|context| context.channel.clone()).collect();
    loop {
        // Not in step with other replicas.
        let pause = first.config.poll.mul_f64(0.9 + 0.1 * jitter());
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopping.cancelled() => return Ok(()),
        }
        match bus::wake::due(&first.pool, &channels).await {
            Ok(due) => {
                for (channel, queue) in due {
                    contexts
                        .iter()
                        .filter(|context| context.channel == channel)
                        .for_each(|c| c.bells.ring(queue));
                }
            }
            // The loops look for themselves, and say what is wrong.
            Err(_) => {
                for (context, queue) in contexts.iter().flat_map(|c| QUEUES.map(|queue| (c, queue))) {
                    context.bells.ring(queue);
                }
            }
        }
    }
}
