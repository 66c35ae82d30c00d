//! Lanes: what gathered while the previous commit ran goes in the next one. No timer: at rest a message is committed at
//! once and alone, under load the batches grow by themselves.
//!
//! A lane belongs to one channel and has one statement under way. A chat is always in the same lane, so two lanes rarely
//! want the same lock; that is for speed, the row lock keeps it right. A chat whose row is frozen by somebody gets a
//! lane of its own until it moves again, so that it holds up nobody else.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::PgPool;

use super::store::{self, Left};
use super::ticket::{Item, Limits};
use crate::metrics::AppendMetrics;

/// Lanes of a channel. Two keep two processors busy.
const LANES: u64 = 2;
/// What one commit takes at most.
const BATCH: Limits = Limits { rows: 200, bytes: 1 << 20 };

/// The lanes of a process.
pub(super) struct Lanes {
    pub(super) pool: PgPool,
    pub(super) metrics: AppendMetrics,
    /// What waits. A lane that is here is running.
    waiting: Mutex<HashMap<Key, VecDeque<Item>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    channel: Arc<str>,
    lane: Lane,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Lane {
    Shared(u64),
    /// One group that waits for a lock.
    Alone(u64),
}

impl Lanes {
    pub(super) fn new(pool: PgPool, metrics: AppendMetrics) -> Self {
        Self { pool, metrics, waiting: Mutex::default() }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<Key, VecDeque<Item>>> {
        // Nothing panics while it is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the pieces of a delivery.
    pub(super) fn submit(self: &Arc<Self>, items: Vec<Item>) {
        let mut waiting = self.waiting();
        for item in items {
            let key = |lane| Key { channel: Arc::clone(&item.ticket.channel), lane };
            let alone = key(Lane::Alone(item.group));
            let key =
                if waiting.contains_key(&alone) { alone } else { key(Lane::Shared(item.group % LANES)) };
            self.queue(&mut waiting, key, [item]);
        }
    }

    fn queue(
        self: &Arc<Self>,
        waiting: &mut HashMap<Key, VecDeque<Item>>,
        key: Key,
        items: impl IntoIterator<Item = Item>,
    ) {
        if let Some(lane) = waiting.get_mut(&key) {
            lane.extend(items);
            return;
        }
        waiting.insert(key.clone(), items.into_iter().collect());
        tokio::spawn(Arc::clone(self).run(key));
    }

    async fn run(self: Arc<Self>, key: Key) {
        let mut running = Running { lanes: Arc::clone(&self), key, ended: false };
        while let Some(batch) = self.next(&mut running) {
            self.metrics.batch(batch.len());
            let may_leave = matches!(running.key.lane, Lane::Shared(_));
            for Left { group, items } in store::batch(&self, batch, may_leave).await {
                self.set_aside(&running.key, group, items);
            }
        }
    }

    /// What the next commit takes. `None`: the lane is empty and has ended.
    fn next(&self, running: &mut Running) -> Option<Vec<Item>> {
        let mut waiting = self.waiting();
        let lane = waiting.get_mut(&running.key)?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(item) = lane.front() {
            bytes += item.bytes;
            if batch.len() == BATCH.rows || !batch.is_empty() && bytes > BATCH.bytes {
                break;
            }
            batch.extend(lane.pop_front());
        }
        if batch.is_empty() {
            waiting.remove(&running.key);
            running.ended = true;
            return None;
        }
        Some(batch)
    }

    /// Moves a group to a lane of its own, with all that waits behind it.
    fn set_aside(self: &Arc<Self>, from: &Key, group: u64, mut items: Vec<Item>) {
        let mut waiting = self.waiting();
        if let Some(lane) = waiting.get_mut(from) {
            let (behind, others) = std::mem::take(lane).into_iter().partition(|item| item.group == group);
            *lane = others;
            items.extend::<VecDeque<Item>>(behind);
        }
        self.metrics.set_aside.inc();
        let key = Key { channel: Arc::clone(&from.channel), lane: Lane::Alone(group) };
        self.queue(&mut waiting, key, items);
    }
}

/// Takes a lane away whose task ended as no task should: what waited in it is answered as not stored, and the next
/// delivery begins it anew.
struct Running {
    lanes: Arc<Lanes>,
    key: Key,
    ended: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.lanes.waiting().remove(&self.key);
        }
    }
}
