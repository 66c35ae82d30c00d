//! The loop of a channel's inbound queue: claim as many chats as there are free places, work each in a task of its own,
//! keep its lease while it runs.
//!
//! Every channel has [places](crate::places) of its own, so a channel with a hundred thousand ready chats takes none from another. What
//! the channels share is the process: a chat that may be what kills it runs while nothing else does, on any channel.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bus::mailbox::{Claim, Claimed, renew};
use bus::wake::Queue;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::places::{Place, Places};
use crate::{Context, chat, said};

/// How often chats that must run alone are looked for.
const SOLO_EVERY: Duration = Duration::from_secs(1);

/// Runs until `stopping`, then waits for what is in work.
///
/// # Errors
/// Never; a database that is away is waited for.
pub async fn run(context: Arc<Context>, stopping: CancellationToken) -> anyhow::Result<()> {
    let places = Places::new(context.config.workers as usize);
    let mut tasks = JoinSet::new();
    let mut solo_at = Instant::now();
    while !stopping.is_cancelled() {
        let free = tokio::select! {
            free = places.free() => free?,
            () = stopping.cancelled() => break,
        };
        if Instant::now() >= solo_at {
            solo_at = Instant::now() + SOLO_EVERY;
            work_solo(&context, &stopping).await;
        }
        // Only this loop takes places, so what is free now is still free when the chats have come.
        let chats = take(&context, free, false).await;
        let idle = chats.is_empty();
        for claimed in chats {
            let place = places.take().await?;
            let (context, stopping) = (Arc::clone(&context), stopping.clone());
            tasks.spawn(async move {
                let beside_others = async {
                    let _shared = context.process.alone.read().await;
                    chat::work(&context, &claimed, &place, &stopping).await;
                };
                // Its lease is renewed from the beginning: waiting for one that runs alone must not lose it.
                keep(&context, &claimed, beside_others).await;
                drop(place);
                // The chat may have more events: its settle tells nobody else.
                context.bells.ring(Queue::Inbound);
            });
        }
        while tasks.try_join_next().is_some() {}
        if idle {
            tokio::select! {
                () = context.bells.wait(Queue::Inbound) => {}
                () = stopping.cancelled() => break,
            }
        }
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

async fn take(context: &Context, limit: usize, solo: bool) -> Vec<Claimed> {
    let request = Claim {
        channel: &context.channel,
        owner: context.owner,
        chats: i64::try_from(limit).unwrap_or(i64::MAX),
        events: i64::from(context.config.events_per_chat),
        lease: context.config.lease,
        solo,
    };
    match context.claimer.claim(&request).await {
        Ok(claimed) => claimed,
        Err(error) => {
            let said = said::queue(&error);
            tracing::warn!(error = %said, "chats cannot be claimed: {said}");
            Vec::new()
        }
    }
}

/// A chat that lost two leases in a row may be what kills the process: it runs with nobody beside it.
async fn work_solo(context: &Context, stopping: &CancellationToken) {
    for claimed in take(context, 1, true).await {
        let alone = async {
            let _alone = context.process.alone.write().await;
            chat::work(context, &claimed, &Place::alone(), stopping).await;
        };
        // Its lease is renewed from the beginning: waiting for the others must not lose it once more.
        keep(context, &claimed, alone).await;
    }
}

/// Does the work of a loan and renews its lease meanwhile.
async fn keep(context: &Context, claimed: &Claimed, work: impl Future<Output = ()>) {
    context.metrics.in_flight.inc();
    tokio::select! {
        () = work => {}
        never = renewing(context, claimed) => match never {},
    }
    context.metrics.in_flight.dec();
}

/// Renews a lease at a third of it, for as long as it is held.
async fn renewing(context: &Context, claimed: &Claimed) -> Infallible {
    let loan = [(claimed.chat_id, claimed.epoch)];
    loop {
        tokio::time::sleep(context.config.lease.renew_after()).await;
        match renew(&context.pool, context.owner, &loan, context.config.lease).await {
            // Lost, or settled this very moment. What is left of the work has no effect but through the settle, which
            // is fenced, so it may come to its own end; dropping it could drop the news of what it committed.
            Ok(held) if held.is_empty() => std::future::pending().await,
            Ok(_) => {}
            Err(error) => {
                let said = said::queue(&error);
                tracing::warn!(error = %said, "a lease could not be renewed: {said}");
            }
        }
    }
}
