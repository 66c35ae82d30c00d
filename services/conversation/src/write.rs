//! The one transaction in which everything that came of a loan is written.
//!
//! It begins with the settle. When that is fenced, nothing is written at all, so a plan may be committed again when
//! the outcome of a first try is unknown. Every transaction that locks more than one row of a chat begins with the
//! lock of that chat, so the order of the locks below it (report, sender) can close no circle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bus::mailbox::{bury, settle};
use bus::metrics::QueueMetrics;
use bus::outbound::{NewOutbound, enqueue};
use bus::photo::NewFetch;
use bus::wake::Queue;
use channel::config::SYNTHETIC;
use dialogue::{Effect, Language, Notice, Reply, ReplyBody};
use runtime::with_tx;
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::plan::{Plan, Step};
use crate::said_once::say_once;
use crate::store::{self, Completed, NewDraft, Received};
use crate::{Process, forms::Forms};

/// What a committed plan left to do elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    replies: bool,
    photos: bool,
    reports: bool,
}

impl Written {
    /// The queues that have work now.
    pub(crate) fn queues(self) -> impl Iterator<Item = Queue> {
        [(self.replies, Queue::Outbound), (self.photos, Queue::Photo), (self.reports, Queue::Push)]
            .into_iter()
            .filter_map(|(is, queue)| is.then_some(queue))
    }
}

/// Commits a plan. Races that it lost on the way are counted in `queues`.
///
/// # Errors
/// [`bus::Error::Fenced`]: the loan is over, and nothing was written by this call. The database's otherwise.
pub(crate) async fn commit(
    pool: &PgPool,
    process: Arc<Process>,
    plan: Arc<Plan>,
    queues: &QueueMetrics,
) -> Result<Written, bus::Error> {
    let runs = Arc::new(AtomicU64::new(0));
    let input = (process, Arc::clone(&plan), Arc::clone(&runs));
    let written = with_tx(pool, input, |tx, (process, plan, runs)| {
        runs.fetch_add(1, Ordering::Relaxed);
        Box::pin(write(tx, &process.forms, plan))
    });
    let written = written.await;
    queues.raced(&plan.channel, runs.load(Ordering::Relaxed).saturating_sub(1));
    written
}

/// A reply, with the report it speaks of.
type About = (Reply, Option<Uuid>);

async fn write(tx: &mut PgConnection, forms: &Forms, plan: &Plan) -> Result<Written, bus::Error> {
    let chat_id = plan.settlement.chat_id;
    settle(tx, &plan.settlement).await?;
    if let Some((event, attempts, why)) = &plan.dead {
        bury(tx, chat_id, event, *attempts, why, "conversation").await?;
    }
    if let Some(session) = &plan.session {
        store::save_session(tx, chat_id, session).await?;
    }
    let mut written = Written::default();
    for step in &plan.steps {
        // Of what is said before a report is received, only its form belongs to its timeline.
        let draft = step.transition.session.report_id();
        let mut replies: Vec<About> = Vec::new();
        for reply in &step.transition.replies {
            let is_form = matches!(reply.body, ReplyBody::Form { .. });
            replies.push((reply.clone(), draft.filter(|_| is_form)));
        }
        for effect in &step.transition.effects {
            replies.extend(apply(tx, forms, plan, step, effect, &mut written).await?);
        }
        let outbounds = replies.into_iter().map(outbound).collect::<Result<Vec<_>, _>>()?;
        written.replies |= !outbounds.is_empty();
        enqueue(tx, &plan.channel, chat_id, step.expires_at, step.trace_context.as_deref(), &outbounds)
            .await?;
    }
    // After what was decided before it.
    if let Some((ear, session, event_id)) = &plan.one_moment {
        written.replies |= say_once(tx, ear, session, *event_id, Notice::OneMoment).await?;
    }
    if let (Some((_, _, why)), Some(last)) = (&plan.dead, plan.steps.last())
        && let Some(report_id) = last.transition.session.report_id()
    {
        store::add_step(tx, report_id, "event_dead", last.trace_id.as_deref(), json!({"reason": why}))
            .await?;
    }
    Ok(written)
}

/// Applies one change to a report and returns the replies that only its result allows.
async fn apply(
    tx: &mut PgConnection,
    forms: &Forms,
    plan: &Plan,
    step: &Step,
    effect: &Effect,
    written: &mut Written,
) -> Result<Vec<About>, bus::Error> {
    let trace_id = step.trace_id.as_deref();
    match effect {
        Effect::OpenDraft { report_id, language, place } => {
            let draft = NewDraft {
                report_id: *report_id,
                channel: &plan.channel,
                chat_id: plan.settlement.chat_id,
                language: language.as_str(),
                place,
                trace_context: step.trace_context.as_deref(),
            };
            store::open_draft(tx, &draft).await?;
            let detail = json!({"area_id": place.area_id, "area_version": place.area_version});
            store::add_step(tx, *report_id, "draft_opened", trace_id, detail).await?;
            Ok(Vec::new())
        }
        Effect::MoveDraft { report_id, place } => {
            store::move_draft(tx, *report_id, place).await?;
            store::add_step(tx, *report_id, "draft_moved", trace_id, store::nothing()).await?;
            Ok(Vec::new())
        }
        Effect::DropDraft { report_id } => {
            if store::drop_draft(tx, *report_id).await? {
                store::add_step(tx, *report_id, "draft_dropped", trace_id, store::nothing()).await?;
            }
            Ok(Vec::new())
        }
        Effect::TakePhoto { report_id, photo } => {
            let fetch = NewFetch {
                report_id: *report_id,
                channel: &plan.channel,
                media_id: &photo.id,
                sha256: Some(photo.sha256.as_str()).filter(|sha256| !sha256.is_empty()),
                give_up_at: step.media_until,
                trace_context: step.trace_context.as_deref(),
            };
            if bus::photo::replace(tx, &fetch).await? {
                written.photos = true;
                store::add_step(tx, *report_id, "photo_renewed", trace_id, store::nothing()).await?;
            }
            Ok(Vec::new())
        }
        Effect::Receive {
            report_id,
            route,
            category,
            note,
            photo,
            more_photos,
            version,
            language,
            prompt_token,
        } => {
            let completed = Completed {
                report_id: *report_id,
                route,
                note: note.as_deref(),
                version: version.as_deref(),
                prompt: *prompt_token,
                trace_context: step.trace_context.as_deref(),
                has_photo: photo.is_some(),
                time_zone: &plan.time_zone,
            };
            let Some(received) = store::receive(tx, &completed).await? else {
                return repeat(tx, forms, plan, step, *report_id, *language).await;
            };
            written.reports = true;
            let mut detail = json!({"route": received.route});
            if *more_photos > 0 {
                detail["photos_left_out"] = json!(more_photos);
            }
            store::add_step(tx, *report_id, "received", trace_id, detail).await?;
            if plan.channel == SYNTHETIC {
                // The database has sunk it in the statement that received it.
                let detail = json!({"partner_id": SYNTHETIC, "sunk": true});
                store::add_step(tx, *report_id, "pushed", trace_id, detail).await?;
            }
            if let Some(photo) = photo {
                written.photos = true;
                let fetch = NewFetch {
                    report_id: *report_id,
                    channel: &plan.channel,
                    media_id: &photo.id,
                    sha256: Some(photo.sha256.as_str()).filter(|sha256| !sha256.is_empty()),
                    give_up_at: step.media_until,
                    trace_context: step.trace_context.as_deref(),
                };
                bus::photo::enqueue(tx, &fetch).await?;
            }
            Ok(told(
                *report_id,
                dialogue::received(*language, &received.reference, category, received.address.as_deref()),
            ))
        }
        Effect::RepeatReference { report_id, language } => {
            repeat(tx, forms, plan, step, *report_id, *language).await
        }
    }
}

/// Says again what was received before, whatever the form says that came now; a form whose draft is gone says so.
async fn repeat(
    tx: &mut PgConnection,
    forms: &Forms,
    plan: &Plan,
    step: &Step,
    report_id: Uuid,
    language: Language,
) -> Result<Vec<About>, bus::Error> {
    Ok(match store::received(tx, report_id).await? {
        Some(received) => {
            let Received { reference, address, route, version } = received;
            let category = forms.labels(tx, &plan.channel, version.as_deref(), &route, language).await?;
            told(report_id, dialogue::received(language, &reference, &category, address.as_deref()))
        }
        None => dialogue::notice(&step.transition.session, Notice::DraftGone)
            .into_iter()
            .map(|reply| (reply, None))
            .collect(),
    })
}

fn told(report_id: Uuid, replies: Vec<Reply>) -> Vec<About> {
    replies.into_iter().map(|reply| (reply, Some(report_id))).collect()
}

fn outbound((reply, report_id): About) -> Result<NewOutbound, sqlx::Error> {
    Ok(NewOutbound {
        id: Uuid::now_v7(),
        payload: serde_json::to_value(&reply.body).map_err(|error| sqlx::Error::Encode(error.into()))?,
        prompt: reply.prompt,
        report_id,
    })
}
