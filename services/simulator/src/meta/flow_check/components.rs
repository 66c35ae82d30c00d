//! Components: which there are, what they hold, and how many of them.

use serde_json::Value;

use super::{
    super::{
        binding::{self, Bound},
        document::{Component, Document, Object, components_of, screen_id},
        validate::length,
    },
    Problems, branches,
    expressions::{Scope, Type},
    groups, lists,
    properties::{self, Holds, Property},
};

pub(super) fn check(problems: &mut Problems, document: &Document<'_>) {
    let version = document.version();
    for (at, screen) in document.screens() {
        let scope = Scope { document, screen: screen_id(screen) };
        let components = components_of(at, screen);
        check_screen(problems, &format!("screens[{at}]"), screen, &components, version);
        branches::check_footers(problems, &format!("screens[{at}]"), screen);
        for component in &components {
            check_component(problems, &scope, component, version);
            match component.kind {
                "NavigationList" => lists::check(problems, &scope, component),
                "Footer" => check_captions(problems, component),
                "If" | "Switch" | "Form" => branches::check(problems, &scope, component),
                "RichText" if version < (6, 3) && components.len() > 1 => {
                    let message = "A RichText stands alone before 6.3";
                    problems.add("INVALID_RICHTEXT_PLACEMENT", &component.path, message);
                }
                _ => groups::check(problems, &scope, component, version),
            }
            branches::check_place(problems, component, version);
        }
        if let Some(title) = screen.get("title").and_then(Value::as_str)
            && let Err(problem) = scope.property_type(title)
        {
            problems.add("INVALID_SCREEN_DYNAMIC_DATA", format!("screens[{at}].title"), problem);
        }
    }
}

/// What a screen may hold, and how many of it.
fn check_screen(
    problems: &mut Problems,
    path: &str,
    screen: &Object,
    components: &[Component<'_>],
    version: (u32, u32),
) {
    if components.len() > 50 {
        problems.add("MAX_ALLOWED_COMPONENTS_PER_SCREEN", path, "A screen has at most 50 components");
    }
    let count = |kind: &str| components.iter().filter(|one| one.kind == kind).count();
    let mut names: Vec<&str> = Vec::new();
    for component in components {
        let most = properties::most(component.kind, version);
        if count(component.kind) > most {
            let code = match component.kind {
                "EmbeddedLink" => "MAX_EMBEDDED_LINK_PER_SCREEN",
                "Image" => "MAX_IMAGE_PER_SCREEN",
                "OptIn" => "MAX_OPT_IN_PER_SCREEN",
                _ => "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN",
            };
            let message = format!("A screen has at most {most} components of type {}", component.kind);
            problems.add(code, &component.path, message);
        }
        if let Some(name) = component.name() {
            if names.contains(&name) {
                let message = format!("{name} is used twice");
                problems.add("DUPLICATE_FORM_COMPONENT_NAMES", &component.path, message);
            }
            names.push(name);
        }
        let outside = !component.within.contains(&"Form");
        if count("Form") > 0 && outside && properties::is_input(component.kind) {
            problems.add("COMPONENTS_OUTSIDE_FORM", &component.path, "An input stands outside the Form");
        }
    }
    if count("PhotoPicker") > 0 && count("DocumentPicker") > 0 {
        let message = "A screen has a PhotoPicker or a DocumentPicker, not both";
        problems.add("COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", path, message);
    }
    let terminal = screen.get("terminal") == Some(&Value::Bool(true));
    if terminal && count("Footer") == 0 {
        problems.add("MISSING_FOOTER_ON_TERMINAL_SCREEN", path, "A terminal screen needs a Footer");
    }
    let other = |one: &Component<'_>| !["NavigationList", "Form"].contains(&one.kind);
    if count("NavigationList") > 0 && (terminal || components.iter().any(other)) {
        let message = "A NavigationList stands alone, and not on a terminal screen";
        problems.add("INVALID_COMPONENT_PLACEMENT", path, message);
    }
    if count("RichText") > 0 && components.iter().any(|one| !["RichText", "Footer"].contains(&one.kind)) {
        problems.add("INVALID_RICHTEXT_PLACEMENT", path, "A RichText stands alone or with a Footer");
    }
    let sensitive = screen.get("sensitive").and_then(Value::as_array);
    for name in sensitive.into_iter().flatten().filter_map(Value::as_str) {
        if !names.contains(&name) {
            problems.add("INVALID_SENSITIVE_FIELD", path, format!("{name} is not on this screen"));
        }
    }
}

fn check_component(
    problems: &mut Problems,
    scope: &Scope<'_>,
    component: &Component<'_>,
    version: (u32, u32),
) {
    let Component { path, kind, map, .. } = component;
    let Some(known) = properties::of(kind).filter(|_| version >= properties::since(kind)) else {
        let message = format!("'{kind}' is not a component of this version");
        problems.add("INVALID_PROPERTY_VALUE", format!("{path}.type"), message);
        return;
    };
    let known = || known.iter().filter(|one| version >= one.since);
    let allowed: Vec<&str> = known().map(|one| one.name).chain(["type"]).collect();
    problems.only(path, map, &allowed);
    for property in known() {
        let path = format!("{path}.{}", property.name);
        match map.get(property.name) {
            Some(value) => check_property(problems, scope, (&path, component), property, value),
            None if property.required => {
                problems.add(
                    "MISSING_REQUIRED_TYPE_PROPERTY",
                    path,
                    format!("{} is required", property.name),
                );
            }
            None => {}
        }
    }
}

fn check_property(
    problems: &mut Problems,
    scope: &Scope<'_>,
    (path, component): (&str, &Component<'_>),
    property: &Property,
    value: &Value,
) {
    match (&property.holds, value) {
        (Holds::Text(most), Value::String(text)) => check_text(problems, scope, path, text, *most),
        (Holds::Lines(most), Value::String(_) | Value::Array(_)) => {
            check_lines(problems, scope, path, value, *most);
        }
        (Holds::Formatted, _) => check_formatted(problems, scope, path, value),
        (Holds::Message(_), Value::String(text)) if matches!(scope.property_type(text), Ok(Type::Object)) => {
        }
        (Holds::Message(most) | Holds::Labels(most), Value::String(text)) => {
            check_text(problems, scope, path, text, *most)
        }
        (Holds::Labels(most), Value::Object(map)) => {
            let path = path.to_owned();
            problems.only(&path, map, &["start-date", "end-date"]);
            for (key, text) in map {
                check_lines(problems, scope, &format!("{path}.{key}"), text, *most);
            }
        }
        (Holds::Picture, Value::String(text)) => groups::check_picture(problems, scope, path, text),
        (Holds::Name, Value::String(name)) if !name.trim().is_empty() && !name.contains("${") => {}
        (Holds::Flag | Holds::Flags, Value::Bool(_)) => {}
        (Holds::Flags, Value::Object(map)) if map.values().all(Value::is_boolean) => {
            problems.only(path, map, &["start-date", "end-date"]);
        }
        (Holds::Flag | Holds::Flags, Value::String(text)) => check_bound(
            problems,
            scope,
            (path, "A boolean is expected"),
            text,
            &[Type::Boolean, Type::Unknown],
        ),
        (Holds::Count(..), Value::String(text)) if text.parse::<u32>().is_ok() => {}
        (Holds::Count(..), Value::String(text)) => {
            check_bound(problems, scope, (path, "A number is expected"), text, &[Type::Number, Type::Unknown])
        }
        (Holds::Number(least, most) | Holds::Count(least, most), Value::Number(number)) => {
            let number = number.as_u64();
            if number.is_none_or(|number| number < *least) {
                problems.add("MINIMUM_VALUE_REQUIRED", path, format!("The least value is {least}"));
            } else if number.is_some_and(|number| number > *most) {
                problems.add("MAXIMUM_VALUE_REQUIRED", path, format!("The greatest value is {most}"));
            }
        }
        (Holds::OneOf(values), Value::String(text)) if values.contains(&text.as_str()) => {}
        // What is data is seen on the phone only.
        (Holds::OneOf(_), Value::String(text))
            if text.starts_with("${") && matches!(scope.property_type(text), Ok(Type::Text)) => {}
        (Holds::OneOf(values), Value::String(_)) => {
            problems.add("INVALID_ENUM_VALUE", path, format!("One of {} is expected", values.join(", ")));
        }
        (Holds::Date | Holds::Dates | Holds::Names, _) => {
            groups::check_values(problems, scope, path, &property.holds, value);
        }
        (Holds::Answer, _) => groups::check_answer(problems, scope, path, component, value),
        (Holds::Action, Value::Object(_)) | (Holds::Special, _) => {}
        (Holds::Children, Value::Array(children)) if children.iter().all(Value::is_object) => {}
        // Whose they are is looked at where the Form is.
        (Holds::Values, Value::Object(_)) => {}
        (Holds::Values, Value::String(text)) => check_bound(
            problems,
            scope,
            (path, "An object is expected"),
            text,
            &[Type::Object, Type::Unknown],
        ),
        _ => problems.add("INVALID_PROPERTY_TYPE", path, "The value has the wrong type"),
    }
}

/// A text that must stand for a value of some type.
pub(super) fn check_bound(
    problems: &mut Problems,
    scope: &Scope<'_>,
    (path, expected): (&str, &str),
    text: &str,
    types: &[Type],
) {
    match (binding::read(text), scope.property_type(text)) {
        (Ok(Bound::Reference(_) | Bound::Expression(_)), Ok(kind)) if types.contains(&kind) => {}
        _ => problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, expected),
    }
}

fn check_lines(problems: &mut Problems, scope: &Scope<'_>, path: &str, value: &Value, most: usize) {
    match value {
        Value::String(text) if matches!(scope.property_type(text), Ok(Type::Array)) => {}
        Value::String(text) => check_text(problems, scope, path, text, most),
        Value::Array(lines) if !lines.is_empty() && lines.iter().all(Value::is_string) => {
            let texts = lines.iter().filter_map(Value::as_str);
            for (at, text) in texts.enumerate() {
                // A blank line parts paragraphs.
                if !text.trim().is_empty() {
                    check_text(problems, scope, &format!("{path}[{at}]"), text, most);
                }
            }
        }
        _ => problems.add("INVALID_PROPERTY_TYPE", path, "A text is expected"),
    }
}

fn check_formatted(problems: &mut Problems, scope: &Scope<'_>, path: &str, value: &Value) {
    let bound = |text: &str| text.contains("${") || text.starts_with('`');
    match value {
        Value::String(text) if text.starts_with('`') => {
            problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, "A RichText takes no expression");
        }
        Value::Array(lines) if lines.iter().any(|line| line.as_str().is_none_or(bound)) => {
            problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, "The lines of a RichText stand for themselves");
        }
        _ => check_lines(problems, scope, path, value, usize::MAX),
    }
}

pub(super) fn check_text(problems: &mut Problems, scope: &Scope<'_>, path: &str, text: &str, most: usize) {
    if text.trim().is_empty() {
        problems.add("PATTERN_MISMATCH", path, "The text is blank");
        return;
    }
    let dynamic = !matches!(binding::read(text), Ok(Bound::Literal(_)));
    match scope.property_type(text) {
        Err(problem) => problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, problem),
        Ok(Type::Text | Type::Unknown) if dynamic => {}
        Ok(Type::Number) if text.starts_with('`') => {}
        Ok(Type::Text) if length(text) <= most => {}
        Ok(Type::Text) => {
            problems.add("MAX_CHARS_REQUIRED", path, format!("The text is longer than {most} characters"));
        }
        Ok(_) => problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, "A text is expected"),
    }
}

fn check_captions(problems: &mut Problems, footer: &Component<'_>) {
    let has = |key: &str| footer.map.contains_key(key);
    if has("left-caption") != has("right-caption") {
        problems.add("INVALID_DEPENDENCIES", &footer.path, "Left and right captions go together");
    }
    if has("center-caption") && (has("left-caption") || has("right-caption")) {
        let code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED";
        problems.add(code, &footer.path, "A caption in the middle stands alone");
    }
}
