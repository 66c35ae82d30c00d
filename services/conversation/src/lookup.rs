//! Lookups at the geocode service, outside of any transaction.
//!
//! The service may stand at several addresses, which come and go ([`addresses`]); each lookup goes to one of them and,
//! since it only reads, to another one when that does not answer ([`backends`]).

pub mod addresses;
mod backends;

use std::sync::Arc;
use std::time::Duration;

use dialogue::{Candidate, Coverage, Language, Point, Verdict};
use proto::geocode::v1 as wire;
use proto::geocode::v1::resolve_response::Verdict as WireVerdict;
use tokio_util::sync::CancellationToken;
use tonic::transport::Uri;
use tonic::{Code, Request, Status};

use addresses::{Name, Resolver};
use backends::{Backends, Call, Client};

/// The longest that the gate may take: a look into our own database, which a pin waits for.
const COVERS: Duration = Duration::from_secs(4);

/// A future of a collaborator.
pub type Pending<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a lookup has no answer.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// The service is away or too slow, or has no area loaded: the event waits, uncharged.
    #[error("geocode does not answer: {0}")]
    Unavailable(&'static str),
    /// The service refuses what we ask: a fault of ours.
    #[error("geocode refuses the question: {0}")]
    Refused(&'static str),
}

/// Where addresses and points are looked up.
pub trait Geocoder: Send + Sync {
    /// Whether a service area covers the point.
    fn covers(&self, point: Point) -> Pending<'_, Result<Coverage, LookupError>>;
    /// How the point is called, if anything near has a name.
    fn reverse(&self, point: Point, language: Language) -> Pending<'_, Result<Option<String>, LookupError>>;
    /// Where a typed address is.
    fn resolve<'a>(
        &'a self,
        text: &'a str,
        language: Language,
        street: Option<&'a str>,
    ) -> Pending<'a, Result<Verdict, LookupError>>;
}

/// The geocode service over gRPC, at all of its addresses.
#[derive(Clone)]
pub struct GrpcGeocoder {
    backends: Arc<Backends>,
    timeout: Duration,
}

impl GrpcGeocoder {
    /// A client that knows no address before [`GrpcGeocoder::follow`] runs, and connects when it is first used.
    ///
    /// # Errors
    /// The URL is not one of gRPC without TLS.
    pub fn new(url: &str, timeout: Duration) -> anyhow::Result<Self> {
        let name = Name::of(url)?;
        Ok(Self::at(name.origin().clone(), Box::new(name), timeout))
    }

    /// As [`GrpcGeocoder::new`], where somebody else knows the addresses of `origin`.
    pub fn at(origin: Uri, resolver: Box<dyn Resolver>, timeout: Duration) -> Self {
        Self { backends: Arc::new(Backends::new(origin, resolver)), timeout }
    }

    /// Keeps the addresses true until `stopping`: looks again after `every`, and at once when one does not answer.
    pub async fn follow(&self, every: Duration, stopping: CancellationToken) {
        self.backends.follow(every, stopping).await;
    }
}

/// A request with our deadline, which the service honours, and our trace context.
fn request<T>(message: T, left: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(left);
    if let Some(traceparent) = runtime::trace::current().and_then(|value| value.parse().ok()) {
        request.metadata_mut().insert("traceparent", traceparent);
    }
    request
}

impl Geocoder for GrpcGeocoder {
    fn covers(&self, point: Point) -> Pending<'_, Result<Coverage, LookupError>> {
        Box::pin(async move {
            let asked = wire::CoversRequest { latitude: point.latitude, longitude: point.longitude };
            let ask = |mut client: Client, left| -> Call<_> {
                let asked = request(asked, left);
                Box::pin(async move { client.covers(asked).await })
            };
            let timeout = self.timeout.min(COVERS);
            // Whoever does not look into the database in half of that will not in all of it.
            let answer = self.backends.ask(timeout, timeout / 2, ask).await?;
            Ok(if answer.inside {
                Coverage::Inside { area_id: answer.area_id, area_version: answer.area_version }
            } else {
                Coverage::Outside { metres: answer.metres_to_border }
            })
        })
    }

    fn reverse(&self, point: Point, language: Language) -> Pending<'_, Result<Option<String>, LookupError>> {
        Box::pin(async move {
            let asked = wire::ReverseRequest {
                latitude: point.latitude,
                longitude: point.longitude,
                language: language.as_str().to_owned(),
            };
            let ask = |mut client: Client, left| -> Call<_> {
                let asked = request(asked.clone(), left);
                Box::pin(async move { client.reverse(asked).await })
            };
            Ok(self.backends.ask(self.timeout, self.timeout, ask).await?.address)
        })
    }

    fn resolve<'a>(
        &'a self,
        text: &'a str,
        language: Language,
        street: Option<&'a str>,
    ) -> Pending<'a, Result<Verdict, LookupError>> {
        Box::pin(async move {
            let asked = wire::ResolveRequest {
                text: text.to_owned(),
                language: language.as_str().to_owned(),
                street: street.map(str::to_owned),
                bias: None,
            };
            let ask = |mut client: Client, left| -> Call<_> {
                let asked = request(asked.clone(), left);
                Box::pin(async move { client.resolve(asked).await })
            };
            verdict(self.backends.ask(self.timeout, self.timeout, ask).await?)
                .ok_or(LookupError::Refused("an answer without a verdict"))
        })
    }
}

fn classify(status: &Status) -> LookupError {
    match status.code() {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::Cancelled
        | Code::Aborted
        | Code::ResourceExhausted
        | Code::Internal
        | Code::Unknown
        | Code::DataLoss => LookupError::Unavailable("no answer in time"),
        Code::FailedPrecondition => {
            LookupError::Unavailable("no service area is loaded: run `abisu area load`")
        }
        Code::Unimplemented | Code::PermissionDenied | Code::Unauthenticated => {
            LookupError::Unavailable("something else answers at ABISU_GEOCODE_URL")
        }
        Code::InvalidArgument | Code::OutOfRange | Code::NotFound | Code::AlreadyExists | Code::Ok => {
            LookupError::Refused("invalid argument")
        }
    }
}

fn verdict(answer: wire::ResolveResponse) -> Option<Verdict> {
    Some(match answer.verdict? {
        WireVerdict::ExactDoor(found) => Verdict::ExactDoor(candidate(found.candidate?)),
        WireVerdict::NearestDoor(found) => Verdict::NearestDoor {
            candidate: candidate(found.candidate?),
            asked: found.asked,
            found: found.found,
        },
        WireVerdict::StreetOnly(found) => Verdict::StreetOnly { street: found.street },
        WireVerdict::Place(found) => Verdict::Place(candidate(found.candidate?)),
        WireVerdict::Several(found) => {
            Verdict::Several(found.candidates.into_iter().map(candidate).collect())
        }
        WireVerdict::Vague(_) => Verdict::Vague,
        WireVerdict::Outside(_) => Verdict::Outside,
        WireVerdict::OtherTown(found) => Verdict::OtherTown(found.name),
        WireVerdict::NotFound(_) => Verdict::NotFound,
        WireVerdict::Unavailable(_) => Verdict::Unavailable,
    })
}

fn candidate(found: wire::Candidate) -> Candidate {
    Candidate {
        point: Point { latitude: found.latitude, longitude: found.longitude },
        address: found.address,
        area_id: found.area_id,
        area_version: found.area_version,
    }
}
