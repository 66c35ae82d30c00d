//! One claimed chat, from its events to the settle: what came of them is planned ([`plan`](crate::plan)), then written
//! in one transaction ([`write`](crate::write)). Whatever goes wrong, the loan ends with a settle if there is any way
//! to write one: a lease that runs out costs the citizen its whole length and counts as a crash.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bus::mailbox::{Claimed, Outcome, settle};
use bus::wake::Queue;
use futures::FutureExt;
use runtime::backoff::jitter;
use runtime::with_tx;
use tokio_util::sync::CancellationToken;

use crate::patience::{may_pass, patiently};
use crate::places::Place;
use crate::plan::{plan, untouched};
use crate::{Context, said, write};

/// Works one loan to its end. Never fails and never panics: whatever happens is an outcome of the queue.
pub async fn work(context: &Context, claimed: &Claimed, place: &Place, stopping: &CancellationToken) {
    if AssertUnwindSafe(attempt(context, claimed, place, stopping)).catch_unwind().await.is_err() {
        tracing::error!(chat.epoch = claimed.epoch, "a chat's work panicked outside of an event");
        put_back(context, claimed, "panic".to_owned()).await;
    }
}

async fn attempt(context: &Context, claimed: &Claimed, place: &Place, stopping: &CancellationToken) {
    context.marks.ask(claimed);
    let plan = Arc::new(plan(context, claimed, place, stopping).await);
    runtime::failpoint!("handle.planned");
    let commit =
        || write::commit(&context.pool, Arc::clone(&context.process), Arc::clone(&plan), &context.queues);
    match patiently(commit).await {
        Ok(written) => {
            context.queues.settled(&plan.channel, plan.settlement.outcome, &Ok(()));
            for queue in written.queues() {
                context.announce(queue);
            }
        }
        Err(bus::Error::Fenced) => {
            fenced(context, claimed);
            // It may have been ourselves, by a commit whose answer was lost.
            context.announce(Queue::Outbound);
        }
        Err(bus::Error::Database(error)) if may_pass(&error) => left(claimed, &error),
        // If the data is at fault it would be refused again, so the event is charged and waits; the next claim hands
        // it out alone, and the sixth gives it up.
        Err(bus::Error::Database(error)) => {
            let said = said::database(&error);
            tracing::error!(error = %said, "the database refuses the outcome of an event: {said}");
            let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default();
            put_back(context, claimed, format!("settle_refused {code}").trim_end().to_owned()).await;
        }
    }
}

/// Ends the loan with nothing done but an attempt charged.
async fn put_back(context: &Context, claimed: &Claimed, why: String) {
    let delay = context.config.backoff.after(u32::from(claimed.attempts.unsigned_abs()), jitter());
    let settlement = untouched(claimed, Outcome::Retry(delay), Some(why));
    let settled = patiently(|| {
        with_tx(&context.pool, settlement.clone(), |tx, settlement| Box::pin(settle(tx, settlement)))
    });
    match settled.await {
        Ok(()) => context.queues.settled(&context.channel, settlement.outcome, &Ok(())),
        Err(bus::Error::Fenced) => fenced(context, claimed),
        Err(bus::Error::Database(error)) => left(claimed, &error),
    }
}

fn fenced(context: &Context, claimed: &Claimed) {
    context.queues.settled(&context.channel, Outcome::Done, &Err(bus::Error::Fenced));
    tracing::warn!(chat.epoch = claimed.epoch, "a loan was over before it was settled; nothing was written");
}

fn left(claimed: &Claimed, error: &sqlx::Error) {
    let said = said::database(error);
    tracing::warn!(error = %said, chat.epoch = claimed.epoch, "a chat is left to its lease: {said}");
}
