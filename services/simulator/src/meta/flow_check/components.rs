//! Components: their properties, their places, and the rules of the two that matter most here.

use serde_json::Value;

use super::{
    super::{
        binding::{self, Bound},
        document::{Component, Document, Object, components_of, screen_id},
        validate::length,
    },
    Problems,
    expressions::{Scope, Type},
    properties::{self, Holds, Property},
};

pub(super) fn check(problems: &mut Problems, document: &Document<'_>) {
    for (at, screen) in document.screens() {
        let scope = Scope { document, screen: screen_id(screen) };
        let components = components_of(at, screen);
        check_screen(problems, &format!("screens[{at}]"), screen, &components);
        for component in &components {
            check_component(problems, &scope, component);
            match component.kind {
                "NavigationList" => check_list(problems, &scope, component),
                "PhotoPicker" => check_picker(problems, component),
                "Footer" => check_captions(problems, component),
                _ => {}
            }
        }
        if let Some(title) = screen.get("title").and_then(Value::as_str)
            && let Err(problem) = scope.text_type(title)
        {
            problems.add("INVALID_SCREEN_DYNAMIC_DATA", format!("screens[{at}].title"), problem);
        }
    }
}

/// What a screen may hold, and how many of it.
fn check_screen(problems: &mut Problems, path: &str, screen: &Object, components: &[Component<'_>]) {
    if components.len() > 50 {
        problems.add("MAX_ALLOWED_COMPONENTS_PER_SCREEN", path, "A screen has at most 50 components");
    }
    let count = |kind: &str| components.iter().filter(|one| one.kind == kind).count();
    let mut names: Vec<&str> = Vec::new();
    for component in components {
        let most = properties::most(component.kind);
        if count(component.kind) > most {
            let code = match component.kind {
                "Footer" => "MAX_FOOTER_PER_SCREEN",
                "EmbeddedLink" => "MAX_EMBEDDED_LINK_PER_SCREEN",
                "Image" => "MAX_IMAGE_PER_SCREEN",
                "OptIn" => "MAX_OPT_IN_PER_SCREEN",
                _ => "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN",
            };
            let message = format!("A screen has at most {most} components of type {}", component.kind);
            problems.add(code, &component.path, message);
        }
        if let Some(name) = component.map.get("name").and_then(Value::as_str) {
            if names.contains(&name) {
                problems.add(
                    "DUPLICATE_FORM_COMPONENT_NAMES",
                    &component.path,
                    format!("{name} is used twice"),
                );
            }
            names.push(name);
        }
        let outside = component.path.matches(".children[").count() == 1;
        if count("Form") > 0 && outside && properties::is_input(component.kind) {
            problems.add("COMPONENTS_OUTSIDE_FORM", &component.path, "An input stands outside the Form");
        }
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

fn check_component(problems: &mut Problems, scope: &Scope<'_>, component: &Component<'_>) {
    let Component { path, kind, map } = component;
    let Some(known) = properties::of(kind) else {
        let message = format!("'{kind}' is not a component, or not one that is played here");
        problems.add("INVALID_PROPERTY_VALUE", format!("{path}.type"), message);
        return;
    };
    let allowed: Vec<&str> = known.iter().map(|one| one.name).chain(["type"]).collect();
    problems.only(path, map, &allowed);
    for property in known {
        let path = format!("{path}.{}", property.name);
        match map.get(property.name) {
            Some(value) => check_property(problems, scope, &path, property, value),
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
    path: &str,
    property: &Property,
    value: &Value,
) {
    match (&property.holds, value) {
        (Holds::Text(most), Value::String(text)) => check_text(problems, scope, path, text, *most),
        (Holds::Name, Value::String(name)) if !name.trim().is_empty() && !name.contains("${") => {}
        (Holds::Flag, Value::Bool(_)) => {}
        (Holds::Flag, Value::String(text)) => match (binding::read(text), scope.text_type(text)) {
            (Ok(Bound::Reference(_) | Bound::Expression(_)), Ok(Type::Boolean | Type::Unknown)) => {}
            _ => problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, "A boolean is expected"),
        },
        (Holds::Number(least, most), Value::Number(number)) => {
            let number = number.as_u64();
            if number.is_none_or(|number| number < *least) {
                problems.add("MINIMUM_VALUE_REQUIRED", path, format!("The least value is {least}"));
            } else if number.is_some_and(|number| number > *most) {
                problems.add("MAXIMUM_VALUE_REQUIRED", path, format!("The greatest value is {most}"));
            }
        }
        (Holds::OneOf(values), Value::String(text)) if values.contains(&text.as_str()) => {}
        (Holds::OneOf(values), Value::String(_)) => {
            problems.add("INVALID_ENUM_VALUE", path, format!("One of {} is expected", values.join(", ")));
        }
        (Holds::Action, Value::Object(_)) | (Holds::Special, _) => {}
        _ => problems.add("INVALID_PROPERTY_TYPE", path, "The value has the wrong type"),
    }
}

fn check_text(problems: &mut Problems, scope: &Scope<'_>, path: &str, text: &str, most: usize) {
    if text.trim().is_empty() {
        problems.add("PATTERN_MISMATCH", path, "The text is blank");
        return;
    }
    let dynamic = !matches!(binding::read(text), Ok(Bound::Literal(_)));
    match scope.text_type(text) {
        Err(problem) => problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, problem),
        Ok(Type::Text | Type::Unknown) if dynamic => {}
        Ok(Type::Text) if length(text) <= most => {}
        Ok(Type::Text) => {
            problems.add("MAX_CHARS_REQUIRED", path, format!("The text is longer than {most} characters"));
        }
        Ok(_) => problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, "A text is expected"),
    }
}

fn check_list(problems: &mut Problems, scope: &Scope<'_>, list: &Component<'_>) {
    let path = format!("{}.list-items", list.path);
    let dynamic = match list.map.get("list-items") {
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => false,
        Some(Value::String(text)) if scope.text_type(text) == Ok(Type::Array) => true,
        _ => {
            problems.add("INVALID_PROPERTY_TYPE", path, "list-items must be an array of rows");
            return;
        }
    };
    let items = scope.document.items(scope.screen, list.map);
    // The example of a dynamic list may be empty.
    let least = usize::from(!dynamic);
    if !(least..=20).contains(&items.len()) {
        problems.add("MAX_ITEMS_REQUIRED", &path, "A list has 1 to 20 rows");
    }
    if items.iter().filter(|item| item.contains_key("badge")).count() > 1 {
        problems.add("MAX_ITEMS_REQUIRED", &path, "A list has at most one badge");
    }
    let with_action = items.iter().filter(|item| item.contains_key("on-click-action")).count();
    let on_list = list.map.contains_key("on-click-action");
    if on_list && with_action > 0 {
        let message = "The action stands on the list or on its rows, not on both";
        problems.add("DUPLICATE_PROPETY_FOR_CONDITION", &list.path, message);
    } else if !on_list && with_action < items.len() {
        problems.add("MISSING_REQUIRED_PROPERTY", &path, "Every row needs an action when the list has none");
    }
    let large = list.map.get("media-size").and_then(Value::as_str) == Some("large");
    let mut ids: Vec<&str> = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let path = format!("{path}[{at}]");
        check_item(problems, scope, &path, item);
        if large && item.contains_key("end") {
            problems.add("INVALID_PROPERTY_VALUE_FOR_CONDITION", &path, "end does not go with large media");
        }
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
        if ids.contains(&id) {
            problems.add("DUPLICATE_PROPETY_FOR_CONDITION", &path, format!("The id {id} is used twice"));
        }
        ids.push(id);
    }
}

fn check_item(problems: &mut Problems, scope: &Scope<'_>, path: &str, item: &Object) {
    problems.only(path, item, &["id", "main-content", "start", "end", "badge", "tags", "on-click-action"]);
    if item.get("id").and_then(Value::as_str).is_none_or(|id| id.trim().is_empty()) {
        problems.add("MISSING_REQUIRED_PROPERTY", format!("{path}.id"), "A row needs an id");
    }
    let limits = [("title", 30), ("description", 20), ("metadata", 80)];
    match item.get("main-content").and_then(Value::as_object) {
        Some(content) => {
            check_texts(problems, scope, &format!("{path}.main-content"), content, &limits);
            if !content.contains_key("title") {
                let path = format!("{path}.main-content.title");
                problems.add("MISSING_REQUIRED_PROPERTY", path, "A row needs a title");
            }
        }
        None => {
            problems.add(
                "MISSING_REQUIRED_PROPERTY",
                format!("{path}.main-content"),
                "A row needs main-content",
            );
        }
    }
    if let Some(end) = item.get("end") {
        let path = format!("{path}.end");
        match end.as_object().filter(|end| (1..=2).contains(&end.len())) {
            Some(end) => {
                check_texts(
                    problems,
                    scope,
                    &path,
                    end,
                    &[("title", 10), ("description", 10), ("metadata", 10)],
                );
            }
            None => problems.add("DUPLICATE_PROPETY_FOR_CONDITION", path, "end has one or two texts"),
        }
    }
    if let Some(badge) = item.get("badge") {
        match badge.as_str() {
            Some(badge) => check_text(problems, scope, &format!("{path}.badge"), badge, 15),
            None => problems.add("INVALID_PROPERTY_TYPE", format!("{path}.badge"), "A badge is a text"),
        }
    }
    if let Some(tags) = item.get("tags") {
        let fine = tags.as_array().is_some_and(|tags| {
            (1..=3).contains(&tags.len())
                && tags.iter().all(|tag| tag.as_str().is_some_and(|tag| (1..=15).contains(&length(tag))))
        });
        if !fine {
            problems.add(
                "MAX_ITEMS_REQUIRED",
                format!("{path}.tags"),
                "A row has 1 to 3 tags of 15 characters",
            );
        }
    }
}

fn check_texts(
    problems: &mut Problems,
    scope: &Scope<'_>,
    path: &str,
    map: &Object,
    limits: &[(&str, usize)],
) {
    let allowed: Vec<&str> = limits.iter().map(|(name, _)| *name).collect();
    problems.only(path, map, &allowed);
    for (name, most) in limits {
        match map.get(*name) {
            Some(Value::String(text)) => check_text(problems, scope, &format!("{path}.{name}"), text, *most),
            Some(_) => problems.add("INVALID_PROPERTY_TYPE", format!("{path}.{name}"), "A text is expected"),
            None => {}
        }
    }
}

fn check_picker(problems: &mut Problems, picker: &Component<'_>) {
    let number = |key: &str, default| picker.map.get(key).and_then(Value::as_u64).unwrap_or(default);
    if number("min-uploaded-photos", 0) > number("max-uploaded-photos", 30) {
        problems.add("MIN_VALUE_GREATER_THAN_MAX", &picker.path, "The least number is above the greatest");
    }
}

fn check_captions(problems: &mut Problems, footer: &Component<'_>) {
    let has = |key: &str| footer.map.contains_key(key);
    if has("left-caption") != has("right-caption") {
        problems.add("INVALID_DEPENDENCIES", &footer.path, "Left and right captions go together");
    }
    if has("center-caption") && has("left-caption") {
        let code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED";
        problems.add(code, &footer.path, "A caption in the middle stands alone");
    }
}
