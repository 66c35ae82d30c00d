//! The queue while parts of it freeze, restart or are cut off.
//!
//! Each soak feeds messages as a provider does, who sends the same again until it is accepted, and works them off with
//! books that are written in the transaction of the settle. At its end the books are compared with what was sent
//! ([`books`]): everything stored once, handled once and in order, nothing left behind. What does not hold is an error;
//! a slow machine is none. `cargo xtask bench soak` runs them for a minute each, `tests/it/soak.rs` for seconds.

pub(crate) mod books;
mod deep;
mod feed;
pub(crate) mod frozen;
mod held;
mod hot;
mod network;
pub(crate) mod proxy;
mod restart;
mod work;

use std::pin::Pin;
use std::time::Duration;

use anyhow::Context;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinSet;
use xtask::postgres::Cluster;

use books::World;
use feed::{Feed, Sent};
use work::{Tally, Worker};

/// How long the workers may take after the last message, before something must be stuck.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a soak measured.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) value: f64,
}

/// Which trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Soak {
    /// Batches appended and settled on the same few chats.
    Hot,
    /// A transaction elsewhere that stays open.
    Held,
    /// One chat with very much, beside many with little.
    Deep,
    /// A worker that stands still for longer than its lease, and goes on.
    Frozen,
    /// A database server that is restarted, in order and as after a crash.
    Restart,
    /// A network that closes all connections, or swallows everything.
    Network,
}

impl Soak {
    /// Its name on the command line, and of its database.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Held => "held",
            Self::Deep => "deep",
            Self::Frozen => "frozen",
            Self::Restart => "restart",
            Self::Network => "network",
        }
    }

    /// Runs it on an empty, migrated database. The server is needed by [`Soak::Restart`] alone.
    ///
    /// # Errors
    /// What must hold does not, or something is stuck.
    pub(crate) async fn run(
        self,
        url: &str,
        server: Option<&mut Cluster>,
        worker: &frozen::Launch,
        length: Duration,
    ) -> anyhow::Result<Vec<Figure>> {
        let world = World::open(url).await?;
        let run: Pin<Box<dyn Future<Output = anyhow::Result<Vec<Figure>>>>> = match self {
            Self::Hot => Box::pin(hot::run(&world, length)),
            Self::Held => Box::pin(held::run(&world, length)),
            Self::Deep => Box::pin(deep::run(&world, length)),
            Self::Frozen => Box::pin(frozen::run(&world, worker, length)),
            Self::Restart => {
                Box::pin(restart::run(&world, server.context("a server of its own is needed")?, length))
            }
            Self::Network => Box::pin(network::run(&world, length)),
        };
        run.await.with_context(|| format!("soak {}", self.name()))
    }
}

impl Figure {
    fn new(name: impl Into<String>, unit: &'static str, value: f64) -> Self {
        Self { name: name.into(), unit, value }
    }
}

/// Feeds while `trouble` goes on, works everything off, and compares the books.
async fn under<T>(
    world: &World,
    feed: &Feed,
    workers: Vec<Worker>,
    trouble: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(Sent, Tally, T)> {
    let (close, closed) = watch::channel(false);
    let mut shift = JoinSet::new();
    for worker in workers {
        shift.spawn(worker.run(closed.clone()));
    }
    let (sent, told) = feed_while(feed, trouble).await?;
    close.send_replace(true);
    let tallies =
        tokio::time::timeout(PATIENCE, shift.join_all()).await.context("the queue does not come to rest")?;
    world.check(&sent).await?;
    Ok((sent, Tally::sum(tallies), told))
}

/// Feeds while `trouble` goes on.
async fn feed_while<T>(
    feed: &Feed,
    trouble: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(Sent, T)> {
    let (end, over) = watch::channel(false);
    let troubled = async {
        let told = trouble.await?;
        end.send_replace(true);
        anyhow::Ok(told)
    };
    tokio::try_join!(feed.run(over), troubled)
}

/// Events that wait.
async fn waiting(pool: &PgPool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("select coalesce(sum(next_seq - 1 - done_seq), 0)::bigint from chat.chat")
        .fetch_one(pool)
        .await
}

/// Events that are handled.
async fn handled(pool: &PgPool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("select count(*) from public.handled").fetch_one(pool).await
}
