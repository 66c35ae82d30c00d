//! How a place is found: a pin or a typed address, through the gate of the service area.
//!
//! A pin's own name is trusted, so it costs no reverse lookup, and that lookup comes only after the gate. A
//! pin while the form is open moves the draft; it never destroys it.

use crate::texts::Key;
use crate::turn::Turn;
use crate::{
    Answer, Candidate, Coverage, Decision, Effect, LocationAsk, Lookup, Outcome, Place, Point, Session, Step,
    Transition, Verdict, keyword, limits, prompt,
};

impl Turn<'_> {
    pub(crate) fn pin(&self, point: Point, name: Option<&str>, address: Option<&str>) -> Decision {
        match &self.session.step {
            Step::Idle | Step::AwaitingLanguage { .. } => self.remind(None).into(),
            Step::AwaitingLocation { .. } | Step::AwaitingForm { .. } => self.pinned(point, name, address),
        }
    }

    fn pinned(&self, point: Point, name: Option<&str>, address: Option<&str>) -> Decision {
        if !point.is_valid() {
            return self.refuse(&self.word(Key::BadPoint, &[])).into();
        }
        let (area_id, area_version) = match self.answers.first() {
            None => return Decision::Need(Lookup::Covers(point)),
            Some(Answer::Covers(Coverage::Inside { area_id, area_version })) => {
                (area_id.clone(), *area_version)
            }
            Some(Answer::Covers(Coverage::Outside { .. })) => {
                return self.refuse(&self.word(Key::Outside, &[])).into();
            }
            // An answer to another question is a mistake of the caller; the citizen is not stranded by it.
            Some(Answer::Reverse(_) | Answer::Resolve(_)) => {
                return self.refuse(&self.word(Key::BadPoint, &[])).into();
            }
        };
        let given =
            [name, address].into_iter().flatten().find_map(|text| limits::line(text, limits::ADDRESS));
        let address = match (given, self.answers.get(1)) {
            (Some(given), _) => Some(given),
            (None, None) => return Decision::Need(Lookup::Reverse(point)),
            (None, Some(Answer::Reverse(found))) => {
                found.as_deref().and_then(|text| limits::line(text, limits::ADDRESS))
            }
            (None, Some(Answer::Covers(_) | Answer::Resolve(_))) => None,
        };
        self.accept(Place { point, address, area_id, area_version }).into()
    }

    /// A text where a place is awaited.
    pub(crate) fn typed_place(&self, ask: &LocationAsk, text: &str) -> Decision {
        if keyword::is_small_talk(text) {
            return self.remind(None).into();
        }
        let street = match ask {
            LocationAsk::Asked => None,
            LocationAsk::NumberFor { street } => Some(street.clone()),
            LocationAsk::Confirm { candidate } => match keyword::yes_or_no(text) {
                Some(true) => return self.accept_candidate(candidate).into(),
                Some(false) => return self.ask_again(Outcome::Advanced, None).into(),
                None => None,
            },
            LocationAsk::Choose { options } => {
                let number = keyword::fold(text).parse::<usize>().ok();
                match number.and_then(|number| options.get(number.checked_sub(1)?)) {
                    Some(option) => return self.accept_candidate(option).into(),
                    None => None,
                }
            }
        };
        match self.answers.first() {
            None => Decision::Need(Lookup::Resolve {
                text: text.to_owned(),
                language: prompt::tongue(self.session),
                street,
            }),
            Some(Answer::Resolve(verdict)) => self.resolved(verdict).into(),
            Some(Answer::Covers(_) | Answer::Reverse(_)) => {
                self.refuse(&self.word(Key::NotFound, &[])).into()
            }
        }
    }

    fn resolved(&self, verdict: &Verdict) -> Transition {
        match verdict {
            Verdict::ExactDoor(candidate) | Verdict::Place(candidate) => self.accept_candidate(candidate),
            Verdict::NearestDoor { candidate, asked, found } => {
                let mut asking = self.ask(LocationAsk::Confirm { candidate: candidate.clone() });
                let language = prompt::tongue(self.session);
                asking.replies =
                    vec![prompt::confirm_nearest(self.fresh.token, language, candidate, asked, found)];
                asking
            }
            Verdict::StreetOnly { street } => self.ask(LocationAsk::NumberFor { street: street.clone() }),
            Verdict::Several(options) => match &options[..] {
                [] => self.refuse(&self.word(Key::NotFound, &[])),
                [only] => self.ask(LocationAsk::Confirm { candidate: only.clone() }),
                [..] => {
                    // One row of the list is "none of these".
                    let options = options.iter().take(limits::ROWS - 1).cloned().collect();
                    self.ask(LocationAsk::Choose { options })
                }
            },
            Verdict::Vague => self.refuse(&self.word(Key::Vague, &[])),
            Verdict::Outside => self.refuse(&self.word(Key::Outside, &[])),
            Verdict::OtherTown(town) => {
                let town = limits::fit(town, limits::NAME);
                self.refuse(&self.word(Key::OtherTown, &[("town", &town)]))
            }
            Verdict::NotFound => self.refuse(&self.word(Key::NotFound, &[])),
            Verdict::Unavailable => self.unavailable(),
        }
    }

    /// The geocoder is away: a pin still works, and a number that was asked for stays asked for.
    fn unavailable(&self) -> Transition {
        let word = self.word(Key::Unavailable, &[]);
        match &self.session.step {
            Step::AwaitingLocation { ask: LocationAsk::NumberFor { .. }, .. } => {
                self.repeat(Outcome::Refused, Some(&word))
            }
            Step::Idle
            | Step::AwaitingLanguage { .. }
            | Step::AwaitingLocation { .. }
            | Step::AwaitingForm { .. } => self.refuse(&word),
        }
    }

    /// The place cannot be taken. While the form is open the draft stays where it is, and so does its prompt.
    fn refuse(&self, word: &str) -> Transition {
        match &self.session.step {
            Step::AwaitingForm { place, .. } => {
                let address = prompt::place_name(place, prompt::tongue(self.session));
                let kept = self.word(Key::PlaceKept, &[("address", &address)]);
                self.stay(Outcome::Refused, vec![prompt::text(&format!("{word} {kept}"))])
            }
            Step::Idle | Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } => {
                self.ask_again(Outcome::Refused, Some(word))
            }
        }
    }

    /// Back to the open question for a place.
    pub(crate) fn ask_again(&self, outcome: Outcome, word: Option<&str>) -> Transition {
        let asking = self.ask(LocationAsk::Asked);
        let replies = prompt::current(&asking.session, word).into_iter().collect();
        Transition { replies, outcome, ..asking }
    }

    fn ask(&self, ask: LocationAsk) -> Transition {
        let session = self.onto(Step::AwaitingLocation { prompt: self.fresh.token, ask });
        let replies = prompt::current(&session, None).into_iter().collect();
        Transition { session, effects: Vec::new(), replies, outcome: Outcome::Advanced }
    }

    pub(crate) fn accept_candidate(&self, candidate: &Candidate) -> Transition {
        self.accept(Place {
            point: candidate.point,
            address: limits::line(&candidate.address, limits::ADDRESS),
            area_id: candidate.area_id.clone(),
            area_version: candidate.area_version,
        })
    }

    /// The place is taken: a draft is opened, or the open one moves, and the form is sent.
    fn accept(&self, place: Place) -> Transition {
        let language = prompt::tongue(self.session);
        let (report_id, effect) = match self.session.report_id() {
            Some(report_id) => (report_id, Effect::MoveDraft { report_id, place: place.clone() }),
            None => {
                let report_id = self.fresh.report_id;
                (report_id, Effect::OpenDraft { report_id, language, place: place.clone() })
            }
        };
        let step = Step::AwaitingForm { prompt: self.fresh.token, report_id, place };
        let session = Session { language: Some(language), ..self.onto(step) };
        let replies = prompt::current(&session, None).into_iter().collect();
        Transition { session, effects: vec![effect], replies, outcome: Outcome::Advanced }
    }
}
