//! `abisu queue dead`: what was given up. Messages are here, pushes in [`super::pushes`].

use std::fmt::Write;

use bus::operate::dead::{self, Dead};
use bus::operate::{Act, Filter, operations, push};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::args::{ChangeArgs, DeadChangeArgs, DeadId, DeadShowArgs, ListArgs, Only};
use super::progress::Progress;
use super::{at, at_limit, filter, filter_of, plural, pushes, to_json};
use crate::Failure;
use crate::connect::connect;

/// What is done to them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Replay,
    Discard,
}

pub(super) async fn list(args: ListArgs, only: Option<Only>) -> Result<String, Failure> {
    let mut on = connect(args.database).await?;
    let filter = filter(&args.filter, args.all);
    let messages = match only {
        Some(Only::Pushes) => Vec::new(),
        None | Some(Only::Messages) => dead::list(&mut on, &filter).await?,
    };
    let pushes = match only {
        Some(Only::Messages) => Vec::new(),
        None | Some(Only::Pushes) => push::list(&mut on, None, &filter).await?,
    };
    if args.json {
        let all = messages.iter().map(to_value).chain(pushes.iter().map(pushes::to_value));
        return to_json(&all.collect::<Vec<_>>());
    }
    let mut text = String::new();
    if messages.is_empty() && only != Some(Only::Pushes) {
        text.push_str("no message is dead\n");
    }
    messages.iter().for_each(|one| line(&mut text, one));
    if pushes.is_empty() && only == Some(Only::Pushes) {
        text.push_str("no push is dead\n");
    }
    pushes.iter().for_each(|one| pushes::line(&mut text, one));
    at_limit(&mut text, messages.len().max(pushes.len()), &filter);
    Ok(text)
}

pub(super) async fn show(args: DeadShowArgs) -> Result<String, Failure> {
    let id = match args.id {
        DeadId::Message(id) => id,
        DeadId::Push(reference) => return pushes::show(&reference, args.reveal, args.database).await,
    };
    let mut on = connect(args.database).await?;
    let only = Filter { ids: Some(vec![id]), resolved: true, limit: 1, ..Default::default() };
    let found = dead::list(&mut on, &only).await?;
    let Some(one) = found.first() else { return Err(unknown(id)) };
    let mut text = String::new();
    line(&mut text, one);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  chat {}, place {}, received {}", one.chat_id, one.seq, at(one.received_at));
    if let Some(trace) = &one.trace_context {
        let _ = writeln!(text, "  trace {trace}");
    }
    for done in operations(&mut on, id).await? {
        let _ = writeln!(text, "  {}  {} by {}: {}", at(done.at), done.act, done.by, done.because);
    }
    if args.reveal
        && let Some(content) = dead::content(&mut on, id).await?
    {
        let _ = writeln!(text, "  message {}", content.message_id);
        let _ = writeln!(text, "{:#}", content.payload);
    }
    Ok(text)
}

/// What a change is for: none of those that cannot be meant.
struct Meant {
    messages: Option<Filter>,
    /// With their references.
    pushes: Option<(Filter, Vec<String>)>,
}

fn meant(args: &DeadChangeArgs) -> Result<Meant, Failure> {
    let filter = filter_of(&args.change, args.ids.len())?;
    let (mut ids, mut references) = (Vec::new(), Vec::new());
    for id in &args.ids {
        match id {
            DeadId::Message(id) => ids.push(*id),
            DeadId::Push(reference) => references.push(reference.clone()),
        }
    }
    let all = args.ids.is_empty();
    let messages = (all && args.only.only != Some(Only::Pushes) || !ids.is_empty())
        .then(|| Filter { ids: (!all).then_some(ids), ..filter.clone() });
    let pushes = (all && args.only.only != Some(Only::Messages) || !references.is_empty())
        .then_some((filter, references));
    Ok(Meant { messages, pushes })
}

pub(super) async fn change(args: DeadChangeArgs, change: Change) -> Result<String, Failure> {
    let Meant { messages, pushes } = meant(&args)?;
    let ChangeArgs { dry_run, why, database, .. } = args.change;
    let by = why.by.who()?;
    let act = Act { by: &by, because: &why.because };
    let mut on = connect(database).await?;
    let mut text = String::new();
    if let Some(filter) = messages {
        of_messages(&mut on, &mut text, &filter, dry_run, change, act).await?;
    }
    if let Some((filter, references)) = pushes {
        pushes::change(&mut on, &mut text, &filter, &references, dry_run, change, act).await?;
    }
    Ok(text)
}

async fn of_messages(
    on: &mut PgConnection,
    text: &mut String,
    filter: &Filter,
    dry_run: bool,
    change: Change,
    act: Act<'_>,
) -> Result<(), Failure> {
    let found = dead::list(on, filter).await?;
    if dry_run {
        let done = if change == Change::Replay { "replayed" } else { "discarded" };
        let _ = writeln!(text, "{} would be {done}", plural(found.len(), "message", "messages"));
        found.iter().for_each(|one| line(text, one));
        at_limit(text, found.len(), filter);
        return Ok(());
    }
    let mut progress = Progress::new("dead messages", found.len());
    let mut done = 0;
    for one in &found {
        if apply(on, one, change, act).await? {
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
    let asked = filter.ids.as_ref().map_or(0, Vec::len).max(found.len());
    if asked > done {
        let left = plural(asked - done, "message was", "messages were");
        let _ = writeln!(text, "{left} not dead, or dealt with already");
    }
    at_limit(text, found.len(), filter);
    Ok(())
}

/// Somebody else at the same message at this moment is no reason to leave the rest undone: it is looked at again, and
/// is then theirs or ours.
async fn apply(on: &mut PgConnection, one: &Dead, change: Change, act: Act<'_>) -> Result<bool, sqlx::Error> {
    const TRIES: usize = 3;
    let mut tries = 1;
    loop {
        let done = match change {
            Change::Replay => dead::replay(on, one.activity_id, act).await.map(|place| place.is_some()),
            Change::Discard => dead::discard(on, one.activity_id, act).await,
        };
        match done {
            Err(sqlx::Error::Database(error))
                if error.code().as_deref() == Some("40001") && tries < TRIES =>
            {
                tries += 1;
            }
            done => return done,
        }
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
        "what": "message", "activity_id": one.activity_id, "channel": one.channel, "chat_id": one.chat_id, "seq": one.seq,
        "kind": one.kind, "received_at": one.received_at, "dead_at": one.dead_at, "dead_by": one.dead_by,
        "attempts": one.attempts, "error": one.error, "trace_context": one.trace_context, "held": one.held,
        "replayed_at": one.replayed_at, "replay_seq": one.replay_seq, "discarded_at": one.discarded_at,
    })
}
