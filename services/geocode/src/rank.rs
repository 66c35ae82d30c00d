//! From what a provider knows to a verdict. Pure.
//!
//! A provider answers with the best it has and never says how good that is: a missing number comes back as its
//! neighbour, a misspelt street as another one. So kind, name, number and letter are compared here, and what differs
//! is said or asked, never passed over.

#[cfg(test)]
mod tests;

use crate::Point;
use crate::alias::Aliases;
use crate::differ::{Difference, Part, differences};
use crate::fold::{STRONG, WEAK, fold, key, similarity};
use crate::parse::{Address, Door};
use crate::provider::{Found, FoundKind};
use crate::street_type;

/// Candidates whose scores are this close fit as well as each other.
const TIE: f64 = 0.1;
/// What a different kind of street takes away: enough that it must be confirmed.
const OTHER_KIND: f64 = 0.2;
/// No more candidates are offered than a list in a chat has rows, one of which is "none of these".
const MOST: usize = 9;

/// What was found, and how well it fits, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// What was found.
    pub found: Found,
    /// How well it fits.
    pub confidence: f64,
    /// What is not as it was asked for.
    pub differences: Vec<Difference>,
}

/// What the candidates amount to.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The door that was asked for.
    Exact(Match),
    /// The right street, another door.
    Nearest {
        /// The door that is known.
        found: Match,
        /// The door that was asked for.
        asked: Door,
    },
    /// The right street. `None` when several streets have that name.
    Street(Option<Match>),
    /// Something that needs no door.
    Place(Match),
    /// Several that fit as well, or one that must be confirmed.
    Several(Vec<Match>),
    /// What fits is out of the area.
    Outside(Option<Match>),
    /// Nothing fits.
    NotFound,
}

/// Judges candidates. What comes of it has still to pass the [`gate`]: only the few that a verdict is made of are asked
/// about, not all that a provider knows.
pub fn rank(asked: &Address, found: &[Found], aliases: &Aliases) -> Verdict {
    let names: Vec<Vec<String>> =
        [Some(asked.name.as_str()), aliases.other(&asked.name)].into_iter().flatten().map(key).collect();
    let mut scored: Vec<Match> = found
        .iter()
        .map(|found| (score(asked, &names, found), found))
        .filter(|(confidence, _)| *confidence >= WEAK)
        .map(|(confidence, found)| {
            let differences = differences(asked, found, aliases);
            Match { found: found.clone(), confidence, differences }
        })
        .collect();
    // Stable: among equals the provider's order stays.
    scored.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    match &asked.door {
        Some(door) => with_door(door, asked.kilometre, &scored),
        None => without_door(asked, &scored),
    }
}

/// Whether another query cannot bring a better answer.
pub(crate) fn is_settled(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Exact(_) | Verdict::Nearest { .. } | Verdict::Place(_) | Verdict::Outside(_) => true,
        Verdict::Several(several) => several.len() > 1,
        Verdict::Street(_) | Verdict::NotFound => false,
    }
}

fn score(asked: &Address, names: &[Vec<String>], found: &Found) -> f64 {
    let known = key(&found.name);
    let name = names.iter().map(|name| similarity(name, &known)).fold(0.0, f64::max);
    let kind = street_type::named(&found.street_type);
    let differs = match (asked.kind, kind) {
        (Some(asked), Some(known)) => asked != known,
        (Some(_), None) => found.kind != FoundKind::Place && !found.street_type.is_empty(),
        (None, _) => false,
    };
    if differs { name - OTHER_KIND } else { name }
}

/// Puts the nearer ones first among those that fit as well.
pub(crate) fn prefer_near(verdict: &mut Verdict, bias: Point) {
    if let Verdict::Several(several) = verdict {
        let metres = |m: &Match| m.found.point.map_or(f64::INFINITY, |point| point.metres_to(bias));
        several.sort_by(|a, b| {
            let better = b.confidence.total_cmp(&a.confidence);
            better.then_with(|| metres(a).total_cmp(&metres(b)))
        });
    }
}

/// What tells one street from another.
fn street_of(found: &Found) -> (String, Vec<String>, String) {
    let kind =
        street_type::named(&found.street_type).map_or_else(|| fold(&found.street_type), |k| k.es.to_owned());
    (kind, key(&found.name), fold(&found.locality))
}

/// The best door of each street, best street first.
fn doors_by_street(asked: &Door, scored: &[Match]) -> Vec<(Match, bool)> {
    let mut best: Vec<(Match, u64)> = Vec::new();
    for candidate in scored.iter().filter(|c| c.found.kind == FoundKind::Door && c.found.point.is_some()) {
        let Some(distance) = candidate.found.door.as_ref().map(|door| apart(asked, door)) else { continue };
        match best.iter_mut().find(|(other, _)| street_of(&other.found) == street_of(&candidate.found)) {
            Some(known) if known.1 > distance => *known = (candidate.clone(), distance),
            Some(_) => {}
            None => best.push((candidate.clone(), distance)),
        }
    }
    let doors = best.into_iter().map(|(mut candidate, distance)| {
        if distance > 0 {
            candidate.confidence *= 0.8;
        }
        (candidate, distance == 0)
    });
    doors.collect()
}

/// How far one door is from another: 0 only for the same one. The other side of the street counts double.
fn apart(asked: &Door, known: &Door) -> u64 {
    match (asked, known) {
        (Door::Unnumbered, Door::Unnumbered) => 0,
        (Door::Unnumbered, Door::Numbered { .. }) | (Door::Numbered { .. }, Door::Unnumbered) => u64::MAX,
        (
            Door::Numbered { number, extension },
            Door::Numbered { number: known, extension: known_extension },
        ) => {
            let same = extension.as_deref().map(fold) == known_extension.as_deref().map(fold);
            let steps = u64::from(number.abs_diff(*known));
            let across = steps % 2 == 1;
            // The letter decides only between doors of one number, the side also when both are as far.
            2 * steps * if across { 2 } else { 1 } + u64::from(across || !same)
        }
    }
}

fn with_door(asked: &Door, kilometre: bool, scored: &[Match]) -> Verdict {
    let doors = doors_by_street(asked, scored);
    // Who asks for no number is not offered one.
    let numbered =
        |candidate: &Match| *asked != Door::Unnumbered || candidate.found.door == Some(Door::Unnumbered);
    let exact: Vec<&Match> = doors.iter().filter(|(_, exact)| *exact).map(|(m, _)| m).collect();
    let near: Vec<&Match> = doors.iter().filter(|(m, exact)| !exact && numbered(m)).map(|(m, _)| m).collect();
    // A neighbour's confidence was lowered; the street it stands in is what must be sure.
    let certain = |m: &&&Match, factor: f64| m.confidence >= STRONG * factor;
    let sure: Vec<Match> = tied(exact.iter().filter(|m| certain(m, 1.0)).map(|m| (*m).clone()).collect());
    if let [only] = &sure[..] {
        return if kilometre { Verdict::Place(only.clone()) } else { Verdict::Exact(only.clone()) };
    }
    if !sure.is_empty() {
        return Verdict::Several(sure);
    }
    let sure: Vec<Match> = tied(near.iter().filter(|m| certain(m, 0.8)).map(|m| (*m).clone()).collect());
    if let [only] = &sure[..] {
        return Verdict::Nearest { found: only.clone(), asked: asked.clone() };
    }
    if !sure.is_empty() {
        return Verdict::Several(sure);
    }
    let streets = streets(scored);
    if streets.iter().any(|street| street.confidence >= STRONG) {
        return one_street(streets);
    }
    let unsure: Vec<Match> = exact.into_iter().chain(near).take(MOST).cloned().collect();
    if unsure.is_empty() { one_street(streets) } else { Verdict::Several(unsure) }
}

fn without_door(asked: &Address, scored: &[Match]) -> Verdict {
    let streets = streets(scored);
    let places: Vec<Match> = scored
        .iter()
        .filter(|m| m.found.kind == FoundKind::Place && m.found.point.is_some())
        .cloned()
        .collect();
    let best_street = streets.first().map_or(0.0, |m| m.confidence);
    let best_place = places.first().map_or(0.0, |m| m.confidence);
    // A place wins over a street of the same name only when a small thing was asked for: a park, a square.
    let small = asked.kind.is_some_and(|kind| kind.spot);
    if best_place > best_street || small && best_place > 0.0 && best_place >= best_street {
        let tied = tied(places);
        return match &tied[..] {
            [only] if only.confidence >= STRONG => Verdict::Place(only.clone()),
            _ => Verdict::Several(tied),
        };
    }
    one_street(streets)
}

/// The streets, each once, best first; a street that is known by its doors only is one too.
fn streets(scored: &[Match]) -> Vec<Match> {
    let mut streets: Vec<Match> = Vec::new();
    for candidate in scored.iter().filter(|m| m.found.kind != FoundKind::Place) {
        let of = |m: &Match| (street_of(&m.found).0, street_of(&m.found).1);
        let by_door = candidate.found.kind == FoundKind::Door;
        match streets.iter_mut().find(|known| of(known) == of(candidate)) {
            Some(known) if known.found.id.is_none() && !by_door => *known = candidate.clone(),
            Some(_) => {}
            None => {
                let mut street = candidate.clone();
                if by_door {
                    street.differences.retain(|difference| difference.part != Part::Door);
                    street.found =
                        Found { kind: FoundKind::Street, id: None, door: None, point: None, ..street.found };
                }
                streets.push(street);
            }
        }
    }
    streets
}

fn one_street(streets: Vec<Match>) -> Verdict {
    match &tied(streets)[..] {
        [] => Verdict::NotFound,
        [only] => Verdict::Street(Some(only.clone())),
        _ => Verdict::Street(None),
    }
}

/// Those that fit about as well as the best one.
fn tied(mut sorted: Vec<Match>) -> Vec<Match> {
    sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let best = sorted.first().map_or(0.0, |m| m.confidence);
    sorted.retain(|m| m.confidence > best - TIE);
    sorted.truncate(MOST);
    sorted
}

impl Verdict {
    /// All that it is made of.
    pub(crate) fn found_mut(&mut self) -> Vec<&mut Found> {
        match self {
            Self::Exact(only) | Self::Place(only) | Self::Nearest { found: only, .. } => {
                vec![&mut only.found]
            }
            Self::Street(only) | Self::Outside(only) => only.iter_mut().map(|only| &mut only.found).collect(),
            Self::Several(several) => several.iter_mut().map(|one| &mut one.found).collect(),
            Self::NotFound => Vec::new(),
        }
    }
}

/// No point leaves that the service area does not cover: what the areas of a verdict make of it.
pub fn gate(verdict: Verdict) -> Verdict {
    let outside = |m: &Match| m.found.point.is_some() && m.found.area.is_none();
    match verdict {
        Verdict::Exact(found) | Verdict::Place(found) | Verdict::Nearest { found, .. } if outside(&found) => {
            Verdict::Outside(Some(found))
        }
        Verdict::Several(several) => {
            let inside: Vec<Match> = several.iter().filter(|m| !outside(m)).cloned().collect();
            match inside.is_empty() {
                true => Verdict::Outside(None),
                false => Verdict::Several(inside),
            }
        }
        Verdict::Exact(_)
        | Verdict::Place(_)
        | Verdict::Nearest { .. }
        | Verdict::Street(_)
        | Verdict::Outside(_)
        | Verdict::NotFound => verdict,
    }
}
