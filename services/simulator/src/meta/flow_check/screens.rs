//! The frame: version, screens and data models.

use serde_json::Value;

use super::{
    super::document::{Object, fits, screen_id},
    Problems,
};

/// Versions that may be published.
const VERSIONS: [&str; 9] = ["5.1", "6.0", "6.1", "6.2", "6.3", "7.0", "7.1", "7.2", "7.3"];
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "object", "array"];

pub(super) fn check(problems: &mut Problems, root: &Value) {
    let Some(map) = root.as_object() else {
        problems.add("INVALID_FLOW_JSON", "", "The document is not an object");
        return;
    };
    // With `data_api_version` it would be a form with an endpoint, which is not played.
    problems.only("", map, &["version", "screens", "routing_model", "meta"]);
    match map.get("version") {
        None => problems.add("MISSING_FLOW_JSON_VERSION", "version", "The version is missing"),
        Some(version) if version.as_str().is_none_or(|version| !VERSIONS.contains(&version)) => {
            problems.add(
                "INVALID_FLOW_JSON_VERSION",
                "version",
                "The version is not one that may be published",
            );
        }
        Some(_) => {}
    }
    let Some(screens) = map.get("screens").and_then(Value::as_array) else {
        problems.add("MISSING_REQUIRED_PROPERTY", "screens", "screens must be an array");
        return;
    };
    if screens.is_empty() {
        problems.add("MIN_ITEMS_REQUIRED", "screens", "At least one screen is required");
    }
    if screens.len() > 100 {
        problems.add("MAX_SCREENS_NUMBER", "screens", "At most 100 screens are allowed");
    }
    // Until 7.0 an id was looked at less closely.
    let old = map.get("version").and_then(Value::as_str).is_some_and(|version| version < "7");
    let mut ids: Vec<&str> = Vec::new();
    for (at, value) in screens.iter().enumerate() {
        let path = format!("screens[{at}]");
        let Some(screen) = value.as_object() else {
            problems.add("INVALID_PROPERTY_TYPE", path, "A screen must be an object");
            continue;
        };
        check_screen(problems, &path, screen, old);
        let id = screen_id(screen);
        if ids.contains(&id) {
            problems.add("DUPLICATE_SCREEN_IDS", format!("{path}.id"), format!("{id} is used twice"));
        }
        ids.push(id);
    }
    check_routes(problems, map, &ids);
    let terminals: Vec<&Value> = screens.iter().filter(|screen| screen["terminal"] == true).collect();
    if terminals.is_empty() {
        problems.add("MISSING_TERMINAL_SCREEN", "screens", "At least one screen must be terminal");
    } else if terminals.iter().all(|screen| screen["success"] == false) {
        problems.add("INVALID_PROPERTY_VALUE", "screens", "At least one terminal screen must be a success");
    }
}

/// Without an endpoint nobody needs it, but what it says must be so.
fn check_routes(problems: &mut Problems, root: &Object, ids: &[&str]) {
    const CODE: &str = "INVALID_ROUTING_MODEL";
    let path = "routing_model";
    let model = match root.get("routing_model") {
        None => return,
        Some(Value::Object(model)) => model,
        Some(_) => return problems.add("INVALID_PROPERTY_TYPE", path, "routing_model must be an object"),
    };
    for (from, targets) in model {
        let Some(targets) = targets.as_array() else {
            problems.add("INVALID_PROPERTY_TYPE", format!("{path}.{from}"), "Screens are expected");
            continue;
        };
        let targets: Vec<&str> = targets.iter().map(|target| target.as_str().unwrap_or_default()).collect();
        for id in targets.iter().chain([&from.as_str()]).filter(|id| !ids.contains(*id)) {
            problems.add(CODE, format!("{path}.{from}"), format!("There is no screen '{id}'"));
        }
        if targets.contains(&from.as_str()) {
            problems.add(CODE, format!("{path}.{from}"), "A screen cannot lead to itself");
        }
    }
}

fn check_screen(problems: &mut Problems, path: &str, screen: &Object, old: bool) {
    let known = ["id", "layout", "title", "terminal", "success", "refresh_on_back", "data", "sensitive"];
    problems.only(path, screen, &known);
    let id = screen_id(screen);
    if id.is_empty() {
        problems.add("MISSING_REQUIRED_PROPERTY", format!("{path}.id"), "A screen needs an id");
    } else if !id.chars().all(|one| one.is_ascii_alphabetic() || one == '_' || old && one == ',')
        || !old && id.chars().all(|one| one == '_')
    {
        problems.add("PATTERN_MISMATCH", format!("{path}.id"), "An id has letters and underscores only");
    } else if id.eq_ignore_ascii_case("success") {
        problems.add("SCREEN_ID_IS_RESERVED_KEYWORD", format!("{path}.id"), "SUCCESS is reserved");
    }
    match screen.get("title") {
        Some(Value::String(title)) if title.trim().is_empty() => {
            problems.add("PATTERN_MISMATCH", format!("{path}.title"), "The title is blank");
        }
        Some(Value::String(_)) => {}
        Some(_) => {
            problems.add("INVALID_PROPERTY_TYPE", format!("{path}.title"), "The title must be a string")
        }
        None => problems.add("MISSING_REQUIRED_PROPERTY", format!("{path}.title"), "A screen needs a title"),
    }
    for key in ["terminal", "success", "refresh_on_back"] {
        if screen.get(key).is_some_and(|value| !value.is_boolean()) {
            problems.add(
                "INVALID_PROPERTY_TYPE",
                format!("{path}.{key}"),
                format!("{key} must be a boolean"),
            );
        }
    }
    let is = |key: &str| screen.get(key) == Some(&Value::Bool(true));
    if screen.contains_key("success") && !is("terminal") {
        let code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED";
        problems.add(code, format!("{path}.success"), "success belongs to a terminal screen");
    }
    if is("refresh_on_back") {
        let path = format!("{path}.refresh_on_back");
        problems.add("INVALID_PROPERTY_VALUE", path, "refresh_on_back needs an endpoint");
    }
    check_layout(problems, &format!("{path}.layout"), screen.get("layout"));
    match screen.get("data") {
        None => {}
        Some(Value::Object(model)) => check_model(problems, &format!("{path}.data"), model),
        Some(_) => problems.add("INVALID_SCREEN_DATA", format!("{path}.data"), "data must be an object"),
    }
    match screen.get("sensitive") {
        None => {}
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {}
        Some(_) => {
            let path = format!("{path}.sensitive");
            problems.add("INVALID_SENSITIVE_FIELD", path, "sensitive must be an array of names");
        }
    }
}

fn check_layout(problems: &mut Problems, path: &str, layout: Option<&Value>) {
    let Some(layout) = layout.and_then(Value::as_object) else {
        problems.add("MISSING_REQUIRED_PROPERTY", path, "A screen needs a layout");
        return;
    };
    problems.only(path, layout, &["type", "children"]);
    if layout.get("type").and_then(Value::as_str) != Some("SingleColumnLayout") {
        problems.add(
            "INVALID_PROPERTY_VALUE",
            format!("{path}.type"),
            "The layout must be SingleColumnLayout",
        );
    }
    let path = format!("{path}.children");
    match layout.get("children").and_then(Value::as_array) {
        Some(children) if children.iter().all(Value::is_object) => {}
        _ => problems.add("INVALID_PROPERTY_TYPE", path, "children must be an array of components"),
    }
}

fn check_model(problems: &mut Problems, path: &str, model: &Object) {
    const CODE: &str = "INVALID_SCREEN_DATA";
    for (name, schema) in model {
        let path = format!("{path}.{name}");
        let plain = name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
        if !plain || name.is_empty() || name.starts_with("required") {
            problems.add(CODE, &path, "The name of a field has letters, digits and underscores only");
        }
        let before = problems.0.len();
        check_schema(problems, &path, schema, true);
        if problems.0.len() > before {
            continue;
        }
        match schema.get("__example__") {
            None => problems.add(CODE, &path, "__example__ is missing"),
            Some(example) => {
                if let Err(problem) = fits(schema, example) {
                    problems.add(CODE, &path, format!("__example__ {problem}"));
                }
            }
        }
    }
}

fn check_schema(problems: &mut Problems, path: &str, schema: &Value, top: bool) {
    const CODE: &str = "INVALID_SCREEN_DATA";
    let Some(map) = schema.as_object() else {
        problems.add(CODE, path, "A field is described by an object");
        return;
    };
    let allowed: &[&str] =
        if top { &["type", "items", "properties", "__example__"] } else { &["type", "items", "properties"] };
    for key in map.keys().filter(|key| !allowed.contains(&key.as_str())) {
        problems.add(CODE, path, format!("'{key}' is not expected in a data model"));
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    if !TYPES.contains(&kind) {
        problems.add(CODE, path, "type must be one of string, number, integer, boolean, object, array");
    }
    match (kind, map.get("items"), map.get("properties").and_then(Value::as_object)) {
        ("array", Some(Value::Bool(_)), _) => {}
        ("array", Some(items), _) => check_schema(problems, &format!("{path}.items"), items, false),
        ("array", None, _) => problems.add(CODE, path, "An array needs items"),
        ("object", _, Some(properties)) => {
            for (name, schema) in properties {
                check_schema(problems, &format!("{path}.properties.{name}"), schema, false);
            }
        }
        ("object", _, None) => problems.add(CODE, path, "An object needs properties"),
        _ => {}
    }
}
