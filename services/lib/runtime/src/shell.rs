//! What a running service holds on to: its tasks, its readiness, its metrics, the stop signal.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::registry::Registry;
use sqlx::PgPool;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::DatabaseConfig;
use crate::{database, rotate};

/// How often a service that waits for its database or its schema looks again.
const SCHEMA_POLL: Duration = Duration::from_millis(500);

/// The handle that a service is given. Cheap to clone.
#[derive(Clone)]
pub struct Shell {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) service: &'static str,
    registry: Mutex<Registry>,
    waiting: Mutex<BTreeSet<&'static str>>,
    draining: AtomicBool,
    stopping: CancellationToken,
    /// Cancelled once the schema is there.
    schema: CancellationToken,
    tracker: TaskTracker,
    ended: mpsc::UnboundedSender<(&'static str, anyhow::Result<()>)>,
}

impl Inner {
    /// Why the service is not ready, if it is not.
    pub(crate) fn waiting_for(&self) -> Option<String> {
        if self.draining.load(Ordering::Acquire) {
            return Some("draining".to_owned());
        }
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        (!waiting.is_empty())
            .then(|| format!("waiting for {}", waiting.iter().copied().collect::<Vec<_>>().join(", ")))
    }

    pub(crate) fn registry<T>(&self, f: impl FnOnce(&mut Registry) -> T) -> T {
        f(&mut self.registry.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One thing that must be done before the service is ready.
pub struct Initialised {
    inner: Arc<Inner>,
    name: &'static str,
}

impl Initialised {
    /// Marks it as done. Dropped without this, the service stays unready.
    pub fn done(self) {
        self.inner.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(self.name);
    }
}

pub(crate) type Ended = mpsc::UnboundedReceiver<(&'static str, anyhow::Result<()>)>;

impl Shell {
    /// A shell outside of [`crate::main`], for tests that run a service in their own process.
    pub fn detached(service: &'static str) -> Self {
        Self::new(service).0
    }

    pub(crate) fn new(service: &'static str) -> (Self, Ended) {
        let (ended, receiver) = mpsc::unbounded_channel();
        let inner = Inner {
            service,
            registry: Mutex::new(Registry::with_prefix(format!("abisu_{}", service.replace('-', "_")))),
            waiting: Mutex::new(BTreeSet::from(["start"])),
            draining: AtomicBool::new(false),
            stopping: CancellationToken::new(),
            schema: CancellationToken::new(),
            tracker: TaskTracker::new(),
            ended,
        };
        (Self { inner: Arc::new(inner) }, receiver)
    }

    /// The name of the service.
    pub fn service(&self) -> &'static str {
        self.inner.service
    }

    /// Cancelled when the service must stop accepting and claiming. What is in flight may still finish.
    pub fn stopping(&self) -> CancellationToken {
        self.inner.stopping.clone()
    }

    /// Runs a named task for as long as the service lives. A task that ends before the service is asked to stop ends
    /// the service, with exit code 1.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = anyhow::Result<()>> + Send + 'static) {
        let ended = self.inner.ended.clone();
        self.inner.tracker.spawn(async move {
            // In a task of its own, so that a panic is an end like any other and not a service that stands half dead.
            let result = match tokio::spawn(task).await {
                Ok(result) => result,
                Err(error) => Err(anyhow::Error::new(error)),
            };
            // The receiver is gone only when the process is ending anyway.
            let _ = ended.send((name, result));
        });
    }

    /// Adds a condition of readiness.
    pub fn initialising(&self, name: &'static str) -> Initialised {
        self.inner.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        Initialised { inner: Arc::clone(&self.inner), name }
    }

    /// Registers metrics under the prefix of the service.
    pub fn metrics<T>(&self, register: impl FnOnce(&mut Registry) -> T) -> T {
        self.inner.registry(register)
    }

    /// Opens the pool and adds readiness on the schema: ready once the database has every migration that this binary
    /// knows. A newer schema is fine: migrations expand before they contract. A URL from a file is kept to what the file
    /// says.
    ///
    /// # Errors
    /// The URL is not one that Postgres accepts.
    pub fn database(&self, config: &DatabaseConfig) -> anyhow::Result<PgPool> {
        let pool = database::connect_lazy(self.inner.service, config)?;
        if let Some(file) = config.file.clone() {
            let following = rotate::follow(pool.clone(), file, config.url.clone(), rotate::LOOK);
            let stopping = self.stopping();
            self.inner.tracker.spawn(async move {
                tokio::select! {
                    () = stopping.cancelled() => {}
                    () = following => {}
                }
            });
        }
        let gate = self.initialising("database schema");
        let (watched, stopping, schema) = (pool.clone(), self.stopping(), self.inner.schema.clone());
        self.inner.tracker.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = wait_for_schema(&watched) => {
                    gate.done();
                    schema.cancel();
                }
            }
        });
        Ok(pool)
    }

    /// Returns once the schema that [`Shell::database`] waits for is there.
    pub async fn schema_ready(&self) {
        self.inner.schema.cancelled().await;
    }

    /// Stops tasks that watch [`Shell::stopping`] and waits until they have ended.
    pub async fn stop(&self) {
        self.inner.stopping.cancel();
        self.inner.tracker.close();
        self.inner.tracker.wait().await;
    }

    pub(crate) fn started(&self) {
        self.inner.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove("start");
    }

    /// Says *unready* from now on: the service will be told to stop in a moment.
    pub fn drain(&self) {
        self.inner.draining.store(true, Ordering::Release);
    }

    /// Whether the service will be told to stop in a moment. What keeps connections open lets go of them.
    pub fn is_draining(&self) -> bool {
        self.inner.draining.load(Ordering::Acquire)
    }
}

/// Returns once the schema is at least as new as this binary. Says why it waits, once per reason.
async fn wait_for_schema(pool: &PgPool) {
    let needed = database::schema_version();
    let mut said = String::new();
    loop {
        let reason = match database::applied_version(pool).await {
            Ok(Some(applied)) if applied >= needed => return,
            Ok(applied) => format!(
                "the schema is at {}, this version needs {needed}: run `abisu migrate`",
                applied.map_or_else(|| "nothing".to_owned(), |version| version.to_string())
            ),
            Err(error) => format!("the database cannot be asked: {}", database::why(pool, error).await),
        };
        if reason != said {
            tracing::warn!(%reason, "waiting for the database schema: {reason}");
            said = reason;
        }
        tokio::time::sleep(SCHEMA_POLL).await;
    }
}
