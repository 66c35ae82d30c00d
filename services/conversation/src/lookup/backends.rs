//! One lookup, at whichever address answers.
//!
//! Each address has a connection of its own. A lookup goes to the one with the fewest under way; one that failed rests
//! for a moment and is asked only when no other is left. A balancer that knows nothing but load would send most to a dead
//! address: nobody is quicker than who refuses at once. Lookups change nothing, so one that failed, or was cut off by the
//! end of its pod, is asked again elsewhere within its time.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::geocode::v1::geocode_client::GeocodeClient;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Response, Status};

use super::addresses::Resolver;
use super::{LookupError, Pending, classify};

/// How long an address that failed is left alone while there are others.
const REST: Duration = Duration::from_secs(1);
/// Between two looks at the addresses, however many lookups fail.
const AT_LEAST: Duration = Duration::from_millis(250);
/// How long the name may take to be looked up.
const NAMING: Duration = Duration::from_secs(5);
/// How long the first lookups wait for the first addresses.
const FIRST: Duration = Duration::from_secs(2);

/// One call of the service.
pub(crate) type Call<T> = Pending<'static, Result<Response<T>, Status>>;

const TOO_SLOW: &str = "no answer in time";

/// The connection of an address.
pub(crate) type Client = GeocodeClient<Channel>;

/// All addresses of the service.
pub(crate) struct Backends {
    origin: Uri,
    resolver: Box<dyn Resolver>,
    /// `None` until they were looked up for the first time.
    known: watch::Sender<Option<Arc<[Arc<Backend>]>>>,
    /// Where the search begins, so that equals take turns.
    turn: AtomicUsize,
    look_again: Notify,
}

/// One address.
struct Backend {
    address: SocketAddr,
    client: Client,
    under_way: AtomicUsize,
    rests_until: Mutex<Option<Instant>>,
}

/// A lookup under way; it is over when this is dropped, however it ends.
struct UnderWay<'a>(&'a Backend);

impl Backends {
    /// Knows none before [`Backends::follow`] runs.
    pub(crate) fn new(origin: Uri, resolver: Box<dyn Resolver>) -> Self {
        Self {
            origin,
            resolver,
            known: watch::Sender::new(None),
            turn: AtomicUsize::new(0),
            look_again: Notify::new(),
        }
    }

    /// Keeps the addresses true until `stopping`. When the name cannot be looked up, those known before stand.
    pub(crate) async fn follow(&self, every: Duration, stopping: CancellationToken) {
        let mut failing = false;
        loop {
            let looked = tokio::select! {
                looked = tokio::time::timeout(NAMING, self.resolver.addresses()) => looked,
                () = stopping.cancelled() => return,
            };
            match looked.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())) {
                Ok(addresses) => {
                    failing = false;
                    self.take(&addresses);
                }
                Err(error) => {
                    if !failing {
                        tracing::warn!(%error, "the addresses of geocode cannot be looked up: {error}");
                    }
                    failing = true;
                    self.known.send_if_modified(|known| {
                        known.is_none().then(|| *known = Some(Arc::new([]))).is_some()
                    });
                }
            }
            let pause = async {
                tokio::time::sleep(AT_LEAST.min(every)).await;
                let rest = every.saturating_sub(AT_LEAST);
                // Ended early by whoever was not answered.
                let _ = tokio::time::timeout(rest, self.look_again.notified()).await;
            };
            tokio::select! {
                () = pause => {}
                () = stopping.cancelled() => return,
            }
        }
    }

    /// Takes what was found into force. Connections to addresses that stay are kept; one to an address that is gone ends
    /// with the last lookup on it.
    fn take(&self, addresses: &[SocketAddr]) {
        let before = self.known.borrow().clone();
        let known = before.as_deref().unwrap_or_default();
        let same = known.len() == addresses.len() && known.iter().all(|one| addresses.contains(&one.address));
        if same && before.is_some() {
            return;
        }
        let mut now: Vec<Arc<Backend>> = Vec::new();
        for address in addresses {
            if now.iter().any(|one| one.address == *address) {
                continue;
            }
            let kept = known.iter().find(|one| one.address == *address).map(Arc::clone);
            now.extend(kept.or_else(|| Backend::new(*address, &self.origin).map(Arc::new)));
        }
        tracing::info!(addresses = now.len(), "geocode stands at {} addresses", now.len());
        self.known.send_replace(Some(now.into()));
    }

    /// Asks one address, and when it does not answer the next, until all were asked or `timeout` is over. While others
    /// are left, no longer than `each`.
    pub(crate) async fn ask<T>(
        &self,
        timeout: Duration,
        each: Duration,
        ask: impl Fn(Client, Duration) -> Call<T>,
    ) -> Result<T, LookupError> {
        let deadline = Instant::now() + timeout;
        let all = self.all(timeout).await;
        let mut asked: Vec<SocketAddr> = Vec::new();
        let mut last = LookupError::Unavailable("no address of geocode is known");
        while let Some(backend) = self.choose(&all, &asked) {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = if asked.len() + 1 < all.len() { left.min(each) } else { left };
            let _under_way = backend.begin();
            // The deadline in the request binds the service only.
            let answered = tokio::time::timeout(left, ask(backend.client.clone(), left)).await;
            last = match answered {
                Ok(Ok(answer)) => {
                    backend.answered();
                    return Ok(answer.into_inner());
                }
                Ok(Err(status)) if another_may_answer(status.code()) => classify(&status),
                Ok(Err(status)) => return Err(classify(&status)),
                Err(_) if Instant::now() < deadline => LookupError::Unavailable(TOO_SLOW),
                Err(_) => return Err(LookupError::Unavailable(TOO_SLOW)),
            };
            backend.failed();
            self.look_again.notify_one();
            asked.push(backend.address);
        }
        self.look_again.notify_one();
        Err(last)
    }

    /// Those known; right after the start they are waited for.
    async fn all(&self, timeout: Duration) -> Arc<[Arc<Backend>]> {
        let mut known = self.known.subscribe();
        let looked = tokio::time::timeout(FIRST.min(timeout), known.wait_for(Option::is_some)).await;
        let all = looked.ok().and_then(|known| known.ok()?.clone());
        all.unwrap_or_default()
    }

    /// The next to be asked: who rests comes last, then who has the most to do.
    fn choose<'a>(&self, all: &'a [Arc<Backend>], asked: &[SocketAddr]) -> Option<&'a Backend> {
        let begin = self.turn.fetch_add(1, Ordering::Relaxed) % all.len().max(1);
        let (late, early) = all.split_at_checked(begin)?;
        let left = early.iter().chain(late).filter(|one| !asked.contains(&one.address));
        left.min_by_key(|one| (one.rests(), one.under_way.load(Ordering::Relaxed))).map(|one| &**one)
    }
}

impl Backend {
    /// `None`: an address that is no URL, which there is none of.
    fn new(address: SocketAddr, origin: &Uri) -> Option<Self> {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).ok()?;
        let channel = endpoint
            .origin(origin.clone())
            .connect_timeout(Duration::from_secs(2))
            // A node that is gone says nothing: it is found out well within the time of a lookup, or before one comes.
            .http2_keep_alive_interval(Duration::from_secs(4))
            .keep_alive_timeout(Duration::from_secs(2))
            .keep_alive_while_idle(true)
            .connect_lazy();
        let client = GeocodeClient::new(channel);
        Some(Self { address, client, under_way: AtomicUsize::new(0), rests_until: Mutex::default() })
    }

    fn begin(&self) -> UnderWay<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    fn rests(&self) -> bool {
        self.resting().is_some_and(|until| until > Instant::now())
    }

    fn answered(&self) {
        *self.resting() = None;
    }

    fn failed(&self) {
        *self.resting() = Some(Instant::now() + REST);
    }

    fn resting(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.rests_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether the failure is one of the address or of its pod, not of the question or of the whole installation.
fn another_may_answer(code: Code) -> bool {
    match code {
        Code::Unavailable
        | Code::Cancelled
        | Code::Aborted
        | Code::ResourceExhausted
        | Code::Internal
        | Code::Unknown
        | Code::DataLoss => true,
        // Its time is over.
        Code::DeadlineExceeded
        // The same everywhere.
        | Code::FailedPrecondition
        | Code::Unimplemented
        | Code::PermissionDenied
        | Code::Unauthenticated
        | Code::InvalidArgument
        | Code::OutOfRange
        | Code::NotFound
        | Code::AlreadyExists
        | Code::Ok => false,
    }
}
