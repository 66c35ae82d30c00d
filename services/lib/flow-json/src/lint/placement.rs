//! What may stand beside what, how often, and under which name.

use std::collections::{HashMap, HashSet};

use super::branches::{self, MOST_IFS};
use super::code::Code;
use super::context::{Context, Placed, Screen, quote};
use super::json::{Node, Value};
use super::version::{V6_3, V7_0};

const MOST_COMPONENTS: usize = 50;
const MOST_CAROUSELS: usize = 3;

pub(crate) fn check<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>) {
    let children = screen.node.get("layout").and_then(|layout| layout.get("children"));
    if let Some(children) = children {
        let footer = branches::footers(context, children);
        if screen.terminal && !footer {
            let message = "a terminal screen needs a footer";
            context.add(screen.node, Code::MissingFooterOnTerminalScreen, message);
        }
        if screen.components.len() > MOST_COMPONENTS {
            let message =
                format!("{} components; a screen has at most {MOST_COMPONENTS}", screen.components.len());
            context.add(children, Code::MaxAllowedComponentsPerScreen, message);
        }
    }
    counts(context, screen);
    names(context, screen);
    alone(context, screen);
    for placed in &screen.components {
        nesting(context, screen, placed);
    }
    sensitive(context, screen);
}

/// Carousels are counted over the whole document as well.
pub(crate) fn check_all(context: &Context<'_, '_>) {
    let carousels = context.screens.iter().flat_map(|screen| &screen.components);
    if let Some(placed) = carousels.filter(|placed| placed.is("ImageCarousel")).nth(MOST_CAROUSELS) {
        let message = format!("a form has at most {MOST_CAROUSELS} carousels");
        context.add(placed.node, Code::ComponentTypeMaxNumberPerScreen, message);
    }
}

fn counts(context: &Context<'_, '_>, screen: &Screen<'_, '_>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut pickers = HashSet::new();
    for placed in &screen.components {
        let Some(spec) = placed.spec else { continue };
        let count = counts.entry(spec.name).or_default();
        *count += 1;
        let form = (spec.name == "Form" && context.version >= V7_0)
            .then_some((1, Code::ComponentTypeMaxNumberPerScreen));
        if let Some((most, code)) = spec.most.or(form)
            && *count == most + 1
        {
            context.add(placed.node, code, format!("a screen has at most {most} {}", spec.name));
        }
        if spec.is_native() && pickers.insert(spec.name) && pickers.len() > 1 {
            let message = "a screen has photos or documents, not both";
            context.add(placed.node, Code::ComponentTypeMaxNumberPerScreen, message);
        }
    }
}

/// Also across the branches of an If or Switch.
fn names(context: &Context<'_, '_>, screen: &Screen<'_, '_>) {
    let mut seen = HashSet::new();
    for placed in screen.components.iter().filter(|placed| !placed.is("Form")) {
        let Some(node) = placed.node.get("name") else { continue };
        if let Some(name) = node.text()
            && !seen.insert(name)
        {
            let message = format!("another component of the screen is named {}", quote(name));
            context.add(node, Code::DuplicateFormComponentNames, message);
        }
    }
}

/// Lists and rich text stand alone.
fn alone(context: &Context<'_, '_>, screen: &Screen<'_, '_>) {
    let first = |name: &str| screen.components.iter().find(|placed| placed.is(name));
    let others = |names: &[&str]| {
        let mut all = screen.components.iter();
        all.any(|placed| placed.spec.is_none_or(|spec| !names.contains(&spec.name)))
    };
    if let Some(list) = first("NavigationList") {
        if screen.terminal {
            let message = "a list may not stand on a terminal screen";
            context.add(list.node, Code::InvalidComponentPlacement, message);
        }
        if others(&["NavigationList", "Form"]) {
            let message = "a screen with a list holds nothing but lists";
            context.add(list.node, Code::InvalidComponentPlacement, message);
        }
    }
    if let Some(rich) = first("RichText") {
        let beside: &[&str] = if context.version >= V6_3 { &["RichText", "Footer"] } else { &["RichText"] };
        let count = screen.components.iter().filter(|placed| placed.is("RichText")).count();
        if count > 1 || others(beside) {
            let message = "rich text stands alone, from version 6.3 with a footer";
            context.add(rich.node, Code::InvalidRichtextPlacement, message);
        }
    }
}

fn nesting(context: &Context<'_, '_>, screen: &Screen<'_, '_>, placed: &Placed<'_, '_>) {
    let Some(spec) = placed.spec else { return };
    let node = placed.node;
    let forbidden = (placed.branches > 0 && !spec.in_branch) || (placed.in_form && spec.name == "Form");
    if forbidden {
        let message = format!("{} may not stand inside If, Switch or another Form", spec.name);
        context.add(node.get("type").unwrap_or(node), Code::InvalidPropertyValue, message);
    }
    if spec.name == "If" && placed.ifs == MOST_IFS {
        let message = format!("at most {MOST_IFS} Ifs stand in each other");
        context.add(node, Code::MaximumIfNesting, message);
    }
    if spec.is_input && !placed.in_form && !screen.forms.is_empty() {
        let message = "the screen has a form, so inputs belong into it";
        context.add(node, Code::ComponentsOutsideForm, message);
    }
}

fn sensitive(context: &Context<'_, '_>, screen: &Screen<'_, '_>) {
    let Some(node) = screen.node.get("sensitive") else { return };
    let Value::Array(names) = &node.value else {
        context.add(node, Code::InvalidPropertyType, "must be a list of names");
        return;
    };
    for name in names {
        match name.text() {
            None => context.add(name, Code::InvalidPropertyType, "must be a text"),
            Some(text) if screen.component(text).is_none() => {
                let message = format!("no component of the screen is named {}", quote(text));
                context.add(name, Code::InvalidSensitiveField, message);
            }
            Some(_) => {}
        }
    }
}

/// Properties that are right alone and wrong together.
pub(crate) fn pairs(context: &Context<'_, '_>, placed: &Placed<'_, '_>) {
    const GREATER: Code = Code::MinValueGreaterThanMax;
    let node = placed.node;
    let number = |key: &str| {
        let value = node.get(key)?;
        value.number().or_else(|| value.text()?.parse().ok())
    };
    for (least, most, code) in [
        ("min-uploaded-photos", "max-uploaded-photos", GREATER),
        ("min-uploaded-documents", "max-uploaded-documents", GREATER),
        ("min-chars", "max-chars", GREATER),
        ("min-selected-items", "max-selected-items", GREATER),
        ("min-days", "max-days", Code::InvalidMinMaxDays),
    ] {
        if let (Some(low), Some(high)) = (number(least), number(most))
            && low > high
        {
            context.add(node, code, format!("{least} is greater than {most}"));
        }
    }
    let date = |key: &str| node.get(key).and_then(Node::text).filter(|text| super::values::is_date(text));
    if let (Some(first), Some(last)) = (date("min-date"), date("max-date"))
        && first > last
    {
        context.add(node, Code::InvalidDateRange, "min-date is after max-date");
    }
    let [left, center, right] = ["left-caption", "center-caption", "right-caption"].map(|key| node.get(key));
    if placed.is("Footer") {
        if center.is_some() && (left.is_some() || right.is_some()) {
            let message = "a caption in the centre stands alone";
            context.add(node, Code::NotKeywordSchemaValidationFailed, message);
        } else if left.is_some() != right.is_some() {
            let message = "left-caption and right-caption go together";
            context.add(node, Code::InvalidDependencies, message);
        }
    }
}
