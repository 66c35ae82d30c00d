//! `abisu queue`: how the queues stand, and what a person does to what came in.
//!
//! All statements that change the queue are in `bus`; here is what is asked and what is said. Nothing that is printed
//! holds personal data unless it is asked for with `--reveal`.

mod args;
mod dead;
mod progress;
mod purge;
mod pushes;
mod rejected;
mod reread;
mod status;

pub(crate) use args::QueueCommand;
use args::{ChangeArgs, DeadCommand, FilterArgs, RejectedCommand, Switch};

use bus::operate::{Act, Filter};
use chrono::{DateTime, SecondsFormat, Utc};
use runtime::config::DatabaseArgs;

use crate::Failure;
use crate::connect::connect;
use crate::operator::WhyArgs;

pub(crate) async fn run(command: QueueCommand) -> Result<String, Failure> {
    match command {
        QueueCommand::Status { json, database } => status::status(json, database).await,
        QueueCommand::Dead(DeadCommand::List { list, only }) => dead::list(list, only.only).await,
        QueueCommand::Dead(DeadCommand::Show(args)) => dead::show(args).await,
        QueueCommand::Dead(DeadCommand::Replay(args)) => dead::change(args, dead::Change::Replay).await,
        QueueCommand::Dead(DeadCommand::Discard(args)) => dead::change(args, dead::Change::Discard).await,
        QueueCommand::Rejected(RejectedCommand::List(args)) => rejected::list(args).await,
        QueueCommand::Rejected(RejectedCommand::Show(args)) => rejected::show(args).await,
        QueueCommand::Rejected(RejectedCommand::Replay { change, kind, to }) => {
            rejected::replay(change, kind, to).await
        }
        QueueCommand::Rejected(RejectedCommand::Discard(args)) => rejected::discard(args).await,
        QueueCommand::Purge { retention_days, database } => purge::run(retention_days, database).await,
        QueueCommand::Hold { channel, hold, why, database } => {
            hold_on_dead(&channel, hold == Switch::On, why, database).await
        }
    }
}

async fn hold_on_dead(
    channel: &str,
    hold: bool,
    why: WhyArgs,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let by = why.by.who()?;
    let act = Act { by: &by, because: &why.because };
    let mut on = connect(database).await?;
    let changed = bus::operate::dead::hold_on_dead(&mut on, channel, hold, act).await?;
    let says = if hold { "stops its chat until a person deals with it" } else { "does not stop its chat" };
    let was = if changed { "from now on" } else { "as before" };
    Ok(format!("channel {channel}: a dead message {says}, {was}\n"))
}

/// What `ids` and filters of a change mean. Nothing said at all is a mistake, not everything.
fn filter_of(change: &ChangeArgs, ids: usize) -> Result<Filter, Failure> {
    if ids == 0 && !change.filter.narrows() {
        let problem = "which ones? give ids, or narrow with --channel, --since or --reason";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let mut filter = filter(&change.filter, false);
    filter.limit = filter.limit.max(i64::try_from(ids).unwrap_or(i64::MAX));
    Ok(filter)
}

/// Says so when no more was looked at than the limit allows.
fn at_limit(text: &mut String, found: usize, filter: &Filter) {
    if i64::try_from(found).is_ok_and(|found| found >= filter.limit) {
        text.push_str(&format!("these are the {} that --limit allows; there may be more\n", filter.limit));
    }
}

fn filter(args: &FilterArgs, resolved: bool) -> Filter {
    Filter {
        ids: None,
        channel: args.channel.clone(),
        since: args.since,
        about: args.reason.clone(),
        resolved,
        limit: args.limit,
    }
}

fn at(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Failed(error.into()))?;
    Ok(text + "\n")
}
