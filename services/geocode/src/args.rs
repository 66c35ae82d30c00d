//! Flags and environment; `--help` is the reference.

use std::net::SocketAddr;
use std::time::Duration;

use runtime::ServiceArgs;
use runtime::config::{CityArgs, ConfigError, DatabaseArgs, ShellArgs, parse_base_url, parse_ms};

use crate::config::Config;

/// Says where a citizen means, how sure it is, and whether the city serves it. Answers gRPC, reads service areas in
/// Postgres and asks CartoCiudad for addresses.
#[derive(clap::Parser)]
#[command(name = "geocode", version)]
pub struct Args {
    /// Address that gRPC listens on
    #[arg(long, env = "ABISU_LISTEN", default_value = "0.0.0.0:50051")]
    listen: SocketAddr,
    /// Base URL of the CartoCiudad geocoder, without /candidates, /find or /reverseGeocode
    #[arg(
        long,
        env = "ABISU_CARTOCIUDAD_URL",
        default_value = "https://www.cartociudad.es/geocoder/api/geocoder",
        value_parser = parse_base_url
    )]
    cartociudad_url: String,
    /// How long one request to CartoCiudad may take; an answer to a citizen waits for twice as long at most
    #[arg(long, env = "ABISU_CARTOCIUDAD_TIMEOUT_MS", default_value = "5000", value_parser = parse_ms)]
    cartociudad_timeout: Duration,
    #[command(flatten)]
    city: CityArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    shell: ShellArgs,
}

impl ServiceArgs for Args {
    type Config = Config;

    fn shell(&self) -> &ShellArgs {
        &self.shell
    }

    fn config(self) -> Result<Config, ConfigError> {
        let Self { listen, cartociudad_url, cartociudad_timeout, city, database, shell } = self;
        if cartociudad_timeout.is_zero() {
            return Err(ConfigError::invalid("ABISU_CARTOCIUDAD_TIMEOUT_MS", "must be above 0"));
        }
        if city.city_name.trim().is_empty() || city.city_name.contains(',') {
            return Err(ConfigError::invalid(
                "ABISU_CITY_NAME",
                "must be the official name of one municipality, without a comma",
            ));
        }
        Ok(Config {
            listen,
            cartociudad_url,
            cartociudad_timeout,
            city_name: city.city_name,
            city_ine_code: city.city_ine_code,
            city_province_code: city.city_province_code,
            database: database.config()?,
            grace: shell.grace,
        })
    }
}
