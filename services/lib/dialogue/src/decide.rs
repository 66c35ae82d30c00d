//! What every kind of event does at every step; `README.md` has the whole as a table.
//!
//! The order matters: keywords come before the step, so that nobody is caught in a step; a language button
//! works at any age; everything else is taken only as an answer to the open prompt.

use chrono::{DateTime, Utc};

use crate::keyword::{self, Keyword};
use crate::press::{self, Choice};
use crate::texts::{Key, voiced};
use crate::turn::Turn;
use crate::{
    Answer, Decision, Effect, Event, EventKind, Fresh, LocationAsk, Outcome, PhotoRef, PromptFate, Reply,
    ReplyBody, Session, Step, Transition, prompt,
};

/// Decides one event.
///
/// `answers` are the lookups asked for so far, in order; the function is called again with one more after
/// each [`Decision::Need`], with everything else unchanged. It needs at most two. `fresh` are unused ids, `now`
/// the shell's clock; the same arguments always give the same decision.
#[must_use]
pub fn decide(
    session: &Session,
    event: &Event,
    answers: &[Answer],
    fresh: &Fresh,
    now: DateTime<Utc>,
) -> Decision {
    let turn = Turn { session, event, answers, fresh, now };
    match turn.meet() {
        Decision::Need(lookup) => Decision::Need(lookup),
        Decision::Done(transition) => turn.with_lost_prompt(transition).into(),
    }
}

impl Turn<'_> {
    fn meet(&self) -> Decision {
        match &self.event.kind {
            EventKind::Text(text) => self.typed(text),
            EventKind::Button { id, title } | EventKind::ListChoice { id, title } => {
                self.pressed(id, title).into()
            }
            EventKind::Location { point, name, address } => {
                self.pin(*point, name.as_deref(), address.as_deref())
            }
            EventKind::Form(form) => self.form(form).into(),
            EventKind::Photo => self.remind(Some(Key::PhotoInForm)).into(),
            EventKind::AwaitedPhoto { report_id, photo } => self.photo_taken(*report_id, photo).into(),
            EventKind::LiveLocation => self.remind(Some(Key::LiveLocation)).into(),
            EventKind::Contacts | EventKind::Unsupported => self.remind(Some(Key::Unreadable)).into(),
            EventKind::Reaction | EventKind::Group | EventKind::Revoke | EventKind::System => {
                self.stay(Outcome::Ignored, Vec::new()).into()
            }
        }
    }

    /// The photo of a report that was received; the conversation stays where it is. The rest of an album is not the
    /// start of another report, so this counts as the reminder for it.
    fn photo_taken(&self, report_id: uuid::Uuid, photo: &PhotoRef) -> Transition {
        let word = voiced(self.session.language, Key::PhotoTaken, &[]);
        let mut taken = self.stay(Outcome::PhotoTaken, vec![prompt::text(&word)]);
        taken.session.reminded_at = Some(self.now);
        taken.effects.push(Effect::TakePhoto { report_id, photo: photo.clone() });
        taken
    }

    /// A prompt that was given up on its way is said again at the citizen's next message, under its token and in one
    /// message with whatever else is said.
    fn with_lost_prompt(&self, decided: Transition) -> Transition {
        let is_open = decided.session.prompt().is_some() && decided.session.prompt() == self.session.prompt();
        let is_said = decided.replies.iter().any(|reply| reply.prompt.is_some());
        if self.event.prompt != PromptFate::Lost || !is_open || is_said {
            return decided;
        }
        let word = match (decided.outcome, decided.replies.first()) {
            // A reminder points to the very message that was lost.
            (Outcome::Quiet | Outcome::Reminded, _) => None,
            // What is said of a reference is the shell's; the next message finds the prompt still lost.
            (Outcome::Ignored | Outcome::Received | Outcome::Repeated, _) => return decided,
            (
                Outcome::Started
                | Outcome::Advanced
                | Outcome::Refused
                | Outcome::Stale
                | Outcome::PhotoTaken
                | Outcome::Informed
                | Outcome::Cancelled
                | Outcome::Restarted
                | Outcome::Helped
                | Outcome::Thanked,
                Some(Reply { body: ReplyBody::Text(text), prompt: None }),
            ) => Some(text.clone()),
            (_, _) => return decided,
        };
        let quiet = decided.outcome == Outcome::Quiet;
        let mut said = decided;
        said.replies = prompt::current(&said.session, word.as_deref()).into_iter().collect();
        if quiet {
            said.outcome = Outcome::Reminded;
            said.session.reminded_at = Some(self.now);
        }
        said
    }
}

impl Turn<'_> {
    fn typed(&self, text: &str) -> Decision {
        match keyword::read(text) {
            Some(Keyword::Cancel) => self.cancel().into(),
            Some(Keyword::Restart) => self.start(Outcome::Restarted).into(),
            Some(Keyword::Help) => self.help().into(),
            Some(Keyword::Language(language)) => self.choose_language(language).into(),
            Some(Keyword::Thanks) => self.thanked().into(),
            None => match &self.session.step {
                Step::Idle | Step::AwaitingLanguage { .. } | Step::AwaitingForm { .. } => {
                    self.remind(None).into()
                }
                Step::AwaitingLocation { ask, .. } => self.typed_place(ask, text),
            },
        }
    }

    fn cancel(&self) -> Transition {
        let (key, outcome) = match &self.session.step {
            Step::Idle => (Key::NothingToCancel, Outcome::Cancelled),
            Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } | Step::AwaitingForm { .. } => {
                (Key::Cancelled, Outcome::Cancelled)
            }
        };
        Transition {
            session: self.onto(Step::Idle),
            effects: self.dropped(),
            replies: vec![prompt::text(&self.word(key, &[]))],
            outcome,
        }
    }

    /// The explanation, in one message with what is awaited; from idle, with the language selector.
    fn help(&self) -> Transition {
        match &self.session.step {
            Step::Idle => {
                let mut started = self.start(Outcome::Helped);
                let word = voiced(None, Key::Help, &[]);
                started.replies = prompt::current(&started.session, Some(&word)).into_iter().collect();
                started
            }
            Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } => {
                self.repeat(Outcome::Helped, Some(&self.word(Key::Help, &[])))
            }
            Step::AwaitingForm { .. } => {
                let text = format!("{}\n\n{}", self.word(Key::Help, &[]), self.form_reminder());
                self.stay(Outcome::Helped, vec![prompt::text(&text)])
            }
        }
    }

    /// Thanks after a report are not the start of another one; in the middle of one they are small talk.
    fn thanked(&self) -> Transition {
        match (&self.session.step, self.session.language) {
            (Step::Idle, Some(_)) => {
                self.stay(Outcome::Thanked, vec![prompt::text(&self.word(Key::Thanks, &[]))])
            }
            (Step::Idle, None)
            | (
                Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } | Step::AwaitingForm { .. },
                _,
            ) => self.remind(None),
        }
    }

    fn pressed(&self, id: &str, title: &str) -> Transition {
        let Some(press) = press::parse(id) else {
            // A client that lost the id still shows the title.
            return match keyword::read(title) {
                Some(Keyword::Language(language)) => self.choose_language(language),
                Some(Keyword::Cancel | Keyword::Restart | Keyword::Help | Keyword::Thanks) | None => {
                    self.stale()
                }
            };
        };
        if let Choice::Language(language) = press.choice {
            return self.choose_language(language);
        }
        match &self.session.step {
            Step::AwaitingLocation { prompt, ask } if self.is_current(press.token, *prompt) => {
                self.chosen(press.choice, ask)
            }
            Step::Idle
            | Step::AwaitingLanguage { .. }
            | Step::AwaitingLocation { .. }
            | Step::AwaitingForm { .. } => self.stale(),
        }
    }

    fn chosen(&self, choice: Choice, ask: &LocationAsk) -> Transition {
        match (choice, ask) {
            (Choice::Language(language), _) => self.choose_language(language),
            (Choice::Confirm(true), LocationAsk::Confirm { candidate }) => self.accept_candidate(candidate),
            (Choice::Confirm(false), LocationAsk::Confirm { .. })
            | (Choice::Pick(None), LocationAsk::Choose { .. }) => self.ask_again(Outcome::Advanced, None),
            (Choice::Pick(Some(index)), LocationAsk::Choose { options }) => match options.get(index) {
                Some(option) => self.accept_candidate(option),
                None => self.stale(),
            },
            (
                Choice::Confirm(_),
                LocationAsk::Asked | LocationAsk::Choose { .. } | LocationAsk::NumberFor { .. },
            )
            | (
                Choice::Pick(_),
                LocationAsk::Asked | LocationAsk::Confirm { .. } | LocationAsk::NumberFor { .. },
            ) => self.stale(),
        }
    }

    /// Whether an answer belongs to the open prompt: by its token or, where a client drops the token, by the
    /// message it answers.
    pub(crate) fn is_current(&self, token: Option<uuid::Uuid>, prompt: uuid::Uuid) -> bool {
        token.or(self.event.in_reply_to) == Some(prompt)
    }
}
