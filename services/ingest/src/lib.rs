#![doc = include_str!("../README.md")]

mod answer;
mod args;
mod body;
mod channels;
mod config;
mod current;
mod error;
mod http;
mod media;
mod metrics;
mod openapi;
mod partitions;
mod rotate;
mod seats;
mod serve;
mod split;
mod store;
mod watched;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use runtime::Shell;

pub use args::Args;
pub use channels::{ChannelSource, Channels};
pub use config::Config;
pub use media::MediaSource;

/// How long a delivery is tried before the provider is told to come again. With what it takes to read and answer,
/// the provider hears from us within 2.5 s whatever the database does.
const PATIENCE: Duration = Duration::from_millis(2200);

/// What may wait to be stored, in rows and in weighed bytes: a third of a second of the most that one process can take
/// in. A message that waits takes about twice what it is weighed as, beside its body, its connection and its span, so
/// this keeps the process below 100 MiB while the database is away.
const MOST_WAITING: (usize, usize) = (20_000, 12 << 20);

/// Wires the service, binds its port and spawns its tasks on `shell`. Returns the address it listens on.
///
/// # Errors
/// The address is taken, or the database URL is not one that Postgres accepts.
pub async fn start(config: Config, shell: &Shell) -> anyhow::Result<SocketAddr> {
    let Config { listen, most_connections, idle, database, channels: source, media, reread } = config;
    let pool = shell.database(&database)?;
    let metrics = shell.metrics(metrics::Metrics::register);
    let notifier = bus::wake::Notifier::default();
    let channels = current::Current::new(source.channels());
    let (rows, bytes) = MOST_WAITING;
    let appender = bus::append::Appender::new(pool.clone(), PATIENCE).with_limits(rows, bytes);
    shell.metrics(|registry| appender.metrics().register(registry));
    let app = http::App {
        channels: channels.clone(),
        appender,
        notifier: notifier.clone(),
        bodies: body::Bodies::new(),
        metrics: metrics.clone(),
    };
    let mut router = http::router(app);
    let media = media.map(|source| {
        let keys = current::Current::new(source.keys());
        (source, keys)
    });
    if let Some((_, keys)) = &media {
        let counted = shell.metrics(media::MediaMetrics::register);
        router = router.merge(media::router(media::Media::new(keys.clone(), pool.clone(), counted)));
    }
    let listener =
        serve::listen(listen).with_context(|| format!("ABISU_LISTEN: cannot listen on {listen}"))?;
    let address = listener.local_addr()?;
    shell.spawn("notifier", tell(notifier, pool.clone(), shell.stopping()));
    let watched = rotate::Watched { source, channels, media };
    shell.spawn("secrets", rotate::keep(watched, reread, metrics.clone(), shell.stopping()));
    shell.spawn("partitions", partitions::keep(pool, shell.initialising("partitions"), shell.stopping()));
    shell.spawn("http", serve::serve(listener, most_connections, idle, router, shell.clone(), metrics));
    Ok(address)
}

/// Wakes conversation's workers; what is not told they find by themselves.
async fn tell(
    notifier: bus::wake::Notifier,
    pool: sqlx::PgPool,
    stopping: tokio_util::sync::CancellationToken,
) -> anyhow::Result<()> {
    notifier.run(pool, stopping).await;
    Ok(())
}
