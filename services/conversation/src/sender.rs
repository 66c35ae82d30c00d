//! The loop of the outgoing mailboxes: claim chats with replies, post them in order, record what the provider said.
//!
//! The next reply of a chat waits until the one before is accepted or given up. A reply that cannot go because of an
//! outage or a throttle has no cap of attempts: it ends when its 24-hour window closes. A reply whose answer was lost
//! may have arrived and is sent again, after a pause: it may repeat, never vanish.

use std::sync::Arc;
use std::time::Duration;

use bus::mailbox::Outcome;
use bus::outbound::{self, Claimed, Outbound};
use bus::wake::Queue;
use channel::meta::Class;
use channel::{Outgoing, Recipient};
use chrono::Utc;
use dialogue::ReplyBody;
use runtime::trace;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::patience::{may_pass, patiently};
use crate::{Context, said, store, translate};

/// Chats whose replies are sent at the same time.
const CHATS: usize = 16;
/// Replies of one chat sent before it makes room for others.
const PER_CHAT: i64 = 10;
/// How soon a form that has no release is looked at again.
const NO_RELEASE: Duration = Duration::from_secs(5);

/// Runs until `stopping`, then waits for what is under way.
///
/// # Errors
/// Never; a database that is away is waited for.
pub async fn run(context: Arc<Context>, stopping: CancellationToken) -> anyhow::Result<()> {
    let places = Arc::new(Semaphore::new(CHATS));
    let mut tasks = JoinSet::new();
    loop {
        let place = tokio::select! {
            place = places.acquire() => place?,
            () = stopping.cancelled() => break,
        };
        drop(place);
        let limit = i64::try_from(places.available_permits().max(1)).unwrap_or(1);
        // From before the claim was sent: the lease cannot have begun earlier.
        let claimed_at = Instant::now();
        let config = &context.config;
        let claimed = match outbound::claim(
            &context.pool,
            &config.channel,
            context.owner,
            limit,
            PER_CHAT,
            config.lease,
        )
        .await
        {
            Ok(claimed) => claimed,
            Err(error) => {
                let said = said::queue(&error);
                tracing::warn!(error = %said, "replies cannot be claimed: {said}");
                Vec::new()
            }
        };
        let idle = claimed.is_empty();
        for chat in claimed {
            let place = Arc::clone(&places).acquire_owned().await?;
            let (context, stopping) = (Arc::clone(&context), stopping.clone());
            tasks.spawn(async move {
                deliver(&context, &chat, claimed_at, &stopping).await;
                drop(place);
                context.listener.wake(Queue::Outbound);
            });
        }
        while let Some(ended) = tasks.try_join_next() {
            if ended.is_err() {
                tracing::error!("sending the replies of a chat panicked; they are left to their lease");
            }
        }
        if idle {
            tokio::select! {
                () = context.listener.wait(Queue::Outbound, context.config.poll) => {}
                () = stopping.cancelled() => break,
            }
        }
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// What became of one reply.
enum Sent {
    /// Accepted or given up: the next one may go.
    Finished,
    /// The loan ends here.
    Stopped(Outcome, String),
}

async fn deliver(context: &Context, chat: &Claimed, claimed_at: Instant, stopping: &CancellationToken) {
    let (done_seq, outcome, why) = send_all(context, chat, claimed_at, stopping).await;
    let settled = patiently(|| outbound::settle(&context.pool, chat, done_seq, outcome, why.as_deref()));
    match settled.await {
        Ok(()) => {}
        Err(bus::Error::Fenced) => tracing::warn!("a loan of replies was over before it was settled"),
        Err(bus::Error::Database(error)) => {
            let said = said::database(&error);
            tracing::warn!(error = %said, "a chat's replies are left to their lease: {said}");
        }
    }
}

/// Sends what can be sent, in order. Returns how far it came, how the loan ends and why.
async fn send_all(
    context: &Context,
    chat: &Claimed,
    claimed_at: Instant,
    stopping: &CancellationToken,
) -> (i64, Outcome, Option<String>) {
    let recipient = match store::aliases(&context.pool, chat.chat_id).await {
        Ok(aliases) => translate::recipient(aliases),
        Err(error) => return (chat.from_seq, database(context, &error), Some("no_recipient".to_owned())),
    };
    let mut done_seq = chat.from_seq;
    for (index, reply) in chat.outbounds.iter().enumerate() {
        let out_of_time = claimed_at.elapsed() + context.config.send_timeout >= context.config.lease.length;
        if stopping.is_cancelled() || out_of_time {
            return (done_seq, Outcome::Release, None);
        }
        let attempts = if index == 0 { chat.attempts } else { 1 };
        let span = tracing::info_span!(
            "send outbound",
            outbound.id = %reply.id,
            attempt = attempts,
            report.id = reply.report_id.map(tracing::field::display)
        );
        if attempts == 1 {
            trace::set_parent(&span, reply.trace_context.as_deref());
        } else {
            trace::add_link(&span, reply.trace_context.as_deref());
        }
        match send(context, &recipient, reply, attempts).instrument(span).await {
            Sent::Finished => done_seq = reply.seq,
            Sent::Stopped(outcome, why) => return (done_seq, outcome, Some(why)),
        }
    }
    (done_seq, Outcome::Done, None)
}

/// What becomes of replies that wait for the database.
fn database(context: &Context, error: &sqlx::Error) -> Outcome {
    let said = said::database(error);
    tracing::warn!(error = %said, "replies wait for the database: {said}");
    if may_pass(error) { Outcome::Defer(context.config.defer) } else { Outcome::Retry(context.config.defer) }
}

async fn send(context: &Context, recipient: &Recipient, reply: &Outbound, attempts: i16) -> Sent {
    if reply.finished {
        return Sent::Finished;
    }
    if reply.expires_at <= Utc::now() {
        return drop_reply(context, reply, "window_closed").await;
    }
    let message = match compose(context, reply).await {
        Ok(Some(message)) => message,
        Ok(None) => {
            tracing::error!(
                "a form waits: no published form of its language is in flow.release; run `abisu flows publish`"
            );
            return Sent::Stopped(Outcome::Defer(NO_RELEASE), "no_flow_release".to_owned());
        }
        Err(Compose::Unreadable) => return drop_reply(context, reply, "payload_unreadable").await,
        Err(Compose::Database(error)) => {
            return Sent::Stopped(database(context, &error), "no_form".to_owned());
        }
    };
    let error = match context.channel.send(recipient, &message, &reply.id.to_string()).await {
        Ok(accepted) => {
            record(context, reply, &accepted.provider_ids).await;
            return Sent::Finished;
        }
        Err(error) => error,
    };
    let attempt = u32::from(attempts.unsigned_abs()).max(1);
    let backoff = context.config.send_backoff.after(attempt, runtime::backoff::jitter());
    if error.needs_operator() {
        tracing::error!(error.code = error.label(), %error, "replies of this channel cannot leave: {error}");
    } else {
        tracing::warn!(error.code = error.label(), %error, attempt, "a reply was not sent: {error}");
    }
    let reason = error.to_string();
    match error.class() {
        Class::Drop => drop_reply(context, reply, &reason).await,
        Class::Retry | Class::Ambiguous => Sent::Stopped(Outcome::Retry(backoff), reason),
        // The attempt is not given back, so that the wait grows while the outage lasts; replies have no cap.
        Class::Defer(wait) => Sent::Stopped(Outcome::Retry(wait.unwrap_or(backoff)), reason),
    }
}

enum Compose {
    Unreadable,
    Database(sqlx::Error),
}

async fn compose(context: &Context, reply: &Outbound) -> Result<Option<Outgoing>, Compose> {
    let body: ReplyBody = serde_json::from_value(reply.payload.clone()).map_err(|_| Compose::Unreadable)?;
    let release = match &body {
        ReplyBody::Form { language, .. } => {
            store::newest_release(&context.pool, &context.config.channel, language.as_str())
                .await
                .map_err(Compose::Database)?
        }
        ReplyBody::Text(_)
        | ReplyBody::Buttons { .. }
        | ReplyBody::List { .. }
        | ReplyBody::LocationRequest { .. } => None,
    };
    Ok(translate::say(body, reply.prompt, release))
}

/// Records that the provider took a reply. It is evidence, so it is tried for a while when the database is away. If it
/// is lost for good the reply is finished all the same, unless this process ends before the loan is settled: then it is
/// sent again.
async fn record(context: &Context, reply: &Outbound, provider_ids: &[String]) {
    context.metrics.outbound("sent");
    if let Err(error) = patiently(|| store::record_sent(context, reply, provider_ids)).await {
        let said = said::queue(&error);
        tracing::error!(error = %said, "that a reply was sent could not be recorded: {said}");
    }
}

async fn drop_reply(context: &Context, reply: &Outbound, reason: &str) -> Sent {
    context.metrics.outbound("dropped");
    tracing::warn!(reason, "a reply is given up: {reason}");
    match outbound::record_dropped(&context.pool, reply.id, reason).await {
        Ok(()) => Sent::Finished,
        Err(error) => {
            let said = said::queue(&error);
            tracing::warn!(error = %said, "that a reply was given up could not be recorded: {said}");
            Sent::Stopped(Outcome::Retry(context.config.defer), reason.to_owned())
        }
    }
}
