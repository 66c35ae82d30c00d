//! Everything that comes of one loan, before any of it is written.
//!
//! Events are decided one after the other against the session in memory, so a chat that wrote three messages costs one
//! transaction.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bus::mailbox::{Claimed, Event, Outcome, Settlement};
use chrono::{DateTime, TimeDelta, Utc};
use dialogue::{Effect, Session, Transition};
use futures::FutureExt;
use runtime::trace;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

use crate::decide::{Failure, decide};
use crate::lookup::LookupError;
use crate::places::Place;
use crate::said_once::Ear;
use crate::{Context, store};

/// How long the provider keeps inbound media: seven days, less a margin.
const MEDIA_LIFE: TimeDelta = TimeDelta::hours(156);
/// How long a chat whose history is damaged waits for a person.
pub(crate) const DAMAGED: Duration = Duration::from_secs(60);

/// One decided event, ready to be written.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) transition: Transition,
    /// When the window closes in which it may be answered.
    pub(crate) expires_at: DateTime<Utc>,
    /// When the provider no longer has its photo.
    pub(crate) media_until: DateTime<Utc>,
    pub(crate) trace_context: Option<String>,
    pub(crate) trace_id: Option<String>,
}

/// Everything that comes of one loan.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) channel: String,
    pub(crate) time_zone: String,
    pub(crate) settlement: Settlement,
    /// When the 24-hour window closes, counted from the newest message that is known of: an old one that is answered
    /// late may be answered within the window that a newer one has opened.
    window: DateTime<Utc>,
    /// `None`: unchanged.
    pub(crate) session: Option<Session>,
    pub(crate) steps: Vec<Step>,
    /// Where and why to say that the next event takes a moment, with the event's id.
    pub(crate) one_moment: Option<(Ear, Session, Uuid)>,
    /// An event that is given up, with the attempts it had and why. Its step, the last one, tells the citizen.
    pub(crate) dead: Option<(Event, i16, String)>,
}

/// The end of a loan at which nothing is done.
pub(crate) fn untouched(claimed: &Claimed, outcome: Outcome, error: Option<String>) -> Settlement {
    Settlement {
        chat_id: claimed.chat_id,
        epoch: claimed.epoch,
        from_seq: claimed.from_seq,
        done_seq: claimed.from_seq,
        outcome,
        error,
        last_received_at: None,
    }
}

fn window(events: &[Event]) -> DateTime<Utc> {
    let ends = events.iter().map(|event| store::window_end(event.sent_at, event.received_at));
    ends.max().unwrap_or_else(Utc::now)
}

/// Decides the events of a loan. Never fails: whatever happens is an outcome of the queue.
pub(crate) async fn plan(
    context: &Context,
    claimed: &Claimed,
    place: &Place,
    stopping: &CancellationToken,
) -> Plan {
    let mut plan = Plan {
        channel: context.channel.clone(),
        time_zone: context.config.time_zone.clone(),
        settlement: untouched(claimed, Outcome::Done, None),
        window: window(&claimed.events),
        session: None,
        steps: Vec::new(),
        one_moment: None,
        dead: None,
    };
    if claimed.events.first().is_none_or(|event| event.seq != claimed.from_seq + 1) {
        tracing::error!(chat.id = %claimed.chat_id, "the next event of a chat is not there: its history is damaged");
        plan.settlement.outcome = Outcome::Defer(DAMAGED);
        plan.settlement.error = Some("missing_event".to_owned());
        return plan;
    }
    let last_chance = i32::from(claimed.attempts) > bus::MAX_ATTEMPTS;
    let mut session = match store::load_session(&context.pool, claimed.chat_id).await {
        Ok(session) => session,
        // Its event is about to be given up; with a session that nobody can read every later one would be too.
        Err(store::SessionError::Unreadable) if last_chance => Session::default(),
        Err(error) => {
            let failure = Failure::from(error);
            let outcome = failure.outcome(context, claimed.attempts);
            plan.put_off(&failure, outcome.unwrap_or(Outcome::Defer(DAMAGED)), claimed.attempts);
            return plan;
        }
    };
    for (index, event) in claimed.events.iter().enumerate() {
        if stopping.is_cancelled() {
            plan.settlement.outcome = Outcome::Release;
            break;
        }
        if event.seq != plan.settlement.done_seq + 1 {
            // What is missing is the next claim's head.
            break;
        }
        let attempts = if index == 0 { claimed.attempts } else { 1 };
        let span = tracing::info_span!(
            "process inbound",
            event.id = %event.activity_id,
            attempt = attempts,
            report.id = tracing::field::Empty
        );
        if attempts == 1 {
            trace::set_parent(&span, event.trace_context.as_deref());
        } else {
            trace::add_link(&span, event.trace_context.as_deref());
        }
        let ended = plan.add(context, place, &mut session, event, attempts).instrument(span).await;
        if ended {
            break;
        }
    }
    if !plan.steps.is_empty() {
        plan.session = Some(session);
    }
    plan
}

impl Plan {
    /// Decides one event and adds what came of it. True: the loan ends here.
    async fn add(
        &mut self,
        context: &Context,
        place: &Place,
        session: &mut Session,
        event: &Event,
        attempts: i16,
    ) -> bool {
        if i32::from(attempts) > bus::MAX_ATTEMPTS {
            // The sixth claim does not run: what five runs could not do may be what kills the process.
            self.give_up(context, session, event, attempts - 1, "out of attempts");
            return true;
        }
        let decided =
            AssertUnwindSafe(decide(context, place, self.settlement.chat_id, session, event, &self.steps))
                .catch_unwind()
                .await;
        let failure = match decided.unwrap_or(Err(Failure::Panic)) {
            Ok(transition) => {
                let outcome = transition.outcome.as_str();
                if let Some(report_id) = report_of(&transition) {
                    tracing::Span::current().record("report.id", tracing::field::display(report_id));
                }
                context.metrics.event(outcome);
                tracing::info!(event.kind = event.kind, outcome, "event handled: {outcome}");
                session.clone_from(&transition.session);
                self.push(event, transition);
                return false;
            }
            Err(failure) => failure,
        };
        match failure.outcome(context, attempts) {
            Some(outcome) => {
                self.put_off(&failure, outcome, attempts);
                // A pin, that is: whoever typed an address is told at once.
                if matches!(failure, Failure::Lookup(LookupError::Unavailable(_)))
                    && Utc::now() - event.received_at >= context.config.one_moment_delta()
                {
                    self.one_moment = Some((self.ear(), session.clone(), event.activity_id));
                }
            }
            None => self.give_up(context, session, event, attempts, failure.code()),
        }
        true
    }

    /// The next event waits; what was decided before it stands.
    fn put_off(&mut self, failure: &Failure, outcome: Outcome, attempts: i16) {
        let code = failure.code();
        tracing::warn!(
            error.code = code,
            error = %failure,
            attempt = attempts,
            outcome = outcome.name(),
            "an event waits: {code}"
        );
        self.settlement.outcome = outcome;
        self.settlement.error = Some(code.to_owned());
    }

    fn ear(&self) -> Ear {
        Ear {
            channel: self.channel.clone(),
            chat_id: self.settlement.chat_id,
            expires_at: self.window,
            trace_context: trace::current(),
        }
    }

    /// Steps over an event: a copy is kept, the citizen is told in the same transaction.
    fn give_up(&mut self, context: &Context, session: &Session, event: &Event, attempts: i16, why: &str) {
        tracing::error!(event.id = %event.activity_id, attempt = attempts, error.code = why, "an event is given up: {why}");
        context.metrics.event("dead");
        let transition = Transition {
            session: session.clone(),
            effects: Vec::new(),
            replies: dialogue::gave_up(session),
            outcome: dialogue::Outcome::Ignored,
        };
        self.push(event, transition);
        self.dead = Some((event.clone(), attempts, why.to_owned()));
    }

    fn push(&mut self, event: &Event, transition: Transition) {
        self.settlement.done_seq = event.seq;
        self.settlement.last_received_at = Some(event.received_at);
        self.steps.push(Step {
            transition,
            expires_at: self.window,
            media_until: event.received_at + MEDIA_LIFE,
            trace_context: trace::current(),
            trace_id: trace::current_id(),
        });
    }
}

/// The report that a transition is about.
fn report_of(transition: &Transition) -> Option<Uuid> {
    let changed = transition.effects.first().map(|effect| match effect {
        Effect::OpenDraft { report_id, .. }
        | Effect::MoveDraft { report_id, .. }
        | Effect::DropDraft { report_id }
        | Effect::Receive { report_id, .. }
        | Effect::TakePhoto { report_id, .. }
        | Effect::RepeatReference { report_id, .. } => *report_id,
    });
    changed.or_else(|| transition.session.report_id())
}
