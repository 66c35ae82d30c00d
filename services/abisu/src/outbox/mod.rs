//! `abisu outbox`: the switch, the backlog and the reports in doubt.
//!
//! Everything that changes something is one statement that locks, checks, changes and notes who did it and why, so
//! that it cannot be done half way and cannot meet a worker half way: a report that a worker holds is refused.

mod act;
mod args;
mod compare;
mod list;
mod reconcile;

pub(crate) use args::{OutboxCommand, ReviewCommand};

use crate::Failure;

pub(crate) async fn run(command: OutboxCommand) -> Result<String, Failure> {
    match command {
        OutboxCommand::Pause { channel, why, database } => act::switch(true, channel, why, database).await,
        OutboxCommand::Resume { channel, why, database } => act::switch(false, channel, why, database).await,
        OutboxCommand::Backlog { channel, limit, json, database } => {
            list::backlog(channel, limit, json, database).await
        }
        OutboxCommand::Discard { references, why, database } => act::discard(references, why, database).await,
        OutboxCommand::Reconcile(args) => reconcile::run(*args).await,
        OutboxCommand::Review(ReviewCommand::List { json, database }) => list::review(json, database).await,
        OutboxCommand::Review(ReviewCommand::Show { reference, json, database }) => {
            list::show(&reference, json, database).await
        }
        OutboxCommand::Review(ReviewCommand::Resolve {
            reference,
            sent,
            resend: _,
            without_photo,
            force,
            why,
            database,
        }) => {
            // The parser lets exactly one of the two through.
            let decision = sent.map_or(act::Decision::Resend { without_photo }, act::Decision::Sent);
            act::resolve(&reference, decision, force, why, database).await
        }
    }
}
