//! If, Switch and Form: what they may hold, and what decides between their branches.

use serde_json::Value;

use super::{
    super::document::{Component, Object, branches},
    Problems,
    expressions::{Scope, Type},
    properties,
};

/// Ifs within Ifs.
const MOST_IFS: usize = 3;

pub(super) fn check(problems: &mut Problems, scope: &Scope<'_>, component: &Component<'_>) {
    let Component { path, kind, map, within } = component;
    match *kind {
        "If" => {
            check_condition(problems, scope, &format!("{path}.condition"), map.get("condition"), true);
            if map.get("then").and_then(Value::as_array).is_some_and(Vec::is_empty) {
                problems.add("INVALID_PROPERTY_VALUE", format!("{path}.then"), "then is empty");
            }
            if within.iter().filter(|outer| **outer == "If").count() >= MOST_IFS {
                problems.add("MAXIMUM_IF_NESTING", path, format!("At most {MOST_IFS} Ifs are nested"));
            }
        }
        "Switch" => {
            check_condition(problems, scope, &format!("{path}.value"), map.get("value"), false);
            let cases = format!("{path}.cases");
            match map.get("cases").and_then(Value::as_object) {
                None => problems.add("INVALID_PROPERTY_TYPE", cases, "cases must be an object of arrays"),
                Some(map) if map.is_empty() => problems.add("EMPTY_SWITCH_CASES", cases, "cases is empty"),
                Some(map) => {
                    let arrays = |value: &Value| {
                        value.as_array().is_some_and(|children| children.iter().all(Value::is_object))
                    };
                    if !map.values().all(arrays) {
                        problems.add("INVALID_PROPERTY_TYPE", &cases, "cases must be an object of arrays");
                    }
                    let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
                    if map.values().any(empty) {
                        problems.add("INVALID_PROPERTY_VALUE", cases, "A case is empty");
                    }
                }
            }
        }
        _ => check_form(problems, scope, component),
    }
}

fn check_condition(
    problems: &mut Problems,
    scope: &Scope<'_>,
    path: &str,
    value: Option<&Value>,
    truth: bool,
) {
    let Some(value) = value else { return };
    let Some(text) = value.as_str() else {
        problems.add("INVALID_PROPERTY_TYPE", path, "A text that refers to something is expected");
        return;
    };
    match scope.condition_type(text) {
        Ok(Type::Boolean | Type::Unknown) => {}
        Ok(Type::Text | Type::Number) if !truth => {}
        Ok(kind) => problems.add("INVALID_PROPERTY_VALUE", path, format!("{kind:?} decides nothing")),
        Err(problem) => problems.add("INVALID_PROPERTY_VALUE", path, problem),
    }
}

/// The values that a Form begins with are of its own inputs.
fn check_form(problems: &mut Problems, scope: &Scope<'_>, form: &Component<'_>) {
    let inside = format!("{}.children[", form.path);
    let inputs: Vec<Component<'_>> = scope
        .document
        .components(scope.screen)
        .into_iter()
        .filter(|one| one.path.starts_with(&inside))
        .collect();
    if form.map.get("children").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        problems.add("MIN_ITEMS_REQUIRED", format!("{}.children", form.path), "A Form has inputs");
    }
    for input in &inputs {
        for key in ["init-value", "error-message"].into_iter().filter(|key| input.map.contains_key(*key)) {
            let message = format!("In a Form, {key} stands on the Form");
            problems.add("INVALID_PROPERTY_KEY", &input.path, message);
        }
    }
    for key in ["init-values", "error-messages"] {
        for (name, value) in form.map.get(key).and_then(Value::as_object).into_iter().flatten() {
            let path = format!("{}.{key}.{name}", form.path);
            let Some(input) = inputs.iter().find(|one| one.name() == Some(name)) else {
                problems.add("INVALID_PROPERTY_KEY", path, format!("The Form has no input {name}"));
                continue;
            };
            if key == "error-messages" {
                match value.as_str() {
                    Some(text) => super::components::check_text(problems, scope, &path, text, 80),
                    None => problems.add("INVALID_PROPERTY_TYPE", path, "A text is expected"),
                }
                continue;
            }
            match input.kind {
                "PhotoPicker" | "DocumentPicker" => {
                    let code = "NATIVE_COMPONENT_IN_FORM_INIT_VALUES";
                    problems.add(code, path, "A picker begins empty");
                }
                _ => super::groups::check_answer(problems, scope, &path, input, value),
            }
        }
    }
}

/// Where a component may stand.
pub(super) fn check_place(problems: &mut Problems, component: &Component<'_>, version: (u32, u32)) {
    const CODE: &str = "INVALID_COMPONENT_PLACEMENT";
    let Component { path, kind, within, .. } = component;
    let branch = within.iter().any(|outer| ["If", "Switch"].contains(outer));
    if branch && (properties::stands_apart(kind) || *kind == "ChipsSelector" && version < (7, 1)) {
        problems.add(CODE, path, format!("{kind} may not stand in a branch"));
    }
    if *kind == "Form" && !within.is_empty() {
        problems.add(CODE, path, "A Form stands on the screen itself");
    }
    let depth = within.iter().filter(|outer| ["If", "Switch"].contains(outer)).count();
    if *kind == "Footer" && depth > 1 {
        problems.add(CODE, path, "A Footer may stand in the first branch only");
    }
}

/// A screen shows one Footer, whatever its conditions say.
pub(super) fn check_footers(problems: &mut Problems, path: &str, screen: &Object) {
    let children = screen.get("layout").and_then(|layout| layout.get("children"));
    count_footers(problems, &format!("{path}.layout.children"), children);
}

/// The most Footers that are seen at once.
fn count_footers(problems: &mut Problems, path: &str, children: Option<&Value>) -> usize {
    let (mut seen, mut direct) = (0, 0);
    for (at, child) in children.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let Some(map) = child.as_object() else { continue };
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        let path = format!("{path}[{at}]");
        let counts: Vec<usize> = branches(kind, map)
            .into_iter()
            .map(|(key, children)| count_footers(problems, &format!("{path}.{key}"), Some(children)))
            .collect();
        let here = match kind {
            "Footer" => {
                direct += 1;
                1
            }
            _ => counts.iter().copied().max().unwrap_or(0),
        };
        let code = match kind {
            "If" if counts.len() < 2 || counts.contains(&0) => Some("MISSING_FOOTER_IN_IF_ELSE_BRANCHES"),
            "Switch" if counts.contains(&0) => Some("MISSING_FOOTER_IN_SWITCH_BRANCHES"),
            _ => None,
        };
        if let Some(code) = code.filter(|_| here > 0) {
            problems.add(code, &path, "A Footer in one branch needs one in every branch");
        }
        if here > 0 && seen > 0 {
            let code = if direct == seen + here { "MAX_FOOTER_PER_SCREEN" } else { "MORE_THAN_ONE_FOOTER" };
            problems.add(code, &path, "A screen has one Footer");
        }
        seen += here;
    }
    seen
}
