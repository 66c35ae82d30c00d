//! The service as tests start it.

use std::net::SocketAddr;
use std::time::Duration;

use geocode::config::{Config, Endpoint, Geocoder};
use proto::geocode::v1 as pb;
use proto::geocode::v1::geocode_client::GeocodeClient;
use proto::geocode::v1::resolve_response::Verdict;
use runtime::Shell;
use runtime::config::DatabaseConfig;
use secrecy::SecretString;
use testkit::Database;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::area;
use crate::cartociudad::CartoCiudad;

/// The service with its neighbours, in this process.
pub(crate) struct App {
    pub(crate) database: Database,
    pub(crate) city: CartoCiudad,
    pub(crate) shell: Shell,
    pub(crate) address: SocketAddr,
    pub(crate) client: GeocodeClient<Channel>,
}

/// A connection to the service.
pub(crate) async fn channel(address: SocketAddr) -> Channel {
    Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

impl App {
    pub(crate) async fn start() -> Self {
        let database = testkit::database().await;
        let url = database.url_as("abisu_geocode");
        Self::start_on(database, url).await
    }

    pub(crate) async fn start_on(database: Database, url: String) -> Self {
        Self::start_with(database, url, |_| {}).await
    }

    /// Starts it with a configuration that differs from the usual one.
    pub(crate) async fn start_with(
        database: Database,
        url: String,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let city = CartoCiudad::start().await;
        let shell = Shell::detached("geocode");
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            geocoder: Geocoder::CartoCiudad(Endpoint {
                url: city.url.clone(),
                timeout: Duration::from_secs(5),
                per_second: 1000,
            }),
            fallback: Vec::new(),
            city_name: "Vitoria-Gasteiz".to_owned(),
            city_ine_code: "01059".to_owned(),
            city_province_code: "01".to_owned(),
            aliases: geocode::Aliases::of("01059"),
            database: DatabaseConfig { url: SecretString::from(url), pool: 4, file: None },
            grace: Duration::from_secs(4),
        };
        change(&mut config);
        let address = geocode::start(config, &shell).await.unwrap();
        let client = GeocodeClient::new(channel(address).await);
        Self { database, city, shell, address, client }
    }

    pub(crate) async fn in_vitoria() -> Self {
        let app = Self::start().await;
        area::load_vitoria(&app.database).await;
        app
    }

    pub(crate) async fn resolve_in(&self, language: &str, text: &str, street: Option<&str>) -> Verdict {
        let request = pb::ResolveRequest {
            text: text.to_owned(),
            language: language.to_owned(),
            street: street.map(str::to_owned),
            bias: None,
        };
        self.client.clone().resolve(request).await.unwrap().into_inner().verdict.unwrap()
    }

    pub(crate) async fn resolve(&self, text: &str) -> Verdict {
        self.resolve_in("es", text, None).await
    }

    pub(crate) async fn health(&self, service: &str) -> ServingStatus {
        let request = HealthCheckRequest { service: service.to_owned() };
        HealthClient::new(channel(self.address).await).check(request).await.unwrap().into_inner().status()
    }
}

/// The verdict in short: its name and its addresses.
pub(crate) fn shown(verdict: &Verdict) -> String {
    let address =
        |candidate: &Option<pb::Candidate>| candidate.as_ref().map_or("-", |c| &c.address).to_owned();
    match verdict {
        Verdict::ExactDoor(v) => format!("exact {}", address(&v.candidate)),
        Verdict::NearestDoor(v) => {
            format!("nearest {} asked {} found {}", address(&v.candidate), v.asked, v.found)
        }
        Verdict::StreetOnly(v) => format!("street {}", v.street),
        Verdict::Place(v) => format!("place {}", address(&v.candidate)),
        Verdict::Several(v) => {
            format!("several {}", v.candidates.iter().map(|c| &c.address[..]).collect::<Vec<_>>().join(", "))
        }
        Verdict::Vague(_) => "vague".to_owned(),
        Verdict::Outside(v) => format!("outside {}", address(&v.candidate)),
        Verdict::OtherTown(v) => format!("other town {}", v.name),
        Verdict::NotFound(_) => "not found".to_owned(),
        Verdict::Unavailable(_) => "unavailable".to_owned(),
    }
}
