//! `conversation`: works the inbound queue, one worker per chat, and sends the replies.
//!
//! Loops on one database, each in a file that reads from claim to settle:
//!
//! * [`worker`] claims chats and gives each to [`chat`], which asks the pure `dialogue` what to do (`plan`, `decide`)
//!   and commits the new session, the report's changes, the replies and the settling of the events in one transaction
//!   (`write`);
//! * [`sender`] claims the outgoing mailboxes and posts replies, in order per chat, over the channel;
//! * [`photos`] fetches what the form only named;
//! * `delayed` brings back forms that could not be sent, `undeliverable` tells whose phone cannot show one, [`marks`] shows that a message is worked on.
//!
//! No network call happens inside a transaction, and nothing is decided outside `dialogue`.

pub mod args;
pub mod breaker;
pub mod chat;
pub mod config;
mod decide;
mod delayed;
pub mod forms;
pub mod image;
pub mod lookup;
pub mod marks;
pub mod metrics;
pub mod number;
mod outage;
mod patience;
pub mod photos;
mod plan;
mod said;
mod said_once;
mod send;
pub mod sender;
pub mod store;
pub mod translate;
mod undeliverable;
pub mod worker;
mod write;

use std::sync::Arc;

use bus::mailbox::{Claimer, belt};
use bus::metrics::QueueMetrics;
use bus::wake::{Listener, Notifier, Queue};
use channel::Channel;
use channel::meta::graph::GraphClient;
use runtime::Shell;
use sqlx::PgPool;
use uuid::Uuid;

use crate::breaker::Breaker;
use crate::config::Config;
use crate::forms::Forms;
use crate::lookup::Geocoder;
use crate::marks::Marks;
use crate::metrics::Metrics;
use crate::number::{GraphNumber, Number};

/// What the loops share.
pub struct Context {
    /// The configuration.
    pub config: Config,
    /// The database.
    pub pool: PgPool,
    /// Unique to this process start; who owns a lease.
    pub owner: Uuid,
    /// Where typed addresses and points are looked up.
    pub geocoder: Box<dyn Geocoder>,
    /// How replies leave and media come.
    pub channel: Box<dyn Channel>,
    /// The number they leave from.
    pub number: Box<dyn Number>,
    /// Open while the provider is not well.
    pub breaker: Breaker,
    /// Where the marks of what is worked on are asked for.
    pub marks: Marks,
    /// What may be reported.
    pub forms: Forms,
    /// Tells other processes of work.
    pub notifier: Notifier,
    /// Hears of work.
    pub listener: Listener,
    /// Takes chats from the inbound queue.
    pub claimer: Claimer,
    /// How the queues stand.
    pub queues: QueueMetrics,
    /// Counters.
    pub metrics: Metrics,
}

impl Context {
    /// Tells every process, this one first, that `queue` has work.
    pub fn announce(&self, queue: Queue) {
        self.listener.wake(queue);
        self.notifier.notify(queue);
    }
}

/// Wires the service on its shell and returns once all loops run.
///
/// # Errors
/// The parts cannot be built from the configuration.
pub async fn run(config: Config, shell: Shell) -> anyhow::Result<()> {
    let geocoder = lookup::GrpcGeocoder::new(&config.geocode_url, config.lookup_timeout)?;
    let channel = GraphClient::new(config.graph.clone())?;
    let number = GraphNumber::new(config.graph.clone())?;
    start(config, &shell, Box::new(geocoder), Box::new(channel), Box::new(number))
}

/// Starts the loops with the given collaborators.
///
/// # Errors
/// The database URL, the texts or the built-in taxonomy cannot be used.
pub fn start(
    config: Config,
    shell: &Shell,
    geocoder: Box<dyn Geocoder>,
    channel: Box<dyn Channel>,
    number: Box<dyn Number>,
) -> anyhow::Result<()> {
    if let Err(problems) = dialogue::texts::check() {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow::bail!("the texts are not valid: {}", problems.join("; "));
    }
    let pool = shell.database(&config.database)?;
    let queue_metrics = QueueMetrics::default();
    shell.metrics(|registry| queue_metrics.register(registry));
    let (marks, marking) = marks::new(config.mark_read);
    let context = Arc::new(Context {
        forms: Forms::builtin()?,
        metrics: shell.metrics(Metrics::register),
        claimer: Claimer::new(pool.clone(), queue_metrics.clone()),
        queues: queue_metrics.clone(),
        owner: Uuid::now_v7(),
        notifier: Notifier::default(),
        listener: Listener::default(),
        pool,
        geocoder,
        channel,
        number,
        breaker: Breaker::default(),
        marks,
        config,
    });
    let stopping = shell.stopping();
    let queues = &[Queue::Inbound, Queue::Outbound, Queue::Photo];
    let (notifier, listener) = (context.notifier.clone(), context.listener.clone());
    let (pool, token) = (context.pool.clone(), stopping.clone());
    shell.spawn("notifier", async move {
        notifier.run(pool, token).await;
        Ok(())
    });
    let (pool, token) = (context.pool.clone(), stopping.clone());
    shell.spawn("listener", async move {
        listener.run(pool, queues, token).await;
        Ok(())
    });
    let (pool, token) = (context.pool.clone(), stopping.clone());
    let (channel, belt_metrics) = (context.config.channel.clone(), queue_metrics.clone());
    shell.spawn("belt", async move {
        belt(pool, channel, belt_metrics, token).await;
        Ok(())
    });
    let (pool, token, channels) =
        (context.pool.clone(), stopping.clone(), vec![context.config.channel.clone()]);
    shell.spawn("queue metrics", async move {
        queue_metrics.run(pool, channels, token).await;
        Ok(())
    });
    shell.spawn("worker", worker::run(Arc::clone(&context), stopping.clone()));
    shell.spawn("sender", sender::run(Arc::clone(&context), stopping.clone()));
    shell.spawn("delayed forms", delayed::run(Arc::clone(&context), stopping.clone()));
    shell.spawn("undeliverable forms", undeliverable::run(Arc::clone(&context), stopping.clone()));
    if let Some(asked) = marking {
        shell.spawn("marks", marks::run(Arc::clone(&context), asked, stopping.clone()));
    }
    shell.spawn("photos", photos::run(context, stopping));
    Ok(())
}
