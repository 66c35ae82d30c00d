//! Whether a read says anything about this platform. In an outage of creates the breaker waits until reads work again,
//! which on a platform whose reads never do would be for ever. So each process reads once where creates go while creates
//! work, and remembers what came of it.

use std::sync::Arc;

use partner::{NoPass, Partner};
use tokio::sync::Mutex;

/// So many reads in a row that fail beside creates that work are no accident.
const FAILURES: u8 = 3;

/// What is known. Shared by all pushes of a process.
#[derive(Clone, Default)]
pub(crate) struct Reads(Arc<Mutex<Known>>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Known {
    answered: bool,
    failures: u8,
}

impl Reads {
    /// A create has just been answered: reads, unless enough is known or somebody is at it.
    pub(crate) async fn learn(&self, partner: &dyn Partner) {
        let Ok(mut known) = self.0.try_lock() else { return };
        if known.answered || known.failures >= FAILURES {
            return;
        }
        let Ok(pass) = partner.pass().await else { return };
        match partner.browse(&pass).await {
            Ok(()) => known.answered = true,
            Err(NoPass::Unavailable(seen)) => {
                known.failures += 1;
                if known.failures == FAILURES {
                    tracing::info!(
                        seen,
                        "the platform's reads fail while its creates work: they are taken for no sign of an outage"
                    );
                }
            }
            Err(NoPass::Throttled(_) | NoPass::Refused(_)) => {}
        }
    }

    /// Reads fail here in good times too.
    pub(crate) fn are_useless(&self) -> bool {
        self.0.try_lock().is_ok_and(|known| known.failures >= FAILURES)
    }
}
