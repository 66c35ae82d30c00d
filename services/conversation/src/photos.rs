//! The loop of the photos: a row each, fetched with retries for days, verified by hash, kept upright and without metadata.
//! When it is certain that one cannot be had, the citizen is asked for another.
//!
//! The citizen has the reference by then; nothing here delays a conversation.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bus::photo::{self, Claimed};
use bus::wake::Queue;
use channel::digest::{is_sha256_of, sha256};
use channel::outgoing::Media;
use channel::{MediaClass, MediaError};
use chrono::{DateTime, Utc};
use dialogue::Notice;
use futures::FutureExt;
use runtime::{trace, with_tx};
use serde_json::json;
use sqlx::PgConnection;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::patience::patiently;
use crate::said_once::{Ear, say_once};
use crate::{Context, image, said, store};

/// Photos fetched side by side on one claim.
const AT_ONCE: i64 = 4;
/// Attempts after which it is certain that the provider has other bytes than the phone promised.
const CERTAIN: i32 = 5;

/// Runs until `stopping`.
///
/// # Errors
/// Never; a database that is away is waited for.
pub async fn run(context: Arc<Context>, stopping: CancellationToken) -> anyhow::Result<()> {
    while !stopping.is_cancelled() {
        let config = &context.config;
        let lease = bus::Lease { length: config.lease.length * u32::try_from(AT_ONCE).unwrap_or(1) };
        let claimed = match photo::claim(&context.pool, &context.channel, context.owner, AT_ONCE, lease).await
        {
            Ok(claimed) => claimed,
            Err(error) => {
                let said = said::queue(&error);
                tracing::warn!(error = %said, "photos cannot be claimed: {said}");
                Vec::new()
            }
        };
        if claimed.is_empty() {
            tokio::select! {
                () = context.bells.wait(Queue::Photo) => {}
                () = stopping.cancelled() => break,
            }
        }
        let fetches = claimed.iter().map(|claimed| {
            let span = tracing::info_span!("fetch photo", report.id = %claimed.report_id, attempt = claimed.attempts);
            if claimed.attempts == 1 {
                trace::set_parent(&span, claimed.trace_context.as_deref());
            } else {
                trace::add_link(&span, claimed.trace_context.as_deref());
            }
            work(&context, claimed, &stopping).instrument(span)
        });
        futures::future::join_all(fetches).await;
    }
    Ok(())
}

/// Works one loan to its end. Files come from outside and are taken apart here, so a panic is an outcome too.
async fn work(context: &Context, claimed: &Claimed, stopping: &CancellationToken) {
    let ended = match AssertUnwindSafe(fetch(context, claimed, stopping)).catch_unwind().await {
        Ok(ended) => ended,
        Err(_) => try_again(context, claimed, "panic").await,
    };
    match ended {
        Ok(()) => {}
        Err(bus::Error::Fenced) => tracing::warn!("the loan of a photo was over; nothing was written"),
        Err(bus::Error::Database(error)) => {
            let said = said::database(&error);
            tracing::warn!(error = %said, "a photo is left to its lease: {said}");
        }
    }
}

async fn fetch(context: &Context, claimed: &Claimed, stopping: &CancellationToken) -> Result<(), bus::Error> {
    let provider = context.provider.now();
    let fetched = tokio::select! {
        fetched = provider.fetch_media(&claimed.media_id) => fetched,
        // A download may outlast the drain and has no effect before it is kept.
        () = stopping.cancelled() => return photo::retry(&context.pool, claimed, Duration::ZERO, "stopped").await,
    };
    match fetched {
        Ok(media)
            if claimed.sha256.as_deref().is_none_or(|promised| is_sha256_of(promised, &media.bytes)) =>
        {
            keep(context, claimed, media).await
        }
        // The provider gave other bytes than the phone promised: another link may give the right ones.
        Ok(_) => doubt(context, claimed, "hash_mismatch").await,
        Err(MediaError::HashMismatch) => doubt(context, claimed, "hash_mismatch").await,
        Err(error) => {
            tracing::warn!(%error, "a photo was not fetched: {error}");
            match error.class() {
                MediaClass::Retry => try_again(context, claimed, &error.to_string()).await,
                MediaClass::Gone => lose(context, claimed, &error.to_string()).await,
            }
        }
    }
}

/// What may be a fault of one link is certain once several gave the same.
async fn doubt(context: &Context, claimed: &Claimed, why: &str) -> Result<(), bus::Error> {
    if claimed.attempts >= CERTAIN {
        lose(context, claimed, why).await
    } else {
        try_again(context, claimed, why).await
    }
}

async fn keep(context: &Context, claimed: &Claimed, media: Media) -> Result<(), bus::Error> {
    let bytes = media.bytes;
    // A large picture that must be turned is a matter of a second.
    let cleaned = tokio::task::spawn_blocking(move || image::clean(&bytes)).await;
    let clean = match cleaned {
        Ok(Ok(clean)) => clean,
        // It has the hash that the phone promised, so every attempt gives these bytes.
        Ok(Err(refused)) => return lose(context, claimed, &refused.to_string()).await,
        Err(_) => return doubt(context, claimed, "panic").await,
    };
    let detail =
        json!({"content_type": clean.content_type, "bytes": clean.bytes.len(), "turned": clean.turned});
    let input = Arc::new((claimed.clone(), clean, detail, trace::current_id()));
    patiently(|| {
        with_tx(&context.pool, Arc::clone(&input), |tx, input| {
            Box::pin(async move {
                let (claimed, clean, detail, trace_id) = &**input;
                photo::store(tx, claimed, &sha256(&clean.bytes), clean.content_type, &clean.bytes).await?;
                store::add_step(tx, claimed.report_id, "photo_stored", trace_id.as_deref(), detail.clone())
                    .await?;
                Ok::<_, bus::Error>(())
            })
        })
    })
    .await?;
    context.metrics.photo("stored");
    context.announce(Queue::Push);
    tracing::info!("photo stored");
    Ok(())
}

async fn try_again(context: &Context, claimed: &Claimed, why: &str) -> Result<(), bus::Error> {
    let attempt = u32::try_from(claimed.attempts).unwrap_or(1);
    let delay = context.config.photo_backoff.after(attempt, runtime::backoff::jitter());
    let next = Utc::now() + chrono::TimeDelta::from_std(delay).unwrap_or_default();
    if next >= claimed.give_up_at {
        return lose(context, claimed, why).await;
    }
    context.metrics.photo("retry");
    photo::retry(&context.pool, claimed, delay.max(Duration::from_millis(1)), why).await
}

/// Gives a photo up. While the citizen can still be written to, another one is asked for, once.
async fn lose(context: &Context, claimed: &Claimed, why: &str) -> Result<(), bus::Error> {
    tracing::error!(reason = why, "a photo cannot be had: {why}");
    let input = (context.channel.clone(), claimed.clone(), why.to_owned(), trace::current_id());
    let asked = with_tx(&context.pool, input, |tx, (channel, claimed, why, trace_id)| {
        Box::pin(async move {
            // Its reply first: the sender's lock comes before that of the fetch.
            let asked_until = ask_again(tx, channel, claimed).await?;
            photo::fail(tx, claimed, why, asked_until).await?;
            let detail = json!({"reason": why, "asked_again": asked_until.is_some()});
            store::add_step(tx, claimed.report_id, "photo_failed", trace_id.as_deref(), detail).await?;
            Ok::<_, bus::Error>(asked_until.is_some())
        })
    })
    .await?;
    context.metrics.photo("failed");
    if asked {
        context.announce(Queue::Outbound);
    }
    Ok(())
}

/// Asks for another photo, unless that was done before or the window is closed. Returns until when it may come.
async fn ask_again(
    tx: &mut PgConnection,
    channel: &str,
    claimed: &Claimed,
) -> Result<Option<DateTime<Utc>>, bus::Error> {
    let Some(chat_id) = store::chat_of(tx, claimed.report_id).await? else { return Ok(None) };
    let Some(expires_at) = store::newest_window(&mut *tx, chat_id).await?.filter(|end| *end > Utc::now())
    else {
        return Ok(None);
    };
    let session = store::session_in(tx, chat_id).await?;
    let trace_context = claimed.trace_context.clone();
    let ear = Ear { channel: channel.to_owned(), chat_id, expires_at, trace_context };
    let said = say_once(tx, &ear, &session, claimed.report_id, Notice::PhotoAgain).await?;
    Ok(said.then_some(expires_at))
}
