//! Replies that the provider took and then did not deliver: the receipt says so, to nobody who waits for it.
//!
//! A receipt has the codes of a refusal, and they mean the same. What the account is at fault for pauses the channel, and
//! the reply is said again when it goes on; what passes is said again, a few times; what can never be delivered stays as
//! it is, and a prompt of that kind is said again at the citizen's next message. A reply that is said again is a new row
//! at the end of its chat whose id is made from the old one's, so it is said again once, by whatever process.

use std::sync::Arc;
use std::time::Duration;

use bus::outbound::{NewOutbound, enqueue_once};
use bus::wake::Queue;
use channel::{Class, SendError};
use runtime::with_tx;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{Context, outage, said, store};

/// How often the receipts are looked at, in polls of the queues.
const EVERY: u32 = 5;
/// How far back they are looked at after a start, and then, in seconds: the window of a reply, and longer than any look
/// may be late.
const BACK: (f64, f64) = (86_400.0, 600.0);
/// How often a reply is said that fails again and again for what should pass.
const TIMES: i64 = 4;

/// Looks for such replies, until `stopping`.
///
/// # Errors
/// Never; a database that is away is waited for.
pub(crate) async fn run(context: Arc<Context>, stopping: CancellationToken) -> anyhow::Result<()> {
    let pause: Duration = context.config.poll * EVERY;
    let mut back = BACK.0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopping.cancelled() => return Ok(()),
        }
        match look(&context, back).await {
            Ok(()) => back = BACK.1,
            Err(error) => {
                let said = said::queue(&error);
                tracing::warn!(error = %said, "failed replies cannot be looked for: {said}");
            }
        }
    }
}

async fn look(context: &Context, back: f64) -> Result<(), bus::Error> {
    let channel = &context.channel;
    let codes = sqlx::query_file_scalar!("src/store/failed_codes.sql", channel, back)
        .fetch_all(&context.pool)
        .await?;
    let provider = context.provider.now();
    let judged = codes.into_iter().filter_map(|code| Some((code, provider.failed_later(code)?)));
    let worth: Vec<(i64, SendError)> = judged.filter(|(_, error)| may_arrive(error)).collect();
    if worth.is_empty() {
        return Ok(());
    }
    let codes: Vec<i64> = worth.iter().map(|(code, _)| *code).collect();
    let replies = sqlx::query_file!("src/store/failed_replies.sql", channel, back, &codes)
        .fetch_all(&context.pool)
        .await?;
    let mut any = false;
    for reply in replies {
        let Some((_, error)) = worth.iter().find(|(code, _)| *code == reply.code) else { continue };
        if !error.needs_operator() && reply.times >= TIMES {
            continue;
        }
        let again = NewOutbound {
            id: again(reply.id),
            payload: reply.payload,
            prompt: reply.prompt,
            report_id: reply.report_id,
        };
        let input = (channel.clone(), reply.chat_id, reply.window_end, reply.trace_context, again);
        let said = with_tx(&context.pool, input, |tx, (channel, chat_id, end, trace_context, again)| {
            Box::pin(async move {
                // No event of the chat is settled meanwhile, so what is awaited stays what it is.
                sqlx::query!("select id from chat.chat where id = $1 for no key update", *chat_id)
                    .fetch_optional(&mut *tx)
                    .await?;
                let awaited = store::session_in(tx, *chat_id).await?.prompt();
                if again.prompt.is_some() && again.prompt != awaited {
                    return Ok(false);
                }
                enqueue_once(tx, channel, *chat_id, *end, trace_context.as_deref(), again.clone()).await
            })
        })
        .await?;
        if said {
            any = true;
            context.metrics.outbound("failed_later");
            tracing::warn!(
                outbound.id = %reply.id,
                error.code = error.label(),
                "a reply that was taken has failed and is said again: {error}"
            );
            // After the row: without one nothing would be tried when the channel goes on.
            if error.needs_operator() {
                outage::pause_channel(context, error).await;
            }
        }
    }
    if any {
        context.announce(Queue::Outbound);
    }
    Ok(())
}

/// Whether the same message may arrive at another time.
fn may_arrive(error: &SendError) -> bool {
    match error.class() {
        Class::Retry | Class::Defer(_) | Class::Ambiguous => true,
        Class::Drop => false,
    }
}

/// The id under which a reply is said again: another one each time, and the same whoever makes it. A UUID of version 8.
fn again(id: Uuid) -> Uuid {
    /// Odd, so that no id comes back before all have been.
    const STEP: u64 = 0x1e37_79b9_7f4a_7c15;
    /// The bits of the variant.
    const VARIANT: u64 = 0b11 << 62;
    let (high, low) = id.as_u64_pair();
    let next = (low & !VARIANT).wrapping_add(STEP) & !VARIANT;
    Uuid::from_u64_pair(high & !0xf000 | 0x8000, next | 0b10 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_again_and_again_has_another_id_each_time() {
        let mut ids = vec![Uuid::now_v7()];
        for _ in 0..20 {
            let next = again(*ids.last().unwrap());
            assert_eq!((next, next.get_version_num()), (again(*ids.last().unwrap()), 8));
            assert_eq!(next.get_variant(), uuid::Variant::RFC4122);
            ids.push(next);
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 21);
    }
}
