//! `conversation`: works the inbound queues of all channels, one worker per chat, and sends the replies.
//!
//! Loops on one database, a set for every channel, each in a file that reads from claim to settle:
//!
//! * [`worker`] claims chats and gives each to [`chat`], which asks the pure `dialogue` what to do (`plan`, `decide`)
//!   and commits the new session, the report's changes, the replies and the settling of the events in one transaction
//!   (`write`);
//! * [`sender`] claims the outgoing mailboxes and posts replies, in order per chat, over what sends for the channel;
//! * [`photos`] fetches what the form only named;
//! * `delayed` brings back forms that could not be sent, `failed` says again what failed after it was taken,
//!   `undeliverable` tells whose phone cannot show a form, [`marks`] shows that a message is worked on.
//!
//! What is shared by all channels is the process ([`Process`], [`channels`], [`bells`]). No network call happens inside a
//! transaction, and nothing is decided outside `dialogue`.

pub mod args;
pub mod bells;
pub mod breaker;
pub mod channels;
pub mod chat;
mod city;
pub mod config;
mod decide;
mod delayed;
mod failed;
pub mod forms;
pub mod image;
pub mod lookup;
pub mod marks;
pub mod metrics;
mod outage;
mod patience;
pub mod photos;
mod places;
mod plan;
mod said;
mod said_once;
mod send;
pub mod sender;
mod shares;
pub mod store;
pub mod translate;
mod undeliverable;
pub mod worker;
mod write;

use std::sync::Arc;

use anyhow::Context as _;
use bus::mailbox::{Claimer, belt};
use bus::metrics::QueueMetrics;
use bus::wake::{Listener, Notifier, Queue};
use channel::config::Account;
use runtime::Shell;
use sqlx::PgPool;
use tokio::sync::RwLock;
use uuid::Uuid;

use crate::bells::Bells;
use crate::breaker::Breaker;
use crate::channels::Provider;
use crate::config::Config;
use crate::forms::Forms;
use crate::lookup::Geocoder;
use crate::marks::Marks;
use crate::metrics::Metrics;
use crate::shares::Shares;

/// What the channels share.
pub struct Process {
    /// Where typed addresses and points are looked up.
    pub geocoder: Box<dyn Geocoder>,
    /// What may be reported.
    pub forms: Forms,
    /// Held to read by work, to write by work that must have the process for itself. Whoever waits to write comes before
    /// those who come later to read.
    pub alone: RwLock<()>,
}

/// What the loops of one channel share.
pub struct Context {
    /// The channel's id.
    pub channel: String,
    /// What sends for it.
    pub provider: Provider,
    /// Numbers, digits, that are sent forms which are still drafts.
    pub test_numbers: Vec<String>,
    /// Open while the provider is not well.
    pub breaker: Breaker,
    /// Where the marks of what is worked on are asked for.
    pub marks: Marks,
    /// Hears of work of this channel.
    pub bells: Bells,
    /// The configuration.
    pub config: Arc<Config>,
    /// What it shares with the other channels.
    pub process: Arc<Process>,
    /// The database, over the connections of this channel.
    pub pool: PgPool,
    /// Takes chats from the inbound queue.
    pub claimer: Claimer,
    /// Unique to this process start; who owns a lease.
    pub owner: Uuid,
    /// Tells other processes of work.
    pub notifier: Notifier,
    /// How the queues stand.
    pub queues: QueueMetrics,
    /// Counters.
    pub metrics: Metrics,
}

impl Context {
    /// Tells every process, this channel first, that `queue` has work.
    pub fn announce(&self, queue: Queue) {
        self.bells.ring(queue);
        self.notifier.notify(queue);
    }
}

/// Wires the service on its shell and returns once all loops run.
///
/// # Errors
/// The parts cannot be built from the configuration.
pub async fn run(config: Config, shell: Shell) -> anyhow::Result<()> {
    if let Some(texts) = &config.texts {
        dialogue::texts::install(texts).map_err(|problems| city::refuse(&problems))?;
    }
    let geocoder = lookup::GrpcGeocoder::new(&config.geocode_url, config.lookup_timeout)?;
    let (follower, every, stopping) = (geocoder.clone(), config.geocode_resolve, shell.stopping());
    shell.spawn("geocode addresses", async move {
        follower.follow(every, stopping).await;
        Ok(())
    });
    start(config, &shell, Box::new(geocoder))
}

/// Starts the loops with the given collaborator.
///
/// # Errors
/// The database URL, a channel or the built-in texts cannot be used.
pub fn start(config: Config, shell: &Shell, geocoder: Box<dyn Geocoder>) -> anyhow::Result<()> {
    dialogue::texts::check().map_err(|problems| city::refuse(&problems))?;
    let config = Arc::new(config);
    let accounts = config.channels.accounts();
    let shares = Shares::open(shell, &config.database, &accounts)?;
    let pool = shares.common().clone();
    let queues = QueueMetrics::default();
    shell.metrics(|registry| queues.register(registry));
    let process =
        Arc::new(Process { geocoder, forms: Forms::new(config.taxonomy.clone()), alone: RwLock::new(()) });
    let (notifier, listener) = (Notifier::default(), Listener::default());
    let shared = Shared {
        config: Arc::clone(&config),
        process,
        owner: Uuid::now_v7(),
        notifier: notifier.clone(),
        queues: queues.clone(),
        metrics: shell.metrics(Metrics::register),
    };
    let mut contexts = Vec::new();
    for (place, account) in accounts.iter().enumerate() {
        contexts.push(shared.work(shell, account, shares.of(&accounts, place).clone())?);
    }
    let stopping = shell.stopping();
    let (on, token) = (pool.clone(), stopping.clone());
    shell.spawn("notifier", async move {
        notifier.run(on, token).await;
        Ok(())
    });
    for queue in bells::QUEUES {
        let (listener, contexts) = (listener.clone(), contexts.clone());
        shell.spawn("bells", bells::share(listener, queue, contexts, stopping.clone()));
    }
    shell.spawn("poll", bells::poll(contexts.clone(), stopping.clone()));
    let (on, token) = (pool.clone(), stopping.clone());
    shell.spawn("listener", async move {
        listener.run(on, &bells::QUEUES, token).await;
        Ok(())
    });
    let ids = contexts.iter().map(|context| context.channel.clone()).collect();
    let token = stopping.clone();
    shell.spawn("queue metrics", async move {
        queues.run(pool, ids, token).await;
        Ok(())
    });
    let loaded = config.channels.clone();
    shell.spawn("secrets", channels::keep(loaded, contexts, config.reread, stopping));
    Ok(())
}

/// What every channel is given.
struct Shared {
    config: Arc<Config>,
    process: Arc<Process>,
    owner: Uuid,
    notifier: Notifier,
    queues: QueueMetrics,
    metrics: Metrics,
}

impl Shared {
    /// Starts the loops of a channel.
    fn work(&self, shell: &Shell, account: &Account, pool: PgPool) -> anyhow::Result<Arc<Context>> {
        let provider = Provider::of(account, self.config.send_timeout)
            .with_context(|| format!("the channel {} cannot be used", account.id))?;
        let (marks, marking) = marks::new(self.config.mark_read && provider.now().shows_work());
        let context = Arc::new(Context {
            channel: account.id.clone(),
            provider,
            test_numbers: account.test_numbers().to_vec(),
            breaker: Breaker::default(),
            marks,
            bells: Bells::default(),
            config: Arc::clone(&self.config),
            process: Arc::clone(&self.process),
            claimer: Claimer::new(pool.clone(), self.queues.clone()),
            pool: pool.clone(),
            owner: self.owner,
            notifier: self.notifier.clone(),
            queues: self.queues.clone(),
            metrics: self.metrics.clone(),
        });
        let stopping = shell.stopping();
        let token = stopping.clone();
        let (channel, queues) = (account.id.clone(), self.queues.clone());
        shell.spawn("belt", async move {
            belt(pool, channel, queues, token).await;
            Ok(())
        });
        shell.spawn("worker", worker::run(Arc::clone(&context), stopping.clone()));
        shell.spawn("sender", sender::run(Arc::clone(&context), stopping.clone()));
        shell.spawn("delayed forms", delayed::run(Arc::clone(&context), stopping.clone()));
        shell.spawn("failed replies", failed::run(Arc::clone(&context), stopping.clone()));
        shell.spawn("undeliverable forms", undeliverable::run(Arc::clone(&context), stopping.clone()));
        if let Some(asked) = marking {
            shell.spawn("marks", marks::run(Arc::clone(&context), asked, stopping.clone()));
        }
        shell.spawn("photos", photos::run(Arc::clone(&context), stopping));
        Ok(context)
    }
}
