//! The pushes of `abisu queue dead`: reports that could not be given to the contractor. They are named by the citizen's
//! reference, and what a person does to them is in `report.push_act`, as all that is done to the outbox.

use std::fmt::Write;

use bus::operate::push::{self, DeadPush};
use bus::operate::{Act, Filter};
use bus::outbox::operate::{Acted, resend};
use runtime::config::DatabaseArgs;
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::dead::Change;
use super::progress::Progress;
use super::{at, at_limit, plural};
use crate::Failure;
use crate::connect::connect;

/// A report that is dead and what people did to it; its life and its attempts too, which say where it is.
pub(super) async fn show(reference: &str, reveal: bool, database: DatabaseArgs) -> Result<String, Failure> {
    let mut on = connect(database.clone()).await?;
    let any = Filter { resolved: true, limit: 1, ..Default::default() };
    let found = push::list(&mut on, Some(&[reference.to_owned()]), &any).await?;
    let Some(one) = found.first() else {
        return Err(Failure::Failed(anyhow::anyhow!("no dead push has the reference {reference}")));
    };
    let mut text = String::new();
    line(&mut text, one);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  {}, received {}", one.route, at(one.received_at));
    if let Some(trace) = &one.trace_context {
        let _ = writeln!(text, "  trace {trace}");
    }
    for done in push::operations(&mut on, reference).await? {
        let _ = writeln!(text, "  {}  {} by {}: {}", at(done.at), done.act, done.by, done.because);
    }
    if reveal {
        text.push('\n');
        text.push_str(&crate::report::show(reference, false, database).await?);
    }
    Ok(text)
}

pub(super) async fn change(
    on: &mut PgConnection,
    text: &mut String,
    filter: &Filter,
    references: &[String],
    dry_run: bool,
    change: Change,
    act: Act<'_>,
) -> Result<(), Failure> {
    let named = Some(references).filter(|references| !references.is_empty());
    let found = push::list(on, named, filter).await?;
    if dry_run {
        let done = if change == Change::Replay { "sent again" } else { "discarded" };
        let _ = writeln!(text, "{} would be {done}", plural(found.len(), "push", "pushes"));
        found.iter().for_each(|one| line(text, one));
        at_limit(text, found.len(), filter);
        return Ok(());
    }
    let mut progress = Progress::new("dead pushes", found.len());
    let mut done = 0;
    for one in &found {
        done += usize::from(match change {
            Change::Replay => {
                let acted = resend(on, &one.reference, false, false, act).await?;
                matches!(acted, Some(Acted { done: true, .. }))
            }
            Change::Discard => push::discard(on, &one.reference, act).await?,
        });
        progress.step();
    }
    drop(progress);
    let pushes = plural(done, "push is", "pushes are");
    let _ = match change {
        Change::Replay => writeln!(text, "{pushes} pending again, to go out as soon as sending is possible"),
        Change::Discard => writeln!(text, "{pushes} discarded"),
    };
    let asked = references.len().max(found.len());
    if asked > done {
        let left = plural(asked - done, "push was", "pushes were");
        let _ = writeln!(text, "{left} not dead, or dealt with already");
    }
    at_limit(text, found.len(), filter);
    Ok(())
}

pub(super) fn line(text: &mut String, one: &DeadPush) {
    let attempts = plural(usize::try_from(one.attempts).unwrap_or_default(), "attempt", "attempts");
    let discarded = if one.discarded { "  (discarded)" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}  {}  {}  push  {attempts}: {}{discarded}",
        one.reference,
        at(one.dead_at),
        one.channel,
        one.error
    );
}

pub(super) fn to_value(one: &DeadPush) -> Value {
    json!({
        "what": "push", "reference": one.reference, "channel": one.channel, "route": one.route,
        "received_at": one.received_at, "dead_at": one.dead_at, "attempts": one.attempts, "error": one.error,
        "trace_context": one.trace_context, "discarded": one.discarded,
    })
}
