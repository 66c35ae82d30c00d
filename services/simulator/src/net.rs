//! Connections that can be closed without an answer.
//!
//! axum can only answer. A fault that closes the connection marks it here; the next write then fails, so
//! the server drops the socket before a byte of the answer has left. Ending the simulator closes all
//! connections the same way, because a graceful end would wait for those that hang on purpose.

use std::{
    future::Future as _,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{extract::connect_info::Connected, serve::IncomingStream};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// How a connection is closed.
#[derive(Clone, Copy)]
pub(crate) enum Cut {
    /// In order: the other side reads the end of the stream.
    Close = 1,
    /// With a reset: the other side sees an error.
    Reset = 2,
}

/// The handle of a connection that a request can reach.
#[derive(Clone, Default)]
pub(crate) struct Connection(Arc<AtomicU8>);

impl Connection {
    /// Nothing more is written; the socket is closed as soon as the server tries.
    pub(crate) fn cut(&self, cut: Cut) {
        self.0.store(cut as u8, Ordering::Release);
    }
}

impl Connected<IncomingStream<'_, Listener>> for Connection {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.io().connection.clone()
    }
}

pub(crate) struct Listener {
    inner: TcpListener,
    stop: CancellationToken,
}

impl Listener {
    pub(crate) fn new(inner: TcpListener, stop: CancellationToken) -> Self {
        Self { inner, stop }
    }
}

impl axum::serve::Listener for Listener {
    type Io = Stream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Stream, SocketAddr) {
        loop {
            match self.inner.accept().await {
                Ok((inner, peer)) => {
                    // Small answers must not wait for an acknowledgement; a failure only costs speed.
                    drop(inner.set_nodelay(true));
                    let stopped = Box::pin(self.stop.clone().cancelled_owned());
                    return (Stream { inner, connection: Connection::default(), stopped }, peer);
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

pub(crate) struct Stream {
    inner: TcpStream,
    connection: Connection,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Stream {
    /// An error when this connection must end now; registers for the end of the simulator.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let cut = self.connection.0.load(Ordering::Acquire);
        if cut == Cut::Reset as u8 {
            drop(self.inner.set_zero_linger());
        }
        if cut != 0 || self.stopped.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
