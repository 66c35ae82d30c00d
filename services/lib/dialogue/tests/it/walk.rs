//! Random conversations with duplicates, stale answers and late forms.
//!
//! Whatever order things come in: nothing panics, at most one prompt is open, a draft is held by its session
//! until it is dropped or received, a report is received once, and silence is rare and listed.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use dialogue::{
    Answer, Coverage, Effect, Event, EventKind, FormAnswer, Fresh, Lookup, Outcome, PromptFate, Session,
    Verdict,
};
use proptest::prelude::*;
use uuid::Uuid;

use crate::scene::{self, settle};
use crate::table::assert_sound;

/// What a citizen does; tokens are chosen among those seen so far, counted back from the newest.
#[derive(Clone, Debug)]
enum Act {
    Says(&'static str),
    Taps {
        id: &'static str,
        back: usize,
    },
    Pins {
        named: bool,
    },
    Completes {
        back: usize,
        keeps_token: bool,
        answer: u8,
    },
    Sends(u8),
    /// The same event again.
    Repeats,
    Waits(i64),
}

fn act() -> impl Strategy<Value = Act> {
    let words = prop::sample::select(vec![
        "hola",
        "cancelar",
        "hasi",
        "ayuda",
        "euskara",
        "castellano",
        "calle Mayor 5",
        "5",
        "sí",
        "ez",
        "gracias",
        "👍",
        "",
        "REF",
        "{address}",
    ]);
    let ids = prop::sample::select(vec![
        "language:es",
        "language:eu",
        "confirm:yes",
        "confirm:no",
        "choose:0",
        "choose:8",
        "choose:none",
        "other",
    ]);
    prop_oneof![
        3 => words.prop_map(Act::Says),
        4 => (ids, 0..4usize).prop_map(|(id, back)| Act::Taps { id, back }),
        3 => any::<bool>().prop_map(|named| Act::Pins { named }),
        3 => (0..4usize, any::<bool>(), 0..8u8)
            .prop_map(|(back, keeps_token, answer)| Act::Completes { back, keeps_token, answer }),
        2 => (0..8u8).prop_map(Act::Sends),
        1 => Just(Act::Repeats),
        1 => (0..120i64).prop_map(Act::Waits),
    ]
}

fn world(pick: u8, lookup: &Lookup) -> Answer {
    let candidate = || scene::candidate("Calle Mayor 5");
    match lookup {
        Lookup::Covers(_) if pick.is_multiple_of(4) => Answer::Covers(Coverage::Outside { metres: 5.0 }),
        Lookup::Covers(_) => scene::inside(),
        Lookup::Reverse(_) => Answer::Reverse((pick.is_multiple_of(2)).then(|| "Calle Mayor 5".to_owned())),
        Lookup::Resolve { .. } => Answer::Resolve(match pick % 10 {
            0 => Verdict::ExactDoor(candidate()),
            1 => {
                Verdict::NearestDoor { candidate: candidate(), asked: "7".to_owned(), found: "5".to_owned() }
            }
            2 => Verdict::StreetOnly { street: "Calle Mayor".to_owned() },
            3 => Verdict::Place(candidate()),
            4 => Verdict::Several(vec![candidate(); usize::from(pick / 10)]),
            5 => Verdict::Vague,
            6 => Verdict::Outside,
            7 => Verdict::OtherTown("Bilbao".to_owned()),
            8 => Verdict::NotFound,
            _ => Verdict::Unavailable,
        }),
    }
}

fn made(act: &Act, seen: &[Uuid], last: Option<&Event>) -> Option<Event> {
    let token = |back: usize| seen.iter().rev().nth(back).copied().unwrap_or(scene::OLD);
    Some(match act {
        Act::Says(words) => scene::text(words),
        Act::Taps { id, back } => scene::button(format!("{id}:{}", token(*back))),
        Act::Pins { named } => scene::pin(named.then_some("Plaza")),
        Act::Completes { back, keeps_token, answer } => {
            let answer = match answer {
                0 => FormAnswer::Informational,
                1 => FormAnswer::UnknownRoute,
                2 => FormAnswer::Malformed,
                _ => scene::report(),
            };
            let form = scene::form(keeps_token.then(|| token(*back)), answer);
            Event { in_reply_to: Some(token(*back)), ..form }
        }
        Act::Sends(kind) => scene::event(match kind {
            0 => EventKind::Photo,
            1 => EventKind::LiveLocation,
            2 => EventKind::Contacts,
            3 => EventKind::Unsupported,
            4 => EventKind::Reaction,
            5 => EventKind::Group,
            6 => EventKind::Revoke,
            _ => EventKind::System,
        }),
        Act::Repeats => last?.clone(),
        Act::Waits(_) => return None,
    })
}

/// The books of a shell: which drafts are open and which reports were received.
#[derive(Default)]
struct Books {
    opened: BTreeSet<Uuid>,
    open: BTreeSet<Uuid>,
    received: BTreeSet<Uuid>,
}

impl Books {
    fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::OpenDraft { report_id, .. } => {
                assert!(self.opened.insert(*report_id), "an id is used once");
                self.open.insert(*report_id);
            }
            Effect::MoveDraft { report_id, .. } => assert!(self.open.contains(report_id)),
            Effect::DropDraft { report_id } => assert!(self.open.remove(report_id)),
            Effect::Receive { report_id, .. } => {
                assert!(self.open.remove(report_id));
                assert!(self.received.insert(*report_id), "a report is received once");
            }
            Effect::RepeatReference { report_id, .. } | Effect::TakePhoto { report_id, .. } => {
                assert!(self.received.contains(report_id), "a reference is told of a received report only");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_conversation_keeps_its_promises(acts in prop::collection::vec((act(), any::<u8>()), 1..60)) {
        let (mut session, mut now) = (Session::default(), scene::noon());
        let (mut books, mut seen, mut last) = (Books::default(), Vec::new(), None);
        for (index, (act, pick)) in acts.iter().enumerate() {
            if let Act::Waits(seconds) = act {
                now += TimeDelta::seconds(*seconds);
            }
            let Some(event) = made(act, &seen, last.as_ref()) else { continue };
            let prompt = match pick % 7 {
                0 => PromptFate::Lost,
                1 => PromptFate::Delayed,
                _ => PromptFate::Standing,
            };
            let event = Event { prompt, ..event };
            let id = u128::try_from(index).unwrap();
            let fresh = Fresh { token: Uuid::from_u128(0x1000 + id), report_id: Uuid::from_u128(0x2000 + id) };
            let transition = settle(&session, &event, &fresh, now, |lookup| world(*pick, lookup));
            assert_sound(&session, &transition);
            transition.effects.iter().for_each(|effect| books.apply(effect));
            prop_assert_eq!(books.open.iter().copied().collect::<Vec<_>>(),
                transition.session.report_id().into_iter().collect::<Vec<_>>());
            if matches!(transition.outcome, Outcome::Quiet) {
                prop_assert!(session.reminded_at.is_some());
            }
            seen.extend(transition.replies.iter().filter_map(|reply| reply.prompt));
            session = transition.session;
            last = Some(event);
        }
    }
}
