//! Every step meets every kind of event. The README shows the outcome; these tests keep it true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::TimeDelta;
use dialogue::{
    Answer, Effect, Event, EventKind, Language, Lookup, Outcome, PromptFate, Reply, ReplyBody, Session, Step,
    Transition, Verdict,
};

use crate::kept::same_or_update;
use crate::scene::{self, FRESH, OPEN, noon, settle, settle_with};

/// What is asserted of every transition, wherever it comes from.
pub(crate) fn assert_sound(before: &Session, transition: &Transition) {
    let after = &transition.session;
    let prompts: Vec<_> = transition.replies.iter().filter_map(|reply| reply.prompt).collect();
    assert!(transition.replies.len() <= 1, "one message per event: {transition:?}");
    for prompt in &prompts {
        assert_eq!(after.prompt(), Some(*prompt), "a prompt that is said is the one awaited: {transition:?}");
    }
    if after.prompt() != before.prompt() && after.prompt().is_some() {
        assert_eq!(prompts.len(), 1, "a new prompt is said: {transition:?}");
    }

    let silent = transition.replies.is_empty();
    match transition.outcome {
        Outcome::Ignored | Outcome::Quiet => {
            assert!(silent && transition.effects.is_empty() && after == before, "{transition:?}");
        }
        Outcome::Received | Outcome::Repeated => {
            assert!(silent && transition.effects.len() == 1, "{transition:?}")
        }
        Outcome::Stale => assert!(!silent && transition.effects.is_empty(), "{transition:?}"),
        Outcome::Started
        | Outcome::Advanced
        | Outcome::Refused
        | Outcome::Reminded
        | Outcome::PhotoTaken
        | Outcome::Informed
        | Outcome::Cancelled
        | Outcome::Restarted
        | Outcome::Helped
        | Outcome::Thanked => assert!(!silent, "{transition:?}"),
    }
    for reply in &transition.replies {
        assert_within_limits(&reply.body);
    }
    draft_after(before.report_id(), transition);
}

/// Follows the draft through the effects as the shell would, and checks that the session holds what is left.
fn draft_after(before: Option<uuid::Uuid>, transition: &Transition) {
    let mut draft = before;
    for effect in &transition.effects {
        match effect {
            Effect::OpenDraft { report_id, .. } => {
                assert_eq!(draft, None, "a draft is opened over another");
                draft = Some(*report_id);
            }
            Effect::MoveDraft { report_id, .. } => assert_eq!(draft, Some(*report_id)),
            Effect::DropDraft { report_id } | Effect::Receive { report_id, .. } => {
                assert_eq!(draft, Some(*report_id));
                draft = None;
            }
            Effect::RepeatReference { .. } | Effect::TakePhoto { .. } => {}
        }
    }
    assert_eq!(draft, transition.session.report_id(), "the session holds the draft: {transition:?}");
}

fn assert_within_limits(body: &ReplyBody) {
    let fits = |text: &str, limit: usize| {
        assert!(!text.trim().is_empty() && text.encode_utf16().count() <= limit, "{limit}: {text}");
        assert!(!text.contains("REF-"), "a reference is only told by `received`: {text}");
    };
    match body {
        ReplyBody::Text(text) => fits(text, 4096),
        ReplyBody::Buttons { text, buttons } => {
            fits(text, 1024);
            assert!((1..=3).contains(&buttons.len()));
            let titles: BTreeSet<_> = buttons.iter().map(|(_, title)| title).collect();
            assert_eq!(titles.len(), buttons.len(), "titles are unique");
            for (id, title) in buttons {
                fits(id, 256);
                fits(title, 20);
            }
        }
        ReplyBody::List { text, button, rows } => {
            fits(text, 1024);
            fits(button, 20);
            assert!((1..=10).contains(&rows.len()));
            for (id, title, description) in rows {
                fits(id, 200);
                fits(title, 24);
                fits(description, 72);
            }
        }
        ReplyBody::LocationRequest { text } => fits(text, 1024),
        ReplyBody::Form { text, cta, address, .. } => {
            fits(text, 1024);
            fits(cta, 20);
            fits(address, 200);
        }
    }
}

fn cell(before: &Session, transition: &Transition) -> String {
    let mut cell = transition.outcome.as_str().to_owned();
    let (from, to) = (scene::name(&before.step), scene::name(&transition.session.step));
    if from != to {
        cell.push_str(&format!(" → {to}"));
    }
    for effect in &transition.effects {
        cell.push_str(match effect {
            Effect::OpenDraft { .. } => ", draft opened",
            Effect::MoveDraft { .. } => ", draft moved",
            Effect::DropDraft { .. } => ", draft dropped",
            Effect::Receive { .. } => ", reference",
            Effect::TakePhoto { .. } => ", photo to its report",
            Effect::RepeatReference { .. } => ", same reference",
        });
    }
    cell
}

#[test]
fn every_step_has_a_sound_outcome_for_every_kind_of_event_in_every_language() {
    for (name, event, world) in scene::events() {
        let languages = [None, Some(Language::Es), Some(Language::Eu)];
        let columns = languages.map(|language| {
            scene::sessions(language)
                .into_iter()
                .map(|(step, session)| {
                    let transition = settle_with(&session, &event, &world);
                    assert_sound(&session, &transition);
                    // Thanks from someone who never spoke with us are a first message like any other.
                    let first_contact = language.is_none() && step == "idle" && name == "text: thanks";
                    if first_contact { "thanked".to_owned() } else { cell(&session, &transition) }
                })
                .collect::<Vec<_>>()
        });
        assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{name}: a language differs: {columns:?}");
    }
}

#[test]
fn the_readme_shows_the_table_and_the_diagram_as_they_are() {
    let sessions = scene::sessions(Some(Language::Es));
    let mut table = String::from("| event |");
    table.extend(sessions.iter().map(|(name, _)| format!(" {name} |")));
    table.push_str(&format!("\n|{}\n", " --- |".repeat(sessions.len() + 1)));
    let mut edges: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (name, event, world) in scene::events() {
        table.push_str(&format!("| {name} |"));
        for (_, session) in &sessions {
            let transition = settle_with(session, &event, &world);
            table.push_str(&format!(" {} |", cell(session, &transition)));
            let ends = (session.step.name(), transition.session.step.name());
            if ends.0 != ends.1 {
                edges.entry(ends).or_default().insert(transition.outcome.as_str());
            }
        }
        table.push('\n');
    }
    let mut diagram = String::from("```mermaid\nstateDiagram-v2\n  [*] --> idle\n");
    for ((from, to), outcomes) in edges {
        let outcomes = outcomes.into_iter().collect::<Vec<_>>().join(", ");
        diagram.push_str(&format!("  {from} --> {to}: {outcomes}\n"));
    }
    diagram.push_str("```\n");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let kept = std::fs::read_to_string(&path).unwrap();
    let made = replaced(&replaced(&kept, "diagram", &diagram), "table", &table);
    same_or_update(&path, &kept, &made);
}

fn replaced(document: &str, name: &str, block: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = document.split_once(&start).expect("the start marker");
    let (_, after) = rest.split_once(&end).expect("the end marker");
    format!("{before}{start}{block}{end}{after}")
}

#[test]
fn a_session_reads_back_as_it_was_written() {
    for language in [None, Some(Language::Eu)] {
        for (name, session) in scene::sessions(language) {
            let session = Session { reminded_at: Some(noon()), ..session };
            let written = serde_json::to_value(&session).unwrap();
            assert_eq!(serde_json::from_value::<Session>(written).unwrap(), session, "{name}");
        }
    }
    assert_eq!(serde_json::from_str::<Session>("{}").unwrap(), Session::default());
}

#[test]
fn a_reminder_comes_at_most_once_a_minute_and_again_after_it() {
    for (name, session) in scene::sessions(Some(Language::Es)).into_iter().filter(|(name, _)| *name != "idle")
    {
        let at = |session: &Session, seconds| {
            let now = noon() + TimeDelta::seconds(seconds);
            settle(session, &scene::event(EventKind::Photo), &FRESH, now, |_| unreachable!())
        };
        let first = at(&session, 0);
        assert_eq!(first.outcome, Outcome::Reminded, "{name}");
        for seconds in [-59, 1, 59] {
            assert_eq!(at(&first.session, seconds).outcome, Outcome::Quiet, "{name} {seconds}");
        }
        for seconds in [-60, 60, 600] {
            assert_eq!(at(&first.session, seconds).outcome, Outcome::Reminded, "{name} {seconds}");
        }
    }
}

#[test]
fn an_album_sent_first_gets_one_greeting() {
    let photo = scene::event(EventKind::Photo);
    let first = settle_with(&Session::default(), &photo, &[]);
    assert_eq!(first.outcome, Outcome::Started);
    assert_eq!(settle_with(&first.session, &photo, &[]).outcome, Outcome::Quiet);
}

#[test]
fn a_reminder_leaves_the_form_that_is_being_filled_in_valid() {
    let (_, session) = scene::sessions(Some(Language::Eu)).pop().unwrap();
    let reminded = settle_with(&session, &scene::text("un momento"), &[]);
    assert_eq!(reminded.session.prompt(), Some(OPEN));
    let done = settle_with(&reminded.session, &scene::form(Some(OPEN), scene::report()), &[]);
    assert_eq!(done.outcome, Outcome::Received);
    let [Effect::Receive { note: None, language: Language::Eu, prompt_token: OPEN, .. }] = &done.effects[..]
    else {
        panic!("{:?}", done.effects);
    };
}

#[test]
fn a_number_that_was_asked_for_is_resolved_in_its_street() {
    let (_, session) = scene::sessions(Some(Language::Eu)).remove(5);
    let mut asked = Vec::new();
    settle(&session, &scene::text("5 zk."), &FRESH, noon(), |lookup| {
        asked.push(lookup.clone());
        Answer::Resolve(Verdict::Unavailable)
    });
    let street = Some("Calle Mayor".to_owned());
    assert_eq!(asked, [Lookup::Resolve { text: "5 zk.".to_owned(), language: Language::Eu, street }]);
}

#[test]
fn an_answer_of_the_wrong_kind_strands_nobody() {
    let wrong = [Answer::Reverse(None), scene::inside(), Answer::Resolve(Verdict::Vague)];
    for (_, session) in scene::sessions(Some(Language::Es)) {
        for (_, event, _) in scene::events() {
            for answer in &wrong {
                let transition = settle(&session, &event, &FRESH, noon(), |_| answer.clone());
                assert_sound(&session, &transition);
            }
        }
    }
}

#[test]
fn a_list_shows_nine_places_at_most_and_whatever_the_geocoder_says_fits() {
    let (_, session) = scene::sessions(Some(Language::Eu)).remove(2);
    let long = "👍🏽 Nafarroako Erregeen etorbidea ".repeat(40);
    let many = Verdict::Several((0..30).map(|_| scene::candidate(&long)).collect());
    let nearest =
        Verdict::NearestDoor { candidate: scene::candidate(&long), asked: long.clone(), found: long.clone() };
    let rest = [Verdict::StreetOnly { street: long.clone() }, Verdict::OtherTown(long.clone())];
    for verdict in [many, nearest, Verdict::Place(scene::candidate(&long))].into_iter().chain(rest) {
        let transition = settle_with(&session, &scene::text("x"), &[Answer::Resolve(verdict)]);
        assert_sound(&session, &transition);
        if let Step::AwaitingLocation { ask, .. } = &transition.session.step
            && let dialogue::LocationAsk::Choose { options } = ask
        {
            assert_eq!(options.len(), 9);
        }
        let repeated = settle_with(&transition.session, &scene::button("old".to_owned()), &[]);
        assert_sound(&transition.session, &repeated);
    }
}

#[test]
fn a_prompt_that_was_given_up_is_said_at_the_next_message_whatever_it_is() {
    for (name, event, world) in scene::events() {
        for (step, session) in scene::sessions(Some(Language::Es)) {
            let event = Event { prompt: PromptFate::Lost, ..event.clone() };
            // Within the minute of a reminder, too: that one was not seen either.
            let session = Session { reminded_at: Some(noon()), ..session };
            let transition = settle_with(&session, &event, &world);
            assert_sound(&session, &transition);
            let open = transition.session.prompt();
            let silent = matches!(transition.outcome, Outcome::Ignored | Outcome::Repeated);
            if open.is_some() && !silent {
                let said = transition.replies.iter().any(|reply| reply.prompt == open);
                assert!(said, "{name} at {step}: {transition:?}");
            }
        }
    }
}

#[test]
fn a_form_that_cannot_be_sent_yet_is_not_pointed_to() {
    let (_, session) = scene::sessions(Some(Language::Es)).pop().unwrap();
    for words in ["¿y el formulario?", "ayuda"] {
        let event = Event { prompt: PromptFate::Delayed, ..scene::text(words) };
        let transition = settle_with(&session, &event, &[]);
        let [Reply { body: ReplyBody::Text(text), .. }] = &transition.replies[..] else {
            panic!("{:?}", transition.replies)
        };
        assert!(text.contains("Te llegará") && !text.contains("pulsa"), "{text}");
        assert_eq!(transition.session.prompt(), Some(OPEN));
    }
}

#[test]
fn the_rest_of_an_album_with_the_photo_that_was_asked_for_starts_no_report() {
    let (_, session) = scene::sessions(Some(Language::Es)).remove(0);
    let asked = EventKind::AwaitedPhoto { report_id: scene::RECEIVED, photo: scene::photo() };
    let taken = settle_with(&session, &scene::event(asked), &[]);
    assert_eq!(taken.outcome, Outcome::PhotoTaken);
    let photo = settle_with(&taken.session, &scene::event(EventKind::Photo), &[]);
    assert_eq!((photo.outcome, photo.session.step.name()), (Outcome::Quiet, "idle"));
    let text = settle_with(&taken.session, &scene::text("otra cosa"), &[]);
    assert_eq!(text.outcome, Outcome::Started);
}
