//! What the shell says on its own account, after something happened that no event of the citizen is.

use crate::texts::{Key, say, voiced};
use crate::{Language, Reply, Session, limits, prompt};

/// The answer to a completed report: its reference, what was understood and how to report another.
///
/// `category` are the labels of the route in `language`. This is the only reply that may hold a reference.
#[must_use]
pub fn received(
    language: Language,
    reference: &str,
    category: &[String],
    address: Option<&str>,
) -> Vec<Reply> {
    let mut lines = vec![say(language, Key::Received, &[("reference", reference)])];
    if !category.is_empty() {
        let category = limits::fit(&category.join(" › "), limits::BODY);
        lines.push(say(language, Key::ReceivedCategory, &[("category", &category)]));
    }
    if let Some(address) = address.and_then(|address| limits::line(address, limits::ADDRESS)) {
        lines.push(say(language, Key::ReceivedAddress, &[("address", &address)]));
    }
    let report = lines.join("\n");
    vec![prompt::text(&format!("{report}\n\n{}", say(language, Key::ReceivedMore, &[])))]
}

/// The answer when an event was given up: a polite word and what is awaited, in one message. The session does
/// not change, so its prompt keeps its token.
#[must_use]
pub fn gave_up(session: &Session) -> Vec<Reply> {
    let voice = session.voice();
    let word = voiced(voice, Key::GaveUp, &[]);
    let reply = prompt::current(session, Some(&word))
        .unwrap_or_else(|| prompt::text(&format!("{word}\n\n{}", voiced(voice, Key::WriteToStart, &[]))));
    vec![reply]
}

/// What is awaited, asked again under the same token; `None` when nothing is. For a prompt that was never
/// delivered.
#[must_use]
pub fn prompt_again(session: &Session) -> Option<Reply> {
    prompt::current(session, None)
}

/// Something the citizen should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A lookup takes longer than usual.
    OneMoment,
    /// The form cannot be sent now and will be.
    FormDelayed,
    /// The citizen's client cannot show the form.
    UpdateApp,
    /// The photo of a received report cannot be had; a new one is asked for.
    PhotoAgain,
    /// A form came whose draft is gone.
    DraftGone,
}

/// Says a notice in the session's language, or in both when it has none.
#[must_use]
pub fn notice(session: &Session, notice: Notice) -> Vec<Reply> {
    let key = match notice {
        Notice::OneMoment => Key::OneMoment,
        Notice::FormDelayed => Key::FormDelayed,
        Notice::UpdateApp => Key::UpdateApp,
        Notice::PhotoAgain => Key::PhotoAgain,
        Notice::DraftGone => Key::DraftGone,
    };
    vec![prompt::text(&voiced(session.voice(), key, &[]))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReplyBody;

    fn text(replies: &[Reply]) -> &str {
        match replies {
            [Reply { body: ReplyBody::Text(text), prompt: None }] => text,
            other => panic!("one plain text expected, not {other:?}"),
        }
    }

    #[test]
    fn a_received_report_is_told_in_full() {
        let category = ["Contenedor".to_owned(), "Vidrio".to_owned()];
        let replies = received(Language::Es, "REF-2026-00042", &category, Some("Calle Mayor 5"));
        for part in ["REF-2026-00042", "Contenedor › Vidrio", "Calle Mayor 5"] {
            assert!(text(&replies).contains(part), "{part}");
        }
        let bare = received(Language::Eu, "REF-2026-00042", &[], None);
        assert!(!text(&bare).contains("Non:") && !text(&bare).contains("Zer:"));
    }

    #[test]
    fn whatever_is_told_fits_one_message() {
        let category = vec!["ñ".repeat(9000)];
        let replies = received(Language::Eu, "REF-2026-00042", &category, Some(&"👍".repeat(5000)));
        assert!(limits::length(text(&replies)) <= limits::TEXT);
        assert!(text(&replies).contains("REF-2026-00042"));
    }

    #[test]
    fn an_event_given_up_is_told_in_both_languages_to_someone_who_chose_none() {
        let replies = gave_up(&Session::default());
        assert!(text(&replies).contains("Perdona") && text(&replies).contains("Barkatu"));
        for each in
            [Notice::OneMoment, Notice::FormDelayed, Notice::UpdateApp, Notice::PhotoAgain, Notice::DraftGone]
        {
            let one = notice(&Session { language: Some(Language::Eu), ..Session::default() }, each);
            assert!(text(&notice(&Session::default(), each)).contains(text(&one)), "{each:?}");
        }
    }
}
