//! The options of groups, dropdowns and chips.

use std::collections::HashSet;

use super::actions::{self, By};
use super::code::Code;
use super::context::{Context, Screen, quote};
use super::data_model::Type;
use super::json::{Node, Value};
use super::values::{self, Place};

const TITLE: usize = 30;
const DESCRIPTION: usize = 300;
const METADATA: usize = 20;

pub(crate) fn check<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    node: &'a Node<'t>,
    fewest: usize,
    most: usize,
    most_pictured: usize,
) {
    let place = Place::Property(screen);
    let Value::Array(options) = &node.value else {
        values::typed(context, place, node, Type::Array);
        return;
    };
    let pictured = options.iter().any(|option| option.get("image").is_some());
    let most = if pictured { most_pictured } else { most };
    if options.len() < fewest {
        context.add(node, Code::MinItemsRequired, format!("at least {fewest} options are needed"));
    }
    if options.len() > most {
        context.add(node, Code::MaxItemsRequired, format!("at most {most} options are shown"));
    }
    let mut ids = HashSet::new();
    for option in options {
        if context.full() {
            return;
        }
        self::option(context, screen, option);
        if let Some(id) = option.get("id")
            && let Some(text) = id.text()
            && !ids.insert(text)
        {
            context.add(id, Code::DuplicateItemId, format!("another option has the id {}", quote(text)));
        }
        if option.get("image").is_some()
            && let Some(color) = option.get("color")
        {
            let message = "an option has a picture or a colour, not both";
            context.add(color, Code::DataSourceItemsHaveBothImageAndColor, message);
        }
    }
}

fn option<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, option: &'a Node<'t>) {
    let place = Place::Property(screen);
    let known = [
        ("id", true),
        ("title", true),
        ("description", false),
        ("metadata", false),
        ("enabled", false),
        ("image", false),
        ("alt-text", false),
        ("color", false),
        ("on-select-action", false),
        ("on-unselect-action", false),
    ];
    values::object(context, option, &known, |key, node| match key {
        "id" => values::text(context, place, node, usize::MAX),
        "title" => values::text(context, place, node, TITLE),
        "description" => values::text(context, place, node, DESCRIPTION),
        "metadata" => values::text(context, place, node, METADATA),
        "enabled" => values::typed(context, place, node, Type::Boolean),
        "image" => values::picture(context, place, node, true),
        "alt-text" | "color" => values::text(context, place, node, usize::MAX),
        _ => actions::check(context, screen, node, &["update_data"], By::Choice),
    });
}
