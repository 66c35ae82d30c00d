//! One reply, from its row to what the provider said.
//!
//! A reply that cannot go because of an outage or a throttle has no cap of attempts: it ends when its 24-hour window
//! closes. One whose answer was lost may have arrived: it is looked for among the receipts for a while, then sent again.
//! It may repeat, never vanish. A form that nobody can be sent now makes room for what comes after it, and is brought
//! back later (`delayed`).

use std::time::Duration;

use bus::mailbox::Outcome;
use bus::outbound::pace::{self, Slot};
use bus::outbound::{self, Claimed, Outbound};
use channel::outgoing::{FormShape, Forms};
use channel::{Class, Outgoing, Recipient, Scope, SendError};
use chrono::Utc;
use dialogue::{Language, Notice, ReplyBody};
use runtime::with_tx;
use tokio::time::Instant;

use crate::delayed::{self, Delay};
use crate::patience::patiently;
use crate::said_once::{Ear, say_once};
use crate::sender::database;
use crate::{Context, outage, said, store, translate};

/// How the error of a settle begins when nobody knows whether the reply was sent.
const UNKNOWN: &str = "unknown whether sent";
/// Attempts at what the provider refuses in words that could also mean that it never works.
const REFUSALS: u32 = 5;
/// The longest wait after the provider said that a citizen was sent too much.
const LONGEST_PAIR_WAIT: Duration = Duration::from_secs(256);

/// What became of one reply.
pub(crate) enum Sent {
    /// Accepted or given up: the next one may go.
    Finished,
    /// The loan ends here.
    Stopped(Outcome, String),
}

/// One reply of a loan.
pub(crate) struct Errand<'a> {
    pub(crate) chat: &'a Claimed,
    pub(crate) recipient: &'a Recipient,
    pub(crate) reply: &'a Outbound,
    /// Attempts at it, this one included.
    pub(crate) attempts: i16,
    /// By when its request must leave, or it could outlive the lease.
    pub(crate) until: Instant,
}

impl Errand<'_> {
    fn attempt(&self) -> u32 {
        u32::from(self.attempts.unsigned_abs()).max(1)
    }

    fn is_form(&self) -> bool {
        self.reply.payload.get("form").is_some()
    }

    /// Where something is said instead of this reply.
    fn ear(&self, context: &Context) -> Ear {
        Ear {
            channel: context.channel.clone(),
            chat_id: self.chat.chat_id,
            expires_at: self.reply.expires_at,
            trace_context: self.reply.trace_context.clone(),
        }
    }
}

/// Sends one reply.
pub(crate) async fn send(context: &Context, errand: &Errand<'_>) -> Sent {
    let reply = errand.reply;
    if reply.finished {
        return Sent::Finished;
    }
    if errand.attempts > 1 {
        // Somebody tried before, and may have been cut short after the request had left.
        match outbound::receipts_of(&context.pool, reply.id).await {
            Ok(provider_ids) if provider_ids.is_empty() => {}
            Ok(provider_ids) => {
                record(context, reply, &provider_ids).await;
                return Sent::Finished;
            }
            Err(error) => return waits(context, &error, "no_receipts"),
        }
    }
    if reply.expires_at <= Utc::now() {
        // The citizen may have written again since, which opens the window anew for this reply too.
        match store::newest_window(&context.pool, errand.chat.chat_id).await {
            Ok(Some(end)) if end > Utc::now() => {}
            Ok(_) => return give_up(context, errand, "window_closed", None).await,
            Err(error) => return waits(context, &error.into(), "no_window"),
        }
    }
    let message = match compose(context, errand).await {
        Ok(Some(message)) => message,
        Ok(None) => {
            tracing::error!(
                "a form waits: no published form of its language is in flow.release; run `abisu flows publish`"
            );
            return delay(context, errand, Delay::NoRelease).await;
        }
        Err(Compose::Unreadable) => return give_up(context, errand, "payload_unreadable", None).await,
        Err(Compose::Database(error)) => return waits(context, &error.into(), "no_form"),
    };
    match pace::reserve(&context.pool, &context.channel, errand.chat.chat_id, &context.config.pace).await {
        Ok(Slot::In(wait)) if Instant::now() + wait >= errand.until => return out_of_time(),
        Ok(Slot::In(wait)) => tokio::time::sleep(wait).await,
        Ok(Slot::Full(wait)) => {
            context.metrics.outbound("paced");
            return Sent::Stopped(Outcome::Defer(wait), "pair_limit".to_owned());
        }
        Err(error) => return waits(context, &error, "no_slot"),
    }
    // The last thing before the request: the database may have kept this waiting for longer than the lease, and then
    // somebody else sends it.
    if Instant::now() >= errand.until {
        return out_of_time();
    }
    if errand.chat.head_error.as_deref().is_some_and(|error| error.starts_with(UNKNOWN))
        && errand.attempts > 1
    {
        context.metrics.outbound("repeated");
    }
    match context.provider.now().send(errand.recipient, &message, &reply.id.to_string()).await {
        Ok(accepted) => {
            context.breaker.succeeded();
            record(context, reply, &accepted.provider_ids).await;
            Sent::Finished
        }
        Err(error) => refused(context, errand, &error).await,
    }
}

/// Whoever has the next loan of the chat sends it.
fn out_of_time() -> Sent {
    Sent::Stopped(Outcome::Release, String::new())
}

async fn refused(context: &Context, errand: &Errand<'_>, error: &SendError) -> Sent {
    let attempt = errand.attempt();
    let backoff = context.config.send_backoff.after(attempt, runtime::backoff::jitter());
    let reason = error.to_string();
    tracing::warn!(error.code = error.label(), %error, attempt, "a reply was not sent: {error}");
    if errand.is_form() && error.blocks_form() {
        tracing::error!(
            error.code = error.label(),
            "the form is blocked or throttled by the provider: {error}"
        );
        return delay(context, errand, Delay::Blocked).await;
    }
    if error.is_our_fault() {
        tracing::error!(error.code = error.label(), "the provider does not take what we send: {error}");
        // Nobody answers a form that never came, and the next release may be right.
        if errand.is_form() {
            return delay(context, errand, Delay::Blocked).await;
        }
    }
    if error.needs_operator() {
        outage::pause_channel(context, error).await;
        return Sent::Stopped(Outcome::Defer(context.config.defer), reason);
    }
    match error.class() {
        Class::Drop => {
            // Most often the form meets a client that is too old for it, and the citizen can do something about that.
            let old_client = errand.is_form() && error.is_undeliverable();
            give_up(context, errand, &reason, old_client.then_some(Notice::UpdateApp)).await
        }
        Class::Retry => {
            let refusal = error.http_status.is_some_and(|status| (400..500).contains(&status));
            if refusal && attempt >= REFUSALS {
                return give_up(context, errand, &reason, None).await;
            }
            Sent::Stopped(Outcome::Retry(backoff), reason)
        }
        Class::Ambiguous => {
            context.metrics.outbound("unknown");
            Sent::Stopped(
                Outcome::Retry(backoff.max(context.config.receipt_wait)),
                format!("{UNKNOWN}: {reason}"),
            )
        }
        // The attempt is not given back, so that the wait grows while the outage lasts; replies have no cap.
        Class::Defer(told) => {
            let wait = match error.scope() {
                Scope::Number => {
                    outage::trip(context, told);
                    told.unwrap_or(backoff)
                }
                Scope::Recipient => {
                    let grown = Duration::from_secs(4_u64.saturating_pow(attempt)).min(LONGEST_PAIR_WAIT);
                    error.retry_after.unwrap_or(grown)
                }
                Scope::Message => told.unwrap_or(backoff),
            };
            Sent::Stopped(Outcome::Retry(wait), reason)
        }
    }
}

fn waits(context: &Context, error: &bus::Error, why: &str) -> Sent {
    let outcome = match error {
        bus::Error::Database(error) => database(context, error),
        // Nothing here is fenced: it would be a fault.
        bus::Error::Fenced => Outcome::Retry(context.config.defer),
    };
    Sent::Stopped(outcome, why.to_owned())
}

enum Compose {
    Unreadable,
    Database(sqlx::Error),
}

async fn compose(context: &Context, errand: &Errand<'_>) -> Result<Option<Outgoing>, Compose> {
    let reply = errand.reply;
    let body: ReplyBody = serde_json::from_value(reply.payload.clone()).map_err(|_| Compose::Unreadable)?;
    let shape = match &body {
        ReplyBody::Form { language, address, .. } => match context.provider.now().forms() {
            Forms::Fields => Some(context.process.forms.fields(*language, address)),
            Forms::Flow => release(context, errand.recipient, *language, address).await?,
        },
        ReplyBody::Text(_)
        | ReplyBody::Buttons { .. }
        | ReplyBody::List { .. }
        | ReplyBody::LocationRequest { .. } => None,
    };
    Ok(translate::say(body, reply.prompt, shape))
}

/// The form that is live; for a test number the newest one, also while it is a draft.
async fn release(
    context: &Context,
    recipient: &Recipient,
    language: Language,
    address: &str,
) -> Result<Option<FormShape>, Compose> {
    let tries_out =
        recipient.phone.as_ref().is_some_and(|phone| context.test_numbers.iter().any(|test| test == phone));
    let release = store::newest_release(&context.pool, &context.channel, language.as_str(), tries_out)
        .await
        .map_err(Compose::Database)?;
    Ok(release.map(|release| FormShape::Flow {
        flow_id: release.provider_flow_id,
        first_screen: release.first_screen,
        data: flow_json::init_data(address),
        draft: release.draft,
    }))
}

/// Records that the provider took a reply. It is evidence, so it is tried for a while when the database is away. If it
/// is lost for good the reply is finished all the same, unless this process ends before the loan is settled: then it is
/// looked for among the receipts, and sent again if it is not there.
async fn record(context: &Context, reply: &Outbound, provider_ids: &[String]) {
    context.metrics.outbound("sent");
    if let Err(error) = patiently(|| store::record_sent(context, reply, provider_ids)).await {
        let said = said::queue(&error);
        tracing::error!(error = %said, "that a reply was sent could not be recorded: {said}");
    }
}

/// Gives a reply up with its reason and, if there is one, says the word that helps in its place.
async fn give_up(context: &Context, errand: &Errand<'_>, reason: &str, notice: Option<Notice>) -> Sent {
    context.metrics.outbound("dropped");
    tracing::warn!(reason, "a reply is given up: {reason}");
    let input = (errand.reply.id, reason.to_owned(), errand.ear(context), notice);
    let dropped = with_tx(&context.pool, input, |tx, (id, reason, ear, notice)| {
        Box::pin(async move {
            let now = outbound::record_dropped(&mut *tx, *id, reason).await?;
            if let Some(notice) = notice.filter(|_| now) {
                let session = store::session_in(tx, ear.chat_id).await?;
                say_once(tx, ear, &session, *id, notice).await?;
            }
            Ok::<_, bus::Error>(())
        })
    });
    match dropped.await {
        Ok(()) => Sent::Finished,
        Err(error) => {
            let said = said::queue(&error);
            tracing::warn!(error = %said, "that a reply was given up could not be recorded: {said}");
            Sent::Stopped(Outcome::Retry(context.config.defer), reason.to_owned())
        }
    }
}

/// Puts a form aside until it may work.
async fn delay(context: &Context, errand: &Errand<'_>, why: Delay) -> Sent {
    context.metrics.outbound("delayed");
    match delayed::put_aside(context, errand.reply, errand.ear(context), why).await {
        Ok(()) => Sent::Finished,
        Err(error) => waits(context, &error, why.as_str()),
    }
}
