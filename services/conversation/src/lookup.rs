//! Lookups at the geocode service, outside of any transaction.

use std::time::Duration;

use dialogue::{Candidate, Coverage, Language, Point, Verdict};
use proto::geocode::v1 as wire;
use proto::geocode::v1::geocode_client::GeocodeClient;
use proto::geocode::v1::resolve_response::Verdict as WireVerdict;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};

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

/// The geocode service over gRPC.
pub struct GrpcGeocoder {
    client: GeocodeClient<Channel>,
    timeout: Duration,
}

impl GrpcGeocoder {
    /// A client that connects when it is first used.
    ///
    /// # Errors
    /// The URL is not one.
    pub fn new(url: &str, timeout: Duration) -> anyhow::Result<Self> {
        let endpoint = Endpoint::from_shared(url.to_owned())?
            .connect_timeout(Duration::from_secs(2))
            .http2_keep_alive_interval(Duration::from_secs(10))
            .keep_alive_timeout(Duration::from_secs(5));
        Ok(Self { client: GeocodeClient::new(endpoint.connect_lazy()), timeout })
    }

    /// A request with our deadline, which the service honours, and our trace context.
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(self.timeout);
        if let Some(traceparent) = runtime::trace::current().and_then(|value| value.parse().ok()) {
            request.metadata_mut().insert("traceparent", traceparent);
        }
        request
    }

    /// Waits for an answer no longer than it may take: the deadline of the request binds the service only.
    async fn answer<T>(
        &self,
        timeout: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, LookupError> {
        match tokio::time::timeout(timeout, call).await {
            Ok(Ok(answer)) => Ok(answer.into_inner()),
            Ok(Err(status)) => Err(classify(&status)),
            Err(_) => Err(LookupError::Unavailable("no answer in time")),
        }
    }
}

impl Geocoder for GrpcGeocoder {
    fn covers(&self, point: Point) -> Pending<'_, Result<Coverage, LookupError>> {
        Box::pin(async move {
            let request =
                self.request(wire::CoversRequest { latitude: point.latitude, longitude: point.longitude });
            let mut client = self.client.clone();
            let answer = self.answer(self.timeout.min(COVERS), client.covers(request)).await?;
            Ok(if answer.inside {
                Coverage::Inside { area_id: answer.area_id, area_version: answer.area_version }
            } else {
                Coverage::Outside { metres: answer.metres_to_border }
            })
        })
    }

    fn reverse(&self, point: Point, language: Language) -> Pending<'_, Result<Option<String>, LookupError>> {
        Box::pin(async move {
            let request = self.request(wire::ReverseRequest {
                latitude: point.latitude,
                longitude: point.longitude,
                language: language.as_str().to_owned(),
            });
            let mut client = self.client.clone();
            Ok(self.answer(self.timeout, client.reverse(request)).await?.address)
        })
    }

    fn resolve<'a>(
        &'a self,
        text: &'a str,
        language: Language,
        street: Option<&'a str>,
    ) -> Pending<'a, Result<Verdict, LookupError>> {
        Box::pin(async move {
            let request = self.request(wire::ResolveRequest {
                text: text.to_owned(),
                language: language.as_str().to_owned(),
                street: street.map(str::to_owned),
                bias: None,
            });
            let mut client = self.client.clone();
            verdict(self.answer(self.timeout, client.resolve(request)).await?)
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
