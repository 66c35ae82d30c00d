//! Actions: where they may stand, where they lead, and what they carry.

use serde_json::{Map, Value};

use super::{
    super::document::{ActionAt, Document, screen_id},
    Problems,
    expressions::{Scope, Type},
};

/// Files of one answer, and their size together, computed from what is declared.
const MOST_FILES: u64 = 10;
const LARGEST_TOTAL_KB: u64 = 100 * 1024;

pub(super) fn check(problems: &mut Problems, document: &Document<'_>) {
    for (_, screen) in document.screens() {
        let scope = Scope { document, screen: screen_id(screen) };
        let terminal = screen.get("terminal") == Some(&Value::Bool(true));
        let old = document.version() < (6, 0);
        for action in document.choices(scope.screen) {
            check_choice(problems, &scope, &action, old);
        }
        for action in document.actions(scope.screen) {
            let name = action.map.get("name").and_then(Value::as_str).unwrap_or_default();
            match (name, action.component) {
                ("navigate", "Footer" | "EmbeddedLink" | "OptIn" | "NavigationList") => {
                    check_navigate(problems, &scope, &action);
                }
                ("complete", "Footer") if terminal => check_complete(problems, &scope, &action),
                ("complete", _) => {
                    let message = "complete belongs to the Footer of a terminal screen";
                    problems.add("INVALID_COMPLETE_ACTION", &action.path, message);
                }
                ("open_url", "EmbeddedLink" | "OptIn") if !old => check_url(problems, &scope, &action),
                ("data_exchange", _) => {
                    let message = "data_exchange needs an endpoint";
                    problems.add("MISSING_REQUIRED_PROPERTY", &action.path, message);
                }
                _ => {
                    let message = format!("The action '{name}' is not allowed on {}", action.component);
                    problems.add("INVALID_ENUM_VALUE", &action.path, message);
                }
            }
        }
    }
}

/// What happens when something is chosen: the data of the screen change.
fn check_choice(problems: &mut Problems, scope: &Scope<'_>, action: &ActionAt<'_>, old: bool) {
    const CODE: &str = "INVALID_UPDATE_DATA_ACTION_PAYLOAD";
    let ActionAt { path, component, map } = action;
    let groups = ["CheckboxGroup", "RadioButtonsGroup", "Dropdown", "ChipsSelector", "OptIn"];
    match map.get("name").and_then(Value::as_str).unwrap_or_default() {
        "update_data" if !old && groups.contains(component) => {}
        "data_exchange" => {
            return problems.add("MISSING_REQUIRED_PROPERTY", path, "data_exchange needs an endpoint");
        }
        name => {
            let message = format!("The action '{name}' is not allowed on {component}");
            return problems.add("INVALID_ENUM_VALUE", path, message);
        }
    }
    problems.only(path, map, &["name", "payload"]);
    let Some(payload) = map.get("payload").and_then(Value::as_object) else {
        return problems.add("MISSING_REQUIRED_PROPERTY", path, "update_data needs a payload");
    };
    let empty = Map::new();
    let model = scope.document.model(scope.screen).unwrap_or(&empty);
    for (key, value) in payload {
        let fits = match model.get(key) {
            Some(schema) => scope.payload_fits(schema, value),
            None => Err(format!("is not in the data model of {}", scope.screen)),
        };
        if let Err(problem) = fits {
            problems.add(CODE, format!("{path}.payload.{key}"), format!("{key}: {problem}"));
        }
    }
}

fn check_url(problems: &mut Problems, scope: &Scope<'_>, action: &ActionAt<'_>) {
    let ActionAt { path, map, .. } = action;
    problems.only(path, map, &["name", "url"]);
    let path = format!("{path}.url");
    match map.get("url") {
        None => problems.add("MISSING_REQUIRED_PROPERTY", path, "open_url needs a url"),
        Some(Value::String(url)) => match scope.text_type(url) {
            Err(problem) => problems.add("INVALID_ACTION_PAYLOAD_PROPERTY", path, problem),
            Ok(Type::Text) if url.starts_with(['$', '`']) => {}
            Ok(_) if url.starts_with("https://") || url.starts_with("http://") => {}
            Ok(_) => problems.add("INVALID_PROPERTY_VALUE_FORMAT", path, "The url is none"),
        },
        Some(_) => problems.add("INVALID_PROPERTY_TYPE", path, "A text is expected"),
    }
}

fn check_navigate(problems: &mut Problems, scope: &Scope<'_>, action: &ActionAt<'_>) {
    let ActionAt { path, map, .. } = action;
    problems.only(path, map, &["name", "next", "payload"]);
    let next = map.get("next").and_then(Value::as_object);
    let Some(target) = next.and_then(|next| next.get("name")).and_then(Value::as_str) else {
        problems.add("MISSING_REQUIRED_PROPERTY", format!("{path}.next"), "navigate needs next.name");
        return;
    };
    if let Some(next) = next {
        problems.only(&format!("{path}.next"), next, &["type", "name"]);
        if next.get("type").and_then(Value::as_str) != Some("screen") {
            problems.add("INVALID_PROPERTY_VALUE", format!("{path}.next.type"), "next.type must be screen");
        }
    }
    const TARGET: &str = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME";
    if target == scope.screen {
        problems.add(TARGET, path, "A screen cannot lead to itself");
        return;
    }
    if scope.document.screen(target).is_none() {
        problems.add(TARGET, path, format!("There is no screen {target}"));
        return;
    }
    const PAYLOAD: &str = "INVALID_NAVIGATE_ACTION_PAYLOAD";
    let empty = Map::new();
    let model = scope.document.model(target).unwrap_or(&empty);
    let payload = match map.get("payload") {
        Some(Value::Object(payload)) => payload,
        Some(_) => return problems.add("INVALID_PROPERTY_TYPE", path, "The payload must be an object"),
        None if model.is_empty() => return,
        None => {
            return problems.add("MISSING_NAVIGATION_ACTION_PAYLOAD", path, format!("{target} expects data"));
        }
    };
    for key in payload.keys().filter(|key| !model.contains_key(*key)) {
        problems.add(PAYLOAD, path, format!("{key} is not in the data model of {target}"));
    }
    for (key, schema) in model {
        match payload.get(key) {
            None => problems.add(PAYLOAD, path, format!("{key} is in the data model of {target}, not here")),
            Some(value) => {
                if let Err(problem) = scope.payload_fits(schema, value) {
                    problems.add(PAYLOAD, path, format!("{key}: {problem}"));
                }
            }
        }
    }
}

fn check_complete(problems: &mut Problems, scope: &Scope<'_>, action: &ActionAt<'_>) {
    const CODE: &str = "INVALID_ON_CLICK_ACTION_PAYLOAD";
    let ActionAt { path, map, .. } = action;
    problems.only(path, map, &["name", "payload"]);
    let empty = Map::new();
    let payload = match map.get("payload") {
        None => &empty,
        Some(Value::Object(payload)) => payload,
        Some(_) => return problems.add("INVALID_PROPERTY_TYPE", path, "The payload must be an object"),
    };
    let (mut files, mut total_kb) = (0, 0);
    for (key, value) in payload {
        let path = format!("{path}.payload.{key}");
        if key == "flow_token" {
            problems.add(CODE, &path, "flow_token is added by the phone");
        }
        let Value::String(text) = value else {
            if let Err(problem) = scope.nested(value) {
                problems.add(CODE, path, problem);
            }
            continue;
        };
        match scope.text_type(text) {
            Err(problem) => problems.add(CODE, path, problem),
            Ok(Type::Media) => {
                let (count, size_kb) = picker_limits(scope, text);
                files += count;
                total_kb += count * size_kb;
            }
            Ok(_) => {}
        }
    }
    if files > MOST_FILES || total_kb > LARGEST_TOTAL_KB {
        problems.add(CODE, path, "An answer carries at most 10 files and 100 MiB, by what the picker allows");
    }
}

/// How many files a picker may give, and how large each may be.
fn picker_limits(scope: &Scope<'_>, text: &str) -> (u64, u64) {
    let name = text.trim_end_matches('}').rsplit('.').next().unwrap_or_default();
    let screen =
        text.strip_prefix("${screen.").and_then(|rest| rest.split('.').next()).unwrap_or(scope.screen);
    let picker = scope.document.named(screen, name);
    let number = |key: &str, default| {
        picker.as_ref().and_then(|picker| picker.map.get(key)).and_then(Value::as_u64).unwrap_or(default)
    };
    let kind = picker.as_ref().map(|picker| picker.kind);
    let most = if kind == Some("DocumentPicker") { "max-uploaded-documents" } else { "max-uploaded-photos" };
    (number(most, 30), number("max-file-size-kb", 25_600))
}
