//! `abisu queue dead`: messages that were given up.

use std::fmt::Write;

use bus::operate::dead::{self, Dead};
use bus::operate::{Act, operations};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::args::{ChangeArgs, ListArgs, ShowArgs};
use super::progress::Progress;
use super::{at, filter, filter_of, plural, to_json};
use crate::Failure;
use crate::connect::connect;

/// What is done to them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Replay,
    Discard,
}

pub(super) async fn list(args: ListArgs) -> Result<String, Failure> {
    let mut on = connect(args.database).await?;
    let found = dead::list(&mut on, &filter(&args.filter, args.all)).await?;
    if args.json {
        return to_json(&found.iter().map(to_value).collect::<Vec<_>>());
    }
    if found.is_empty() {
        return Ok("no message is dead\n".to_owned());
    }
    let mut text = String::new();
    for one in &found {
        line(&mut text, one);
    }
    Ok(text)
}

pub(super) async fn show(args: ShowArgs) -> Result<String, Failure> {
    let mut on = connect(args.database).await?;
    let only =
        bus::operate::Filter { ids: Some(vec![args.id]), resolved: true, limit: 1, ..Default::default() };
    let found = dead::list(&mut on, &only).await?;
    let Some(one) = found.first() else { return Err(unknown(args.id)) };
    let mut text = String::new();
    line(&mut text, one);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  chat {}, place {}, received {}", one.chat_id, one.seq, at(one.received_at));
    if let Some(trace) = &one.trace_context {
        let _ = writeln!(text, "  trace {trace}");
    }
    for done in operations(&mut on, args.id).await? {
        let _ = writeln!(text, "  {}  {} by {}: {}", at(done.at), done.act, done.by, done.because);
    }
    if args.reveal
        && let Some(content) = dead::content(&mut on, args.id).await?
    {
        let _ = writeln!(text, "  message {}", content.message_id);
        let _ = writeln!(text, "{:#}", content.payload);
    }
    Ok(text)
}

pub(super) async fn change(args: ChangeArgs, change: Change) -> Result<String, Failure> {
    let filter = filter_of(&args)?;
    let by = args.why.by.who()?;
    let act = Act { by: &by, because: &args.why.because };
    let mut on = connect(args.database).await?;
    let found = dead::list(&mut on, &filter).await?;
    let mut text = String::new();
    if args.dry_run {
        let done = if change == Change::Replay { "replayed" } else { "discarded" };
        let _ = writeln!(text, "{} would be {done}", plural(found.len(), "message", "messages"));
        found.iter().for_each(|one| line(&mut text, one));
        return Ok(text);
    }
    let mut progress = Progress::new("dead messages", found.len());
    let mut done = 0;
    for one in &found {
        if apply(&mut on, one, change, act).await? {
            done += 1;
        }
        progress.step();
    }
    drop(progress);
    let messages = plural(done, "message is", "messages are");
    let _ = match change {
        Change::Replay => writeln!(text, "{messages} appended again, at the end of their chats"),
        Change::Discard => writeln!(text, "{messages} discarded"),
    };
    let asked = args.ids.len().max(found.len());
    if asked > done {
        let left = plural(asked - done, "message was", "messages were");
        let _ = writeln!(text, "{left} not dead, or dealt with already");
    }
    Ok(text)
}

async fn apply(on: &mut PgConnection, one: &Dead, change: Change, act: Act<'_>) -> Result<bool, sqlx::Error> {
    match change {
        Change::Replay => dead::replay(on, one.activity_id, act).await.map(|place| place.is_some()),
        Change::Discard => dead::discard(on, one.activity_id, act).await,
    }
}

fn unknown(id: uuid::Uuid) -> Failure {
    Failure::Failed(anyhow::anyhow!("no dead message has the id {id}"))
}

fn line(text: &mut String, one: &Dead) {
    let attempts = plural(usize::from(one.attempts.unsigned_abs()), "attempt", "attempts");
    let _ = write!(
        text,
        "{}  {}  {}  {}  {attempts}: {}",
        one.activity_id,
        at(one.dead_at),
        one.channel,
        one.kind,
        one.error
    );
    if let Some(replayed_at) = one.replayed_at {
        let _ = write!(text, "  (replayed {})", at(replayed_at));
    } else if let Some(discarded_at) = one.discarded_at {
        let _ = write!(text, "  (discarded {})", at(discarded_at));
    } else if one.held {
        text.push_str("  (its chat waits)");
    }
    text.push('\n');
}

fn to_value(one: &Dead) -> Value {
    json!({
        "activity_id": one.activity_id, "channel": one.channel, "chat_id": one.chat_id, "seq": one.seq,
        "kind": one.kind, "received_at": one.received_at, "dead_at": one.dead_at, "dead_by": one.dead_by,
        "attempts": one.attempts, "error": one.error, "trace_context": one.trace_context, "held": one.held,
        "replayed_at": one.replayed_at, "replay_seq": one.replay_seq, "discarded_at": one.discarded_at,
    })
}
