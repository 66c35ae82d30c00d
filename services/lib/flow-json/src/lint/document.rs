//! The document as a whole and its screens.

use std::collections::HashSet;

use super::code::Code;
use super::context::{Context, Screen, quote};
use super::data_model;
use super::json::{Node, Value};
use super::values::{self, Place};
use super::version::{self, Known, V5_1, V6_0, V7_0, V7_3, Version};
use super::{placement, properties, routing};

const MOST_SCREENS: usize = 100;
/// The platform's own.
const RESERVED: &str = "SUCCESS";

/// The version whose rules hold: the newest where the document's is not known.
pub(crate) fn version(root: &Node<'_>) -> Version {
    match root.get("version").and_then(Node::text).map(version::known) {
        Some(Known::Current(version)) => version,
        Some(Known::Frozen) => V5_1,
        Some(Known::Unknown) | None => V7_3,
    }
}

pub(crate) fn check(context: &Context<'_, '_>, root: &Node<'_>) {
    if !matches!(root.value, Value::Object(_)) {
        context.add(root, Code::InvalidPropertyType, "the document must be an object");
        return;
    }
    for member in root.members() {
        if context.full() {
            return;
        }
        let known = ["version", "screens", "routing_model", "data_api_version", "meta"];
        if !known.contains(&member.key.as_ref()) {
            let message = match member.key.as_ref() {
                "data_channel_uri" => "the endpoint is set through the API since version 3.0".to_owned(),
                key => format!("unknown {}; there are {}", quote(key), known.join(", ")),
            };
            context.add_key(member, Code::InvalidPropertyKey, message);
        }
    }
    versions(context, root);
    let Some(screens) = root.get("screens") else {
        context.add(root, Code::MissingRequiredProperty, "`screens` is missing");
        return;
    };
    let Value::Array(listed) = &screens.value else {
        context.add(screens, Code::InvalidPropertyType, "screens must be a list");
        return;
    };
    match listed.len() {
        0 => {
            context.add(screens, Code::MinItemsRequired, "a form needs a screen");
            return;
        }
        1..=MOST_SCREENS => {}
        more => {
            let message = format!("{more} screens; a form has at most {MOST_SCREENS}");
            context.add(screens, Code::MaxScreensNumber, message);
        }
    }
    ids(context);
    for screen in &context.screens {
        if context.full() {
            return;
        }
        self::screen(context, screen);
    }
    ends(context, screens);
    placement::check_all(context);
    routing::check(context, root);
}

fn versions(context: &Context<'_, '_>, root: &Node<'_>) {
    match root.get("version") {
        None => context.add(root, Code::MissingFlowJsonVersion, "`version` is missing"),
        Some(node) => match node.text().map(version::known) {
            None => context.add(node, Code::InvalidPropertyType, "version must be a text"),
            Some(Known::Current(_)) => {}
            Some(Known::Frozen) => {
                let message = "this version cannot be published any more";
                context.add(node, Code::UnsupportedFlowJsonVersion, message);
            }
            Some(Known::Unknown) => {
                context.add(node, Code::InvalidFlowJsonVersion, "there is no such version");
            }
        },
    }
    let Some(node) = root.get("data_api_version") else { return };
    match node.text() {
        Some("3.0") => {}
        Some("4.0") if context.version >= V7_3 => {}
        Some("4.0") => {
            let message = "4.0 needs version 7.3 of the form";
            context.add(node, Code::NoSupportedDataApiVersion, message);
        }
        Some(_) => context.add(node, Code::InvalidDataApiVersion, "there are 3.0 and 4.0"),
        None => context.add(node, Code::InvalidPropertyType, "data_api_version must be a text"),
    }
    if root.get("routing_model").is_none() {
        let message = "a form with an endpoint needs a routing_model";
        context.add(root, Code::MissingRequiredProperty, message);
    }
}

fn ids(context: &Context<'_, '_>) {
    let mut seen = HashSet::new();
    for screen in &context.screens {
        let Some(node) = screen.node.get("id") else { continue };
        let Some(id) = node.text() else {
            context.add(node, Code::InvalidPropertyType, "an id must be a text");
            continue;
        };
        if id.is_empty() {
            context.add(node, Code::MinCharsRequired, "an id must not be empty");
            continue;
        }
        let strict = context.version >= V7_0;
        let fits = |sign: u8| sign.is_ascii_alphabetic() || sign == b'_' || (!strict && sign == b',');
        let only_underscores = id.bytes().all(|sign| sign == b'_');
        if !id.bytes().all(fits) || (strict && only_underscores) {
            context.add(node, Code::PatternMismatch, "an id has letters and underscores only");
        }
        if id.eq_ignore_ascii_case(RESERVED) {
            context.add(node, Code::ScreenIdIsReservedKeyword, "this id is the platform's own");
        }
        if !seen.insert(id) {
            context.add(node, Code::DuplicateScreenIds, format!("another screen is named {}", quote(id)));
        }
    }
}

fn screen<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>) {
    let node = screen.node;
    if !matches!(node.value, Value::Object(_)) {
        context.add(node, Code::InvalidPropertyType, "a screen must be an object");
        return;
    }
    for member in node.members() {
        if context.full() {
            return;
        }
        let value = &member.value;
        match member.key.as_ref() {
            "id" | "sensitive" => {}
            "title" => title(context, screen, value),
            "terminal" | "success" | "refresh_on_back" => flag(context, screen, &member.key, value),
            "data" => data_model::check(context, value),
            "layout" => layout(context, value),
            key => {
                let message = format!("a screen has no {}", quote(key));
                context.add_key(member, Code::InvalidPropertyKey, message);
            }
        }
    }
    let layout_since =
        if context.version >= V6_0 { &["id", "title", "layout"][..] } else { &["id", "title"] };
    for name in layout_since.iter().filter(|name| node.get(name).is_none()) {
        context.add(node, Code::MissingRequiredProperty, format!("a screen needs {}", quote(name)));
    }
    for placed in &screen.components {
        properties::check(context, screen, placed);
        placement::pairs(context, placed);
    }
    placement::check(context, screen);
}

fn title<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, node: &'a Node<'t>) {
    values::text(context, Place::Property(screen), node, usize::MAX);
}

fn flag(context: &Context<'_, '_>, screen: &Screen<'_, '_>, key: &str, node: &Node<'_>) {
    let Some(truth) = node.truth() else {
        context.add(node, Code::InvalidPropertyType, "must be true or false");
        return;
    };
    match key {
        "success" if !screen.terminal => {
            let message = "only a terminal screen says whether it is a success";
            context.add(node, Code::NotKeywordSchemaValidationFailed, message);
        }
        "refresh_on_back" if truth && !context.endpoint => {
            let message = "only a form with an endpoint refreshes";
            context.add(node, Code::InvalidPropertyValue, message);
        }
        _ => {}
    }
}

fn layout(context: &Context<'_, '_>, node: &Node<'_>) {
    values::object(context, node, &[("type", false), ("children", true)], |key, value| match key {
        "type" => match value.text() {
            Some("SingleColumnLayout") => {}
            Some(_) => {
                context.add(value, Code::InvalidPropertyValue, "the layout is SingleColumnLayout");
            }
            None => context.add(value, Code::InvalidPropertyType, "must be a text"),
        },
        _ if matches!(value.value, Value::Array(_)) => {}
        _ => context.add(value, Code::InvalidPropertyType, "children must be a list"),
    });
    if matches!(node.value, Value::Object(_)) && node.get("type").is_none() {
        context.add(node, Code::MissingRequiredTypeProperty, "a layout needs a type");
    }
}

/// A form must be able to end, and to end well.
fn ends(context: &Context<'_, '_>, screens: &Node<'_>) {
    let mut terminal = context.screens.iter().filter(|screen| screen.terminal).peekable();
    if terminal.peek().is_none() {
        context.add(screens, Code::MissingTerminalScreen, "no screen is terminal");
    } else if terminal.all(|screen| screen.node.get("success").and_then(Node::truth) == Some(false)) {
        context.add(screens, Code::InvalidPropertyValue, "no terminal screen is a success");
    }
}
