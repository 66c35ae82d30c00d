//! What a completed form does. It counts once: by the token it was sent with or, where a client drops the
//! token, by the message it answers. A form that was already received is answered with its reference again.

use crate::texts::Key;
use crate::turn::Turn;
use crate::{Effect, Form, FormAnswer, LastReport, Outcome, Session, Step, Transition, prompt};

impl Turn<'_> {
    pub(crate) fn form(&self, form: &Form) -> Transition {
        match &self.session.step {
            Step::AwaitingForm { prompt, report_id, .. } if self.is_current(form.token, *prompt) => {
                self.completed(&form.answer, *report_id, *prompt)
            }
            Step::Idle
            | Step::AwaitingLanguage { .. }
            | Step::AwaitingLocation { .. }
            | Step::AwaitingForm { .. } => self.not_awaited(form),
        }
    }

    fn completed(&self, answer: &FormAnswer, report_id: uuid::Uuid, prompt_token: uuid::Uuid) -> Transition {
        match answer {
            FormAnswer::Report { route, category, note, photo, more_photos, version } => {
                let mut session = self.onto(Step::Idle);
                session.remember(LastReport { report_id, prompt_token });
                let receive = Effect::Receive {
                    report_id,
                    route: route.clone(),
                    category: category.clone(),
                    note: note.as_deref().map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned),
                    photo: photo.clone(),
                    more_photos: *more_photos,
                    version: version.clone(),
                    language: prompt::tongue(self.session),
                    prompt_token,
                };
                // The reference exists only after the shell has stored it, so the reply is the shell's.
                Transition {
                    session,
                    effects: vec![receive],
                    replies: Vec::new(),
                    outcome: Outcome::Received,
                }
            }
            FormAnswer::Informational => Transition {
                session: self.onto(Step::Idle),
                effects: self.dropped(),
                replies: vec![prompt::text(&self.word(Key::Informational, &[]))],
                outcome: Outcome::Informed,
            },
            FormAnswer::UnknownRoute | FormAnswer::Malformed => {
                let word = self.word(Key::FormUnreadable, &[]);
                let again = self.repeat(Outcome::Refused, Some(&word));
                Transition { session: Session { reminded_at: None, ..again.session }, ..again }
            }
        }
    }

    /// Either the form of a received report, which disturbs nothing, or a stale one.
    fn not_awaited(&self, form: &Form) -> Transition {
        let token = form.token.or(self.event.in_reply_to);
        match token.and_then(|token| self.session.completed_by(token)) {
            Some(report) => Transition {
                effects: vec![Effect::RepeatReference {
                    report_id: report.report_id,
                    language: prompt::tongue(self.session),
                }],
                ..self.stay(Outcome::Repeated, Vec::new())
            },
            None => self.stale(),
        }
    }
}
