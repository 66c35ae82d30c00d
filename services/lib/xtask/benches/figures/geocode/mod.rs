//! Coverage and addresses over gRPC, to two services on one database: one that asks CartoCiudad (the simulator's), whose
//! good answers are remembered, and one that looks up what is loaded.

mod city;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use proto::geocode::v1::geocode_client::GeocodeClient;
use proto::geocode::v1::resolve_response::Verdict;
use proto::geocode::v1::{CoversAllRequest, ResolveRequest};
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use xtask::stack::{Options, Stack};
use xtask::tree::{ROOT, STATE, binaries};

use crate::Bench;
use crate::board::Board;
use crate::stats::percentile;

/// The shipped area: a ring of 40 points.
const RING: &str = "services/geocode/areas/vitoria-gasteiz.geojson";
const AREA_ID: &str = "vitoria-gasteiz";
/// Corners of the detailed shape.
const CORNERS: usize = 20_000;
/// Points of one call, and calls at once.
const POINTS: usize = 1_000;
const CALLERS: usize = 4;
/// An address that the simulator knows under the very words it is asked for: a question that finds nothing is never
/// remembered, so one that needs a second question would wait for its turn each time.
const KNOWN: (&str, &str) = ("Calle Dato 12", "es");
const HEALTH: &str = "health check, p99";
const CACHED: &str = "Resolve, remembered, p99";

/// Measures all of it, round by round.
pub(crate) async fn measure(bench: &Bench, board: &mut Board) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("abisu-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure_in(bench, board, &folder).await;
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure_in(bench: &Bench, board: &mut Board, folder: &Path) -> anyhow::Result<()> {
    let asking = start(bench, true, "bench-logs", &[]).await?;
    let offline = start(bench, false, "bench-logs/offline", &[("ABISU_GEOCODER", "offline")]).await?;
    let detailed = city::write_shape(&folder.join("shape.geojson"), CORNERS)?;
    let streets = city::write_doors(&folder.join("doors.csv"))?;
    offline.abisu(&["geocoder", "load", &folder.join("doors.csv").to_string_lossy()]).await?;
    let mut asked = Client::connect(&asking.urls.geocode).await?;
    let mut looked_up = Client::connect(&offline.urls.geocode).await?;
    for _ in bench.rounds() {
        for (name, shape) in [("40-point ring", ROOT.join(RING)), ("20,000-point shape", detailed.clone())] {
            let loaded = ["area", "load", &shape.to_string_lossy(), "--area-id", AREA_ID];
            asking.abisu(&loaded).await?;
            let rate = asked.covers_all(bench.length).await?;
            board.add(&format!("CoversAll, {name}"), "points/s", rate);
        }
        asked.remembered(board, bench.length).await?;
        for (name, misspelt) in [("as it is written", false), ("misspelt", true)] {
            let (mut samples, found) = looked_up.search(&streets, misspelt, bench.length).await?;
            let name = format!("Resolve, {} doors offline, {name}", city::DOORS);
            board.add(&format!("{name}, p50"), "ms", percentile(&mut samples, 0.5));
            board.add(&format!("{name}, p99"), "ms", percentile(&mut samples, 0.99));
            board.add(&format!("{name}, found"), "of 1", found);
        }
    }
    board.ratio("remembered Resolve p99 / health check p99", CACHED, HEALTH);
    Ok(())
}

async fn start(
    bench: &Bench,
    simulator: bool,
    logs: &str,
    environment: &[(&str, &str)],
) -> anyhow::Result<Stack> {
    let mut options = Options::new(binaries().await?);
    options.services = vec!["geocode"];
    options.simulator = simulator;
    options.database = Some(bench.cluster.url("abisu"));
    options.logs = STATE.join(logs);
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    options.environment = environment.iter().map(text).collect::<BTreeMap<_, _>>();
    Stack::start(options).await
}

#[derive(Clone)]
struct Client {
    geocode: GeocodeClient<Channel>,
    health: HealthClient<Channel>,
}

impl Client {
    async fn connect(url: &str) -> anyhow::Result<Self> {
        let channel = Endpoint::from_shared(url.to_owned())?.connect().await?;
        Ok(Self { geocode: GeocodeClient::new(channel.clone()), health: HealthClient::new(channel) })
    }

    /// Points a second, in calls of many.
    async fn covers_all(&self, length: Duration) -> anyhow::Result<f64> {
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..CALLERS {
            let mut client = self.geocode.clone();
            tasks.spawn(async move {
                let mut judged = 0;
                while began.elapsed() < length {
                    let points = (0..POINTS).map(|_| city::point()).collect();
                    judged += client.covers_all(CoversAllRequest { points }).await?.into_inner().points.len();
                }
                anyhow::Ok(judged)
            });
        }
        let mut judged = 0;
        while let Some(one) = tasks.join_next().await {
            judged += one??;
        }
        Ok(judged as f64 / began.elapsed().as_secs_f64())
    }

    /// An address that is remembered, in turn with the health check on the same connection.
    async fn remembered(&mut self, board: &mut Board, length: Duration) -> anyhow::Result<()> {
        let (text, language) = KNOWN;
        ensure!(self.resolve(text, language).await?, "{text:?} is not known");
        let (mut cached, mut health) = (Vec::new(), Vec::new());
        let began = Instant::now();
        while began.elapsed() < length {
            let start = Instant::now();
            self.health.check(HealthCheckRequest::default()).await?;
            health.push(start.elapsed().as_secs_f64() * 1000.0);
            let start = Instant::now();
            self.resolve(text, language).await?;
            cached.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        board.add(HEALTH, "ms", percentile(&mut health, 0.99));
        board.add(CACHED, "ms", percentile(&mut cached, 0.99));
        board.add("health check, p50", "ms", percentile(&mut health, 0.5));
        board.add("Resolve, remembered, p50", "ms", percentile(&mut cached, 0.5));
        Ok(())
    }

    /// Milliseconds of searches, one at a time, each for another door; and the share that was found.
    async fn search(
        &mut self,
        streets: &[String],
        misspelt: bool,
        length: Duration,
    ) -> anyhow::Result<(Vec<f64>, f64)> {
        let (began, mut samples, mut found) = (Instant::now(), Vec::new(), 0);
        while began.elapsed() < length {
            let mut text = city::address(streets);
            if misspelt {
                // One letter of the name is missing.
                text.remove(text.len() / 2);
            }
            let start = Instant::now();
            found += usize::from(self.resolve(&text, "es").await?);
            samples.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        let share = found as f64 / samples.len() as f64;
        Ok((samples, share))
    }

    /// Whether a text was understood as a door, or as something to choose from.
    async fn resolve(&mut self, text: &str, language: &str) -> anyhow::Result<bool> {
        let request =
            ResolveRequest { text: text.to_owned(), language: language.to_owned(), street: None, bias: None };
        match self.geocode.resolve(request).await?.into_inner().verdict.context("no verdict")? {
            Verdict::ExactDoor(_) | Verdict::NearestDoor(_) | Verdict::Several(_) => Ok(true),
            Verdict::StreetOnly(_)
            | Verdict::Place(_)
            | Verdict::Vague(_)
            | Verdict::Outside(_)
            | Verdict::OtherTown(_)
            | Verdict::NotFound(_) => Ok(false),
            Verdict::Unavailable(_) => bail!("the geocoder is not available"),
        }
    }
}
