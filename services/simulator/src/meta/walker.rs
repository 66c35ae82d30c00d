//! A form, filled in as a phone does: rows and links are tapped by title, inputs are filled, the button is pressed.
//!
//! Nothing is taken from the sender's word: what arrives on a screen is what the action carried, and a
//! screen whose data do not fit its model fails here as it fails on the phone. Any form that the checks of an upload
//! let through can be walked, with its conditions and choices.

mod compute;
mod inputs;
mod phone;

use serde_json::{Map, Value, json};

use crate::state::SentFlow;
use phone::Phone;

/// More steps than any form has: a loop.
const MOST_STEPS: usize = 100;

/// What the person does.
pub(crate) struct Answers {
    /// Titles of the rows and links to tap, in order.
    pub(crate) path: Vec<String>,
    /// What goes into the first field for text that has no answer by its name.
    pub(crate) note: Option<String>,
    /// Entries of a picker's value.
    pub(crate) photos: Vec<Value>,
    /// By the name of an input: a text; an id or a title of an option, or several; a boolean; a day, or
    /// `{"start-date", "end-date"}`.
    pub(crate) values: Map<String, Value>,
}

/// A form that was sent off.
#[derive(Debug)]
pub(crate) struct Walked {
    /// The payload of `complete`.
    pub(crate) payload: Map<String, Value>,
    /// What the person saw, screen by screen: `{id, title, shown: […]}`.
    pub(crate) screens: Vec<Value>,
}

/// Walks a form to its end; the error says where the person is stuck.
pub(crate) fn walk(flow: &SentFlow, answers: &Answers) -> Result<Walked, String> {
    let mut phone = Phone::open(flow);
    let mut path = answers.path.iter();
    let mut note = answers.note.as_deref();
    let mut screens = Vec::new();
    for _ in 0..MOST_STEPS {
        let action = phone.act(&mut path, &mut note, answers)?;
        screens.push(phone.shown()?);
        if action.get("name").and_then(Value::as_str) == Some("complete") {
            if let Some(left) = path.next() {
                return Err(format!("the form ended before '{left}' could be tapped"));
            }
            return Ok(Walked { payload: phone.payload(action)?, screens });
        }
        phone.navigate(action)?;
    }
    Err("the form never ends".to_owned())
}

impl Phone<'_> {
    /// The current screen as a person sees it.
    fn shown(&self) -> Result<Value, String> {
        let title = self.title()?;
        let mut shown = Vec::new();
        for component in self.visible()? {
            if component.kind == "NavigationList" {
                for item in self.options(component.map, "list-items")? {
                    let title = item.get("main-content").and_then(|content| content.get("title")).cloned();
                    shown.push(title.unwrap_or_default());
                }
            }
            for key in ["text", "label"] {
                let text = component.map.get(key).map(|value| self.resolve(value)).transpose()?;
                match text {
                    Some(Value::Array(lines)) => shown.extend(lines),
                    text => shown.extend(text),
                }
            }
        }
        Ok(json!({"id": self.screen(), "title": title, "shown": shown}))
    }
}
