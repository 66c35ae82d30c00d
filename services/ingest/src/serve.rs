//! Accepting connections, with the bounds that keep a crowd of slow ones from taking the service down: a head must
//! arrive in time, an idle connection is closed after a while, and there is a most of them; beyond it [`crate::seats`]
//! says who goes.
//!
//! Before a stop every answer asks its caller to come by another connection next time, so that none is closed under a
//! request. On stop those that have reached us already are let in, and then nobody is; every request that was begun is
//! answered.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use runtime::Shell;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::metrics::Metrics;
use crate::seats::{At, Patience, Seat, Seats};
use crate::watched::Watched;

/// Connections that the kernel holds for us until they are accepted.
const WAITING: u32 = 4096;
/// For the whole head.
const TIME_FOR_HEAD: Duration = Duration::from_secs(10);
/// A provider's head is under 2 KiB.
const LARGEST_HEAD: usize = 32 * 1024;
/// A request that was on its way when we were told to stop arrives within this time.
const LAST_CALL: Duration = Duration::from_millis(200);
/// When the process is out of file descriptors, accepting again at once would only burn the processor.
const PAUSE_AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

/// Binds the address, with room for a crowd to wait in.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As a plain bind does: a restart need not wait for the old connections' last packets.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

pub(crate) async fn serve(
    listener: TcpListener,
    most_connections: usize,
    idle: Duration,
    router: Router,
    shell: Shell,
    metrics: Metrics,
) -> anyhow::Result<()> {
    let stopping = shell.stopping();
    let room = Arc::new(Semaphore::new(most_connections));
    let seats = Arc::new(Seats::new());
    let connections = TaskTracker::new();
    let patience = Patience { head: TIME_FOR_HEAD, idle };
    let let_in = |stream: TcpStream, permit: OwnedSemaphorePermit| {
        let (router, shell, metrics) = (router.clone(), shell.clone(), metrics.clone());
        let guard = seats.take();
        connections.spawn(async move {
            metrics.connections.inc();
            // An answer is one small write; waiting to fill a packet would only delay it. If it cannot be set it stays
            // slow.
            let _ = stream.set_nodelay(true);
            connection(stream, router, &guard.seat, patience, shell).await;
            metrics.connections.dec();
            drop((guard, permit));
        });
    };
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted: {error}");
                tokio::time::sleep(PAUSE_AFTER_FAILED_ACCEPT).await;
                continue;
            }
        };
        let permit = match Arc::clone(&room).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                metrics.evicted.inc_by(seats.make_room() as u64);
                tokio::select! {
                    () = stopping.cancelled() => break,
                    permit = Arc::clone(&room).acquire_owned() => permit?,
                }
            }
        };
        let_in(stream, permit);
    }
    // The system has taken these for us already, perhaps with a request; it would reset them.
    let listener = listener.into_std()?;
    while let (Ok((stream, _)), Ok(permit)) = (listener.accept(), Arc::clone(&room).try_acquire_owned()) {
        stream.set_nonblocking(true)?;
        let_in(TcpStream::from_std(stream)?, permit);
    }
    drop(listener);
    connections.close();
    connections.wait().await;
    Ok(())
}

/// When a connection without a request is closed for the stop: not before what has reached us could be read.
async fn last_call(stopping: &CancellationToken) {
    stopping.cancelled().await;
    tokio::time::sleep(LAST_CALL).await;
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    seat: &Arc<Seat>,
    patience: Patience,
    shell: Shell,
) {
    let stopping = shell.stopping();
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        let (mut router, seat) = (router.clone(), Arc::clone(seat));
        let (shell, stopping) = (shell.clone(), stopping.clone());
        async move {
            seat.is(At::Body);
            request.extensions_mut().insert(Arc::clone(&seat));
            let mut response = router.call(request).await;
            seat.is(At::Rest);
            if let (true, Ok(response)) = (shell.is_draining() || stopping.is_cancelled(), &mut response) {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        }
    });
    let stream = Watched { stream, seat: Arc::clone(seat) };
    // The server's own time for a head begins at the end of the last answer, so it cannot tell idle from slow.
    let served = http1::Builder::new()
        .header_read_timeout(None)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    let ended = tokio::select! {
        // In this order: what the connection has heard may bring the end of patience nearer.
        biased;
        ended = served.as_mut() => ended,
        () = seat.asked_to_leave() => return,
        () = seat.outstays(patience) => return,
        () = last_call(&stopping) => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        // The other side's affair: it went away or was too slow.
        tracing::debug!(%error, "a connection broke: {error}");
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::post;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);
    const SHORT: Duration = Duration::from_millis(50);
    const CALL: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi";

    /// A connection to a service that says what it is told.
    fn connected(patience: Patience) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(4096);
        let guard = Arc::new(Seats::new()).take();
        let router = Router::new().route("/", post(async |body: String| body));
        tokio::spawn(async move {
            connection(theirs, router, &guard.seat, patience, Shell::detached("ingest")).await;
        });
        ours
    }

    async fn call(stream: &mut DuplexStream) {
        stream.write_all(CALL).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"hi") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "the connection is closed");
        }
        assert!(answer.starts_with(b"HTTP/1.1 200"));
    }

    /// Nothing comes any more.
    async fn is_closed(stream: &mut DuplexStream) {
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn who_has_called_may_rest_for_longer_than_a_head_may_take() {
        let patience = Patience { head: SHORT, idle: LONG };
        let mut kept = connected(patience);
        call(&mut kept).await;
        // It takes the time of a head to say nothing, twice.
        for _ in 0..2 {
            is_closed(&mut connected(patience)).await;
        }
        call(&mut kept).await;
        // The next head has that time and no more.
        kept.write_all(&CALL[..9]).await.unwrap();
        is_closed(&mut kept).await;
    }

    #[tokio::test]
    async fn who_rests_for_too_long_is_closed() {
        let mut idle = connected(Patience { head: LONG, idle: SHORT });
        call(&mut idle).await;
        is_closed(&mut idle).await;
    }
}
