//! When nothing of the channel is claimed: its breaker is open, or it is paused until a person acts.

use std::time::Duration;

use bus::outbound::pause;
use bus::wake::Queue;
use channel::meta::SendError;

use crate::{Context, said};

/// The longest that the breaker stays open without having been told a time.
const LONGEST: Duration = Duration::from_secs(30);

/// How many chats may be claimed now; none while nothing can be sent. A paused channel whose probe is due is probed.
pub(crate) async fn room(context: &Context, free: usize) -> usize {
    if context.breaker.is_open() {
        return 0;
    }
    match is_paused(context).await {
        Ok(false) if context.breaker.is_doubted() => 1,
        Ok(false) => free,
        Ok(true) => 0,
        Err(error) => {
            let said = said::queue(&error);
            tracing::warn!(error = %said, "whether the channel is paused cannot be read: {said}");
            0
        }
    }
}

async fn is_paused(context: &Context) -> Result<bool, bus::Error> {
    let (pool, channel) = (&context.pool, context.config.channel.as_str());
    let reason = pause::reason(pool, channel).await?;
    context.metrics.paused.set(i64::from(reason.is_some()));
    if reason.is_none() {
        return Ok(false);
    }
    if !pause::take_probe(pool, channel, &context.config.probing).await? {
        return Ok(true);
    }
    if !context.number.probe().await {
        tracing::error!(channel.id = channel, reason, "the channel stays paused: its number cannot be read");
        return Ok(true);
    }
    if pause::resume(pool, channel).await? {
        tracing::warn!(channel.id = channel, reason, "the channel goes on: its number can be read again");
        context.announce(Queue::Outbound);
    }
    context.metrics.paused.set(0);
    Ok(false)
}

/// Pauses the channel: the account, its token, its number or its payment is at fault, and a person must act.
pub(crate) async fn pause_channel(context: &Context, error: &SendError) {
    let channel = context.config.channel.as_str();
    let reason = error.to_string();
    match pause::pause(&context.pool, channel, &reason, &context.config.probing).await {
        Ok(true) => {
            context.metrics.paused.set(1);
            tracing::error!(
                channel.id = channel,
                error.code = error.label(),
                "the channel is paused, its replies are kept: {error}"
            );
        }
        Ok(false) => {}
        Err(error) => {
            let said = said::queue(&error);
            tracing::error!(error = %said, "the channel could not be paused: {said}");
        }
    }
}

/// Opens the breaker: the provider is away, not well or has had enough of this number.
pub(crate) fn trip(context: &Context, told: Option<Duration>) {
    let backoff = context.config.send_backoff;
    context.breaker.failed(|failures| {
        told.unwrap_or_else(|| backoff.after(failures, runtime::backoff::jitter()).min(LONGEST))
    });
}
