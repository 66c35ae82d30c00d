//! One claimed chat, from its events to the settle.
//!
//! Events are decided one after the other against the session in memory; then everything that came of them is written
//! in one transaction that begins with the settle. When the settle is fenced, nothing is written at all.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use bus::mailbox::{Claimed, Event, Outcome, Settlement, bury, settle};
use bus::outbound::{NewOutbound, enqueue};
use bus::photo::NewFetch;
use bus::wake::Queue;
use channel::normalised::Message;
use chrono::{DateTime, TimeDelta, Utc};
use dialogue::{
    Answer, Decision, Effect, Fresh, Language, Lookup, Notice, Reply, ReplyBody, Session, Transition, Verdict,
};
use futures::FutureExt;
use runtime::backoff::jitter;
use runtime::database::LostRace;
use runtime::{trace, with_tx};
use serde_json::json;
use sqlx::PgConnection;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

use crate::Context;
use crate::lookup::LookupError;
use crate::store::{self, Completed, NewDraft};
use crate::translate::{Heard, hear};

/// How long the provider keeps inbound media: seven days, less a margin.
const MEDIA_LIFE: TimeDelta = TimeDelta::hours(156);

/// Why an event was not decided.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the payload is not a message of this version")]
    Payload(#[source] serde_json::Error),
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error("the database refused")]
    Database(#[from] sqlx::Error),
    #[error("the event asks for lookups without end")]
    Endless,
    #[error("the handler panicked")]
    Panic,
}

/// What the queue does about a failure.
enum Class {
    Retry,
    Defer,
    Dead,
}

impl Failure {
    fn class(&self) -> Class {
        match self {
            Self::Lookup(LookupError::Unavailable(_)) => Class::Defer,
            Self::Database(error) => match bus::classify(error) {
                bus::Class::Unavailable | bus::Class::Repeat => Class::Defer,
                bus::Class::Data | bus::Class::Bug => Class::Retry,
            },
            Self::Panic => Class::Retry,
            Self::Payload(_) | Self::Lookup(LookupError::Refused(_)) | Self::Endless => Class::Dead,
        }
    }

    /// The stable word for logs and rows.
    fn code(&self) -> &'static str {
        match self {
            Self::Payload(_) => "payload_unreadable",
            Self::Lookup(LookupError::Unavailable(_)) => "geocode_unavailable",
            Self::Lookup(LookupError::Refused(_)) => "geocode_refused",
            Self::Database(_) => "database_refused",
            Self::Endless => "endless_lookups",
            Self::Panic => "panic",
        }
    }
}

/// One decided event, ready to be written.
#[derive(Debug, Clone)]
struct Step {
    transition: Transition,
    expires_at: DateTime<Utc>,
    media_until: DateTime<Utc>,
    trace_context: Option<String>,
    trace_id: Option<String>,
}

/// Everything that comes of one loan.
#[derive(Debug, Clone)]
struct Plan {
    channel: String,
    time_zone: String,
    settlement: Settlement,
    session: Option<Session>,
    steps: Vec<Step>,
    /// An event that is given up, with the attempts it had and why.
    dead: Option<(Event, i16, String)>,
}

/// Works one loan to its end. Never fails: whatever happens is an outcome of the queue.
pub async fn work(context: &Context, claimed: &Claimed, stopping: &CancellationToken) {
    let plan = match plan(context, claimed, stopping).await {
        Ok(plan) => plan,
        Err(error) => {
            // Nothing was decided and nothing can be written; the lease runs out and the chat comes back.
            tracing::warn!(error = %error, chat.epoch = claimed.epoch, "a chat is left to its lease: {error}");
            return;
        }
    };
    let outcome = plan.settlement.outcome;
    match commit(context, plan).await {
        Ok(written) => {
            context.metrics.settle(outcome.name());
            for queue in written.queues() {
                context.announce(queue);
            }
        }
        Err(Failed::Fenced) => {
            context.metrics.settle("fenced");
            tracing::warn!(
                chat.epoch = claimed.epoch,
                "a lease was lost before its work was settled; nothing was written"
            );
        }
        Err(Failed::Database(error)) => fall_back(context, claimed, &error).await,
    }
}

async fn plan(
    context: &Context,
    claimed: &Claimed,
    stopping: &CancellationToken,
) -> Result<Plan, sqlx::Error> {
    let mut session = store::load_session(&context.pool, claimed.chat_id).await?;
    let mut plan = Plan {
        channel: context.config.channel.clone(),
        time_zone: context.config.time_zone.clone(),
        settlement: Settlement {
            chat_id: claimed.chat_id,
            epoch: claimed.epoch,
            from_seq: claimed.from_seq,
            done_seq: claimed.from_seq,
            outcome: Outcome::Done,
            error: None,
            last_received_at: None,
        },
        session: None,
        steps: Vec::new(),
        dead: None,
    };
    if claimed.events.is_empty() {
        tracing::error!(chat.id = %claimed.chat_id, "a chat has pending events and none can be read: its history is damaged");
        plan.settlement.outcome = Outcome::Defer(Duration::from_secs(60));
        plan.settlement.error = Some("missing_event".to_owned());
        return Ok(plan);
    }
    for (index, event) in claimed.events.iter().enumerate() {
        if stopping.is_cancelled() {
            plan.settlement.outcome = Outcome::Release;
            break;
        }
        let attempts = if index == 0 { claimed.attempts } else { 1 };
        let span = tracing::info_span!("process inbound", event.id = %event.activity_id, attempt = attempts);
        if attempts == 1 {
            trace::set_parent(&span, event.trace_context.as_deref());
        } else {
            trace::add_link(&span, event.trace_context.as_deref());
        }
        let ended = step(context, &mut session, &mut plan, event, attempts).instrument(span).await;
        if ended {
            break;
        }
    }
    if !plan.steps.is_empty() {
        plan.session = Some(session);
    }
    Ok(plan)
}

/// Decides one event and adds what came of it to the plan. True: the loan ends here.
async fn step(
    context: &Context,
    session: &mut Session,
    plan: &mut Plan,
    event: &Event,
    attempts: i16,
) -> bool {
    let result = if i32::from(attempts) > bus::MAX_ATTEMPTS {
        // The sixth claim does not run: what five runs could not do may be what kills the process.
        None
    } else {
        let decided = AssertUnwindSafe(decide(context, session, event)).catch_unwind().await;
        Some(decided.unwrap_or(Err(Failure::Panic)))
    };
    let failure = match result {
        Some(Ok(transition)) => {
            context.metrics.event(transition.outcome.as_str());
            tracing::info!(
                event.kind = event.kind,
                outcome = transition.outcome.as_str(),
                "event handled: {}",
                transition.outcome.as_str()
            );
            session.clone_from(&transition.session);
            plan.push(event, transition);
            return false;
        }
        Some(Err(failure)) => failure,
        None => {
            give_up(context, session, plan, event, attempts - 1, "out of attempts");
            return true;
        }
    };
    let code = failure.code();
    match failure.class() {
        Class::Retry => {
            let delay = context.config.backoff.after(u32::from(attempts.unsigned_abs()), jitter());
            tracing::warn!(error.code = code, error = %chain(&failure), attempt = attempts, "an event failed and will be tried again: {code}");
            plan.settlement.outcome = Outcome::Retry(delay);
            plan.settlement.error = Some(code.to_owned());
        }
        Class::Defer => {
            tracing::warn!(error.code = code, error = %chain(&failure), "an event waits: {code}");
            plan.settlement.outcome = Outcome::Defer(context.config.defer);
            plan.settlement.error = Some(code.to_owned());
        }
        Class::Dead => give_up(context, session, plan, event, attempts, code),
    }
    true
}

/// Steps over an event: a copy is kept, the citizen is told in the same transaction.
fn give_up(
    context: &Context,
    session: &mut Session,
    plan: &mut Plan,
    event: &Event,
    attempts: i16,
    why: &str,
) {
    tracing::error!(event.id = %event.activity_id, attempt = attempts, error.code = why, "an event is given up: {why}");
    context.metrics.event("dead");
    let transition = Transition {
        session: session.clone(),
        effects: Vec::new(),
        replies: dialogue::gave_up(session),
        outcome: dialogue::Outcome::Ignored,
    };
    plan.push(event, transition);
    plan.dead = Some((event.clone(), attempts, why.to_owned()));
}

impl Plan {
    fn push(&mut self, event: &Event, transition: Transition) {
        self.settlement.done_seq = event.seq;
        self.settlement.last_received_at = Some(event.received_at);
        self.steps.push(Step {
            transition,
            expires_at: store::window_end(event.sent_at, event.received_at),
            media_until: event.received_at + MEDIA_LIFE,
            trace_context: trace::current(),
            trace_id: trace::current_id(),
        });
    }
}

/// Asks the pure dialogue, looking up what it needs, outside of any transaction.
async fn decide(context: &Context, session: &Session, event: &Event) -> Result<Transition, Failure> {
    let message: Message = serde_json::from_value(event.payload.clone()).map_err(Failure::Payload)?;
    let in_reply_to = match message.reply_to.as_deref() {
        Some(id) => {
            bus::outbound::prompt_of(&context.pool, &context.config.channel, id).await.map_err(database)?
        }
        None => None,
    };
    let kind = match hear(message) {
        Heard::Kind(kind) => kind,
        Heard::Form(response) => {
            let channel = &context.config.channel;
            dialogue::EventKind::Form(
                context.forms.read(&context.pool, channel, &response, session.language).await?,
            )
        }
    };
    let heard = dialogue::Event { kind, in_reply_to };
    let fresh = Fresh { token: Uuid::now_v7(), report_id: Uuid::now_v7() };
    let now = Utc::now();
    let mut answers = Vec::new();
    // The dialogue asks for two lookups at most; the bound is against a fault in it.
    for _ in 0..4 {
        match dialogue::decide(session, &heard, &answers, &fresh, now) {
            Decision::Done(transition) => return Ok(transition),
            Decision::Need(lookup) => answers.push(look_up(context, session, lookup).await?),
        }
    }
    Err(Failure::Endless)
}

async fn look_up(context: &Context, session: &Session, lookup: Lookup) -> Result<Answer, LookupError> {
    let language = session.language.unwrap_or(Language::Es);
    Ok(match lookup {
        Lookup::Covers(point) => Answer::Covers(context.geocoder.covers(point).await?),
        // A name for a pin is a courtesy: without one the report goes on.
        Lookup::Reverse(point) => {
            Answer::Reverse(context.geocoder.reverse(point, language).await.unwrap_or(None))
        }
        Lookup::Resolve { text, language, street } => {
            match context.geocoder.resolve(&text, language, street.as_deref()).await {
                Ok(verdict) => Answer::Resolve(verdict),
                Err(LookupError::Unavailable(_)) => Answer::Resolve(Verdict::Unavailable),
                Err(error @ LookupError::Refused(_)) => return Err(error),
            }
        }
    })
}

/// What a committed plan left to do elsewhere.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    replies: bool,
    photos: bool,
    reports: bool,
}

impl Written {
    fn queues(self) -> impl Iterator<Item = Queue> {
        [(self.replies, Queue::Outbound), (self.photos, Queue::Photo), (self.reports, Queue::Push)]
            .into_iter()
            .filter_map(|(is, queue)| is.then_some(queue))
    }
}

/// Why a plan was not written.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("the lease was lost")]
    Fenced,
    #[error("the database refused")]
    Database(#[from] sqlx::Error),
}

impl From<bus::Error> for Failed {
    fn from(error: bus::Error) -> Self {
        match error {
            bus::Error::Fenced => Self::Fenced,
            bus::Error::Database(error) => Self::Database(error),
        }
    }
}

impl LostRace for Failed {
    fn lost_race(&self) -> bool {
        match self {
            Self::Fenced => false,
            Self::Database(error) => error.lost_race(),
        }
    }
}

async fn commit(context: &Context, plan: Plan) -> Result<Written, Failed> {
    with_tx(&context.pool, plan, |tx, plan| Box::pin(write(tx, plan))).await
}

/// The transaction. Locks are taken in the order of the whole system: chat, sender, report.
async fn write(tx: &mut PgConnection, plan: &Plan) -> Result<Written, Failed> {
    let chat_id = plan.settlement.chat_id;
    settle(tx, &plan.settlement).await?;
    if let Some((event, attempts, why)) = &plan.dead {
        bury(tx, chat_id, event, *attempts, why, "conversation").await?;
    }
    if let Some(session) = &plan.session {
        store::save_session(tx, chat_id, session).await?;
    }
    let mut written = Written::default();
    for step in &plan.steps {
        // Of what is said before a report is received, only its form belongs to its timeline.
        let draft = step.transition.session.report_id();
        let mut replies: Vec<(Reply, Option<Uuid>)> = Vec::new();
        for reply in &step.transition.replies {
            let is_form = matches!(reply.body, ReplyBody::Form { .. });
            replies.push((reply.clone(), draft.filter(|_| is_form)));
        }
        for effect in &step.transition.effects {
            replies.extend(apply(tx, plan, step, effect, &mut written).await?);
        }
        let outbounds = replies.into_iter().map(outbound).collect::<Result<Vec<_>, _>>()?;
        written.replies |= !outbounds.is_empty();
        enqueue(tx, &plan.channel, chat_id, step.expires_at, step.trace_context.as_deref(), &outbounds)
            .await?;
    }
    Ok(written)
}

/// Applies one change to a report and returns the replies that only its result allows.
async fn apply(
    tx: &mut PgConnection,
    plan: &Plan,
    step: &Step,
    effect: &Effect,
    written: &mut Written,
) -> Result<Vec<(Reply, Option<Uuid>)>, Failed> {
    let trace_id = step.trace_id.as_deref();
    match effect {
        Effect::OpenDraft { report_id, language, place } => {
            let draft = NewDraft {
                report_id: *report_id,
                channel: &plan.channel,
                chat_id: plan.settlement.chat_id,
                language: language.as_str(),
                place,
                trace_context: step.trace_context.as_deref(),
            };
            store::open_draft(tx, &draft).await?;
            let detail = json!({"area_id": place.area_id, "area_version": place.area_version});
            store::add_step(tx, *report_id, "draft_opened", trace_id, detail).await?;
            Ok(Vec::new())
        }
        Effect::MoveDraft { report_id, place } => {
            store::move_draft(tx, *report_id, place).await?;
            store::add_step(tx, *report_id, "draft_moved", trace_id, store::nothing()).await?;
            Ok(Vec::new())
        }
        Effect::DropDraft { report_id } => {
            if store::drop_draft(tx, *report_id).await? {
                store::add_step(tx, *report_id, "draft_dropped", trace_id, store::nothing()).await?;
            }
            Ok(Vec::new())
        }
        Effect::Receive { report_id, route, category, note, photo, version, language, prompt_token } => {
            let completed = Completed {
                report_id: *report_id,
                route,
                note: note.as_deref(),
                version: version.as_deref(),
                prompt: *prompt_token,
                trace_context: step.trace_context.as_deref(),
                time_zone: &plan.time_zone,
            };
            let Some(received) = store::receive(tx, &completed).await? else {
                return repeat(tx, step, *report_id, *language, category).await;
            };
            written.reports = true;
            store::add_step(tx, *report_id, "received", trace_id, json!({"route": received.route})).await?;
            if let Some(photo) = photo {
                written.photos = true;
                let fetch = NewFetch {
                    report_id: *report_id,
                    channel: &plan.channel,
                    media_id: &photo.id,
                    sha256: Some(photo.sha256.as_str()).filter(|sha256| !sha256.is_empty()),
                    give_up_at: step.media_until,
                    trace_context: step.trace_context.as_deref(),
                };
                bus::photo::enqueue(tx, &fetch).await?;
            }
            Ok(told(
                *report_id,
                dialogue::received(*language, &received.reference, category, received.address.as_deref()),
            ))
        }
        Effect::RepeatReference { report_id, language } => repeat(tx, step, *report_id, *language, &[]).await,
    }
}

/// Says the reference of a report that was received before; a form whose draft is gone says so.
async fn repeat(
    tx: &mut PgConnection,
    step: &Step,
    report_id: Uuid,
    language: Language,
    category: &[String],
) -> Result<Vec<(Reply, Option<Uuid>)>, Failed> {
    Ok(match store::received(tx, report_id).await? {
        Some(received) => told(
            report_id,
            dialogue::received(language, &received.reference, category, received.address.as_deref()),
        ),
        None => dialogue::notice(&step.transition.session, Notice::DraftGone)
            .into_iter()
            .map(|reply| (reply, None))
            .collect(),
    })
}

fn told(report_id: Uuid, replies: Vec<Reply>) -> Vec<(Reply, Option<Uuid>)> {
    replies.into_iter().map(|reply| (reply, Some(report_id))).collect()
}

fn outbound((reply, report_id): (Reply, Option<Uuid>)) -> Result<NewOutbound, sqlx::Error> {
    Ok(NewOutbound {
        id: Uuid::now_v7(),
        payload: serde_json::to_value(&reply.body).map_err(|error| sqlx::Error::Encode(error.into()))?,
        prompt: reply.prompt,
        report_id,
    })
}

/// The transaction was refused. If the data is at fault it would be refused again, so the event is charged and waits;
/// the sixth claim gives it up. Otherwise the lease simply runs out.
async fn fall_back(context: &Context, claimed: &Claimed, error: &sqlx::Error) {
    let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
    match bus::classify(error) {
        bus::Class::Repeat | bus::Class::Unavailable => {
            tracing::warn!(error = %error, "a chat is left to its lease: {error}");
        }
        bus::Class::Data | bus::Class::Bug => {
            tracing::error!(sqlstate = code, "the database refuses the outcome of an event: SQLSTATE {code}");
            let settlement = Settlement {
                chat_id: claimed.chat_id,
                epoch: claimed.epoch,
                from_seq: claimed.from_seq,
                done_seq: claimed.from_seq,
                outcome: Outcome::Retry(
                    context.config.backoff.after(u32::from(claimed.attempts.unsigned_abs()), jitter()),
                ),
                error: Some(format!("settle_refused {code}")),
                last_received_at: None,
            };
            let settled: Result<(), bus::Error> =
                with_tx(&context.pool, settlement, |tx, settlement| Box::pin(settle(tx, settlement))).await;
            if let Err(error) = settled {
                tracing::warn!(error = %chain(&error), "a refused chat is left to its lease");
            }
        }
    }
}

fn database(error: bus::Error) -> Failure {
    match error {
        bus::Error::Database(error) => Failure::Database(error),
        bus::Error::Fenced => Failure::Database(sqlx::Error::RowNotFound),
    }
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
