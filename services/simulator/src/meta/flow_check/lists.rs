//! Lists whose rows lead on.

use serde_json::Value;

use super::{
    super::{
        document::{Component, Object},
        validate::length,
    },
    Problems,
    components::check_text,
    expressions::{Scope, Type},
    groups,
};

pub(super) fn check(problems: &mut Problems, scope: &Scope<'_>, list: &Component<'_>) {
    let path = format!("{}.list-items", list.path);
    let dynamic = match list.map.get("list-items") {
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => false,
        Some(Value::String(text)) if scope.property_type(text) == Ok(Type::Array) => true,
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
    if let Some(start) = item.get("start") {
        let path = format!("{path}.start");
        match start.as_object() {
            Some(start) => {
                problems.only(&path, start, &["image", "alt-text"]);
                let image = start.get("image").and_then(Value::as_str);
                if image.is_none_or(|image| !groups::is_picture(image, groups::LARGEST_PICTURE)) {
                    problems.add(
                        "INVALID_PROPERTY_VALUE",
                        path,
                        "start has a picture in base64, at most 100 KB",
                    );
                }
            }
            None => problems.add("INVALID_PROPERTY_TYPE", path, "start must be an object"),
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
