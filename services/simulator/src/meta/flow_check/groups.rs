//! What a person chooses from: options, dates, files, pictures.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{
    super::{
        document::{Component, Object},
        validate::length,
    },
    Problems,
    components::{check_bound, check_text},
    expressions::{Scope, Type},
    properties::{self, Holds},
};

/// Bytes of a picture in a list.
pub(super) const LARGEST_PICTURE: usize = 100 * 1024;
/// Before 6.0, and of a picture that stands for itself.
pub(super) const LARGEST_IMAGE: usize = 300 * 1024;

pub(super) fn check(
    problems: &mut Problems,
    scope: &Scope<'_>,
    component: &Component<'_>,
    version: (u32, u32),
) {
    let (least, most): (usize, u64) = match component.kind {
        "Dropdown" => (1, 200),
        "RadioButtonsGroup" | "CheckboxGroup" => (1, 20),
        "ChipsSelector" => (2, 20),
        "PhotoPicker" => {
            return pair(problems, component, ("min-uploaded-photos", 0), ("max-uploaded-photos", 30));
        }
        "DocumentPicker" => {
            return pair(problems, component, ("min-uploaded-documents", 0), ("max-uploaded-documents", 30));
        }
        "TextInput" => {
            if component.map.contains_key("pattern") && !component.map.contains_key("helper-text") {
                let message = "A pattern needs a helper-text";
                problems.add("MISSING_REQUIRED_PROPERTY", &component.path, message);
            }
            return pair(problems, component, ("min-chars", 0), ("max-chars", 80));
        }
        "DatePicker" | "CalendarPicker" => return check_dates(problems, component),
        "ImageCarousel" => return check_pictures(problems, scope, component),
        _ => return,
    };
    pair(problems, component, ("min-selected-items", 0), ("max-selected-items", most));
    check_options(problems, scope, component, (least, usize::try_from(most).unwrap_or(usize::MAX)), version);
}

/// Two numbers of which the first must not be the greater.
fn pair(problems: &mut Problems, component: &Component<'_>, least: (&str, u64), most: (&str, u64)) {
    let number = |(key, default): (&str, u64)| match component.map.get(key) {
        Some(value) => value.as_u64(),
        None => Some(default),
    };
    if let (Some(least), Some(most)) = (number(least), number(most))
        && least > most
    {
        let message = "The least number is above the greatest";
        problems.add("MIN_VALUE_GREATER_THAN_MAX", &component.path, message);
    }
}

fn check_options(
    problems: &mut Problems,
    scope: &Scope<'_>,
    group: &Component<'_>,
    (least, most): (usize, usize),
    version: (u32, u32),
) {
    let path = format!("{}.data-source", group.path);
    let dynamic = match group.map.get("data-source") {
        None => return,
        Some(Value::Array(options)) if options.iter().all(Value::is_object) => false,
        Some(Value::String(text)) => {
            check_bound(problems, scope, (&path, "An array is expected"), text, &[Type::Array]);
            true
        }
        Some(_) => {
            problems.add("INVALID_PROPERTY_TYPE", path, "data-source must be an array of options");
            return;
        }
    };
    let options = scope.document.entries(scope.screen, group.map, "data-source");
    let pictured = options.iter().any(|option| option.contains_key("image"));
    let most = if pictured && group.kind == "Dropdown" { 100 } else { most };
    if !dynamic && options.len() < least {
        problems.add("MIN_ITEMS_REQUIRED", &path, format!("At least {least} are needed"));
    }
    if options.len() > most {
        problems.add("MAX_ITEMS_REQUIRED", &path, format!("At most {most} are possible"));
    }
    let mut ids: Vec<&str> = Vec::new();
    for (at, option) in options.into_iter().enumerate() {
        let path = format!("{path}[{at}]");
        check_option(problems, scope, &path, option, version);
        let id = option.get("id").and_then(Value::as_str).unwrap_or_default();
        if ids.contains(&id) {
            problems.add("DUPLICATE_PROPETY_FOR_CONDITION", &path, format!("The id {id} is used twice"));
        }
        ids.push(id);
    }
}

fn check_option(
    problems: &mut Problems,
    scope: &Scope<'_>,
    path: &str,
    option: &Object,
    version: (u32, u32),
) {
    let mut allowed = vec!["id", "title", "description", "metadata", "enabled", "image", "alt-text", "color"];
    if version >= (6, 0) {
        allowed.extend(["on-select-action", "on-unselect-action"]);
    }
    problems.only(path, option, &allowed);
    for key in ["id", "title"] {
        if option.get(key).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
            problems.add("MISSING_REQUIRED_PROPERTY", format!("{path}.{key}"), format!("{key} is needed"));
        }
    }
    for (key, most) in [("title", 30), ("description", 300), ("metadata", 20), ("alt-text", 4096)] {
        match option.get(key) {
            Some(Value::String(text)) => check_text(problems, scope, &format!("{path}.{key}"), text, most),
            Some(_) => problems.add("INVALID_PROPERTY_TYPE", format!("{path}.{key}"), "A text is expected"),
            None => {}
        }
    }
    if option.get("enabled").is_some_and(|enabled| !enabled.is_boolean()) {
        problems.add("INVALID_PROPERTY_TYPE", format!("{path}.enabled"), "A boolean is expected");
    }
    if option.contains_key("image") && option.contains_key("color") {
        problems.add("DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR", path, "A picture or a colour, not both");
    }
    if let Some(color) = option.get("color")
        && color
            .as_str()
            .is_none_or(|color| color.len() != 6 || !color.bytes().all(|one| one.is_ascii_hexdigit()))
    {
        problems.add("PATTERN_MISMATCH", format!("{path}.color"), "A colour is six hex digits");
    }
    let largest = if version < (6, 0) { LARGEST_IMAGE } else { LARGEST_PICTURE };
    if let Some(image) = option.get("image")
        && image.as_str().is_none_or(|image| !is_picture(image, largest))
    {
        problems.add(
            "INVALID_PROPERTY_VALUE",
            format!("{path}.image"),
            "A picture is base64, at most 100 KB",
        );
    }
}

/// Base64 of something that is not too large.
pub(super) fn is_picture(text: &str, largest: usize) -> bool {
    STANDARD.decode(text).is_ok_and(|bytes| (1..=largest).contains(&bytes.len()))
}

/// A picture that stands for itself, or that comes with the data.
pub(super) fn check_picture(problems: &mut Problems, scope: &Scope<'_>, path: &str, text: &str) {
    if text.contains("${") {
        check_bound(problems, scope, (path, "A text is expected"), text, &[Type::Text, Type::Unknown]);
    } else if !is_picture(text, LARGEST_IMAGE) {
        problems.add("INVALID_PROPERTY_VALUE_FORMAT", path, "A picture is base64, at most 300 KB");
    }
}

fn check_pictures(problems: &mut Problems, scope: &Scope<'_>, carousel: &Component<'_>) {
    let path = format!("{}.images", carousel.path);
    match carousel.map.get("images") {
        Some(Value::String(text)) => {
            check_bound(problems, scope, (&path, "An array is expected"), text, &[Type::Array]);
        }
        Some(Value::Array(images)) => {
            if !(1..=3).contains(&images.len()) {
                problems.add("MAX_ITEMS_REQUIRED", &path, "A carousel has 1 to 3 pictures");
            }
            for (at, image) in images.iter().enumerate() {
                let path = format!("{path}[{at}]");
                let Some(image) = image.as_object() else {
                    problems.add("INVALID_PROPERTY_TYPE", path, "A picture is an object");
                    continue;
                };
                problems.only(&path, image, &["src", "alt-text"]);
                for key in ["src", "alt-text"] {
                    let path = format!("{path}.{key}");
                    match image.get(key) {
                        Some(Value::String(text)) if key == "src" => {
                            check_picture(problems, scope, &path, text)
                        }
                        Some(Value::String(text)) => check_text(problems, scope, &path, text, 4096),
                        Some(_) => problems.add("INVALID_PROPERTY_TYPE", path, "A text is expected"),
                        None => problems.add("MISSING_REQUIRED_PROPERTY", path, format!("{key} is needed")),
                    }
                }
            }
        }
        Some(_) => problems.add("INVALID_PROPERTY_TYPE", path, "images must be an array"),
        None => {}
    }
}

fn check_dates(problems: &mut Problems, picker: &Component<'_>) {
    let day = |key: &str| picker.map.get(key).and_then(Value::as_str).filter(|text| is_day(text));
    if let (Some(first), Some(last)) = (day("min-date"), day("max-date"))
        && first > last
    {
        problems.add("INVALID_DATE_RANGE", &picker.path, "The first day is after the last");
    }
    let number = |key: &str| picker.map.get(key).and_then(Value::as_u64);
    if let (Some(least), Some(most)) = (number("min-days"), number("max-days"))
        && least > most
    {
        problems.add("INVALID_MIN_MAX_DAYS", &picker.path, "The least number of days is above the greatest");
    }
}

/// Four digits, a month, a day that the month has.
pub(in super::super) fn is_day(text: &str) -> bool {
    text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

pub(super) fn check_values(
    problems: &mut Problems,
    scope: &Scope<'_>,
    path: &str,
    holds: &Holds,
    value: &Value,
) {
    let many = matches!(holds, Holds::Dates | Holds::Names);
    let days = matches!(holds, Holds::Date | Holds::Dates);
    match value {
        Value::String(text) if text.contains("${") || text.starts_with('`') => {
            let wanted = if many { Type::Array } else { Type::Text };
            check_bound(problems, scope, (path, "Another type is expected"), text, &[wanted, Type::Unknown]);
        }
        Value::String(text) if !many && is_day(text) => {}
        Value::String(_) if !many => {
            problems.add("INVALID_PROPERTY_VALUE_FORMAT", path, "A day is expected, as 2026-11-30");
        }
        Value::Array(values) if many && values.iter().all(Value::is_string) => {
            let mut texts = values.iter().filter_map(Value::as_str);
            if days && !texts.all(is_day) {
                problems.add("INVALID_PROPERTY_VALUE_FORMAT", path, "Days are expected, as 2026-11-30");
            }
        }
        _ => problems.add("INVALID_PROPERTY_TYPE", path, "The value has the wrong type"),
    }
}

/// A value that an input begins with: of the type that it answers with.
pub(super) fn check_answer(
    problems: &mut Problems,
    scope: &Scope<'_>,
    path: &str,
    input: &Component<'_>,
    value: &Value,
) {
    let word = |key: &str| input.map.get(key).and_then(Value::as_str).unwrap_or_default();
    if scope.document.version() < (7, 0) {
        // What an input begins with was not looked at.
        return;
    }
    let wanted = properties::answer(input.kind, word("input-type"), word("mode")).unwrap_or(Type::Unknown);
    let kind = match value {
        Value::String(text) => match scope.property_type(text) {
            Ok(kind) => kind,
            Err(problem) => return problems.add("INVALID_SCREEN_DYNAMIC_DATA", path, problem),
        },
        Value::Bool(_) => Type::Boolean,
        Value::Number(_) => Type::Number,
        Value::Array(_) => Type::Array,
        Value::Object(_) => Type::Object,
        Value::Null => return problems.add("INVALID_PROPERTY_TYPE", path, "The value has the wrong type"),
    };
    if wanted != Type::Unknown && kind != Type::Unknown && kind != wanted {
        problems.add("INVALID_PROPERTY_TYPE", path, format!("{wanted:?} is expected, not {kind:?}"));
    }
    if let Value::String(text) = value
        && wanted == Type::Text
        && length(text) > 4096
    {
        problems.add("MAX_CHARS_REQUIRED", path, "The text is longer than 4096 characters");
    }
}
