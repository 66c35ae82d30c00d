//! The loop of the outgoing mailboxes: claim chats with replies, post them in order, record what the provider said.
//!
//! The next reply of a chat waits until the one before is accepted or given up (`send`). While nothing of the channel
//! can be sent nothing is claimed (`outage`), so that an outage and a pause cost no attempts and lose nothing.

use std::sync::Arc;

use bus::mailbox::Outcome;
use bus::outbound::{self, Claimed};
use bus::wake::Queue;
use runtime::trace;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::patience::{may_pass, patiently};
use crate::plan::DAMAGED;
use crate::send::{Errand, Sent, send};
use crate::{Context, outage, said, store, translate};

/// Chats of a channel whose replies are sent at the same time.
const CHATS: usize = 16;
/// Replies of one chat sent before it makes room for others.
const PER_CHAT: i64 = 10;

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
        let room = outage::room(&context, places.available_permits().max(1)).await;
        if room == 0 {
            tokio::select! {
                () = tokio::time::sleep(context.config.poll) => continue,
                () = stopping.cancelled() => break,
            }
        }
        let limit = i64::try_from(room).unwrap_or(1);
        // From before the claim was sent: the lease cannot have begun earlier.
        let claimed_at = Instant::now();
        let config = &context.config;
        let claimed = match outbound::claim(
            &context.pool,
            &context.channel,
            context.owner,
            limit,
            PER_CHAT,
            config.lease,
        )
        .await
        {
            Ok(claimed) => {
                context.queues.replies_claimed(&context.channel, &claimed);
                claimed
            }
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
                context.bells.ring(Queue::Outbound);
            });
        }
        while let Some(ended) = tasks.try_join_next() {
            if ended.is_err() {
                tracing::error!("sending the replies of a chat panicked; they are left to their lease");
            }
        }
        if idle {
            tokio::select! {
                () = context.bells.wait(Queue::Outbound) => {}
                () = stopping.cancelled() => break,
            }
        }
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

async fn deliver(context: &Context, chat: &Claimed, claimed_at: Instant, stopping: &CancellationToken) {
    let (done_seq, outcome, why) = send_all(context, chat, claimed_at, stopping).await;
    runtime::failpoint!("send.recorded");
    let settled =
        patiently(|| outbound::settle(&context.pool, chat, done_seq, outcome, why.as_deref())).await;
    context.queues.replies_settled(&context.channel, outcome, &settled);
    match settled {
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
    if chat.outbounds.first().is_none_or(|reply| reply.seq != chat.from_seq + 1) {
        tracing::error!(chat.id = %chat.chat_id, "the next reply of a chat is not there: its history is damaged");
        return (chat.from_seq, Outcome::Defer(DAMAGED), Some("missing_reply".to_owned()));
    }
    let until = claimed_at + context.config.lease.length.saturating_sub(context.config.send_timeout);
    let mut done_seq = chat.from_seq;
    for (index, reply) in chat.outbounds.iter().enumerate() {
        if reply.seq != done_seq + 1 {
            // What is missing is the next claim's head.
            return (done_seq, Outcome::Done, None);
        }
        if stopping.is_cancelled() || Instant::now() >= until {
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
        let errand = Errand { chat, recipient: &recipient, reply, attempts, until };
        match send(context, &errand).instrument(span).await {
            Sent::Finished => done_seq = reply.seq,
            Sent::Stopped(outcome, why) => return (done_seq, outcome, Some(why)),
        }
    }
    (done_seq, Outcome::Done, None)
}

/// What becomes of replies that wait for the database.
pub(crate) fn database(context: &Context, error: &sqlx::Error) -> Outcome {
    let said = said::database(error);
    tracing::warn!(error = %said, "replies wait for the database: {said}");
    if may_pass(error) { Outcome::Defer(context.config.defer) } else { Outcome::Retry(context.config.defer) }
}
