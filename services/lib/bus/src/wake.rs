//! Wake-up: NOTIFY to be quick, a poll to be sure.
//!
//! A commit that notifies takes a lock that serialises all commits, so nothing here notifies inside a transaction:
//! each process has one [`Notifier`], which tells at once and then at most 200 times a second. A [`Listener`] listens
//! on a connection of its own and treats every reconnect as "something was missed". Notifications carry nothing; the
//! rows say what there is to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What there may be work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Events for conversation's workers.
    Inbound,
    /// Replies for the sender.
    Outbound,
    /// Photos to fetch.
    Photo,
    /// Reports for partner-push.
    Push,
}

impl Queue {
    const ALL: [Self; 4] = [Self::Inbound, Self::Outbound, Self::Photo, Self::Push];

    /// The name under which processes listen.
    const fn channel(self) -> &'static str {
        match self {
            Self::Inbound => "abisu_inbound",
            Self::Outbound => "abisu_outbound",
            Self::Photo => "abisu_photo",
            Self::Push => "abisu_push",
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::Inbound => 0,
            Self::Outbound => 1,
            Self::Photo => 2,
            Self::Push => 3,
        }
    }
}

/// Least time between two rounds of notifications.
const ROUND: Duration = Duration::from_millis(5);
/// How long a listener waits before it connects again.
const RECONNECT: Duration = Duration::from_millis(250);

/// Tells other processes that there is work. Call it after the commit.
#[derive(Clone, Default)]
pub struct Notifier {
    inner: Arc<Told>,
}

#[derive(Default)]
struct Told {
    wanted: [AtomicBool; 4],
    bell: Notify,
}

impl Notifier {
    /// Says that `queue` may have work.
    pub fn notify(&self, queue: Queue) {
        self.inner.wanted[queue.index()].store(true, Ordering::Release);
        self.inner.bell.notify_one();
    }

    /// Does the telling, until `stopping` is cancelled. A notification that fails is dropped: the poll finds the work.
    pub async fn run(self, pool: PgPool, stopping: CancellationToken) {
        loop {
            tokio::select! {
                () = self.inner.bell.notified() => {}
                () = stopping.cancelled() => return,
            }
            let wanted: Vec<&str> = Queue::ALL
                .into_iter()
                .filter(|queue| self.inner.wanted[queue.index()].swap(false, Ordering::AcqRel))
                .map(Queue::channel)
                .collect();
            // One commit a round, however many queues it speaks of.
            let told = sqlx::query("select pg_notify(channel, '') from unnest($1::text[]) as channel")
                .bind(wanted)
                .execute(&pool);
            if let Err(error) = told.await {
                tracing::debug!(%error, "a notification was not sent");
            }
            tokio::time::sleep(ROUND).await;
        }
    }
}

/// The queues of these channels that have work which may be taken now: the poll of a whole process in one question,
/// however many channels and queues it works.
///
/// # Errors
/// The database's.
pub async fn due(pool: &PgPool, channels: &[String]) -> Result<Vec<(String, Queue)>, sqlx::Error> {
    let rows = sqlx::query_file!("src/store/find_due.sql", channels).fetch_all(pool).await?;
    let due = rows.into_iter().flat_map(|row| {
        [(row.inbound, Queue::Inbound), (row.outbound, Queue::Outbound), (row.photo, Queue::Photo)]
            .into_iter()
            .filter(|(is, _)| *is)
            .map(move |(_, queue)| (row.channel.clone(), queue))
    });
    Ok(due.collect())
}

/// Hears of work in other processes, and in this one.
#[derive(Clone, Default)]
pub struct Listener {
    bells: Arc<[Notify; 4]>,
}

impl Listener {
    /// Waits until `queue` may have work, for `poll` at most.
    pub async fn wait(&self, queue: Queue, poll: Duration) {
        let _ = tokio::time::timeout(poll, self.bells[queue.index()].notified()).await;
    }

    /// Wakes one waiter of this process: for work that it made itself.
    pub fn wake(&self, queue: Queue) {
        self.bells[queue.index()].notify_one();
    }

    /// Does the listening, until `stopping` is cancelled.
    pub async fn run(self, pool: PgPool, queues: &'static [Queue], stopping: CancellationToken) {
        loop {
            // A connection of its own: it is busy for ever and must not count against the pool. Made anew each time, for
            // the pool's options may have changed.
            let own =
                PgPoolOptions::new().max_connections(1).connect_lazy_with((*pool.connect_options()).clone());
            let heard = tokio::select! {
                heard = self.listen(&own, queues) => heard,
                () = stopping.cancelled() => return,
            };
            tracing::debug!(error = ?heard.err(), "listening was interrupted");
            tokio::time::sleep(RECONNECT).await;
        }
    }

    async fn listen(&self, own: &PgPool, queues: &[Queue]) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(own).await?;
        listener.listen_all(queues.iter().map(|queue| queue.channel())).await?;
        // Listening first, then a look: whatever was told in between is found.
        for &queue in queues {
            self.wake(queue);
        }
        while let Some(heard) = listener.try_recv().await? {
            if let Some(queue) = Queue::ALL.into_iter().find(|queue| queue.channel() == heard.channel()) {
                self.wake(queue);
            }
        }
        Ok(())
    }
}
