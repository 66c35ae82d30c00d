//! Lanes: what gathered while the previous commit ran goes in the next one. No timer: at rest a message is committed at
//! once and alone, under load the batches grow by themselves.
//!
//! A lane belongs to one channel and has one statement under way. A chat is always in the same lane, so two lanes rarely
//! want the same lock; that is for speed, the row lock keeps it right. A statement costs as much as several messages in
//! it, so a lane in which little waits goes along with the one that runs, and has a statement of its own only once there
//! is a crowd. A chat whose row is frozen by somebody gets a lane of its own until it moves again, so that it holds up
//! nobody else.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::PgPool;

use super::store::{self, Left};
use super::ticket::{Item, Limits};
use crate::metrics::AppendMetrics;

/// Shared lanes of a channel. Two keep two processors busy.
const LANES: u64 = 2;
/// What one commit takes at most.
const BATCH: Limits = Limits { rows: 200, bytes: 1 << 20 };
/// So many rows make it worth while to run a second statement beside the first.
const CROWD: usize = 64;

/// The lanes of a process.
pub(super) struct Lanes {
    pub(super) pool: PgPool,
    pub(super) metrics: AppendMetrics,
    /// A lane is here while it waits or runs. One that waits and does not run has another beside it that does.
    lanes: Mutex<HashMap<Key, Lane>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    channel: Arc<str>,
    name: Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Shared(u64),
    /// One group that waits for a lock.
    Alone(u64),
}

#[derive(Default)]
struct Lane {
    waiting: VecDeque<Item>,
    /// A task has it: what it took last is not answered for yet.
    runs: bool,
}

impl Key {
    fn with(&self, name: Name) -> Self {
        Self { channel: Arc::clone(&self.channel), name }
    }

    /// The lanes that may go along with this one, or this one with them.
    fn neighbours(&self) -> impl Iterator<Item = Self> {
        let shared = matches!(self.name, Name::Shared(_));
        let own = self.name;
        (0..LANES).map(Name::Shared).filter(move |name| shared && *name != own).map(|name| self.with(name))
    }
}

impl Lanes {
    pub(super) fn new(pool: PgPool, metrics: AppendMetrics) -> Self {
        Self { pool, metrics, lanes: Mutex::default() }
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<Key, Lane>> {
        // Nothing panics while it is held.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the pieces of a delivery.
    pub(super) fn submit(self: &Arc<Self>, items: Vec<Item>) {
        let mut lanes = self.lanes();
        let mut fed: Vec<Key> = Vec::new();
        for item in items {
            let key = |name| Key { channel: Arc::clone(&item.ticket.channel), name };
            let alone = key(Name::Alone(item.group));
            let key = if lanes.contains_key(&alone) { alone } else { key(Name::Shared(item.group % LANES)) };
            lanes.entry(key.clone()).or_default().waiting.push_back(item);
            if !fed.contains(&key) {
                fed.push(key);
            }
        }
        for key in fed {
            self.wake(&mut lanes, key);
        }
    }

    /// Starts a lane, unless it runs already or goes along with one that does.
    fn wake(self: &Arc<Self>, lanes: &mut HashMap<Key, Lane>, key: Key) {
        let runs = |key: &Key| lanes.get(key).is_some_and(|lane| lane.runs);
        let crowd = lanes.get(&key).is_some_and(|lane| lane.waiting.len() >= CROWD);
        if !runs(&key) && (crowd || !key.neighbours().any(|other| runs(&other))) {
            self.start(lanes, key);
        }
    }

    fn start(self: &Arc<Self>, lanes: &mut HashMap<Key, Lane>, key: Key) {
        lanes.entry(key.clone()).or_default().runs = true;
        tokio::spawn(Arc::clone(self).run(key));
    }

    async fn run(self: Arc<Self>, home: Key) {
        let mut running = Running { lanes: Arc::clone(&self), has: vec![home.clone()], home };
        while let Some(batch) = self.next(&mut running) {
            self.metrics.batch(batch.len());
            let may_leave = matches!(running.home.name, Name::Shared(_));
            for Left { group, items } in store::batch(&self, batch, may_leave).await {
                self.set_aside(&running.home, group, items);
            }
        }
    }

    /// What the next commit takes: what waits in the task's own lane, then what waits beside it where nobody else has it
    /// and there is no crowd. `None`: there is nothing, and the task ends.
    fn next(self: &Arc<Self>, running: &mut Running) -> Option<Vec<Item>> {
        let mut lanes = self.lanes();
        for key in running.has.drain(..) {
            if let Some(lane) = lanes.get_mut(&key) {
                lane.runs = false;
            }
        }
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for key in std::iter::once(running.home.clone()).chain(running.home.neighbours()) {
            let Some(lane) = lanes.get_mut(&key).filter(|lane| !lane.runs) else { continue };
            let full = key != running.home && lane.waiting.len() >= CROWD
                || !take(&mut lane.waiting, &mut batch, &mut bytes);
            if !full {
                lane.runs = true;
                running.has.push(key);
            } else if lane.waiting.is_empty() {
                lanes.remove(&key);
            } else {
                self.start(&mut lanes, key);
            }
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// Moves a group to a lane of its own, with all that waits behind it.
    fn set_aside(self: &Arc<Self>, from: &Key, group: u64, mut items: Vec<Item>) {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.get_mut(&from.with(Name::Shared(group % LANES))) {
            let (behind, others) =
                std::mem::take(&mut lane.waiting).into_iter().partition(|item| item.group == group);
            lane.waiting = others;
            items.extend::<VecDeque<Item>>(behind);
        }
        self.metrics.set_aside.inc();
        let alone = from.with(Name::Alone(group));
        lanes.entry(alone.clone()).or_default().waiting.extend(items);
        self.wake(&mut lanes, alone);
    }
}

/// Moves what waits to a batch while there is room for it. Says whether any of it was.
fn take(waiting: &mut VecDeque<Item>, batch: &mut Vec<Item>, bytes: &mut usize) -> bool {
    let before = batch.len();
    while let Some(item) = waiting.front() {
        *bytes += item.bytes;
        if batch.len() == BATCH.rows || !batch.is_empty() && *bytes > BATCH.bytes {
            break;
        }
        batch.extend(waiting.pop_front());
    }
    batch.len() > before
}

/// A task and the lanes that it has. Takes them away where it ended as no task should, with those that went along: what
/// waited there is answered as not stored, and the next delivery begins them anew.
struct Running {
    lanes: Arc<Lanes>,
    home: Key,
    has: Vec<Key>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.has.is_empty() {
            return;
        }
        let mut lanes = self.lanes.lanes();
        for key in self.has.drain(..) {
            lanes.remove(&key);
        }
        for key in self.home.neighbours() {
            if lanes.get(&key).is_some_and(|lane| !lane.runs) {
                lanes.remove(&key);
            }
        }
    }
}
