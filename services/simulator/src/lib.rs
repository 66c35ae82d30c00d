//! Meta, CartoCiudad and the contractor on one port, as strict and nasty as the real ones.
//!
//! Development only. It shares no parsing and no model with the services, so that an error there is not
//! repeated here: what it refuses is its own reading of the providers' rules. Everything it holds is in
//! memory and ends with it. `/meta`, `/cartociudad` and `/partner` are the base addresses for the
//! services; `/control` drives citizens, injects faults and tells what arrived.

mod cartociudad;
mod config;
mod control;
mod faults;
mod journal;
mod meta;
mod net;
mod partner;
mod photo;
mod state;
mod streets;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use axum::{Router, extract::DefaultBodyLimit, middleware};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use config::Config;
use state::{Shared, State};

/// How long `stop` waits for connections; they are closed by then, so it is only a safeguard.
const STOP_DEADLINE: Duration = Duration::from_secs(5);

/// A running simulator. Dropping it closes its port and all connections.
pub struct Simulator {
    url: String,
    stop: CancellationToken,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Simulator {
    /// Binds and serves. When it returns, connections are accepted.
    ///
    /// # Errors
    /// When the address cannot be bound or the HTTP client for deliveries cannot be built.
    pub async fn start(config: Config) -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("cannot listen on {}", config.listen))?;
        let url = format!("http://{}", listener.local_addr()?);
        let stop = CancellationToken::new();
        let state = Arc::new(State::new(config, url.clone(), stop.clone())?);
        let service = router(state).into_make_service_with_connect_info::<net::Connection>();
        let served = axum::serve(net::Listener::new(listener, stop.clone()), service)
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        let server = tokio::spawn(async move { served.await });
        Ok(Self { url, stop, server: Some(server) })
    }

    /// Base address, without a path and without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends it and waits until the port is free.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(server) = self.server.take() {
            // An error here would be a panic or a late connection; the simulator is over either way.
            drop(tokio::time::timeout(STOP_DEADLINE, server).await);
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What an upload of a Flow JSON would be told: `validation_errors`, empty for a form that may be published.
pub fn flow_problems(text: &str) -> Vec<serde_json::Value> {
    meta::flow_problems(text)
}

fn router(state: Shared) -> Router {
    Router::new()
        .nest("/meta", meta::router())
        .nest("/cartociudad", cartociudad::router())
        .nest("/partner", partner::router())
        // Faults and the journal see what the services do, never the control calls of a test.
        .layer(middleware::from_fn_with_state(state.clone(), faults::gate))
        .nest("/control", control::router())
        .layer(DefaultBodyLimit::disable())
        .with_state(state)
}
