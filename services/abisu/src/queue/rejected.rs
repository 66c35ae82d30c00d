//! `abisu queue rejected`: messages that could never be handled.

use std::fmt::Write;
use std::time::Duration;

use bus::append::Appender;
use bus::operate::rejected::{self, Rejected, Resolution};
use bus::operate::{Act, Filter, operations};
use runtime::database::connect_lazy;
use serde_json::{Value, json};

use super::args::{Kind, ListArgs, RejectedChangeArgs, ShowArgs};
use super::progress::Progress;
use super::reread::{self, Reread};
use super::{at, at_limit, filter, filter_of, plural, to_json};
use crate::Failure;
use crate::connect::connect;

/// A person waits for it, so it need not be as quick as for a provider.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) async fn list(args: ListArgs) -> Result<String, Failure> {
    let mut on = connect(args.database).await?;
    let filter = filter(&args.filter, args.all);
    let found = rejected::list(&mut on, &filter).await?;
    if args.json {
        return to_json(&found.iter().map(to_value).collect::<Vec<_>>());
    }
    if found.is_empty() {
        return Ok("no message is rejected\n".to_owned());
    }
    let mut text = String::new();
    found.iter().for_each(|one| line(&mut text, one));
    at_limit(&mut text, found.len(), &filter);
    Ok(text)
}

pub(super) async fn show(args: ShowArgs) -> Result<String, Failure> {
    let mut on = connect(args.database).await?;
    let only = Filter { ids: Some(vec![args.id]), resolved: true, limit: 1, ..Default::default() };
    let found = rejected::list(&mut on, &only).await?;
    let Some(one) = found.first() else {
        return Err(Failure::Failed(anyhow::anyhow!("no rejection has the id {}", args.id)));
    };
    let mut text = String::new();
    line(&mut text, one);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  delivery {}, {} bytes kept", one.delivery_id, one.raw_bytes);
    if let Some(trace) = &one.trace_context {
        let _ = writeln!(text, "  trace {trace}");
    }
    for done in operations(&mut on, args.id).await? {
        let _ = writeln!(text, "  {}  {} by {}: {}", at(done.at), done.act, done.by, done.because);
    }
    if args.reveal
        && let Some(content) = rejected::content(&mut on, args.id).await?
    {
        let _ = writeln!(text, "  message {}", content.message_id.as_deref().unwrap_or("without an id"));
        let _ = writeln!(text, "{}", String::from_utf8_lossy(&content.raw));
    }
    Ok(text)
}

/// What is meant by ids, or by filters alone.
fn meant(args: &RejectedChangeArgs) -> Result<Filter, Failure> {
    let ids = Some(args.ids.clone()).filter(|ids| !ids.is_empty());
    Ok(Filter { ids, ..filter_of(&args.change, args.ids.len())? })
}

pub(super) async fn discard(args: RejectedChangeArgs) -> Result<String, Failure> {
    let filter = meant(&args)?;
    let RejectedChangeArgs { ids, change: args } = args;
    let by = args.why.by.who()?;
    let act = Act { by: &by, because: &args.why.because };
    let mut on = connect(args.database).await?;
    let found = rejected::list(&mut on, &filter).await?;
    let mut text = String::new();
    if args.dry_run {
        let _ = writeln!(text, "{} would be discarded", plural(found.len(), "rejection", "rejections"));
        found.iter().for_each(|one| line(&mut text, one));
        at_limit(&mut text, found.len(), &filter);
        return Ok(text);
    }
    let mut progress = Progress::new("rejections", found.len());
    let mut done = 0;
    for one in &found {
        done += usize::from(rejected::resolve(&mut on, one.id, Resolution::Discarded, act).await?);
        progress.step();
    }
    drop(progress);
    let _ = writeln!(text, "{} discarded", plural(done, "rejection is", "rejections are"));
    not_found(&mut text, ids.len().max(found.len()), done);
    at_limit(&mut text, found.len(), &filter);
    Ok(text)
}

/// What is in the raw bytes is appended first and noted then: cut in between, a second run finds duplicates and notes
/// the rest. What still cannot be handled stays as it is, also where only the database says so, or nobody would see it
/// again.
pub(super) async fn replay(
    args: RejectedChangeArgs,
    kind: Option<Kind>,
    to: Option<String>,
) -> Result<String, Failure> {
    let filter = meant(&args)?;
    let RejectedChangeArgs { ids, change: args } = args;
    let by = args.why.by.who()?;
    let act = Act { by: &by, because: &args.why.because };
    let appender = Appender::new(connect_lazy("cli", &args.database.clone().config()?)?, PATIENCE);
    let mut on = connect(args.database).await?;
    let found = rejected::list(&mut on, &filter).await?;
    let mut text = String::new();
    let mut progress = Progress::new("rejections", found.len());
    let (mut replayed, mut created, mut known) = (0, 0, 0);
    for one in &found {
        let Some(content) = rejected::content(&mut on, one.id).await? else { continue };
        match reread::read(one, content, kind, to.as_deref()) {
            Reread::Readable(_) if args.dry_run => replayed += 1,
            Reread::Readable(delivery) => {
                let stored = appender.append(*delivery).await.map_err(|error| {
                    anyhow::Error::new(error).context(format!("rejection {} is not appended", one.id))
                })?;
                created += stored.created.len();
                known += stored.duplicates;
                if stored.rejected > 0 {
                    let _ = writeln!(text, "{}  still rejected: not all that is in it can be stored", one.id);
                } else {
                    replayed +=
                        usize::from(rejected::resolve(&mut on, one.id, Resolution::Replayed, act).await?);
                }
            }
            Reread::Rejected { reason, detail } => {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{}  still rejected: {reason}: {detail}", one.id);
            }
        }
        progress.step();
    }
    drop(progress);
    if args.dry_run {
        let _ = writeln!(text, "{} would be replayed", plural(replayed, "rejection", "rejections"));
        at_limit(&mut text, found.len(), &filter);
        return Ok(text);
    }
    let _ = writeln!(
        text,
        "{} replayed: {} stored, {} there already",
        plural(replayed, "rejection is", "rejections are"),
        plural(created, "message", "messages"),
        known
    );
    not_found(&mut text, ids.len().max(found.len()), found.len());
    at_limit(&mut text, found.len(), &filter);
    Ok(text)
}

fn not_found(text: &mut String, asked: usize, done: usize) {
    if asked > done {
        let left = plural(asked - done, "rejection is", "rejections are");
        let _ = writeln!(text, "{left} not there, or dealt with already");
    }
}

fn line(text: &mut String, one: &Rejected) {
    let _ =
        write!(text, "{}  {}  {}  {}: {}", one.id, at(one.received_at), one.channel, one.reason, one.detail);
    if let (Some(resolution), Some(resolved_at)) = (&one.resolution, one.resolved_at) {
        let _ = write!(text, "  ({resolution} {})", at(resolved_at));
    }
    text.push('\n');
}

fn to_value(one: &Rejected) -> Value {
    json!({
        "id": one.id, "channel": one.channel, "reason": one.reason, "detail": one.detail,
        "raw_bytes": one.raw_bytes, "delivery_id": one.delivery_id, "received_at": one.received_at,
        "trace_context": one.trace_context, "resolved_at": one.resolved_at, "resolution": one.resolution,
    })
}
