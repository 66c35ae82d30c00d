//! The rows of a NavigationList. The platform does not look into them; a phone shows what is wrong as a blank row
//! or a tap that does nothing.

use std::collections::HashSet;

use super::actions::{self, By};
use super::code::Code;
use super::context::{Context, Screen, quote};
use super::data_model::Type;
use super::json::{Node, Value};
use super::values::{self, Place};
use crate::limits;

const CLICK: &[&str] = &["navigate", "data_exchange"];
const SMALL: usize = 10;
const BADGE: usize = 15;
const TAG: usize = 15;
const TAGS: usize = 3;

pub(crate) fn check<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    list: &'a Node<'t>,
    node: &'a Node<'t>,
) {
    let Value::Array(rows) = &node.value else {
        values::typed(context, Place::Property(screen), node, Type::Array);
        return;
    };
    match rows.len() {
        0 => context.add(node, Code::MinItemsRequired, "a list needs a row"),
        1..=limits::LIST_ITEMS => {}
        more => {
            let message = format!("{more} rows; {} are shown", limits::LIST_ITEMS);
            context.add(node, Code::MaxItemsRequired, message);
        }
    }
    let list_action = list.get("on-click-action").is_some();
    let large = list.get("media-size").and_then(Node::text) == Some("large");
    let (mut ids, mut badges) = (HashSet::new(), 0);
    for row in rows {
        if context.full() {
            return;
        }
        self::row(context, screen, row, large);
        if let Some(id) = row.get("id")
            && let Some(text) = id.text()
            && !ids.insert(text)
        {
            context.add(id, Code::DuplicateItemId, format!("another row has the id {}", quote(text)));
        }
        if let Some(badge) = row.get("badge") {
            badges += 1;
            if badges > 1 {
                context.add(badge, Code::MaxItemsRequired, "a list may have one badge");
            }
        }
        match row.get("on-click-action") {
            Some(action) if list_action => {
                let message = "the action stands at the list or at its rows, not at both";
                context.add(action, Code::DuplicatePropertyForCondition, message);
            }
            None if !list_action && matches!(row.value, Value::Object(_)) => {
                context.add(row, Code::MissingRequiredProperty, "neither the row nor the list has an action");
            }
            Some(_) | None => {}
        }
    }
}

fn row<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, row: &'a Node<'t>, large: bool) {
    let place = Place::Property(screen);
    let known = [
        ("id", true),
        ("main-content", true),
        ("end", false),
        ("start", false),
        ("badge", false),
        ("tags", false),
        ("enabled", false),
        ("on-click-action", false),
    ];
    values::object(context, row, &known, |key, node| match key {
        "id" => id(context, node),
        "main-content" => {
            let lengths = [
                ("title", limits::TITLE),
                ("description", limits::DESCRIPTION),
                ("metadata", limits::METADATA),
            ];
            lines(context, place, node, &lengths, true);
        }
        "end" => end(context, place, node, large),
        "start" => {
            values::object(context, node, &[("image", true), ("alt-text", false)], |key, node| match key {
                "image" => values::picture(context, place, node, true),
                _ => values::text(context, place, node, usize::MAX),
            });
        }
        "badge" => values::text(context, place, node, BADGE),
        "tags" => tags(context, place, node),
        "enabled" => values::typed(context, place, node, Type::Boolean),
        _ => actions::check(context, screen, node, CLICK, By::Tap),
    });
}

fn id(context: &Context<'_, '_>, node: &Node<'_>) {
    match node.text() {
        None => context.add(node, Code::InvalidPropertyType, "an id must be a text"),
        Some("") => context.add(node, Code::MinCharsRequired, "an id must not be empty"),
        Some(text) if text.trim().is_empty() => {
            context.add(node, Code::PatternMismatch, "an id must not be blank");
        }
        Some(_) => {}
    }
}

fn lines<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &'a Node<'t>,
    lengths: &[(&str, usize); 3],
    title: bool,
) {
    let known = lengths.map(|(name, _)| (name, title && name == "title"));
    values::object(context, node, &known, |key, node| {
        let most = lengths.iter().find(|(name, _)| *name == key).map_or(SMALL, |(_, most)| *most);
        values::text(context, place, node, most);
    });
}

fn end<'a, 't>(context: &Context<'a, 't>, place: Place<'_, 'a, 't>, node: &'a Node<'t>, large: bool) {
    lines(context, place, node, &["title", "description", "metadata"].map(|name| (name, SMALL)), false);
    if large {
        let message = "a list with large media shows nothing at the end of its rows";
        context.add(node, Code::InvalidPropertyValueForCondition, message);
    }
    if matches!(node.value, Value::Object(_)) && !(1..=2).contains(&node.members().len()) {
        context.add(node, Code::DuplicatePropertyForCondition, "one or two of title, description, metadata");
    }
}

fn tags<'a, 't>(context: &Context<'a, 't>, place: Place<'_, 'a, 't>, node: &'a Node<'t>) {
    let Value::Array(tags) = &node.value else {
        values::typed(context, place, node, Type::Array);
        return;
    };
    match tags.len() {
        0 => context.add(node, Code::MinItemsRequired, "at least one tag is needed"),
        1..=TAGS => {}
        _ => context.add(node, Code::MaxItemsRequired, "at most three tags are shown"),
    }
    tags.iter().for_each(|tag| values::text(context, place, tag, TAG));
}
