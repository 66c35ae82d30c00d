//! Forms that the provider accepted and then could not deliver: the receipt says so, to nobody who waits for it.
//!
//! Most often the phone's WhatsApp is too old to show a form, so the citizen is told, once for each form, to update it;
//! the form itself is said again at the next message, like every prompt that did not arrive.

use std::sync::Arc;
use std::time::Duration;

use bus::wake::Queue;
use dialogue::Notice;
use runtime::with_tx;
use tokio_util::sync::CancellationToken;

use crate::said_once::{Ear, say_once};
use crate::{Context, said, store};

/// How often the receipts are looked at, in polls of the queues.
const EVERY: u32 = 5;

/// Looks for such forms, until `stopping`.
///
/// # Errors
/// Never; a database that is away is waited for.
pub(crate) async fn run(context: Arc<Context>, stopping: CancellationToken) -> anyhow::Result<()> {
    let pause: Duration = context.config.poll * EVERY;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopping.cancelled() => return Ok(()),
        }
        if let Err(error) = tell_all(&context).await {
            let said = said::queue(&error);
            tracing::warn!(error = %said, "undeliverable forms cannot be looked for: {said}");
        }
    }
}

async fn tell_all(context: &Context) -> Result<(), bus::Error> {
    let channel = &context.channel;
    let forms =
        sqlx::query_file!("src/store/undeliverable_forms.sql", channel).fetch_all(&context.pool).await?;
    let mut any = false;
    for form in forms {
        let ear = Ear {
            channel: channel.clone(),
            chat_id: form.chat_id,
            expires_at: form.expires_at,
            trace_context: form.trace_context,
        };
        any |= with_tx(&context.pool, (form.id, ear), |tx, (id, ear)| {
            Box::pin(async move {
                let session = store::session_in(tx, ear.chat_id).await?;
                say_once(tx, ear, &session, *id, Notice::UpdateApp).await
            })
        })
        .await?;
    }
    if any {
        context.announce(Queue::Outbound);
    }
    Ok(())
}
