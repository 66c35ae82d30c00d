//! `cargo xtask converse`: one conversation in the terminal, against the pure core.
//!
//! There is no database, no provider and no network: what is typed becomes events, [`world`] answers what the core looks
//! up, and the replies are printed as a phone would show them. So a text or a rule can be tried in seconds.

mod command;
mod show;
mod world;

use std::io::{BufRead, Write};

use chrono::Utc;
use dialogue::{
    Answer, Decision, Effect, Event, EventKind, Form, FormAnswer, Fresh, Language, Lookup, PhotoRef,
    PromptFate, Reply, ReplyBody, Session, Transition, decide, received,
};
use flow_json::{Kind, Taxonomy};
use uuid::Uuid;

use command::Command;
use world::World;

/// The commands, for who asks.
const HELP: &str = "anything else is said as it is typed
  /button N              taps a button or a row of the newest message that has some
  /pin LAT LON           sends a pin, in degrees
  /form ROUTE [NOTE]     completes the newest form, with a photo; /form lists the routes
  /photo                 sends a photo outside the form
  /away, /back           the geocoder is away, and back
  /help, /quit";

/// Plays a conversation until `/quit` or the end of `input`. With `language` it begins after the choice of that language.
/// `echo` repeats what is read, for input that is not typed at this terminal.
///
/// # Errors
/// The area, the streets or the taxonomy cannot be read, or the output is closed.
pub fn run(
    language: Option<Language>,
    input: impl BufRead,
    output: impl Write,
    echo: bool,
) -> anyhow::Result<()> {
    let mut talk = Talk::new(output)?;
    if let Some(language) = language {
        let id = format!("language:{}:{}", language.as_str(), Uuid::now_v7());
        talk.event(EventKind::Button { id, title: language.as_str().to_owned() })?;
    } else {
        writeln!(talk.output, "write something; /help has the commands")?;
    }
    for line in input.lines() {
        let line = line?;
        if echo {
            writeln!(talk.output, "\n> {line}")?;
        }
        let Some(command) = command::parse(&line) else { continue };
        if matches!(command, Command::Quit) {
            break;
        }
        talk.obey(command)?;
    }
    Ok(())
}

/// A conversation under way, and what the shell would keep of it.
struct Talk<W> {
    output: W,
    session: Session,
    world: World,
    taxonomy: Taxonomy,
    /// Ids and titles of the newest message that can be tapped.
    taps: Vec<(String, String)>,
    /// Token and language of the newest form.
    form: Option<(Uuid, Language)>,
    /// Address of the draft.
    address: Option<String>,
    /// Received reports with what was told of them.
    received: Vec<(Uuid, Vec<Reply>)>,
}

impl<W: Write> Talk<W> {
    fn new(output: W) -> anyhow::Result<Self> {
        let taxonomy = Taxonomy::builtin()
            .map_err(|problems| anyhow::anyhow!("the taxonomy cannot be used: {}", problems[0]))?;
        Ok(Self {
            output,
            session: Session::default(),
            world: World::load()?,
            taxonomy,
            taps: Vec::new(),
            form: None,
            address: None,
            received: Vec::new(),
        })
    }

    fn obey(&mut self, command: Command) -> anyhow::Result<()> {
        match command {
            Command::Say(text) => self.event(EventKind::Text(text)),
            Command::Button(number) => match number.checked_sub(1).and_then(|index| self.taps.get(index)) {
                Some((id, title)) => self.event(EventKind::Button { id: id.clone(), title: title.clone() }),
                None => self.complain("there is no such button"),
            },
            Command::Pin(point) => self.event(EventKind::Location { point, name: None, address: None }),
            Command::Form { route, note } => self.complete(&route, note),
            Command::Routes => {
                for leaf in self.taxonomy.leaves() {
                    writeln!(self.output, "  {}", leaf.route)?;
                }
                Ok(())
            }
            Command::Photo => self.event(EventKind::Photo),
            Command::Away(away) => {
                self.world.away = away;
                self.complain(if away { "the geocoder is away" } else { "the geocoder is back" })
            }
            Command::Help => self.complain(HELP),
            Command::Wrong(why) => self.complain(why),
            Command::Quit => Ok(()),
        }
    }

    fn complain(&mut self, what: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.output, "  {what}")?)
    }

    /// The newest form, completed; it may be one that is no longer awaited.
    fn complete(&mut self, route: &str, note: Option<String>) -> anyhow::Result<()> {
        let Some((token, language)) = self.form else { return self.complain("there is no form yet") };
        let answer = match (self.taxonomy.leaf(route), self.taxonomy.labels(route, language.as_str())) {
            (Some(leaf), Some(category)) => match leaf.kind {
                Kind::Informational => FormAnswer::Informational,
                Kind::Report => FormAnswer::Report {
                    route: route.to_owned(),
                    category,
                    note,
                    photo: Some(PhotoRef {
                        id: "photo".to_owned(),
                        sha256: String::new(),
                        mime_type: "image/jpeg".to_owned(),
                    }),
                    more_photos: 0,
                    version: Some(self.taxonomy.version().to_owned()),
                },
            },
            (_, _) => FormAnswer::UnknownRoute,
        };
        self.event(EventKind::Form(Form { token: Some(token), answer }))
    }

    /// One event through the core, as the shell does it: looked up what is asked for, then kept and said.
    fn event(&mut self, kind: EventKind) -> anyhow::Result<()> {
        let event = Event { kind, in_reply_to: None, prompt: PromptFate::Standing };
        let fresh = Fresh { token: Uuid::now_v7(), report_id: Uuid::now_v7() };
        let (now, mut answers) = (Utc::now(), Vec::new());
        let transition = loop {
            match decide(&self.session, &event, &answers, &fresh, now) {
                Decision::Done(transition) => break transition,
                Decision::Need(lookup) => answers.push(self.look_up(&lookup)?),
            }
        };
        self.keep(transition)
    }

    fn look_up(&mut self, lookup: &Lookup) -> anyhow::Result<Answer> {
        let answer = self.world.answer(lookup);
        writeln!(self.output, "  · {}", show::looked_up(lookup, &answer))?;
        Ok(answer)
    }

    fn keep(&mut self, transition: Transition) -> anyhow::Result<()> {
        let Transition { session, effects, mut replies, outcome } = transition;
        self.session = session;
        for effect in effects {
            writeln!(self.output, "  · {}", show::effect(&effect))?;
            match effect {
                Effect::OpenDraft { place, .. } | Effect::MoveDraft { place, .. } => {
                    self.address = place.address;
                }
                Effect::DropDraft { .. } => self.address = None,
                Effect::Receive { report_id, category, language, .. } => {
                    let number = self.received.len() + 1;
                    let reference = format!("REF-{}-{number:05}", Utc::now().format("%Y"));
                    let told = received(language, &reference, &category, self.address.take().as_deref());
                    self.received.push((report_id, told.clone()));
                    replies.extend(told);
                }
                Effect::RepeatReference { report_id, .. } => {
                    let told = self.received.iter().find(|(id, _)| *id == report_id);
                    replies.extend(told.map(|(_, told)| told.clone()).unwrap_or_default());
                }
                Effect::TakePhoto { .. } => {}
            }
        }
        for reply in &replies {
            self.show(reply)?;
        }
        writeln!(self.output, "  · {} → {}", outcome.as_str(), self.session.step.name())?;
        Ok(())
    }

    fn show(&mut self, reply: &Reply) -> anyhow::Result<()> {
        write!(self.output, "{}", show::bubble(&reply.body))?;
        match &reply.body {
            ReplyBody::Buttons { buttons, .. } => self.taps.clone_from(buttons),
            ReplyBody::List { rows, .. } => {
                self.taps = rows.iter().map(|(id, title, _)| (id.clone(), title.clone())).collect();
            }
            ReplyBody::Form { language, .. } => self.form = reply.prompt.map(|token| (token, *language)),
            ReplyBody::Text(_) | ReplyBody::LocationRequest { .. } => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(language: Option<Language>, script: &str) -> String {
        let mut output = Vec::new();
        run(language, script.as_bytes(), &mut output, true).unwrap();
        String::from_utf8(output).unwrap()
    }

    /// Asserts that the parts stand in the text in this order.
    fn in_order(text: &str, parts: &[&str]) {
        let mut rest = text;
        for part in parts {
            let at =
                rest.find(part).unwrap_or_else(|| panic!("{part:?} is not where it should be in:\n{text}"));
            rest = &rest[at + part.len()..];
        }
    }

    #[test]
    fn a_report_is_played_from_greeting_to_reference_and_its_form_sent_again_says_the_same() {
        let script = "Hola\n/button 1\n/pin 42.8467 -2.6727\n/form container/overflowing/glass Cristales\n\
                      /form container/overflowing/glass\n/quit\nnever read\n";
        let text = play(None, script);
        in_order(
            &text,
            &["> Hola", "[1]", "started → awaiting_language", "> /button 1", "→ awaiting_location", "inside"],
        );
        in_order(&text, &["draft opened", "[form", "→ awaiting_form", "REF-", "-00001", "received → idle"]);
        in_order(&text, &["received → idle", "-00001", "repeated → idle"]);
        assert!(!text.contains("-00002") && !text.contains("never read"), "{text}");
    }

    #[test]
    fn an_address_is_looked_up_and_asked_back_in_the_language_that_was_given() {
        let script = "Pintore kalea\n/away\nPintore kalea 1\n/back\nPintore kalea 2\n/button 1\n";
        let text = play(Some(Language::Eu), script);
        in_order(&text, &["advanced → awaiting_location", "street only", "> /away", "unavailable"]);
        in_order(&text, &["> /back", "nearest door", "[1]", "> /button 1", "advanced → awaiting_form"]);
    }

    #[test]
    fn what_cannot_be_done_is_said_and_changes_nothing() {
        let text = play(None, "/button 7\n/form\n/form x\n/pin here\n/dance\n\n/pin 40.4 -3.7\n");
        in_order(
            &text,
            &["no such button", "container/overflowing/glass", "no form yet", "/pin LAT LON", "/help"],
        );
    }
}
