//! A way to a server that can be cut with a reset, or swallow everything.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    /// Nothing comes through in either direction; whoever comes new is taken and waits.
    Hole,
    /// All connections are reset, and so is whoever comes new.
    Cut,
}

/// A proxy in front of one server, until it is dropped.
pub(crate) struct Proxy {
    port: u16,
    way: Arc<watch::Sender<Way>>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port and forwards to the server that the URL names.
    pub(crate) async fn before(url: &str) -> anyhow::Result<Self> {
        let server: Url = url.parse()?;
        let host = server.host_str().context("the URL names no host")?.to_owned();
        let to = (host, server.port().unwrap_or(5432));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let way = Arc::new(watch::channel(Way::Open).0);
        let ways = Arc::clone(&way);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, to.clone(), ways.subscribe()));
            }
        });
        Ok(Self { port, way, accepting })
    }

    /// The same URL, through here.
    pub(crate) fn url(&self, url: &str) -> anyhow::Result<String> {
        let mut url: Url = url.parse()?;
        url.set_host(Some("127.0.0.1"))?;
        url.set_port(Some(self.port)).map_err(|()| anyhow!("the URL takes no port"))?;
        Ok(url.into())
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.way.send_replace(Way::Cut);
    }
}

/// Carries one connection until either side ends it, or it is cut.
async fn forward(mut client: TcpStream, to: (String, u16), mut way: watch::Receiver<Way>) {
    let carried = async {
        if *way.borrow_and_update() == Way::Cut {
            return;
        }
        let Ok(mut server) = TcpStream::connect((to.0.as_str(), to.1)).await else { return };
        let _ = client.set_nodelay(true).and_then(|()| server.set_nodelay(true));
        let cut = {
            let (from_client, to_client) = client.split();
            let (from_server, to_server) = server.split();
            let both = async {
                let asking = pipe(from_client, to_server, way.clone());
                let answering = pipe(from_server, to_client, way.clone());
                let _ = tokio::try_join!(asking, answering);
            };
            let mut cut = way.clone();
            tokio::select! {
                () = both => false,
                _ = cut.wait_for(|way| *way == Way::Cut) => true,
            }
        };
        if cut {
            let _ = server.set_zero_linger();
        }
    };
    carried.await;
    if *way.borrow() == Way::Cut {
        // Closing is a reset then.
        let _ = client.set_zero_linger();
    }
}

async fn pipe(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut way: watch::Receiver<Way>,
) -> std::io::Result<()> {
    let gone = |_| std::io::Error::from(std::io::ErrorKind::ConnectionAborted);
    let mut bytes = vec![0; 16 * 1024];
    loop {
        way.wait_for(|way| *way == Way::Open).await.map_err(gone)?;
        let read = from.read(&mut bytes).await?;
        // What was read as the hole opened waits here, as it would on the way.
        way.wait_for(|way| *way == Way::Open).await.map_err(gone)?;
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&bytes[..read]).await?;
    }
}
