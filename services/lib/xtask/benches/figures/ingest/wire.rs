//! As much of an HTTP client as a load needs: one kept connection, one request at a time, little work of its own, since
//! it shares the processors with what it measures.

use std::io::ErrorKind;
use std::net::SocketAddr;

use anyhow::{Context, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Whether the other side has not closed it meanwhile, as any client looks before it uses a kept connection again.
    pub(crate) fn is_open(&self) -> bool {
        let mut nothing = [0; 1];
        matches!(self.stream.try_read(&mut nothing), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Posts a body with its signature and reads the whole answer. Returns the status.
    pub(crate) async fn post(&mut self, path: &str, signature: &str, body: &str) -> anyhow::Result<u16> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
             x-hub-signature-256: {signature}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        let (head, length, status) = loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the connection was closed");
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let (length, status) = read_head(&self.buffer[..end])?;
                break (end + 4, length, status);
            }
        };
        while self.buffer.len() < head + length {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the answer was cut");
        }
        Ok(status)
    }
}

/// Length of the body, and status.
fn read_head(head: &[u8]) -> anyhow::Result<(usize, u16)> {
    let text = std::str::from_utf8(head)?;
    let status = text.split(' ').nth(1).context("no status")?.parse()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Ok((length.context("no content-length")?, status))
}
