//! A way to the database that can keep its answers back and be cut.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    /// What the client says arrives; what the server says does not.
    Deaf,
    /// The connections of this generation are closed.
    Cut(u32),
}

/// A proxy in front of the database server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    way: Arc<watch::Sender<Way>>,
    generation: u32,
}

impl Proxy {
    /// Listens on a free port and forwards to `host:port`.
    pub(crate) async fn before(host: String, port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
        let own = listener.local_addr().expect("it is bound").port();
        let way = Arc::new(watch::channel(Way::Open).0);
        let ways = way.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = TcpStream::connect((host.as_str(), port)).await {
                    tokio::spawn(forward(client, server, ways.subscribe()));
                }
            }
        });
        Self { port: own, way, generation: 0 }
    }

    /// From now on the server's answers are kept back.
    pub(crate) fn keep_answers(&self) {
        self.way.send_replace(Way::Deaf);
    }

    /// Closes all connections, with whatever answers were kept. New ones go through.
    pub(crate) fn cut(&mut self) {
        self.generation += 1;
        self.way.send_replace(Way::Cut(self.generation));
    }
}

async fn forward(client: TcpStream, server: TcpStream, mut way: watch::Receiver<Way>) {
    let born = *way.borrow_and_update();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let asking = async { tokio::io::copy(&mut from_client, &mut to_server).await.map(|_| ()) };
    let mut allowed = way.clone();
    let answering = async {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            let read = from_server.read(&mut bytes).await?;
            if read == 0 {
                return Ok::<(), std::io::Error>(());
            }
            // Cut or not, a kept answer never leaves: the other branch ends this one.
            if allowed.wait_for(|way| *way != Way::Deaf).await.is_err() {
                return Ok(());
            }
            if matches!(*allowed.borrow(), now @ Way::Cut(_) if now != born) {
                return Ok(());
            }
            to_client.write_all(&bytes[..read]).await?;
        }
    };
    tokio::select! {
        _ = asking => {}
        _ = answering => {}
        _ = way.wait_for(|way| matches!(*way, now @ Way::Cut(_) if now != born)) => {}
    }
}
