//! The checked configuration that the service runs with.

use std::net::SocketAddr;
use std::time::Duration;

use runtime::config::DatabaseConfig;

/// What the service needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address that gRPC listens on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Base URL of CartoCiudad, without a trailing slash.
    pub cartociudad_url: String,
    /// Limit of one request to CartoCiudad.
    pub cartociudad_timeout: Duration,
    /// Official name of the municipality; CartoCiudad filters by it.
    pub city_name: String,
    /// Code of the municipality, five digits; every answer is checked against it.
    pub city_ine_code: String,
    /// Code of the province, two digits.
    pub city_province_code: String,
    /// Where the service areas are.
    pub database: DatabaseConfig,
    /// How long work in flight may take when the service stops.
    pub grace: Duration,
}
