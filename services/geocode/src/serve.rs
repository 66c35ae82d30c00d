//! Wires the service and serves it, with the standard health and reflection services beside it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use proto::geocode::v1::geocode_server::GeocodeServer;
use runtime::Shell;
use tokio::net::TcpListener;
use tonic::transport::server::{Server, TcpIncoming};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::config::Config;
use crate::gate::Gate;
use crate::gazetteer::Gazetteer;
use crate::grpc::Service;
use crate::metrics::Metrics;
use crate::providers;
use crate::resolve::Resolver;

/// A connection lives this long, so that clients meet new replicas.
const CONNECTION_AGE: Duration = Duration::from_secs(5 * 60);
/// What serves health and reflection, besides the service itself.
const NAMES: [&str; 2] = ["", "geocode.v1.Geocode"];

/// Runs the service until its shell stops it.
///
/// # Errors
/// The address is taken, or the configuration cannot be used.
pub async fn run(config: Config, shell: Shell) -> anyhow::Result<()> {
    start(config, &shell).await.map(drop)
}

/// As [`run`]; returns the address that is listened on.
///
/// # Errors
/// The address is taken, or the configuration cannot be used.
pub async fn start(config: Config, shell: &Shell) -> anyhow::Result<SocketAddr> {
    let pool = shell.database(&config.database)?;
    let metrics = shell.metrics(Metrics::register);
    let gate = Gate::new(pool.clone());
    let watch = gate.clone().watch(shell.stopping());
    shell.spawn("areas", async {
        watch.await;
        Ok(())
    });
    let resolver = Resolver {
        pool: pool.clone(),
        gate,
        provider: providers::build(&config, &pool, &metrics)?,
        aliases: config.aliases.clone(),
        names: Gazetteer::of(&config.city_name, &config.city_province_code),
        patience: providers::patience(&config.geocoder),
        metrics,
    };
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("ABISU_LISTEN: cannot listen on {}", config.listen))?;
    let address = listener.local_addr()?;
    let (reporter, health) = tonic_health::server::health_reporter();
    set_status(&reporter, ServingStatus::NotServing).await;
    // Both versions: most clients in use still ask by the older one.
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let router = Server::builder()
        .max_connection_age(CONNECTION_AGE)
        .add_service(GeocodeServer::new(Service::new(Arc::new(resolver))))
        .add_service(health)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?);
    let stopping = shell.stopping();
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let served = router.serve_with_incoming_shutdown(incoming, stopping.clone().cancelled_owned());
    // Half of what the shell allows: a health watch never ends by itself.
    let patience = config.grace / 2;
    shell.spawn("grpc", async move {
        let late = async {
            stopping.cancelled().await;
            tokio::time::sleep(patience).await;
        };
        tokio::select! {
            result = served => Ok(result?),
            () = late => {
                tracing::warn!("closing connections that did not end by themselves");
                Ok(())
            }
        }
    });
    shell.spawn("health", report_health(reporter, shell.clone()));
    tracing::info!(%address, "serving gRPC on {address}");
    Ok(address)
}

/// Serving once the schema is there, no longer when the service stops.
async fn report_health(reporter: HealthReporter, shell: Shell) -> anyhow::Result<()> {
    let stopping = shell.stopping();
    tokio::select! {
        () = shell.schema_ready() => set_status(&reporter, ServingStatus::Serving).await,
        () = stopping.cancelled() => {}
    }
    stopping.cancelled().await;
    set_status(&reporter, ServingStatus::NotServing).await;
    Ok(())
}

async fn set_status(reporter: &HealthReporter, status: ServingStatus) {
    for name in NAMES {
        reporter.set_service_status(name, status).await;
    }
}
