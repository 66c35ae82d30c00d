//! The checked configuration that the service runs with.

use std::net::SocketAddr;
use std::time::Duration;

use runtime::config::DatabaseConfig;

use crate::alias::Aliases;

/// What the service needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address that gRPC listens on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who is asked for addresses.
    pub geocoder: Geocoder,
    /// Who is asked instead while that one is away, in order.
    pub fallback: Vec<Geocoder>,
    /// Official name of the municipality; CartoCiudad filters by it.
    pub city_name: String,
    /// Code of the municipality, five digits; every answer is checked against it.
    pub city_ine_code: String,
    /// Code of the province, two digits.
    pub city_province_code: String,
    /// Streets of the city with two unrelated names.
    pub aliases: Aliases,
    /// Where the service areas are.
    pub database: DatabaseConfig,
    /// How long work in flight may take when the service stops.
    pub grace: Duration,
}

/// Somebody who knows addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Geocoder {
    /// CartoCiudad.
    CartoCiudad(Endpoint),
    /// Nominatim.
    Nominatim(Endpoint),
    /// Photon.
    Photon(Endpoint),
    /// What is loaded in the database.
    Offline,
}

/// A provider on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Base URL, without a trailing slash.
    pub url: String,
    /// Limit of one request.
    pub timeout: Duration,
    /// Requests a second at most.
    pub per_second: u32,
}
