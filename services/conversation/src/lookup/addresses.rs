//! Where the geocode service stands: all addresses of its name. In a cluster the name of a headless Service has one for
//! each pod that is ready.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use tonic::transport::Uri;

use super::Pending;

/// Who knows the addresses.
pub trait Resolver: Send + Sync {
    /// All of them at this moment.
    fn addresses(&self) -> Pending<'_, std::io::Result<Vec<SocketAddr>>>;
}

/// A name in the system's resolver, or an address as it is.
pub struct Name {
    origin: Uri,
    host: String,
    port: u16,
}

impl Name {
    /// The name in a URL.
    ///
    /// # Errors
    /// It is no URL of gRPC without TLS: what encrypts between the services is the mesh.
    pub fn of(url: &str) -> anyhow::Result<Self> {
        let origin: Uri = url.parse().context("not a URL")?;
        ensure!(origin.scheme_str() == Some("http"), "must begin with http://");
        let host = origin.host().context("must name a host")?;
        // In a URL an IPv6 address stands in brackets, for the resolver it does not.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = origin.port_u16().unwrap_or(80);
        Ok(Self { origin, host, port })
    }

    /// What is asked for at each address.
    pub fn origin(&self) -> &Uri {
        &self.origin
    }
}

impl Resolver for Name {
    fn addresses(&self) -> Pending<'_, std::io::Result<Vec<SocketAddr>>> {
        Box::pin(async {
            let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await?;
            Ok(found.collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_and_an_address_are_both_found() {
        for (url, address) in [
            ("http://127.0.0.2:50051", "127.0.0.2:50051"),
            ("http://[::1]:7", "[::1]:7"),
            ("http://127.0.0.1", "127.0.0.1:80"),
        ] {
            let found = Name::of(url).unwrap().addresses().await.unwrap();
            assert_eq!(found, [address.parse().unwrap()], "{url}");
        }
        let local = Name::of("http://localhost:50051").unwrap().addresses().await.unwrap();
        assert!(
            local.iter().all(|address| address.ip().is_loopback() && address.port() == 50_051)
                && !local.is_empty()
        );
    }

    #[test]
    fn what_cannot_be_asked_is_no_name() {
        for url in ["https://geocode:50051", "geocode:50051", "/geocode", ""] {
            assert!(Name::of(url).is_err(), "{url}");
        }
    }
}
