//! Forms that could not be sent: no release is published, or the provider blocks the form.
//!
//! A form that waited at the head of its chat would hold back every word after it, also the answer to "cancel". So it is
//! put aside, the citizen is told once that it comes later, and it is brought back, under the same token, when it may
//! work and is still what the conversation waits for. Once the 24-hour window is closed it is forgotten, and what is
//! forgotten counts as a prompt that never arrived: the citizen's next message asks for it again.

use std::sync::Arc;

use bus::outbound::{NewOutbound, Outbound, enqueue, record_dropped};
use bus::wake::Queue;
use chrono::{DateTime, Utc};
use dialogue::Notice;
use runtime::with_tx;
use sqlx::PgConnection;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::said_once::{Ear, say_once};
use crate::{Context, said, store};

/// How often they are looked at, in polls of the queues.
const EVERY: u32 = 5;

/// What the reply that was put aside says in its row.
const DELAYED: &str = "form_delayed";

/// Why a form cannot be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delay {
    /// No published form of its language.
    NoRelease,
    /// Blocked, throttled or not understood by the provider.
    Blocked,
}

impl Delay {
    /// The word in the row.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::NoRelease => "no_flow_release",
            Self::Blocked => "flow_blocked",
        }
    }
}

/// Puts a form aside and tells the citizen, once for each message of theirs that asked for it: not again when it was
/// brought back in vain.
pub(crate) async fn put_aside(
    context: &Context,
    reply: &Outbound,
    ear: Ear,
    why: Delay,
) -> Result<(), bus::Error> {
    let wait = match why {
        // Brought back as soon as there is a release.
        Delay::NoRelease => std::time::Duration::ZERO,
        Delay::Blocked => context.config.form_retry,
    };
    let input = (reply.id, reply.prompt, ear, why, wait.as_secs_f64());
    with_tx(&context.pool, input, |tx, (id, prompt, ear, why, wait)| {
        Box::pin(async move {
            let session = store::session_in(tx, ear.chat_id).await?;
            if session.prompt() != *prompt {
                record_dropped(&mut *tx, *id, "no_longer_awaited").await?;
                return Ok(());
            }
            if record_dropped(&mut *tx, *id, DELAYED).await? {
                sqlx::query_file!(
                    "src/store/delay_form.sql",
                    ear.chat_id,
                    ear.channel,
                    id,
                    why.as_str(),
                    wait
                )
                .execute(&mut *tx)
                .await?;
                let cause = asked_for(prompt.unwrap_or(*id), ear.expires_at);
                say_once(tx, ear, &session, cause, Notice::FormDelayed).await?;
            }
            Ok::<_, bus::Error>(())
        })
    })
    .await
}

/// A prompt and the message of the citizen that it answers, which is known by the end of its window.
fn asked_for(prompt: Uuid, expires_at: DateTime<Utc>) -> Uuid {
    // The second half of a token is random.
    let when = u128::from(expires_at.timestamp_millis().cast_unsigned());
    Uuid::from_u128(prompt.as_u128() ^ when)
}

/// Looks for forms that may work now, until `stopping`.
///
/// # Errors
/// Never; a database that is away is waited for.
pub(crate) async fn run(context: Arc<Context>, stopping: CancellationToken) -> anyhow::Result<()> {
    loop {
        tokio::select! {
            () = tokio::time::sleep(context.config.poll * EVERY) => {}
            () = stopping.cancelled() => return Ok(()),
        }
        if let Err(error) = bring_all_back(&context).await {
            let said = said::queue(&error);
            tracing::warn!(error = %said, "delayed forms cannot be brought back: {said}");
        }
    }
}

async fn bring_all_back(context: &Context) -> Result<(), bus::Error> {
    let due = sqlx::query_file_scalar!("src/store/due_delayed_forms.sql", context.channel)
        .fetch_all(&context.pool)
        .await?;
    let mut any = false;
    for chat_id in due {
        any |= with_tx(&context.pool, chat_id, |tx, chat_id| Box::pin(bring_back(tx, *chat_id))).await?;
    }
    if any {
        context.announce(Queue::Outbound);
    }
    Ok(())
}

/// Queues a delayed form again if it is still awaited. True: it was.
async fn bring_back(tx: &mut PgConnection, chat_id: Uuid) -> Result<bool, bus::Error> {
    // No event of the chat is settled meanwhile, so the prompt stays what it is.
    sqlx::query!("select id from chat.chat where id = $1 for no key update", chat_id)
        .fetch_optional(&mut *tx)
        .await?;
    let form = sqlx::query_file!("src/store/take_delayed_form.sql", chat_id).fetch_optional(&mut *tx).await?;
    let Some(form) = form.filter(|form| form.is_awaited) else { return Ok(false) };
    let again = NewOutbound {
        id: Uuid::now_v7(),
        payload: form.payload,
        prompt: form.prompt,
        report_id: form.report_id,
    };
    enqueue(tx, &form.channel, chat_id, form.expires_at, form.trace_context.as_deref(), &[again]).await?;
    Ok(true)
}
