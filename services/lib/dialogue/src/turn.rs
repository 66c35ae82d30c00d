//! One event meeting one session, and the ways such a meeting can end. The rules that choose between them are
//! in `decide`, `locate` and `form`.

use chrono::{DateTime, TimeDelta, Utc};

use crate::texts::{Key, say, voiced};
use crate::{
    Answer, Decision, Effect, Event, Fresh, Language, LocationAsk, Outcome, PromptFate, Reply, Session, Step,
    Transition, prompt,
};

/// Reminders come at most this often.
const REMINDER_EVERY: TimeDelta = TimeDelta::minutes(1);

/// The arguments of [`decide`](crate::decide()), with the endings as methods.
pub(crate) struct Turn<'a> {
    pub(crate) session: &'a Session,
    pub(crate) event: &'a Event,
    pub(crate) answers: &'a [Answer],
    pub(crate) fresh: &'a Fresh,
    pub(crate) now: DateTime<Utc>,
}

impl Turn<'_> {
    /// An entry in the voice of the session.
    pub(crate) fn word(&self, key: Key, arguments: &[(&str, &str)]) -> String {
        voiced(self.session.voice(), key, arguments)
    }

    /// Nothing changes; these replies are said.
    pub(crate) fn stay(&self, outcome: Outcome, replies: Vec<Reply>) -> Transition {
        Transition { session: self.session.clone(), effects: Vec::new(), replies, outcome }
    }

    /// The draft of the session, to be forgotten.
    pub(crate) fn dropped(&self) -> Vec<Effect> {
        self.session.report_id().map(|report_id| Effect::DropDraft { report_id }).into_iter().collect()
    }

    /// On to another step. The minute without reminders does not outlive the step.
    pub(crate) fn onto(&self, step: Step) -> Session {
        Session { step, reminded_at: None, ..self.session.clone() }
    }

    /// The language selector, which every report starts with; a draft is dropped.
    pub(crate) fn start(&self, outcome: Outcome) -> Transition {
        let token = self.fresh.token;
        Transition {
            session: self.onto(Step::AwaitingLanguage { prompt: token }),
            effects: self.dropped(),
            replies: vec![prompt::greeting(token)],
            outcome,
        }
    }

    /// A language was chosen: on to the place; a draft is dropped, because its form speaks one language.
    pub(crate) fn choose_language(&self, language: Language) -> Transition {
        let step = Step::AwaitingLocation { prompt: self.fresh.token, ask: LocationAsk::Asked };
        let session = Session { language: Some(language), ..self.onto(step) };
        let replies = prompt::current(&session, None).into_iter().collect();
        Transition { session, effects: self.dropped(), replies, outcome: Outcome::Advanced }
    }

    /// The same question again under a new token.
    pub(crate) fn repeat(&self, outcome: Outcome, word: Option<&str>) -> Transition {
        let step = self.session.step.renewed(self.fresh.token);
        let session = Session { step, ..self.session.clone() };
        let replies = prompt::current(&session, word).into_iter().collect();
        Transition { session, effects: Vec::new(), replies, outcome }
    }

    /// An answer to a prompt that is not open: one word and the open prompt again; from idle, a new start.
    pub(crate) fn stale(&self) -> Transition {
        match &self.session.step {
            Step::Idle => self.start(Outcome::Started),
            Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } | Step::AwaitingForm { .. } => {
                self.repeat(Outcome::Stale, Some(&self.word(Key::Stale, &[])))
            }
        }
    }

    /// Not an answer: what is awaited, at most once a minute. While the form is open its prompt keeps its
    /// token, so that a form half filled in stays valid. Idle starts, since every message may.
    pub(crate) fn remind(&self, word: Option<Key>) -> Transition {
        if matches!(self.session.step, Step::Idle) {
            // The rest of an album whose first picture was the photo of a report.
            if word == Some(Key::PhotoInForm) && self.reminded_just_now() {
                return self.stay(Outcome::Quiet, Vec::new());
            }
            // An album arrives as many photos: the greeting counts as the reminder for the rest of them.
            let mut started = self.start(Outcome::Started);
            started.session.reminded_at = word.map(|_| self.now);
            return started;
        }
        if self.reminded_just_now() {
            return self.stay(Outcome::Quiet, Vec::new());
        }
        let word = word.map(|key| self.word(key, &[]));
        let mut reminded = match &self.session.step {
            Step::AwaitingForm { .. } => {
                let reminder = self.form_reminder();
                let text = word.map_or_else(|| reminder.clone(), |word| format!("{word} {reminder}"));
                self.stay(Outcome::Reminded, vec![prompt::text(&text)])
            }
            Step::Idle | Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } => {
                self.repeat(Outcome::Reminded, word.as_deref())
            }
        };
        reminded.session.reminded_at = Some(self.now);
        reminded
    }

    /// Where to go on while the form is open; that it comes later, where it could not be sent yet.
    pub(crate) fn form_reminder(&self) -> String {
        let language = prompt::tongue(self.session);
        if self.event.prompt == PromptFate::Delayed {
            return say(language, Key::FormDelayed, &[]);
        }
        say(language, Key::FormReminder, &[("button", &say(language, Key::FormButton, &[]))])
    }

    /// A clock that went back must not silence anyone for longer than a minute either.
    fn reminded_just_now(&self) -> bool {
        self.session.reminded_at.is_some_and(|at| (self.now - at).abs() < REMINDER_EVERY)
    }
}

impl From<Transition> for Decision {
    fn from(transition: Transition) -> Self {
        Self::Done(transition)
    }
}
