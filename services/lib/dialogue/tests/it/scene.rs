//! Sessions and events by name, and a stand-in for the shell that answers lookups.

use chrono::{DateTime, TimeDelta, Utc};
use dialogue::{
    Answer, Candidate, Coverage, Decision, Event, EventKind, Form, FormAnswer, Fresh, Language, LastReport,
    LocationAsk, Lookup, PhotoRef, Place, Point, PromptFate, Session, Step, Transition, Verdict, decide,
};
use uuid::Uuid;

/// The token of the open prompt in every session made here.
pub(crate) const OPEN: Uuid = Uuid::from_u128(0xA);
/// The token of a prompt that was open once.
pub(crate) const OLD: Uuid = Uuid::from_u128(0xB);
/// The token whose form completed the last report.
pub(crate) const DONE: Uuid = Uuid::from_u128(0xC);
pub(crate) const DRAFT: Uuid = Uuid::from_u128(0xD);
pub(crate) const RECEIVED: Uuid = Uuid::from_u128(0xE);
pub(crate) const FRESH: Fresh = Fresh { token: Uuid::from_u128(0xF), report_id: Uuid::from_u128(0xF0) };

pub(crate) fn noon() -> DateTime<Utc> {
    DateTime::<Utc>::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

pub(crate) fn point() -> Point {
    Point { latitude: 42.8467, longitude: -2.6716 }
}

pub(crate) fn candidate(address: &str) -> Candidate {
    Candidate { point: point(), address: address.to_owned(), area_id: "city".to_owned(), area_version: 1 }
}

pub(crate) fn place(address: Option<&str>) -> Place {
    Place { point: point(), address: address.map(str::to_owned), area_id: "city".to_owned(), area_version: 1 }
}

pub(crate) fn inside() -> Answer {
    Answer::Covers(Coverage::Inside { area_id: "city".to_owned(), area_version: 1 })
}

pub(crate) fn event(kind: EventKind) -> Event {
    Event { kind, in_reply_to: None, prompt: PromptFate::Standing }
}

pub(crate) fn text(text: &str) -> Event {
    event(EventKind::Text(text.to_owned()))
}

pub(crate) fn button(id: String) -> Event {
    event(EventKind::Button { id, title: "…".to_owned() })
}

pub(crate) fn pin(name: Option<&str>) -> Event {
    event(EventKind::Location { point: point(), name: name.map(str::to_owned), address: None })
}

pub(crate) fn form(token: Option<Uuid>, answer: FormAnswer) -> Event {
    event(EventKind::Form(Form { token, answer }))
}

pub(crate) fn report() -> FormAnswer {
    FormAnswer::Report {
        route: "container/overflowing/glass".to_owned(),
        category: vec!["Contenedor".to_owned(), "Vidrio".to_owned()],
        note: Some(" ".to_owned()),
        photo: Some(photo()),
        more_photos: 0,
        version: None,
    }
}

pub(crate) fn photo() -> PhotoRef {
    PhotoRef { id: "1".to_owned(), sha256: "2".to_owned(), mime_type: "image/jpeg".to_owned() }
}

/// Every step, and every way of asking for a place, by name.
pub(crate) fn sessions(language: Option<Language>) -> Vec<(&'static str, Session)> {
    let ask = |ask| Step::AwaitingLocation { prompt: OPEN, ask };
    let options = vec![candidate("Calle Mayor 5"), candidate("Plaza Mayor 5")];
    [
        ("idle", Step::Idle),
        ("awaiting_language", Step::AwaitingLanguage { prompt: OPEN }),
        ("asked", ask(LocationAsk::Asked)),
        ("confirm", ask(LocationAsk::Confirm { candidate: candidate("Calle Mayor 5") })),
        ("choose", ask(LocationAsk::Choose { options })),
        ("number_for", ask(LocationAsk::NumberFor { street: "Calle Mayor".to_owned() })),
        (
            "awaiting_form",
            Step::AwaitingForm { prompt: OPEN, report_id: DRAFT, place: place(Some("Calle Mayor 5")) },
        ),
    ]
    .into_iter()
    .map(|(name, step)| {
        let last_report = Some(LastReport { report_id: RECEIVED, prompt_token: DONE });
        (name, Session { step, language, last_report, ..Session::default() })
    })
    .collect()
}

/// The name of a step, or of the way a place is asked for.
pub(crate) fn name(step: &Step) -> &'static str {
    match step {
        Step::Idle | Step::AwaitingLanguage { .. } | Step::AwaitingForm { .. } => step.name(),
        Step::AwaitingLocation { ask: LocationAsk::Asked, .. } => "asked",
        Step::AwaitingLocation { ask: LocationAsk::Confirm { .. }, .. } => "confirm",
        Step::AwaitingLocation { ask: LocationAsk::Choose { .. }, .. } => "choose",
        Step::AwaitingLocation { ask: LocationAsk::NumberFor { .. }, .. } => "number_for",
    }
}

/// Events by name with the answers the world has for them.
pub(crate) fn events() -> Vec<(String, Event, Vec<Answer>)> {
    let mut all: Vec<(String, Event, Vec<Answer>)> = Vec::new();
    let mut add = |name: &str, event: Event, world: Vec<Answer>| all.push((name.to_owned(), event, world));

    add("text: keyword cancel", text("Cancelar"), vec![]);
    add("text: keyword restart", text("berriro hasi"), vec![]);
    add("text: keyword help", text("ayuda"), vec![]);
    add("text: keyword language", text("euskara"), vec![]);
    add("text: thanks", text("eskerrik asko!"), vec![]);
    add("text: greeting", text("¡Hola!"), vec![]);
    let verdicts = [
        ("exact door", Verdict::ExactDoor(candidate("Calle Mayor 5"))),
        (
            "nearest door",
            Verdict::NearestDoor {
                candidate: candidate("Calle Mayor 5"),
                asked: "7".to_owned(),
                found: "5".to_owned(),
            },
        ),
        ("street only", Verdict::StreetOnly { street: "Calle Mayor".to_owned() }),
        ("place", Verdict::Place(candidate("Parque de la Florida"))),
        ("several", Verdict::Several(vec![candidate("Calle Mayor 5"), candidate("Plaza Mayor 5")])),
        ("several, but one", Verdict::Several(vec![candidate("Calle Mayor 5")])),
        ("several, but none", Verdict::Several(vec![])),
        ("vague", Verdict::Vague),
        ("outside", Verdict::Outside),
        ("other town", Verdict::OtherTown("Bilbao".to_owned())),
        ("not found", Verdict::NotFound),
        ("unavailable", Verdict::Unavailable),
    ];
    for (name, verdict) in verdicts {
        add(&format!("text: {name}"), text("mayor kalea 7"), vec![Answer::Resolve(verdict)]);
    }
    add("text: yes", text("Sí"), vec![Answer::Resolve(Verdict::NotFound)]);
    add("text: no", text("ez"), vec![Answer::Resolve(Verdict::NotFound)]);
    add("text: number of a row", text("2"), vec![Answer::Resolve(Verdict::NotFound)]);

    for (age, token) in [("current", OPEN), ("old", OLD)] {
        add(&format!("button: language, {age}"), button(format!("language:es:{token}")), vec![]);
        add(&format!("button: yes, {age}"), button(format!("confirm:yes:{token}")), vec![]);
        add(&format!("button: no, {age}"), button(format!("confirm:no:{token}")), vec![]);
        add(&format!("list: row, {age}"), button(format!("choose:0:{token}")), vec![]);
        add(&format!("list: none of these, {age}"), button(format!("choose:none:{token}")), vec![]);
    }
    add("list: row that is not there", button(format!("choose:9:{OPEN}")), vec![]);
    add("button: foreign", button("buy".to_owned()), vec![]);

    let outside = Answer::Covers(Coverage::Outside { metres: 900.0 });
    add("pin: inside, named", pin(Some("Calle Mayor 5")), vec![inside()]);
    add(
        "pin: inside, nameless",
        pin(None),
        vec![inside(), Answer::Reverse(Some("Calle Mayor 5".to_owned()))],
    );
    add("pin: inside, nobody knows its name", pin(Some(" ")), vec![inside(), Answer::Reverse(None)]);
    add("pin: outside", pin(None), vec![outside]);
    let nowhere = Point { latitude: f64::NAN, longitude: 0.0 };
    let nowhere = EventKind::Location { point: nowhere, name: None, address: None };
    add("pin: impossible", event(nowhere), vec![]);

    for (age, token) in [("current", Some(OPEN)), ("old", Some(OLD)), ("of a received report", Some(DONE))] {
        add(&format!("form: {age}"), form(token, report()), vec![]);
    }
    let dropped = form(None, report());
    add(
        "form: no token, in reply to the open prompt",
        Event { in_reply_to: Some(OPEN), ..dropped.clone() },
        vec![],
    );
    add("form: no token, in reply to nothing", dropped, vec![]);
    add("form: informational leaf", form(Some(OPEN), FormAnswer::Informational), vec![]);
    add("form: unknown route", form(Some(OPEN), FormAnswer::UnknownRoute), vec![]);
    add("form: malformed", form(Some(OPEN), FormAnswer::Malformed), vec![]);
    for (name, kind) in [
        ("photo", EventKind::Photo),
        ("photo that was asked for", EventKind::AwaitedPhoto { report_id: RECEIVED, photo: photo() }),
        ("live location", EventKind::LiveLocation),
        ("contacts", EventKind::Contacts),
        ("unsupported", EventKind::Unsupported),
        ("reaction", EventKind::Reaction),
        ("group", EventKind::Group),
        ("revoke", EventKind::Revoke),
        ("system", EventKind::System),
    ] {
        add(name, event(kind), vec![]);
    }
    all
}

/// Runs one event to its end, looking up what is asked for. Panics if it asks more than twice.
pub(crate) fn settle(
    session: &Session,
    event: &Event,
    fresh: &Fresh,
    now: DateTime<Utc>,
    mut world: impl FnMut(&Lookup) -> Answer,
) -> Transition {
    let mut answers = Vec::new();
    for _ in 0..3 {
        match decide(session, event, &answers, fresh, now) {
            Decision::Done(transition) => return transition,
            Decision::Need(lookup) => answers.push(world(&lookup)),
        }
    }
    panic!("more than two lookups for {event:?} at {}", session.step.name());
}

/// Runs one event with answers given beforehand.
pub(crate) fn settle_with(session: &Session, event: &Event, world: &[Answer]) -> Transition {
    let mut world = world.iter().cloned();
    settle(session, event, &FRESH, noon(), |lookup| {
        let answer = world.next().unwrap_or_else(|| panic!("no answer to {lookup:?} for {event:?}"));
        match (lookup, &answer) {
            (Lookup::Covers(_), Answer::Covers(_))
            | (Lookup::Reverse(_), Answer::Reverse(_))
            | (Lookup::Resolve { .. }, Answer::Resolve(_)) => answer,
            (lookup, answer) => panic!("{answer:?} is no answer to {lookup:?}"),
        }
    })
}
