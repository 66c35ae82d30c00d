//! Accepting connections, with the bounds that keep a crowd of slow ones from taking the service down: a head must
//! arrive in time, an idle connection is closed, and there is a most of them; beyond it [`crate::seats`] says who goes.
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
use hyper_util::rt::{TokioIo, TokioTimer};
use runtime::Shell;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::metrics::Metrics;
use crate::seats::{At, Seat, Seats};

/// Connections that the kernel holds for us until they are accepted.
const WAITING: u32 = 4096;
/// For the whole head, and for an idle connection to send the next one.
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
    router: Router,
    shell: Shell,
    metrics: Metrics,
) -> anyhow::Result<()> {
    let stopping = shell.stopping();
    let room = Arc::new(Semaphore::new(most_connections));
    let seats = Arc::new(Seats::new());
    let connections = TaskTracker::new();
    let let_in = |stream: TcpStream, permit: OwnedSemaphorePermit| {
        let (router, shell, metrics) = (router.clone(), shell.clone(), metrics.clone());
        let guard = seats.take();
        connections.spawn(async move {
            metrics.connections.inc();
            connection(stream, router, &guard.seat, shell).await;
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

async fn connection(stream: TcpStream, router: Router, seat: &Arc<Seat>, shell: Shell) {
    let stopping = shell.stopping();
    // An answer is one small write; waiting to fill a packet would only delay it. If it cannot be set it stays slow.
    let _ = stream.set_nodelay(true);
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
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIME_FOR_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = seat.asked_to_leave() => return,
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
