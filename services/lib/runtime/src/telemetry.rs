//! Logs on standard output and spans over OTLP.
//!
//! A tracer is always there, with or without a collector: rows carry trace context and timelines show trace ids in
//! every installation.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::WithExportConfig;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{ConfigError, LogFormat, ShellArgs};

/// Sends what is left when the service ends.
pub(crate) struct Telemetry {
    provider: SdkTracerProvider,
}

/// Must run inside the runtime: the exporter's connection lives there.
pub(crate) fn start(service: &'static str, args: &ShellArgs) -> Result<Telemetry, ConfigError> {
    let filter = EnvFilter::try_new(&args.log)
        .map_err(|error| ConfigError::invalid("ABISU_LOG", error.to_string()))?;
    let resource = Resource::builder().with_service_name(format!("abisu-{service}")).build();
    let mut provider = SdkTracerProvider::builder().with_resource(resource);
    if let Some(endpoint) = args.otlp_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty()) {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_tonic()
            .with_endpoint(endpoint)
            .with_timeout(Duration::from_secs(3))
            .build()
            .map_err(|error| ConfigError::invalid("OTEL_EXPORTER_OTLP_ENDPOINT", error.to_string()))?;
        provider = provider.with_batch_exporter(exporter);
    }
    let provider = provider.build();
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("abisu"))
        .with_location(false)
        .with_threads(false)
        .with_filter(EnvFilter::new("info,h2=off,hyper=off,tonic=off,tower=off"));
    let lines = match args.log_format {
        LogFormat::Json => {
            tracing_subscriber::fmt::layer().json().flatten_event(true).with_span_list(false).boxed()
        }
        LogFormat::Text => tracing_subscriber::fmt::layer().compact().boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(spans)
        .try_init()
        .map_err(|error| ConfigError::invalid("ABISU_LOG", error.to_string()))?;
    Ok(Telemetry { provider })
}

impl Telemetry {
    /// Flushes under a deadline, off the worker threads: the exporter blocks on work that they must do.
    pub(crate) async fn stop(self) {
        let flush =
            tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(Duration::from_secs(2)));
        if tokio::time::timeout(Duration::from_secs(3), flush).await.is_err() {
            tracing::warn!("spans were not flushed within 3 s");
        }
    }
}
