//! The gRPC surface: checks fields, carries trace context, turns answers into the messages of `proto/geocode/v1`.
//! Nothing that a citizen wrote and no coordinate gets into a log or a span from here.

use std::sync::Arc;
use std::time::Instant;

use proto::geocode::v1 as pb;
use proto::geocode::v1::geocode_server::Geocode;
use proto::geocode::v1::resolve_response::Verdict as Reply;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};
use tracing::{Instrument, Span};

use crate::metrics::VerdictLabel;
use crate::rank::{Match, Verdict};
use crate::resolve::{Answer, Resolver};
use crate::{Error, Language, Point, tidy};

/// Longer than any message of a chat.
const LONGEST_TEXT: usize = 4096;
/// The provider that answers carry for coordinates in the text itself.
const LINK: &str = "link";

/// The service.
#[derive(Clone)]
pub(crate) struct Service {
    resolver: Arc<Resolver>,
}

impl Service {
    /// Serves answers of a resolver.
    pub(crate) fn new(resolver: Arc<Resolver>) -> Self {
        Self { resolver }
    }

    async fn resolve(&self, request: pb::ResolveRequest) -> Result<pb::ResolveResponse, Error> {
        let language = Language::parse(&request.language)?;
        if request.text.len() > LONGEST_TEXT {
            return Err(Error::invalid("text", "must not be longer than 4096 bytes"));
        }
        if request.street.as_ref().is_some_and(|street| street.len() > LONGEST_TEXT) {
            return Err(Error::invalid("street", "must not be longer than 4096 bytes"));
        }
        let started = Instant::now();
        let answer = self.resolver.resolve(&request.text, request.street.as_deref(), language).await?;
        let reply = self.reply(answer, language);
        let label = label(&reply);
        self.resolver.metrics.resolved(label);
        let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(verdict = label.name(), elapsed_ms, "resolved: {}", label.name());
        Ok(pb::ResolveResponse { verdict: Some(reply) })
    }

    async fn reverse(&self, request: pb::ReverseRequest) -> Result<pb::ReverseResponse, Error> {
        let language = Language::parse(&request.language)?;
        let point = Point::new(request.latitude, request.longitude)?;
        let (address, distance_metres) = self.resolver.reverse(point, language).await.unzip();
        Ok(pb::ReverseResponse { address, distance_metres: distance_metres.unwrap_or(0.0) })
    }

    async fn covers(&self, request: pb::CoversRequest) -> Result<pb::CoversResponse, Error> {
        let covered = self.resolver.covers(Point::new(request.latitude, request.longitude)?).await?;
        Ok(pb::CoversResponse {
            inside: covered.outside_by.is_none(),
            area_id: covered.area.id,
            area_version: covered.area.version,
            metres_to_border: covered.outside_by.unwrap_or(0.0),
        })
    }

    fn reply(&self, answer: Answer, language: Language) -> Reply {
        let candidate = |found: Match| self.candidate(found, language);
        match answer {
            Answer::OtherTown(name) => Reply::OtherTown(pb::OtherTown { name }),
            Answer::Vague => Reply::Vague(pb::Vague {}),
            Answer::Unavailable => Reply::Unavailable(pb::Unavailable {}),
            Answer::Pin { point, area, address } => {
                let inside = area.is_some();
                let (area_id, area_version) = area.map(|area| (area.id, area.version)).unwrap_or_default();
                let candidate = Some(pb::Candidate {
                    latitude: point.latitude,
                    longitude: point.longitude,
                    address: address.unwrap_or_default(),
                    area_id,
                    area_version,
                    provider: LINK.to_owned(),
                    confidence: 1.0,
                });
                match inside {
                    true => Reply::Place(pb::Place { candidate }),
                    false => Reply::Outside(pb::Outside { candidate }),
                }
            }
            Answer::Judged { verdict, street } => match verdict {
                Verdict::Exact(found) => {
                    Reply::ExactDoor(pb::ExactDoor { candidate: Some(candidate(found)) })
                }
                Verdict::Nearest { found, asked } => Reply::NearestDoor(pb::NearestDoor {
                    asked: asked.to_string(),
                    found: found.found.door.as_ref().map(ToString::to_string).unwrap_or_default(),
                    candidate: Some(candidate(found)),
                }),
                Verdict::Street(found) => Reply::StreetOnly(pb::StreetOnly {
                    street,
                    candidate: found.filter(|found| found.found.point.is_some()).map(candidate),
                }),
                Verdict::Place(found) => Reply::Place(pb::Place { candidate: Some(candidate(found)) }),
                Verdict::Several(found) => {
                    Reply::Several(pb::Several { candidates: found.into_iter().map(candidate).collect() })
                }
                Verdict::Outside(found) => Reply::Outside(pb::Outside { candidate: found.map(candidate) }),
                Verdict::NotFound => Reply::NotFound(pb::NotFound {}),
            },
        }
    }

    fn candidate(&self, matched: Match, language: Language) -> pb::Candidate {
        let Match { found, confidence } = matched;
        let address = tidy::address(&found, language, &self.resolver.aliases);
        let (area_id, area_version) = found.area.map(|area| (area.id, area.version)).unwrap_or_default();
        // Only a street lacks a point, and it becomes a candidate only with one.
        let (latitude, longitude) =
            found.point.map(|point| (point.latitude, point.longitude)).unwrap_or_default();
        let provider = self.resolver.provider.name().to_owned();
        pb::Candidate { latitude, longitude, address, area_id, area_version, provider, confidence }
    }
}

fn label(reply: &Reply) -> VerdictLabel {
    match reply {
        Reply::ExactDoor(_) => VerdictLabel::ExactDoor,
        Reply::NearestDoor(_) => VerdictLabel::NearestDoor,
        Reply::StreetOnly(_) => VerdictLabel::StreetOnly,
        Reply::Place(_) => VerdictLabel::Place,
        Reply::Several(_) => VerdictLabel::Several,
        Reply::Vague(_) => VerdictLabel::Vague,
        Reply::Outside(_) => VerdictLabel::Outside,
        Reply::OtherTown(_) => VerdictLabel::OtherTown,
        Reply::NotFound(_) => VerdictLabel::NotFound,
        Reply::Unavailable(_) => VerdictLabel::Unavailable,
    }
}

/// The span of a call, a child of the caller's.
fn span(method: &'static str, metadata: &MetadataMap) -> Span {
    let span = tracing::info_span!("geocode", otel.name = method, otel.kind = "server", rpc.system = "grpc");
    runtime::trace::set_parent(&span, metadata.get("traceparent").and_then(|value| value.to_str().ok()));
    span
}

#[tonic::async_trait]
impl Geocode for Service {
    async fn resolve(
        &self,
        request: Request<pb::ResolveRequest>,
    ) -> Result<Response<pb::ResolveResponse>, Status> {
        let span = span("geocode.v1.Geocode/Resolve", request.metadata());
        let answer = Self::resolve(self, request.into_inner());
        async { Ok(Response::new(answer.await?)) }.instrument(span).await
    }

    async fn reverse(
        &self,
        request: Request<pb::ReverseRequest>,
    ) -> Result<Response<pb::ReverseResponse>, Status> {
        let span = span("geocode.v1.Geocode/Reverse", request.metadata());
        let answer = Self::reverse(self, request.into_inner());
        async { Ok(Response::new(answer.await?)) }.instrument(span).await
    }

    async fn covers(
        &self,
        request: Request<pb::CoversRequest>,
    ) -> Result<Response<pb::CoversResponse>, Status> {
        let span = span("geocode.v1.Geocode/Covers", request.metadata());
        let answer = Self::covers(self, request.into_inner());
        async { Ok(Response::new(answer.await?)) }.instrument(span).await
    }
}
