//! The three questions, put together from parsing, provider, coverage and ranking.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::{Instant, timeout_at};

use crate::alias::Aliases;
use crate::coverage::{Area, Covered, cover, covers};
use crate::gate::Gate;
use crate::gazetteer::Gazetteer;
use crate::metrics::Metrics;
use crate::parse::{Address, Door, Parsed, parse};
use crate::provider::{Away, Found, FoundKind, Provider};
use crate::query::Query;
use crate::rank::{self, Match, Verdict};
use crate::{Error, Language, Point, query, tidy};

/// Further away than this, the address of a pin is not its own.
const NEXT_TO: f64 = 100.0;
/// How long the address of a pin may take: it is a courtesy, and the citizen waits for the answer.
const COURTESY: Duration = Duration::from_secs(2);

/// What a citizen typed, and what is known besides.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The words.
    pub text: &'a str,
    /// The street that was named before, when the text may be its number.
    pub street: Option<&'a str>,
    /// The language of the answer.
    pub language: Language,
    /// A point that the citizen is likely to mean something near to.
    pub bias: Option<Point>,
    /// How long the answer may take, if the caller has said so.
    pub within: Option<Duration>,
}

/// What a typed text means.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A judgement of what the provider knows. `street` is the name to come back with when there is no door.
    Judged {
        /// The judgement.
        verdict: Box<Verdict>,
        /// The street as people write it, for a verdict without a door.
        street: String,
    },
    /// Coordinates in the text.
    Pin {
        /// The point.
        point: Point,
        /// The area that covers it.
        area: Option<Area>,
        /// The address next to it.
        address: Option<String>,
    },
    /// Another town.
    OtherTown(String),
    /// Too little, or no address.
    Vague,
    /// The provider is away.
    Unavailable,
}

/// Answers the questions of the service.
pub struct Resolver {
    pub(crate) pool: PgPool,
    pub(crate) gate: Gate,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) aliases: Aliases,
    pub(crate) names: Gazetteer,
    /// How long all requests for one answer may take together.
    pub(crate) patience: Duration,
    pub(crate) metrics: Metrics,
}

impl Resolver {
    /// What a text means.
    ///
    /// # Errors
    /// No area is loaded, or the database is away.
    pub async fn resolve(&self, question: Question<'_>) -> Result<Answer, Error> {
        let asked = match parse(question.text, &self.names) {
            Parsed::Address(address) => address,
            Parsed::Number(door) => match question.street.and_then(|street| self.number_of(street, door)) {
                Some(address) => address,
                None => return Ok(Answer::Vague),
            },
            Parsed::Pin(point) => return self.pin(point, question).await,
            Parsed::OtherTown(name) => return Ok(Answer::OtherTown(name)),
            Parsed::Vague => return Ok(Answer::Vague),
        };
        self.search(&asked, question).await
    }

    /// The address next to a point that an area covers, with its distance in metres; `None` when it is far, elsewhere
    /// or unknown, and for a point outside, of which no provider hears.
    ///
    /// # Errors
    /// No area is loaded, or the database is away.
    pub async fn reverse(
        &self,
        point: Point,
        language: Language,
        within: Option<Duration>,
    ) -> Result<Option<(String, f64)>, Error> {
        if cover(&self.pool, &[point]).await?.pop().flatten().is_none() {
            return Ok(None);
        }
        Ok(self.address_of(point, language, within).await)
    }

    async fn address_of(
        &self,
        point: Point,
        language: Language,
        within: Option<Duration>,
    ) -> Option<(String, f64)> {
        let deadline = Instant::now() + self.patience(within).min(COURTESY);
        // A provider that is away costs the address, nothing else; its guard has logged it.
        let found = timeout_at(deadline, self.provider.reverse(point)).await.ok()?.ok()??;
        let metres = point.metres_to(found.point?);
        (metres <= NEXT_TO).then(|| (tidy::address(&found, language, &self.aliases), metres))
    }

    /// Our own limit, or a little less than the caller's, so that the answer still gets there.
    fn patience(&self, within: Option<Duration>) -> Duration {
        within.map_or(self.patience, |within| self.patience.min(within.mul_f64(0.9)))
    }

    /// Where a point lies.
    ///
    /// # Errors
    /// No area is loaded, or the database is away.
    pub async fn covers(&self, point: Point) -> Result<Covered, Error> {
        let covered = covers(&self.pool, point).await?;
        self.metrics.covered(covered.outside_by.is_none());
        Ok(covered)
    }

    /// The areas that cover points, in their order.
    ///
    /// # Errors
    /// No area is loaded, or the database is away.
    pub async fn covers_all(&self, points: &[Point]) -> Result<Vec<Option<Area>>, Error> {
        let areas = cover(&self.pool, points).await?;
        for area in &areas {
            self.metrics.covered(area.is_some());
        }
        Ok(areas)
    }

    fn number_of(&self, street: &str, door: Door) -> Option<Address> {
        match parse(street, &self.names) {
            Parsed::Address(address) => Some(Address { door: Some(door), ..address }),
            Parsed::Number(_) | Parsed::Pin(_) | Parsed::OtherTown(_) | Parsed::Vague => None,
        }
    }

    async fn pin(&self, point: Point, question: Question<'_>) -> Result<Answer, Error> {
        let area = cover(&self.pool, &[point]).await?.pop().flatten();
        // The address is asked for only once the gate has let the point in.
        let address = match area {
            Some(_) => self.address_of(point, question.language, question.within).await,
            None => None,
        };
        Ok(Answer::Pin { point, area, address: address.map(|(address, _)| address) })
    }

    async fn search(&self, asked: &Address, question: Question<'_>) -> Result<Answer, Error> {
        let deadline = Instant::now() + self.patience(question.within);
        let mut found: Vec<Found> = Vec::new();
        let mut verdict = Verdict::NotFound;
        let mut nothing: Vec<Query> = Vec::new();
        let plan = query::plan(asked, &self.aliases);
        for (at, query) in plan.iter().enumerate() {
            if plan[..at].iter().any(|asked| self.provider.has_answered(asked, query)) {
                continue;
            }
            match timeout_at(deadline, self.provider.search(query)).await.unwrap_or(Err(Away::Timeout)) {
                Ok(more) if more.is_empty() => nothing.push(query.clone()),
                Ok(more) => found.extend(more),
                // What is known of the street already is worth more than an excuse; nothing known is one.
                Err(_) if verdict == Verdict::NotFound => return Ok(Answer::Unavailable),
                Err(_) => break,
            }
            verdict = rank::rank(asked, &found, &self.aliases);
            self.gate(verdict.found_mut()).await?;
            verdict = rank::gate(verdict);
            let enough = asked.door.is_none() && matches!(verdict, Verdict::Street(_));
            if enough || rank::is_settled(&verdict) {
                break;
            }
        }
        // Not by what a stand-in found: that says nothing of what the first one knows.
        let own = |found: &Found| found.provider == self.provider.name();
        if verdict != Verdict::NotFound && found.iter().all(own) {
            self.provider.confirm_nothing(&nothing).await;
        }
        if let Some(bias) = question.bias {
            rank::prefer_near(&mut verdict, bias);
        }
        self.finish(asked, verdict, question.language, deadline).await
    }

    /// Asks the coverage of what has a point and was not asked yet.
    async fn gate(&self, found: Vec<&mut Found>) -> Result<(), Error> {
        let mut open: Vec<(&mut Found, Point)> = found
            .into_iter()
            .filter(|found| found.area.is_none())
            .filter_map(|found| found.point.map(|point| (found, point)))
            .collect();
        let points: Vec<Point> = open.iter().map(|(_, point)| *point).collect();
        let areas = self.gate.areas(&points).await?;
        for ((found, _), area) in open.iter_mut().zip(areas) {
            found.area = area;
        }
        Ok(())
    }

    /// A street gets a point where there is one; a square is a place even without a door.
    async fn finish(
        &self,
        asked: &Address,
        verdict: Verdict,
        language: Language,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let Verdict::Street(street) = verdict else {
            return Ok(Answer::Judged { verdict: Box::new(verdict), street: String::new() });
        };
        let Some(mut street) = street else {
            // Several streets: the number will tell them apart, so the name stays as open as it was typed.
            let name = tidy::name(&asked.name);
            let name = asked.kind.map_or_else(|| name.clone(), |kind| format!("{} {name}", kind.es));
            return Ok(Answer::Judged { verdict: Box::new(Verdict::Street(None)), street: name });
        };
        if street.found.point.is_none() {
            let located = timeout_at(deadline, self.provider.locate(&street.found)).await;
            street.found.point = located.ok().and_then(Result::ok).flatten();
        }
        self.gate(vec![&mut street.found]).await?;
        if street.found.area.is_none() {
            street.found.point = None;
        }
        let small = asked.kind.is_some_and(|kind| kind.spot) && asked.door.is_none();
        if small && street.confidence >= crate::fold::STRONG && street.found.point.is_some() {
            let found = Found { kind: FoundKind::Place, ..street.found };
            let place = Match { found, ..street };
            return Ok(Answer::Judged { verdict: Box::new(Verdict::Place(place)), street: String::new() });
        }
        let name = tidy::street(&street.found, language, &self.aliases);
        Ok(Answer::Judged { verdict: Box::new(Verdict::Street(Some(street))), street: name })
    }
}
