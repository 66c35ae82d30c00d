//! The gRPC surface: checks fields, carries trace context, turns answers into the messages of `proto/geocode/v1`.
//! Nothing that a citizen wrote and no coordinate gets into a log or a span from here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::geocode::v1 as pb;
use proto::geocode::v1::geocode_server::Geocode;
use proto::geocode::v1::resolve_response::Verdict as Reply;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};
use tracing::{Instrument, Span};

use crate::coverage::Area;
use crate::differ::{Difference, Part};
use crate::metrics::VerdictLabel;
use crate::rank::{Match, Verdict};
use crate::resolve::{Answer, Question, Resolver};
use crate::{Error, Language, Point, tidy};

/// Longer than any message of a chat.
const LONGEST_TEXT: usize = 4096;
/// Points of one question.
const MOST_POINTS: usize = 10_000;
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

    async fn resolve(
        &self,
        request: pb::ResolveRequest,
        within: Option<Duration>,
    ) -> Result<pb::ResolveResponse, Error> {
        let language = Language::parse(&request.language)?;
        if request.text.len() > LONGEST_TEXT {
            return Err(Error::invalid("text", "must not be longer than 4096 bytes"));
        }
        if request.street.as_ref().is_some_and(|street| street.len() > LONGEST_TEXT) {
            return Err(Error::invalid("street", "must not be longer than 4096 bytes"));
        }
        let bias = request.bias.map(|bias| Point::new(bias.latitude, bias.longitude)).transpose()?;
        let started = Instant::now();
        let (text, street) = (request.text.as_str(), request.street.as_deref());
        let answer = self.resolver.resolve(Question { text, street, language, bias, within }).await?;
        let reply = self.reply(answer, language);
        let label = label(&reply);
        self.resolver.metrics.resolved(label);
        let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(verdict = label.name(), elapsed_ms, "resolved: {}", label.name());
        Ok(pb::ResolveResponse { verdict: Some(reply) })
    }

    async fn reverse(
        &self,
        request: pb::ReverseRequest,
        within: Option<Duration>,
    ) -> Result<pb::ReverseResponse, Error> {
        let language = Language::parse(&request.language)?;
        let point = Point::new(request.latitude, request.longitude)?;
        let (address, distance_metres) = self.resolver.reverse(point, language, within).await?.unzip();
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

    async fn covers_all(&self, request: pb::CoversAllRequest) -> Result<pb::CoversAllResponse, Error> {
        if request.points.len() > MOST_POINTS {
            return Err(Error::invalid("points", "must not be more than 10,000"));
        }
        let points = request.points.iter().map(|point| Point::new(point.latitude, point.longitude));
        let areas = self.resolver.covers_all(&points.collect::<Result<Vec<_>, _>>()?).await?;
        let points = areas.into_iter().map(|area| match area {
            Some(Area { id, version }) => pb::Coverage { inside: true, area_id: id, area_version: version },
            None => pb::Coverage::default(),
        });
        Ok(pb::CoversAllResponse { points: points.collect() })
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
                    differences: Vec::new(),
                });
                match inside {
                    true => Reply::Place(pb::Place { candidate }),
                    false => Reply::Outside(pb::Outside { candidate }),
                }
            }
            Answer::Judged { verdict, street } => match *verdict {
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
                    Reply::Several(pb::Several { candidates: self.several(found, language) })
                }
                Verdict::Outside(found) => Reply::Outside(pb::Outside { candidate: found.map(candidate) }),
                Verdict::NotFound => Reply::NotFound(pb::NotFound {}),
            },
        }
    }

    /// Candidates that can be told apart: those of one wording get their village behind it.
    fn several(&self, found: Vec<Match>, language: Language) -> Vec<pb::Candidate> {
        let villages: Vec<String> = found.iter().map(|m| tidy::name(&m.found.locality)).collect();
        let mut candidates: Vec<pb::Candidate> =
            found.into_iter().map(|found| self.candidate(found, language)).collect();
        let addresses: Vec<String> = candidates.iter().map(|candidate| candidate.address.clone()).collect();
        for (candidate, village) in candidates.iter_mut().zip(villages) {
            let alike = addresses.iter().filter(|address| **address == candidate.address).count();
            if alike > 1 && !village.is_empty() {
                candidate.address = format!("{} ({village})", candidate.address);
            }
        }
        candidates
    }

    fn candidate(&self, matched: Match, language: Language) -> pb::Candidate {
        let Match { found, confidence, differences } = matched;
        let address = tidy::address(&found, language, &self.resolver.aliases);
        let (area_id, area_version) = found.area.map(|area| (area.id, area.version)).unwrap_or_default();
        // Only a street lacks a point, and it becomes a candidate only with one.
        let (latitude, longitude) =
            found.point.map(|point| (point.latitude, point.longitude)).unwrap_or_default();
        pb::Candidate {
            latitude,
            longitude,
            address,
            area_id,
            area_version,
            provider: found.provider.to_owned(),
            confidence,
            differences: differences.into_iter().map(difference).collect(),
        }
    }
}

fn difference(difference: Difference) -> pb::Difference {
    let Difference { part, asked, found } = difference;
    let part = match part {
        Part::Kind => pb::difference::Part::Kind,
        Part::Name => pb::difference::Part::Name,
        Part::Door => pb::difference::Part::Door,
    };
    pb::Difference { part: part.into(), asked, found }
}

/// How long the caller waits, as it says in the request: digits and a unit.
fn within(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let amount = digits.parse::<u32>().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(3600) * amount,
        "M" => Duration::from_secs(60) * amount,
        "S" => Duration::from_secs(1) * amount,
        "m" => Duration::from_millis(1) * amount,
        "u" => Duration::from_micros(1) * amount,
        "n" => Duration::from_nanos(1) * amount,
        _ => return None,
    })
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
        let within = within(request.metadata());
        let answer = Self::resolve(self, request.into_inner(), within);
        async { Ok(Response::new(answer.await?)) }.instrument(span).await
    }

    async fn reverse(
        &self,
        request: Request<pb::ReverseRequest>,
    ) -> Result<Response<pb::ReverseResponse>, Status> {
        let span = span("geocode.v1.Geocode/Reverse", request.metadata());
        let within = within(request.metadata());
        let answer = Self::reverse(self, request.into_inner(), within);
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

    async fn covers_all(
        &self,
        request: Request<pb::CoversAllRequest>,
    ) -> Result<Response<pb::CoversAllResponse>, Status> {
        let span = span("geocode.v1.Geocode/CoversAll", request.metadata());
        let answer = Self::covers_all(self, request.into_inner());
        async { Ok(Response::new(answer.await?)) }.instrument(span).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_read_as_grpc_writes_it() {
        for (text, millis) in
            [("5000m", Some(5000)), ("2S", Some(2000)), ("3000000u", Some(3000)), ("1H", Some(3_600_000))]
        {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            assert_eq!(within(&metadata), millis.map(Duration::from_millis), "{text}");
        }
        for text in ["", "5", "m", "5x", "-1S"] {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            assert_eq!(within(&metadata), None, "{text}");
        }
    }
}
