//! Spans as in production, and every log line of the process for a test to read.

use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

static START: Once = Once::new();
static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[derive(Clone)]
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Once per process; every world does it.
pub(crate) fn start() {
    START.call_once(|| {
        let provider = SdkTracerProvider::builder().build();
        let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let lines = tracing_subscriber::fmt::layer().json().with_writer(|| Lines);
        tracing_subscriber::registry()
            .with(lines.with_filter(EnvFilter::new("info")))
            .with(spans.with_filter(EnvFilter::new("info,h2=off,hyper=off")))
            .init();
    });
}

/// Everything that was logged so far.
pub(crate) fn lines() -> String {
    String::from_utf8_lossy(&LINES.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}
