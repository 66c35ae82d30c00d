//! A crowd at the door that means no good: it holds connections open and says next to nothing.
//!
//! It lives in a thread of its own that gets the processor when nobody else wants it: what is measured is what it costs the
//! service, not that ten thousand strangers share a machine with it.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::ingest::door::PATH;

/// How often each of them says a byte, or looks whether it was thrown out.
const SLOWLY: Duration = Duration::from_secs(1);
/// Connections that are opened before the others go on: a queue of the system has room for few more.
const AT_ONCE: usize = 200;

/// How they behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Half of a head, or nothing at all, and then silence.
    Silent,
    /// A head, a byte a second.
    Head,
    /// A whole head that promises a megabyte, then a byte a second.
    Body,
}

impl Manner {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Silent => "connections held half-open",
            Self::Head => "heads at a byte a second",
            Self::Body => "bodies that never end",
        }
    }

    /// What is said at once, and whether more comes.
    fn words(self, number: usize) -> (String, bool) {
        let head = format!("POST {PATH} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n");
        match self {
            Self::Silent if number.is_multiple_of(2) => (String::new(), false),
            Self::Silent => (head, false),
            Self::Head => (head, true),
            Self::Body => {
                let proof = format!("x-hub-signature-256: sha256={}\r\n", "0".repeat(64));
                (format!("{head}{proof}content-length: 1000000\r\n\r\n"), true)
            }
        }
    }
}

/// Stands there until it is dropped: who is thrown out comes again.
pub(super) struct Crowd {
    _stay: oneshot::Sender<()>,
}

impl Crowd {
    /// Comes together, and returns when all have been let in once.
    pub(super) async fn gather(address: SocketAddr, manner: Manner, size: usize) -> anyhow::Result<Self> {
        let (stay, left) = oneshot::channel::<()>();
        let (ready, gathered) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("crowd".to_owned()).spawn(move || {
            // Of this thread only. Where it is not allowed the crowd takes more than its share.
            let _ = rustix::process::nice(19);
            runtime.block_on(async {
                let all = come(address, manner, size).await;
                let _ = ready.send(());
                let _ = left.await;
                drop(all);
            });
        })?;
        gathered.await.context("the crowd did not come")?;
        Ok(Self { _stay: stay })
    }
}

async fn come(address: SocketAddr, manner: Manner, size: usize) -> JoinSet<()> {
    let mut all = JoinSet::new();
    let (inside, mut counted) = tokio::sync::mpsc::channel(AT_ONCE);
    for number in 0..size {
        let inside = inside.clone();
        all.spawn(async move {
            let mut inside = Some(inside);
            loop {
                if let Ok(stream) = TcpStream::connect(address).await {
                    if let Some(inside) = inside.take() {
                        let _ = inside.send(()).await;
                    }
                    // Thrown out, it stands in line again.
                    let _ = stand(stream, manner, number).await;
                }
                tokio::time::sleep(SLOWLY).await;
            }
        });
        if number % AT_ONCE == AT_ONCE - 1 {
            for _ in 0..AT_ONCE {
                counted.recv().await;
            }
        }
    }
    all
}

/// Holds one connection for as long as it is let.
async fn stand(mut stream: TcpStream, manner: Manner, number: usize) -> std::io::Result<()> {
    let (words, more) = manner.words(number);
    stream.write_all(words.as_bytes()).await?;
    let mut answer = [0; 512];
    loop {
        tokio::select! {
            read = stream.read(&mut answer) => if read? == 0 { return Ok(()) },
            () = tokio::time::sleep(SLOWLY) => if more { stream.write_all(b"x").await? },
        }
    }
}
