//! A wire to the database that can be cut and mended.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    pub(crate) port: u16,
    up: watch::Sender<bool>,
}

impl Proxy {
    pub(crate) async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (up, wire) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (server, mut wire) = (server.clone(), wire.clone());
                if !*wire.borrow() {
                    continue;
                }
                tokio::spawn(async move {
                    let Ok(mut upstream) = TcpStream::connect(server).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut upstream) => {}
                        _ = wire.wait_for(|up| !up) => {}
                    }
                });
            }
        });
        Self { port, up }
    }

    /// Ends every connection and takes no new one.
    pub(crate) fn cut(&self) {
        self.up.send_replace(false);
    }

    pub(crate) fn mend(&self) {
        self.up.send_replace(true);
    }
}
