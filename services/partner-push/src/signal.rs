//! What one request or login says about the partner as a whole: told to the breaker, and to people when it opens.

use std::time::Duration;

use partner::{Answer, NoPass};

use crate::breaker::{Cause, Recorded, Signal};
use crate::classify::{Class, NotProcessed};
use crate::push::Pusher;

/// The pause of a throttle that names none.
const DEFAULT_PAUSE: Duration = Duration::from_secs(30);

impl Pusher {
    /// Tells the breaker, and people when it opens.
    pub(crate) async fn record(&self, signal: Signal) -> Recorded {
        let recorded = self.gate.record(signal).await;
        let hold_ms = recorded.hold.as_millis();
        match recorded.opened {
            None => {}
            Some(Cause::Misconfigured) => tracing::error!(
                hold_ms,
                "the partner refuses our login, our path or our rights: nothing is sent until somebody acts"
            ),
            Some(Cause::Unreachable) => {
                tracing::warn!(hold_ms, "the partner cannot be reached: reports wait")
            }
            Some(Cause::Uncertain) => {
                tracing::error!(hold_ms, "the partner leaves reports in doubt: the others wait");
            }
            Some(Cause::Throttled) => tracing::warn!(hold_ms, "the partner asked for a pause"),
        }
        recorded
    }
}

/// What a create says about the partner. A refusal of this one report says that it works.
pub(crate) fn signal(class: Class, answer: Option<&Answer>) -> Signal {
    let told = answer.and_then(|answer| answer.retry_after);
    let failed = |cause| Signal::Failed { cause, told: told.unwrap_or_default() };
    match class {
        Class::Accepted | Class::AcceptedNoId | Class::AlreadyThere | Class::Rejected => Signal::Answered,
        Class::NotProcessed(NotProcessed::PassSpent) => Signal::Answered,
        Class::NotProcessed(NotProcessed::Throttled) => Signal::Throttled(told.unwrap_or(DEFAULT_PAUSE)),
        Class::NotSent | Class::NotProcessed(NotProcessed::Documented) => failed(Cause::Unreachable),
        Class::Misconfigured => failed(Cause::Misconfigured),
        Class::Ambiguous => failed(Cause::Uncertain),
    }
}

/// What a failed login says about the partner.
pub(crate) fn login_signal(why: &NoPass) -> Signal {
    match why {
        NoPass::Refused(_) => Signal::failed(Cause::Misconfigured),
        NoPass::Throttled(pause) => Signal::Throttled(pause.unwrap_or(DEFAULT_PAUSE)),
        NoPass::Unavailable(_) => Signal::failed(Cause::Unreachable),
    }
}
