//! When nothing of the channel is claimed: its breaker is open, or it is paused until a person acts.

use std::time::Duration;

use bus::outbound::pause;
use bus::wake::Queue;
use channel::SendError;

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
    let (pool, channel) = (&context.pool, context.channel.as_str());
    let reason = pause::reason(pool, channel).await?;
    context.metrics.paused(channel, reason.is_some());
    if reason.is_none() {
        return Ok(false);
    }
    if !pause::take_probe(pool, channel, &context.config.probing).await? {
        return Ok(true);
    }
    Ok(!resumes(context, &reason.unwrap_or_default()).await?)
}

/// Goes on if the account answers for itself. True: it does.
async fn resumes(context: &Context, reason: &str) -> Result<bool, bus::Error> {
    let channel = context.channel.as_str();
    if let Err(error) = context.provider.now().probe().await {
        tracing::error!(channel.id = channel, reason, %error, "the channel stays paused: {error}");
        return Ok(false);
    }
    if pause::resume(&context.pool, channel).await? {
        tracing::warn!(channel.id = channel, reason, "the channel goes on: its account can be read again");
        context.announce(Queue::Outbound);
    }
    context.metrics.paused(channel, false);
    Ok(true)
}

/// Looks at a paused channel out of turn: what was wrong may have been put right this moment.
pub(crate) async fn look_again(context: &Context) {
    let looked = async {
        match pause::reason(&context.pool, &context.channel).await? {
            Some(reason) => resumes(context, &reason).await.map(drop),
            None => Ok(()),
        }
    };
    if let Err(error) = looked.await {
        let said = said::queue(&error);
        tracing::warn!(error = %said, "whether the channel is paused cannot be read: {said}");
    }
}

/// Pauses the channel: the account, its token, its number or its payment is at fault, and a person must act.
pub(crate) async fn pause_channel(context: &Context, error: &SendError) {
    let channel = context.channel.as_str();
    let reason = error.to_string();
    match pause::pause(&context.pool, channel, &reason, &context.config.probing).await {
        Ok(true) => {
            context.metrics.paused(channel, true);
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
