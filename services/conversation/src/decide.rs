//! From an event to a transition: the pure dialogue is asked, and what it needs is looked up, outside of any
//! transaction.

use bus::mailbox::{Event, Outcome};
use channel::normalised::Message;
use chrono::Utc;
use dialogue::{Answer, Decision, Effect, Fresh, Language, Lookup, PromptFate, Session, Transition, Verdict};
use runtime::backoff::jitter;
use uuid::Uuid;

use crate::lookup::LookupError;
use crate::places::Place;
use crate::plan::Step;
use crate::store::SessionError;
use crate::translate::{Heard, hear};
use crate::{Context, patience, said, store};

/// Why an event was not decided. Says nothing of what the event holds, so it can be logged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    // The source is left out: it quotes the message. Who must see it finds the payload in `inbound.dead`.
    #[error("the payload is not a message of this version")]
    Payload,
    #[error("the stored session cannot be read by this version")]
    Session,
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error("the database did not answer: {}", said::database(.0))]
    Database(sqlx::Error),
    #[error("the event asks for lookups without end")]
    Endless,
    #[error("the handler panicked")]
    Panic,
}

impl Failure {
    /// What the queue does about it after this many attempts. `None`: trying again would not help.
    pub(crate) fn outcome(&self, context: &Context, attempts: i16) -> Option<Outcome> {
        let retry =
            || Outcome::Retry(context.config.backoff.after(u32::from(attempts.unsigned_abs()), jitter()));
        match self {
            Self::Lookup(LookupError::Unavailable(_)) => Some(Outcome::Defer(context.config.defer)),
            Self::Database(error) if patience::may_pass(error) => Some(Outcome::Defer(context.config.defer)),
            // A newer version, that can read the session, may be on its way.
            Self::Database(_) | Self::Session | Self::Panic => Some(retry()),
            Self::Payload | Self::Lookup(LookupError::Refused(_)) | Self::Endless => None,
        }
    }

    /// The stable word for logs and rows.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Payload => "payload_unreadable",
            Self::Session => "session_unreadable",
            Self::Lookup(LookupError::Unavailable(_)) => "geocode_unavailable",
            Self::Lookup(LookupError::Refused(_)) => "geocode_refused",
            Self::Database(error) if patience::may_pass(error) => "database_unavailable",
            Self::Database(_) => "database_refused",
            Self::Endless => "endless_lookups",
            Self::Panic => "panic",
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<bus::Error> for Failure {
    fn from(error: bus::Error) -> Self {
        match error {
            bus::Error::Database(error) => Self::Database(error),
            // Nothing is settled while deciding, so nothing can be fenced.
            bus::Error::Fenced => Self::Database(sqlx::Error::RowNotFound),
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Unreadable => Self::Session,
            SessionError::Database(error) => Self::Database(error),
        }
    }
}

/// Decides one event. `before` is what the same loan decided already and the database does not know yet.
///
/// # Errors
/// Something that was needed could not be had; nothing was changed.
pub(crate) async fn decide(
    context: &Context,
    place: &Place,
    chat_id: Uuid,
    session: &Session,
    event: &Event,
    before: &[Step],
) -> Result<Transition, Failure> {
    let message: Message = serde_json::from_value(event.payload.clone()).map_err(|_| Failure::Payload)?;
    let in_reply_to = match message.reply_to.as_deref() {
        Some(id) => bus::outbound::prompt_of(&context.pool, &context.channel, id).await?,
        None => None,
    };
    let prompt = fate_of_prompt(context, chat_id, session, before).await?;
    let kind = match hear(message) {
        Heard::Kind(kind) => kind,
        Heard::Picture(photo) => match awaited_photo(context, chat_id, before).await? {
            Some(report_id) => dialogue::EventKind::AwaitedPhoto { report_id, photo },
            None => dialogue::EventKind::Photo,
        },
        Heard::Form(response) => {
            let channel = &context.channel;
            dialogue::EventKind::Form(
                context.process.forms.read(&context.pool, channel, &response, session.language).await?,
            )
        }
    };
    let heard = dialogue::Event { kind, in_reply_to, prompt };
    let fresh = Fresh { token: Uuid::now_v7(), report_id: Uuid::now_v7() };
    let now = Utc::now();
    let mut answers = Vec::new();
    // The dialogue asks for two lookups at most; the bound is against a fault in it.
    for _ in 0..4 {
        match dialogue::decide(session, &heard, &answers, &fresh, now) {
            Decision::Done(transition) => return Ok(transition),
            Decision::Need(lookup) => answers.push(place.wait(look_up(context, session, lookup)).await?),
        }
    }
    Err(Failure::Endless)
}

/// What became of the open prompt: a citizen who has never seen it cannot answer it.
async fn fate_of_prompt(
    context: &Context,
    chat_id: Uuid,
    session: &Session,
    before: &[Step],
) -> Result<PromptFate, Failure> {
    let Some(prompt) = session.prompt() else { return Ok(PromptFate::Standing) };
    let said_now =
        before.iter().flat_map(|step| &step.transition.replies).any(|reply| reply.prompt == Some(prompt));
    if said_now {
        Ok(PromptFate::Standing)
    } else {
        Ok(store::prompt_fate(&context.pool, chat_id, prompt).await?)
    }
}

/// The report whose photo a picture is, because its own could not be had and the citizen was asked for another.
async fn awaited_photo(context: &Context, chat_id: Uuid, before: &[Step]) -> Result<Option<Uuid>, Failure> {
    let awaited = bus::photo::awaited(&context.pool, chat_id).await?;
    let taken = |report_id: &Uuid| {
        before
            .iter()
            .flat_map(|step| &step.transition.effects)
            .any(|effect| matches!(effect, Effect::TakePhoto { report_id: taken, .. } if taken == report_id))
    };
    Ok(awaited.filter(|report_id| !taken(report_id)))
}

async fn look_up(context: &Context, session: &Session, lookup: Lookup) -> Result<Answer, LookupError> {
    let language = session.language.unwrap_or(Language::Es);
    Ok(match lookup {
        Lookup::Covers(point) => Answer::Covers(context.process.geocoder.covers(point).await?),
        // A name for a pin is a courtesy: without one the report goes on.
        Lookup::Reverse(point) => {
            Answer::Reverse(context.process.geocoder.reverse(point, language).await.unwrap_or(None))
        }
        // The citizen who typed can be told at once, and asked for a pin.
        Lookup::Resolve { text, language, street } => {
            match context.process.geocoder.resolve(&text, language, street.as_deref()).await {
                Ok(verdict) => Answer::Resolve(verdict),
                Err(LookupError::Unavailable(_)) => Answer::Resolve(Verdict::Unavailable),
                Err(error @ LookupError::Refused(_)) => return Err(error),
            }
        }
    })
}
