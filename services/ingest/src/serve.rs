//! Accepting connections, with the bounds that keep a crowd of slow ones from taking the service down: a head must
//! arrive in time, an idle connection is closed, and there is a most of them. On stop nothing is accepted any more and
//! every request that was begun is answered.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::metrics::Metrics;

/// Each costs a few kilobytes; those beyond wait in the kernel's queue until others have gone.
const MOST_CONNECTIONS: usize = 8192;
/// For the whole head, and for an idle connection to send the next one.
const TIME_FOR_HEAD: Duration = Duration::from_secs(10);
/// A provider's head is under 2 KiB.
const LARGEST_HEAD: usize = 32 * 1024;
/// When the process is out of file descriptors, accepting again at once would only burn the processor.
const PAUSE_AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stopping: CancellationToken,
    metrics: Metrics,
) -> anyhow::Result<()> {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let connections = TaskTracker::new();
    let next = async || -> anyhow::Result<(std::io::Result<TcpStream>, OwnedSemaphorePermit)> {
        let permit = Arc::clone(&room).acquire_owned().await?;
        Ok((listener.accept().await.map(|(stream, _)| stream), permit))
    };
    loop {
        let (accepted, permit) = tokio::select! {
            () = stopping.cancelled() => break,
            next = next() => next?,
        };
        match accepted {
            Ok(stream) => {
                let (router, stopping, metrics) = (router.clone(), stopping.clone(), metrics.clone());
                connections.spawn(async move {
                    metrics.connections.inc();
                    connection(stream, router, stopping).await;
                    metrics.connections.dec();
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted: {error}");
                tokio::time::sleep(PAUSE_AFTER_FAILED_ACCEPT).await;
            }
        }
    }
    connections.close();
    connections.wait().await;
    Ok(())
}

async fn connection(stream: TcpStream, router: Router, stopping: CancellationToken) {
    // An answer is one small write; waiting to fill a packet would only delay it. If it cannot be set it stays slow.
    let _ = stream.set_nodelay(true);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(TIME_FOR_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = stopping.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        // The other side's affair: it went away or was too slow.
        tracing::debug!(%error, "a connection broke: {error}");
    }
}
