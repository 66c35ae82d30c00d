//! Flags and environment; `--help` is the reference.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use runtime::ServiceArgs;
use runtime::config::{CityArgs, ConfigError, DatabaseArgs, ShellArgs, parse_base_url, parse_ms};

use crate::alias::Aliases;
use crate::config::{Config, Endpoint, Geocoder};

/// Somebody who knows addresses, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GeocoderName {
    /// CartoCiudad, of Spain's geographic institute
    Cartociudad,
    /// Nominatim, over OpenStreetMap
    Nominatim,
    /// Photon, over OpenStreetMap
    Photon,
    /// The streets that are loaded in the database
    Offline,
}

/// Says where a citizen means, how sure it is, and whether the city serves it. Answers gRPC, reads service areas in
/// Postgres and asks CartoCiudad for addresses.
#[derive(clap::Parser)]
#[command(name = "geocode", version)]
pub struct Args {
    /// Address that gRPC listens on
    #[arg(long, env = "ABISU_LISTEN", default_value = "0.0.0.0:50051")]
    listen: SocketAddr,
    /// Who is asked for addresses; `offline` is what `abisu geocoder load` has put into the database
    #[arg(long, env = "ABISU_GEOCODER", value_enum, default_value = "cartociudad")]
    geocoder: GeocoderName,
    /// Who is asked instead while that one is away, in this order, separated by commas
    #[arg(long, env = "ABISU_GEOCODER_FALLBACK", value_enum, value_delimiter = ',')]
    geocoder_fallback: Vec<GeocoderName>,
    /// Base URL of the CartoCiudad geocoder, without /candidates, /find or /reverseGeocode
    #[arg(
        long,
        env = "ABISU_CARTOCIUDAD_URL",
        default_value = "https://www.cartociudad.es/geocoder/api/geocoder",
        value_parser = parse_base_url
    )]
    cartociudad_url: String,
    /// How long one request to CartoCiudad may take; an answer to a citizen waits for twice as long at most
    #[arg(long, env = "ABISU_CARTOCIUDAD_TIMEOUT_MS", default_value = "5000", value_name = "MS", value_parser = parse_ms)]
    cartociudad_timeout: Duration,
    /// Requests a second to CartoCiudad, from each replica
    #[arg(long, env = "ABISU_CARTOCIUDAD_RATE", default_value = "10", value_parser = rate())]
    cartociudad_rate: u32,
    /// Base URL of Nominatim, without /search or /reverse
    #[arg(
        long,
        env = "ABISU_NOMINATIM_URL",
        default_value = "https://nominatim.openstreetmap.org",
        value_parser = parse_base_url
    )]
    nominatim_url: String,
    /// How long one request to Nominatim may take
    #[arg(long, env = "ABISU_NOMINATIM_TIMEOUT_MS", default_value = "5000", value_name = "MS", value_parser = parse_ms)]
    nominatim_timeout: Duration,
    /// Requests a second to Nominatim, from each replica; the public one allows one for the whole installation
    #[arg(long, env = "ABISU_NOMINATIM_RATE", default_value = "1", value_parser = rate())]
    nominatim_rate: u32,
    /// Base URL of Photon, without /api or /reverse
    #[arg(
        long,
        env = "ABISU_PHOTON_URL",
        default_value = "https://photon.komoot.io",
        value_parser = parse_base_url
    )]
    photon_url: String,
    /// How long one request to Photon may take
    #[arg(long, env = "ABISU_PHOTON_TIMEOUT_MS", default_value = "5000", value_name = "MS", value_parser = parse_ms)]
    photon_timeout: Duration,
    /// Requests a second to Photon, from each replica
    #[arg(long, env = "ABISU_PHOTON_RATE", default_value = "5", value_parser = rate())]
    photon_rate: u32,
    /// Table of the city's streets with two unrelated names, in place of the built-in one: INE code, Spanish name,
    /// Basque name, by tabs
    #[arg(long, env = "ABISU_STREET_ALIASES_FILE", value_name = "FILE")]
    street_aliases_file: Option<PathBuf>,
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
        let geocoder = self.endpoint(self.geocoder)?;
        let fallback =
            self.geocoder_fallback.iter().map(|name| self.endpoint(*name)).collect::<Result<Vec<_>, _>>()?;
        let mut seen = vec![self.geocoder];
        for name in &self.geocoder_fallback {
            if seen.contains(name) {
                return Err(ConfigError::invalid(
                    "ABISU_GEOCODER_FALLBACK",
                    "names a provider twice, or the one of ABISU_GEOCODER",
                ));
            }
            seen.push(*name);
        }
        let aliases = self.aliases()?;
        let Self { listen, city, database, shell, .. } = self;
        if city.city_name.trim().is_empty() || city.city_name.contains(',') {
            return Err(ConfigError::invalid(
                "ABISU_CITY_NAME",
                "must be the official name of one municipality, without a comma",
            ));
        }
        Ok(Config {
            listen,
            geocoder,
            fallback,
            city_name: city.city_name,
            city_ine_code: city.city_ine_code,
            city_province_code: city.city_province_code,
            aliases,
            database: database.config()?,
            grace: shell.grace,
        })
    }
}

impl Args {
    fn aliases(&self) -> Result<Aliases, ConfigError> {
        const VARIABLE: &str = "ABISU_STREET_ALIASES_FILE";
        let code = &self.city.city_ine_code;
        let Some(file) = &self.street_aliases_file else {
            return Ok(Aliases::of(code));
        };
        let table = std::fs::read_to_string(file).map_err(|error| {
            ConfigError::invalid(VARIABLE, format!("{}: cannot be read: {error}", file.display()))
        })?;
        Aliases::read(&table, code)
            .map_err(|error| ConfigError::invalid(VARIABLE, format!("{}: {error}", file.display())))
    }

    fn endpoint(&self, name: GeocoderName) -> Result<Geocoder, ConfigError> {
        let (variable, url, timeout, per_second) = match name {
            GeocoderName::Cartociudad => (
                "ABISU_CARTOCIUDAD_TIMEOUT_MS",
                &self.cartociudad_url,
                self.cartociudad_timeout,
                self.cartociudad_rate,
            ),
            GeocoderName::Nominatim => (
                "ABISU_NOMINATIM_TIMEOUT_MS",
                &self.nominatim_url,
                self.nominatim_timeout,
                self.nominatim_rate,
            ),
            GeocoderName::Photon => {
                ("ABISU_PHOTON_TIMEOUT_MS", &self.photon_url, self.photon_timeout, self.photon_rate)
            }
            GeocoderName::Offline => return Ok(Geocoder::Offline),
        };
        if timeout.is_zero() {
            return Err(ConfigError::invalid(variable, "must be above 0"));
        }
        let endpoint = Endpoint { url: url.clone(), timeout, per_second };
        Ok(match name {
            GeocoderName::Cartociudad => Geocoder::CartoCiudad(endpoint),
            GeocoderName::Nominatim => Geocoder::Nominatim(endpoint),
            GeocoderName::Photon => Geocoder::Photon(endpoint),
            GeocoderName::Offline => Geocoder::Offline,
        })
    }
}

/// Requests a second, for clap.
fn rate() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1000)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn config(given: &[&str]) -> Result<Config, String> {
        let fixed = ["geocode", "--database-url", "postgres://abisu_geocode@localhost/abisu"];
        let args = Args::try_parse_from(fixed.iter().chain(given)).map_err(|error| error.to_string())?;
        args.config().map_err(|error| error.to_string())
    }

    #[test]
    fn cartociudad_is_asked_unless_another_is_chosen() {
        let plain = config(&[]).unwrap();
        assert!(matches!(plain.geocoder, Geocoder::CartoCiudad(_)) && plain.fallback.is_empty());
        let chosen = config(&["--geocoder", "photon", "--geocoder-fallback", "nominatim,offline"]).unwrap();
        assert!(matches!(chosen.geocoder, Geocoder::Photon(_)));
        let [Geocoder::Nominatim(nominatim), Geocoder::Offline] = &chosen.fallback[..] else {
            panic!("two stand in: {:?}", chosen.fallback);
        };
        assert_eq!(nominatim.per_second, 1);
    }

    #[test]
    fn what_contradicts_itself_names_its_variable() {
        for (given, says) in [
            (&["--geocoder-fallback", "cartociudad"][..], "ABISU_GEOCODER_FALLBACK"),
            (&["--geocoder", "google"], "possible values"),
            (&["--cartociudad-timeout", "0"], "ABISU_CARTOCIUDAD_TIMEOUT_MS"),
            (&["--nominatim-rate", "0"], "not in 1..=1000"),
            (&["--city-name", "Alegría,Dulantzi"], "ABISU_CITY_NAME"),
            (&["--street-aliases-file", "/absent"], "ABISU_STREET_ALIASES_FILE"),
            // This file is no table.
            (&["--street-aliases-file", file!()], "ABISU_STREET_ALIASES_FILE"),
        ] {
            let error = config(given).unwrap_err();
            assert!(error.contains(says), "{given:?}: {error}");
        }
    }
}
