//! Reading a Flow JSON: screens, components, ways from screen to screen, data models.

use serde_json::{Map, Value};

pub(crate) type Object = Map<String, Value>;

/// A Flow JSON, whatever its quality: what is malformed is simply not found.
pub(crate) struct Document<'a> {
    root: &'a Value,
}

/// A component with its path in the document.
#[derive(Clone)]
pub(crate) struct Component<'a> {
    pub(crate) path: String,
    pub(crate) kind: &'a str,
    pub(crate) map: &'a Object,
    /// Types of what it stands in, the outermost first: Form, If, Switch.
    pub(crate) within: Vec<&'a str>,
}

/// An action with the place where it is written.
pub(crate) struct ActionAt<'a> {
    pub(crate) path: String,
    /// Type of the component that carries it.
    pub(crate) component: &'a str,
    pub(crate) map: &'a Object,
}

impl<'a> Document<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// Major and minor number, which are compared as numbers: 6.10 would follow 6.9.
    pub(crate) fn version(&self) -> (u32, u32) {
        let text = self.root.get("version").and_then(Value::as_str).unwrap_or_default();
        let number = |text: &str| text.parse().unwrap_or(0);
        text.split_once('.').map_or((0, 0), |(major, minor)| (number(major), number(minor)))
    }

    pub(crate) fn screens(&self) -> impl Iterator<Item = (usize, &'a Object)> + use<'a> {
        let screens = self.root.get("screens").and_then(Value::as_array);
        screens
            .into_iter()
            .flatten()
            .enumerate()
            .filter_map(|(at, screen)| screen.as_object().map(|screen| (at, screen)))
    }

    pub(crate) fn screen(&self, id: &str) -> Option<&'a Object> {
        self.screens().map(|(_, screen)| screen).find(|screen| screen_id(screen) == id)
    }

    pub(crate) fn model(&self, id: &str) -> Option<&'a Object> {
        self.screen(id)?.get("data")?.as_object()
    }

    /// All components of a screen, those inside a Form and those of every branch included.
    pub(crate) fn components(&self, id: &str) -> Vec<Component<'a>> {
        let found = self.screens().find(|(_, screen)| screen_id(screen) == id);
        found.map_or_else(Vec::new, |(at, screen)| components_of(at, screen))
    }

    /// The component of this name on a screen.
    pub(crate) fn named(&self, screen: &str, name: &str) -> Option<Component<'a>> {
        self.components(screen).into_iter().find(|one| one.kind != "Form" && one.name() == Some(name))
    }

    /// All actions of a screen.
    pub(crate) fn actions(&self, id: &str) -> Vec<ActionAt<'a>> {
        let mut actions = Vec::new();
        for Component { path, kind, map, .. } in self.components(id) {
            if let Some(action) = map.get("on-click-action").and_then(Value::as_object) {
                let path = format!("{path}.on-click-action");
                actions.push(ActionAt { path, component: kind, map: action });
            }
            for (at, item) in self.items(id, map).into_iter().enumerate() {
                if let Some(action) = item.get("on-click-action").and_then(Value::as_object) {
                    let path = format!("{path}.list-items[{at}].on-click-action");
                    actions.push(ActionAt { path, component: kind, map: action });
                }
            }
        }
        actions
    }

    /// What is done when something is chosen: the actions of groups, and of their options.
    pub(crate) fn choices(&self, id: &str) -> Vec<ActionAt<'a>> {
        let mut actions = Vec::new();
        for Component { path, kind, map, .. } in self.components(id) {
            let options = self.entries(id, map, "data-source").into_iter().enumerate();
            let options = options.map(|(at, option)| (format!("{path}.data-source[{at}]"), option));
            for (path, map) in std::iter::once((path.clone(), map)).chain(options) {
                for key in ["on-select-action", "on-unselect-action"] {
                    if let Some(map) = map.get(key).and_then(Value::as_object) {
                        actions.push(ActionAt { path: format!("{path}.{key}"), component: kind, map });
                    }
                }
            }
        }
        actions
    }

    /// The rows of a list.
    pub(crate) fn items(&self, screen: &str, list: &'a Object) -> Vec<&'a Object> {
        self.entries(screen, list, "list-items")
    }

    /// The rows or options of a component; where they are data, those of the example in the data model.
    pub(crate) fn entries(&self, screen: &str, map: &'a Object, key: &str) -> Vec<&'a Object> {
        let entries = match map.get(key) {
            Some(Value::Array(entries)) => Some(entries),
            Some(Value::String(text)) => text
                .strip_prefix("${data.")
                .and_then(|rest| rest.strip_suffix('}'))
                .and_then(|name| self.model(screen)?.get(name)?.get("__example__")?.as_array()),
            _ => None,
        };
        entries.into_iter().flatten().filter_map(Value::as_object).collect()
    }

    /// Screens that a screen leads to, in the order they are written, each once.
    pub(crate) fn targets(&self, id: &str) -> Vec<&'a str> {
        let mut targets = Vec::new();
        for action in self.actions(id) {
            if let Some(target) = next_screen(action.map)
                && !targets.contains(&target)
            {
                targets.push(target);
            }
        }
        targets
    }

    /// Screens that no other leads to: only they can be the first of a message.
    pub(crate) fn entry_screens(&self) -> Vec<&'a str> {
        let ids: Vec<&str> = self.screens().map(|(_, screen)| screen_id(screen)).collect();
        let reached: Vec<&str> = ids.iter().flat_map(|id| self.targets(id)).collect();
        ids.into_iter().filter(|id| !reached.contains(id)).collect()
    }
}

pub(crate) fn screen_id(screen: &Object) -> &str {
    screen.get("id").and_then(Value::as_str).unwrap_or_default()
}

impl<'a> Component<'a> {
    pub(crate) fn name(&self) -> Option<&'a str> {
        self.map.get("name").and_then(Value::as_str)
    }
}

pub(crate) fn components_of(at: usize, screen: &Object) -> Vec<Component<'_>> {
    let mut list = Vec::new();
    let children = screen.get("layout").and_then(|layout| layout.get("children"));
    collect(&mut list, &format!("screens[{at}].layout.children"), children, &[]);
    list
}

fn collect<'a>(list: &mut Vec<Component<'a>>, path: &str, children: Option<&'a Value>, within: &[&'a str]) {
    for (at, child) in children.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let Some(map) = child.as_object() else { continue };
        let path = format!("{path}[{at}]");
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        list.push(Component { path: path.clone(), kind, map, within: within.to_vec() });
        let inside: Vec<&str> = within.iter().copied().chain([kind]).collect();
        for (key, children) in branches(kind, map) {
            collect(list, &format!("{path}.{key}"), Some(children), &inside);
        }
    }
}

/// What stands in a component, by the path to it: the children of a Form, the branches of an If or a Switch.
pub(crate) fn branches<'a>(kind: &str, map: &'a Object) -> Vec<(String, &'a Value)> {
    let at = |key: &str| map.get(key).map(|children| (key.to_owned(), children));
    match kind {
        "Form" => at("children").into_iter().collect(),
        "If" => ["then", "else"].into_iter().filter_map(at).collect(),
        "Switch" => {
            let cases = map.get("cases").and_then(Value::as_object).into_iter().flatten();
            cases.map(|(case, children)| (format!("cases.{case}"), children)).collect()
        }
        _ => Vec::new(),
    }
}

/// The target of a navigate action.
pub(crate) fn next_screen(action: &Object) -> Option<&str> {
    if action.get("name").and_then(Value::as_str) != Some("navigate") {
        return None;
    }
    action.get("next")?.get("name")?.as_str()
}

/// Whether data have exactly the keys and types of a data model.
pub(crate) fn conforms(model: Option<&Object>, data: &Object) -> Result<(), String> {
    let empty = Object::new();
    let model = model.unwrap_or(&empty);
    if let Some(key) = data.keys().find(|key| !model.contains_key(*key)) {
        return Err(format!("{key} is not in the data model"));
    }
    for (key, schema) in model {
        let value = data.get(key).ok_or_else(|| format!("{key} is missing"))?;
        fits(schema, value).map_err(|problem| format!("{key} {problem}"))?;
    }
    Ok(())
}

/// Whether a value fits a schema; nested properties may be left out.
pub(crate) fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let right = match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    };
    if !right {
        return Err(format!("is not of type {kind}"));
    }
    if let (Some(items), Some(list)) =
        (schema.get("items").filter(|items| items.is_object()), value.as_array())
    {
        for item in list {
            fits(items, item)?;
        }
    }
    if let (Some(properties), Some(map)) =
        (schema.get("properties").and_then(Value::as_object), value.as_object())
    {
        for (key, value) in map {
            let schema = properties.get(key).ok_or_else(|| format!("has the unknown property {key}"))?;
            fits(schema, value)?;
        }
    }
    Ok(())
}
