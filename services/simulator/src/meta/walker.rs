//! A form, filled in as a phone does: rows are tapped by title, inputs are filled, the button is pressed.
//!
//! Nothing is taken from the sender's word: what arrives on a screen is what the action carried, and a
//! screen whose data do not fit its model fails here as it fails on the phone.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{
    binding::{self, Bound, Part, Reference},
    document::{Document, Object, conforms, next_screen},
    validate::length,
};
use crate::state::SentFlow;

/// More steps than any form has: a loop.
const MOST_STEPS: usize = 100;

/// What the person does.
pub(crate) struct Answers {
    /// Titles of the rows to tap, in order.
    pub(crate) path: Vec<String>,
    pub(crate) note: Option<String>,
    /// Entries of the picker's value.
    pub(crate) photos: Vec<Value>,
}

struct Phone<'a> {
    document: Document<'a>,
    screen: String,
    data: HashMap<String, Object>,
    forms: HashMap<String, Object>,
}

/// Walks a form to its end. Returns the payload of `complete`; the error says where the person is stuck.
pub(crate) fn walk(flow: &SentFlow, answers: &Answers) -> Result<Map<String, Value>, String> {
    let mut phone = Phone {
        document: Document::new(&flow.document),
        screen: flow.screen.clone(),
        data: HashMap::from([(flow.screen.clone(), flow.data.clone())]),
        forms: HashMap::new(),
    };
    let mut path = answers.path.iter();
    for _ in 0..MOST_STEPS {
        let action = phone.act(&mut path, answers)?;
        if action.get("name").and_then(Value::as_str) == Some("complete") {
            if let Some(left) = path.next() {
                return Err(format!("the form ended before '{left}' could be tapped"));
            }
            return phone.payload(action);
        }
        phone.navigate(action)?;
    }
    Err("the form never ends".to_owned())
}

impl<'a> Phone<'a> {
    /// Does what the current screen asks for and returns the action that follows.
    fn act(
        &mut self,
        path: &mut std::slice::Iter<'_, String>,
        answers: &Answers,
    ) -> Result<&'a Object, String> {
        let components: Vec<_> = self
            .document
            .components(&self.screen)
            .into_iter()
            .filter(|one| !self.is(one.map, "visible", false))
            .collect();
        if components.iter().any(|one| one.kind == "NavigationList") {
            let title = path.next().ok_or_else(|| format!("{} waits for a row to be tapped", self.screen))?;
            let lists = components.iter().filter(|one| one.kind == "NavigationList").map(|one| one.map);
            return self.tap(&lists.collect::<Vec<_>>(), title);
        }
        let mut note = answers.note.as_deref();
        for component in &components {
            let value = match component.kind {
                "TextArea" | "TextInput" => self.write(component.map, note.take())?,
                "PhotoPicker" => self.pick(component.map, &answers.photos)?,
                "OptIn" => Value::Bool(true),
                _ => continue,
            };
            self.enter(component.map, value);
        }
        let footer = components
            .iter()
            .find(|one| one.kind == "Footer")
            .ok_or_else(|| format!("{} is a dead end: it has no button", self.screen))?;
        if self.is(footer.map, "enabled", false) {
            return Err(format!("the button of {} is disabled", self.screen));
        }
        footer
            .map
            .get("on-click-action")
            .and_then(Value::as_object)
            .ok_or_else(|| format!("the button of {} does nothing", self.screen))
    }

    fn tap(&mut self, lists: &[&'a Object], title: &str) -> Result<&'a Object, String> {
        let mut seen = Vec::new();
        for list in lists {
            for item in self.document.items(&self.screen, list) {
                let shown = item.get("main-content").and_then(|content| content.get("title"));
                let shown = self.resolve(shown.unwrap_or(&Value::Null))?;
                if shown.as_str() == Some(title) {
                    let id = item.get("id").cloned().unwrap_or_default();
                    self.enter(list, id);
                    let action = item.get("on-click-action").or_else(|| list.get("on-click-action"));
                    return action
                        .and_then(Value::as_object)
                        .ok_or_else(|| format!("the row '{title}' does nothing"));
                }
                seen.extend(shown.as_str().map(str::to_owned));
            }
        }
        Err(format!("{} has no row '{title}', only: {}", self.screen, seen.join(", ")))
    }

    /// What a text field holds after the person wrote, or left it empty.
    fn write(&self, field: &Object, note: Option<&str>) -> Result<Value, String> {
        let text = note.unwrap_or_default();
        if text.is_empty() && self.is(field, "required", true) {
            return Err(format!("{} wants a text", self.screen));
        }
        let most = field.get("max-length").or_else(|| field.get("max-chars")).and_then(Value::as_u64);
        if length(text) as u64 > most.unwrap_or(600) {
            return Err(format!("{} takes no text of this length", self.screen));
        }
        Ok(json!(text))
    }

    fn pick(&self, picker: &Object, photos: &[Value]) -> Result<Value, String> {
        let number = |key: &str, default| picker.get(key).and_then(Value::as_u64).unwrap_or(default);
        let count = photos.len() as u64;
        if count < number("min-uploaded-photos", 0) {
            return Err(format!("{} wants a photo", self.screen));
        }
        if count > number("max-uploaded-photos", 30) {
            return Err(format!("{} takes no more photos", self.screen));
        }
        Ok(json!(photos))
    }

    fn enter(&mut self, field: &Object, value: Value) {
        let name = field.get("name").and_then(Value::as_str).unwrap_or_default();
        self.forms.entry(self.screen.clone()).or_default().insert(name.to_owned(), value);
    }

    fn navigate(&mut self, action: &Object) -> Result<(), String> {
        let target = next_screen(action).ok_or("an action that leads nowhere")?.to_owned();
        let payload = self.payload(action)?;
        conforms(self.document.model(&target), &payload)
            .map_err(|problem| format!("{target} cannot be shown: {problem}"))?;
        self.data.insert(target.clone(), payload);
        self.screen = target;
        Ok(())
    }

    fn payload(&self, action: &Object) -> Result<Object, String> {
        let payload = action.get("payload").and_then(Value::as_object);
        let fields = payload.into_iter().flatten();
        fields.map(|(key, value)| Ok((key.clone(), self.resolve(value)?))).collect()
    }

    /// Whether a boolean property has this value; what is absent has neither.
    fn is(&self, map: &Object, key: &str, wanted: bool) -> bool {
        map.get(key).is_some_and(|value| self.resolve(value) == Ok(Value::Bool(wanted)))
    }

    fn resolve(&self, value: &Value) -> Result<Value, String> {
        match value {
            Value::String(text) => match binding::read(text)? {
                Bound::Literal(literal) => Ok(json!(literal)),
                Bound::Reference(reference) => self.look_up(&reference),
                Bound::Expression(parts) => self.join(&parts),
            },
            Value::Array(items) => items.iter().map(|item| self.resolve(item)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, value)| Ok((key.clone(), self.resolve(value)?))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        }
    }

    fn look_up(&self, reference: &Reference) -> Result<Value, String> {
        let from = |fields: &HashMap<String, Object>, screen: &str, path: &[String]| {
            let mut value = fields.get(screen).and_then(|fields| fields.get(path.first()?)).cloned();
            for name in path.iter().skip(1) {
                value = value.and_then(|value| value.get(name).cloned());
            }
            // Input of a screen not visited yet is empty.
            value.unwrap_or_else(|| json!(""))
        };
        let one = std::slice::from_ref;
        Ok(match reference {
            Reference::Data(path) => from(&self.data, &self.screen, path),
            Reference::ScreenData { screen, path } => from(&self.data, screen, path),
            Reference::Form(name) => from(&self.forms, &self.screen, one(name)),
            Reference::ScreenForm { screen, name } => from(&self.forms, screen, one(name)),
        })
    }

    fn join(&self, parts: &[Part]) -> Result<Value, String> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Reference(reference) => match self.look_up(reference)? {
                    Value::String(value) => text.push_str(&value),
                    other => text.push_str(&other.to_string()),
                },
                Part::Operator(operator) => {
                    return Err(format!("the operator {operator} is not evaluated here"));
                }
            }
        }
        Ok(json!(text))
    }
}
