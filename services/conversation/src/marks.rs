//! Marks messages as read and shows that they are worked on. A courtesy: it is never waited for, a mark that fails is
//! forgotten, and when there is more to mark than can be, the rest is left out.

use std::sync::Arc;

use bus::mailbox::Claimed;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Context;

/// Marks that may wait.
const WAITING: usize = 64;
/// Marks under way at once.
const AT_ONCE: usize = 4;

/// Where marks are asked for; without a receiver when they are switched off.
#[derive(Debug, Clone)]
pub struct Marks(Option<mpsc::Sender<String>>);

/// The two ends: what asks, and what [`run`] works. `None` of the second: marks are switched off.
pub fn new(on: bool) -> (Marks, Option<mpsc::Receiver<String>>) {
    if !on {
        return (Marks(None), None);
    }
    let (sender, receiver) = mpsc::channel(WAITING);
    (Marks(Some(sender)), Some(receiver))
}

impl Marks {
    /// Asks for the mark of a chat's newest message, which marks those before it. Not for work that is done again, and
    /// not for what will get no answer: the citizen would see us typing for nothing.
    pub(crate) fn ask(&self, claimed: &Claimed) {
        let Some(sender) = &self.0 else { return };
        let answered = |kind: &str| !matches!(kind, "reaction" | "revoke" | "system");
        let is_group = |payload: &serde_json::Value| payload["group"] == serde_json::Value::Bool(true);
        let newest =
            claimed.events.iter().rev().find(|event| answered(&event.kind) && !is_group(&event.payload));
        if let Some(event) = newest.filter(|_| claimed.attempts == 1) {
            // Full: this one is left out.
            let _ = sender.try_send(event.message_id.clone());
        }
    }
}

/// Runs until `stopping`.
///
/// # Errors
/// Never.
pub async fn run(
    context: Arc<Context>,
    mut asked: mpsc::Receiver<String>,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let mut under_way = JoinSet::new();
    loop {
        let message_id = tokio::select! {
            message_id = asked.recv() => message_id,
            () = stopping.cancelled() => break,
        };
        let Some(message_id) = message_id else { break };
        if context.breaker.is_open() {
            continue;
        }
        if under_way.len() >= AT_ONCE {
            under_way.join_next().await;
        }
        let context = Arc::clone(&context);
        under_way.spawn(async move {
            let shown = context.provider.now().working(&message_id).await.is_ok();
            let outcome = if shown { "shown" } else { "failed" };
            context.metrics.mark(outcome);
        });
    }
    Ok(())
}
