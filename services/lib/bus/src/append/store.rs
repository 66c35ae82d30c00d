//! A batch, until all of it is stored, kept as a rejection, or given up.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::lanes::Lanes;
use super::pieces::{halve, is_one_group};
use super::ticket::{Item, What};
use super::{Error, refused, write};
use crate::error::{Class, classify};

/// How long a statement that may be repeated waits before it is.
const PAUSE: Duration = Duration::from_millis(20);

/// A group that waits for a lock, to be set aside.
pub(super) struct Left {
    pub(super) group: u64,
    pub(super) items: Vec<Item>,
}

/// What became of a part of a batch.
enum Ended {
    /// Every piece was answered for.
    All,
    /// It must be tried in halves, the first one first.
    Halves(Vec<Item>, Vec<Item>),
    /// Its one group waits for a lock.
    Waits(Vec<Item>),
    /// These groups are given up; what comes later of them must not be stored, or a chat would be reordered.
    Failed(Vec<u64>, Arc<sqlx::Error>),
}

/// Stores a batch. Gives back the groups that wait for a lock, where they may leave.
pub(super) async fn batch(lanes: &Lanes, items: Vec<Item>, may_leave: bool) -> Vec<Left> {
    let mut parts = vec![items];
    let mut left: Vec<Left> = Vec::new();
    let mut failed: Vec<(u64, Arc<sqlx::Error>)> = Vec::new();
    while let Some(mut part) = parts.pop() {
        // A group is cut only while it is alone, and then its later half stands right behind the earlier.
        for (group, error) in &failed {
            part.extract_if(.., |item| item.group == *group).for_each(|item| give_up(&item, error));
        }
        for waits in &mut left {
            waits.items.extend(part.extract_if(.., |item| item.group == waits.group));
        }
        if part.is_empty() {
            continue;
        }
        match part_of(lanes, part, may_leave).await {
            Ended::All => {}
            Ended::Halves(first, second) => parts.extend([second, first]),
            Ended::Waits(items) => {
                let group = items.first().map_or(0, |item| item.group);
                left.push(Left { group, items });
            }
            Ended::Failed(groups, error) => {
                failed.extend(groups.into_iter().map(|group| (group, Arc::clone(&error))));
            }
        }
    }
    left
}

async fn part_of(lanes: &Lanes, mut part: Vec<Item>, may_leave: bool) -> Ended {
    loop {
        let Some(deadline) = part.iter().map(|item| item.ticket.deadline).max() else { return Ended::All };
        let error = match attempt(lanes, &part, deadline).await {
            Ok(mine) => {
                part.iter().for_each(|item| stored(item, &mine));
                return Ended::All;
            }
            Err(error) => error,
        };
        let alone = is_one_group(&part);
        match classify(&error) {
            Class::Repeat | Class::Unavailable => {
                if code(&error).as_deref() == Some("55P03") && (!alone || may_leave) {
                    if alone {
                        return Ended::Waits(part);
                    }
                    lanes.metrics.split.inc();
                    let (first, second) = halve(part);
                    return Ended::Halves(first, second);
                }
                if code(&error).as_deref() == Some("40P01") {
                    lanes.metrics.deadlocked.inc();
                }
                let now = Instant::now() + PAUSE;
                if now >= deadline {
                    return failed(part, error);
                }
                let error = Arc::new(error);
                if let Some(groups) = too_late(&mut part, now, &error)
                    && part.is_empty()
                {
                    return Ended::Failed(groups, error);
                }
                tokio::time::sleep(PAUSE).await;
            }
            // Whatever is wrong with one must not stop the others. A place that is taken (23505) is our own corruption,
            // and of one chat only.
            Class::Data if part.len() > 1 && (!alone || is_poison(&error)) => {
                lanes.metrics.split.inc();
                let (first, second) = halve(part);
                return Ended::Halves(first, second);
            }
            Class::Data if is_poison(&error) => {
                if let Err(error) = reject(lanes, &mut part, &error, deadline).await {
                    return failed(part, error);
                }
            }
            // Corruption is of some rows, and theirs is the chat that suffers for it. Any other fault of ours is of the
            // statement, and would only be met as often as there are halves.
            Class::Bug if !alone && code(&error).is_some_and(|code| code.starts_with("XX")) => {
                lanes.metrics.split.inc();
                let (first, second) = halve(part);
                return Ended::Halves(first, second);
            }
            Class::Data | Class::Bug => return failed(part, error),
        }
    }
}

/// One call, not past the deadline.
async fn attempt(lanes: &Lanes, part: &[Item], deadline: Instant) -> Result<write::Mine, sqlx::Error> {
    part.iter().for_each(|item| item.ticket.tried.store(true, Ordering::Release));
    let call = write::Call::new(part);
    let done = match tokio::time::timeout_at(deadline, call.run(&lanes.pool)).await {
        Ok(done) => done,
        Err(_) => Err(sqlx::Error::PoolTimedOut),
    };
    if done.is_err() {
        call.give_back();
    }
    done
}

/// Keeps the one piece that is left as a rejection. What remains of it is the row that tells of it.
async fn reject(
    lanes: &Lanes,
    part: &mut [Item],
    why: &sqlx::Error,
    deadline: Instant,
) -> Result<(), sqlx::Error> {
    for item in part {
        let rejection = match &item.what {
            What::Event(event) => refused::event(event, why),
            What::Receipt(receipt) => refused::receipt(receipt, why),
            What::Nothing => return Err(sqlx::Error::Protocol("a row of our own was refused".to_owned())),
        };
        let from = write::Origin::of(&item.ticket);
        patiently(deadline, || {
            write::insert_rejections(&lanes.pool, &from, std::slice::from_ref(&rejection))
        })
        .await?;
        item.ticket.rejected();
        item.what = What::Nothing;
    }
    Ok(())
}

/// Gives up what would be late before it is tried again, with all that is of the same chat.
fn too_late(part: &mut Vec<Item>, now: Instant, error: &Arc<sqlx::Error>) -> Option<Vec<u64>> {
    let late: Vec<u64> =
        part.iter().filter(|item| item.ticket.deadline <= now).map(|item| item.group).collect();
    part.extract_if(.., |item| late.contains(&item.group)).for_each(|item| give_up(&item, error));
    (!late.is_empty()).then_some(late)
}

fn failed(part: Vec<Item>, error: sqlx::Error) -> Ended {
    let error = Arc::new(error);
    part.iter().for_each(|item| give_up(item, &error));
    Ended::Failed(part.iter().map(|item| item.group).collect(), error)
}

fn give_up(item: &Item, error: &Arc<sqlx::Error>) {
    let error = Arc::clone(error);
    item.ticket.failed(match classify(&error) {
        Class::Repeat | Class::Unavailable => Error::Unavailable(error),
        Class::Data | Class::Bug => Error::Refused(error),
    });
}

fn stored(item: &Item, mine: &write::Mine) {
    item.ticket.stored(|tally| match &item.what {
        What::Event(event) if mine.contains(&event.activity_id) => {
            tally.created.insert(event.activity_id);
        }
        What::Event(_) => tally.duplicates += 1,
        What::Receipt(_) => tally.receipts += 1,
        What::Nothing => {}
    });
}

/// Whether a message is to blame. No message can cause a place to be taken (23505), so none may be rejected for it.
fn is_poison(error: &sqlx::Error) -> bool {
    classify(error) == Class::Data && code(error).as_deref() != Some("23505")
}

fn code(error: &sqlx::Error) -> Option<std::borrow::Cow<'_, str>> {
    error.as_database_error().and_then(|error| error.code())
}

/// Repeats `statement` while the database says that it may, until the deadline.
// Not `AsyncFn`: its future cannot be named, so nothing could say that it may cross threads.
pub(super) async fn patiently<T, F>(deadline: Instant, statement: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    loop {
        let error = match tokio::time::timeout_at(deadline, statement()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => return Err(sqlx::Error::PoolTimedOut),
        };
        match classify(&error) {
            Class::Repeat | Class::Unavailable if Instant::now() + PAUSE < deadline => {
                tokio::time::sleep(PAUSE).await;
            }
            Class::Repeat | Class::Unavailable | Class::Data | Class::Bug => return Err(error),
        }
    }
}
