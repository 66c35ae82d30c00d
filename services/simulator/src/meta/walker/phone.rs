//! The phone's own part: which screen is open, what is known, what is visible, what a text stands for.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::super::{
    binding::{self, Bound, Reference},
    document::{Component, Document, Object, branches, conforms, next_screen},
    expression::Expression,
};
use super::{
    Answers,
    compute::{compute, of, written},
};
use crate::state::SentFlow;

pub(super) struct Phone<'a> {
    pub(super) document: Document<'a>,
    screen: String,
    data: HashMap<String, Object>,
    forms: HashMap<String, Object>,
    /// Inputs of the open screen that the person has been at.
    asked: HashSet<String>,
}

impl<'a> Phone<'a> {
    pub(super) fn open(flow: &'a SentFlow) -> Self {
        Self {
            document: Document::new(&flow.document),
            screen: flow.screen.clone(),
            data: HashMap::from([(flow.screen.clone(), flow.data.clone())]),
            forms: HashMap::new(),
            asked: HashSet::new(),
        }
    }

    pub(super) fn screen(&self) -> &str {
        &self.screen
    }

    pub(super) fn title(&self) -> Result<Value, String> {
        let title = self.document.screen(&self.screen).and_then(|screen| screen.get("title"));
        self.resolve(title.unwrap_or(&Value::Null))
    }

    /// Does what the current screen asks for and returns the action that follows.
    pub(super) fn act(
        &mut self,
        path: &mut std::slice::Iter<'_, String>,
        note: &mut Option<&str>,
        answers: &Answers,
    ) -> Result<&'a Object, String> {
        // An answer may make other inputs visible.
        while let Some(input) = self.next_input()? {
            self.fill(&input, note, answers)?;
        }
        let visible = self.visible()?;
        if visible.iter().any(|one| one.kind == "NavigationList") {
            let title = path.next().ok_or_else(|| format!("{} waits for a row to be tapped", self.screen))?;
            let lists = visible.iter().filter(|one| one.kind == "NavigationList").map(|one| one.map);
            return self.tap(&lists.collect::<Vec<_>>(), title);
        }
        for link in visible.iter().filter(|one| one.kind == "EmbeddedLink") {
            let text = self.resolve(link.map.get("text").unwrap_or(&Value::Null))?;
            if text.as_str().is_some_and(|text| path.as_slice().first().is_some_and(|wanted| wanted == text))
            {
                path.next();
                return action(link.map)
                    .filter(|action| next_screen(action).is_some())
                    .ok_or_else(|| format!("the link {text} leads out of the form"));
            }
        }
        let footer = visible
            .iter()
            .find(|one| one.kind == "Footer")
            .ok_or_else(|| format!("{} is a dead end: it has no button", self.screen))?;
        if !self.truth(footer.map, "enabled", true)? {
            return Err(format!("the button of {} is disabled", self.screen));
        }
        action(footer.map).ok_or_else(|| format!("the button of {} does nothing", self.screen))
    }

    fn next_input(&self) -> Result<Option<Component<'a>>, String> {
        let open = |one: &Component<'a>| {
            one.kind != "Form" && one.name().is_some_and(|name| !self.asked.contains(name))
        };
        Ok(self.visible()?.into_iter().find(|one| open(one) && one.kind != "NavigationList"))
    }

    /// The components that are to be seen now, those of the branches that hold.
    pub(super) fn visible(&self) -> Result<Vec<Component<'a>>, String> {
        let mut seen: Vec<Component<'a>> = Vec::new();
        for component in self.document.components(&self.screen) {
            // Children follow what they stand in, so what is hidden there was left out before.
            let hidden = match component.within.last() {
                None => false,
                Some(_) => !seen.iter().any(|outer| self.holds(outer, &component.path) == Ok(true)),
            };
            if !hidden && self.truth(component.map, "visible", true)? {
                if ["If", "Switch"].contains(&component.kind) {
                    // Whatever is wrong with the condition is said here, once.
                    self.branch(component.kind, component.map)?;
                }
                seen.push(component);
            }
        }
        seen.retain(|one| !["Form", "If", "Switch"].contains(&one.kind));
        Ok(seen)
    }

    /// Whether a component is the nearest one around a path, and shows what stands there.
    fn holds(&self, outer: &Component<'a>, path: &str) -> Result<bool, String> {
        let open = self.branch(outer.kind, outer.map)?;
        let Some(open) = open else { return Ok(false) };
        let inside = path.strip_prefix(&format!("{}.{open}[", outer.path));
        Ok(inside.and_then(|rest| rest.split_once(']')).is_some_and(|(_, rest)| rest.is_empty()))
    }

    /// The key under which the components stand that are shown.
    fn branch(&self, kind: &str, map: &Object) -> Result<Option<String>, String> {
        let value = |key: &str| {
            let text = map.get(key).and_then(Value::as_str).unwrap_or_default();
            self.bound(binding::condition(text)?)
        };
        Ok(match kind {
            "Form" => Some("children".to_owned()),
            "If" => Some(if value("condition")? == Value::Bool(true) { "then" } else { "else" }.to_owned()),
            "Switch" => {
                let cases = branches(kind, map);
                let wanted = format!("cases.{}", written(&value("value")?));
                let case = [wanted.as_str(), "cases.default"];
                case.iter()
                    .find_map(|case| cases.iter().find(|(key, _)| key == case))
                    .map(|(key, _)| key.clone())
            }
            _ => None,
        })
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
                    let action = action(item).or_else(|| action(list));
                    return action.ok_or_else(|| format!("the row '{title}' does nothing"));
                }
                seen.extend(shown.as_str().map(str::to_owned));
            }
        }
        Err(format!("{} has no row '{title}', only: {}", self.screen, seen.join(", ")))
    }

    pub(super) fn enter(&mut self, field: &Object, value: Value) {
        let name = field.get("name").and_then(Value::as_str).unwrap_or_default();
        self.asked.insert(name.to_owned());
        self.forms.entry(self.screen.clone()).or_default().insert(name.to_owned(), value);
    }

    /// What an `update_data` of the current screen brings.
    pub(super) fn update(&mut self, action: &Object) -> Result<(), String> {
        let changed = self.payload(action)?;
        let mut data = self.data.get(&self.screen).cloned().unwrap_or_default();
        data.extend(changed);
        conforms(self.document.model(&self.screen), &data)
            .map_err(|problem| format!("{} cannot be shown: {problem}", self.screen))?;
        self.data.insert(self.screen.clone(), data);
        Ok(())
    }

    pub(super) fn navigate(&mut self, action: &Object) -> Result<(), String> {
        let target = next_screen(action).ok_or("an action that leads nowhere")?.to_owned();
        let payload = self.payload(action)?;
        conforms(self.document.model(&target), &payload)
            .map_err(|problem| format!("{target} cannot be shown: {problem}"))?;
        self.data.insert(target.clone(), payload);
        self.screen = target;
        self.asked.clear();
        Ok(())
    }

    pub(super) fn payload(&self, action: &Object) -> Result<Object, String> {
        let payload = action.get("payload").and_then(Value::as_object);
        let fields = payload.into_iter().flatten();
        fields.map(|(key, value)| Ok((key.clone(), self.resolve(value)?))).collect()
    }

    /// A boolean property; what is not known yet is false.
    pub(super) fn truth(&self, map: &Object, key: &str, absent: bool) -> Result<bool, String> {
        map.get(key).map_or(Ok(absent), |value| Ok(self.resolve(value)? == Value::Bool(true)))
    }

    /// The options of a group, or the rows of a list, of this moment.
    pub(super) fn options(&self, group: &Object, key: &str) -> Result<Vec<Value>, String> {
        match self.resolve(group.get(key).unwrap_or(&Value::Null))? {
            Value::Array(options) => Ok(options),
            _ => Err(format!("{} has nothing to choose from", self.screen)),
        }
    }

    pub(super) fn resolve(&self, value: &Value) -> Result<Value, String> {
        match value {
            Value::String(text) => self.bound(binding::read(text)?),
            Value::Array(items) => items.iter().map(|item| self.resolve(item)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, value)| Ok((key.clone(), self.resolve(value)?))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
        }
    }

    fn bound(&self, bound: Bound<'_>) -> Result<Value, String> {
        match bound {
            Bound::Literal(literal) => Ok(json!(literal)),
            Bound::Reference(reference) => Ok(self.look_up(&reference)),
            Bound::Expression(expression) => self.evaluate(&expression),
        }
    }

    fn look_up(&self, reference: &Reference) -> Value {
        let from = |fields: &HashMap<String, Object>, screen: &str, path: &[String]| {
            let mut value = fields.get(screen).and_then(|fields| fields.get(path.first()?)).cloned();
            for name in path.iter().skip(1) {
                value = value.and_then(|value| value.get(name).cloned());
            }
            // Input of a screen not visited yet is empty.
            value.unwrap_or_else(|| json!(""))
        };
        let one = std::slice::from_ref;
        match reference {
            Reference::Data(path) => from(&self.data, &self.screen, path),
            Reference::ScreenData { screen, path } => from(&self.data, screen, path),
            Reference::Form(name) => from(&self.forms, &self.screen, one(name)),
            Reference::ScreenForm { screen, name } => from(&self.forms, screen, one(name)),
        }
    }

    fn evaluate(&self, expression: &Expression) -> Result<Value, String> {
        match expression {
            Expression::Text(text) => Ok(json!(text)),
            Expression::Number(number) => Ok(of(*number)),
            Expression::Truth(truth) => Ok(json!(truth)),
            Expression::Reference(reference) => Ok(self.look_up(reference)),
            Expression::Not(inner) => Ok(json!(self.evaluate(inner)? != Value::Bool(true))),
            Expression::Join(parts) => {
                let parts: Result<String, String> =
                    parts.iter().map(|part| Ok(written(&self.evaluate(part)?))).collect();
                parts.map(Value::String)
            }
            Expression::Binary(operator, one, other) => {
                let (one, other) = (self.evaluate(one)?, self.evaluate(other)?);
                compute(*operator, &one, &other)
            }
        }
    }
}

fn action(map: &Object) -> Option<&Object> {
    map.get("on-click-action").and_then(Value::as_object)
}
