//! Every component by its table: known properties, those that must be there, and the shape of each.

use super::code::Code;
use super::context::{Context, Placed, Screen, quote};
use super::data_model::Type;
use super::json::{Node, Value};
use super::spec::{self, Kind, Prop};
use super::values::{self, Place};
use super::{actions, items, options};

/// A component alone; what it stands beside is for others.
pub(crate) fn check<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, placed: &Placed<'a, 't>) {
    let node = placed.node;
    if !matches!(node.value, Value::Object(_)) {
        context.add(node, Code::InvalidPropertyType, "a component must be an object");
        return;
    }
    let Some(spec) = placed.spec else {
        unknown(context, node);
        return;
    };
    for member in node.members().iter().filter(|member| member.key != "type") {
        if context.full() {
            return;
        }
        let prop = spec.props.iter().find(|prop| member.key == prop.name);
        match prop.filter(|prop| prop.since <= context.version) {
            Some(prop) => property(context, screen, placed, prop, &member.value),
            None => {
                let name = spec.name;
                let message = match prop {
                    Some(Prop { since: super::version::Version(major, minor), .. }) => {
                        format!("{name} has {} from version {major}.{minor}", quote(&member.key))
                    }
                    None => format!("{name} has no property {}", quote(&member.key)),
                };
                context.add_key(member, Code::InvalidPropertyKey, message);
            }
        }
    }
    for prop in spec.props.iter().filter(|prop| prop.required && node.get(prop.name).is_none()) {
        let message = format!("{} needs {}", spec.name, quote(prop.name));
        context.add(node, Code::MissingRequiredProperty, message);
    }
}

fn unknown(context: &Context<'_, '_>, node: &Node<'_>) {
    match node.get("type") {
        None => context.add(node, Code::MissingRequiredTypeProperty, "a component needs a type"),
        Some(kind) => match kind.text() {
            None => context.add(kind, Code::InvalidPropertyType, "type must be a text"),
            Some(name) => {
                let message = match spec::find(name) {
                    Some(spec) => {
                        format!("{} exists from version {}.{}", spec.name, spec.since.0, spec.since.1)
                    }
                    None => format!("there is no component {}", quote(name)),
                };
                context.add(kind, Code::InvalidPropertyValue, message);
            }
        },
    }
}

fn property<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    placed: &Placed<'a, 't>,
    prop: &Prop,
    node: &'a Node<'t>,
) {
    let place = Place::Property(screen);
    match prop.kind {
        Kind::Text(most) => values::text(context, place, node, most),
        Kind::Lines(most) => lines(context, screen, placed, node, most),
        Kind::Labels(most) => labels(context, place, node, most),
        Kind::Message(most) => match node.text() {
            Some(_) if values::refers(context, node) => {
                values::any(context, place, node);
            }
            Some(_) | None => values::text(context, place, node, most),
        },
        Kind::Name => name(context, node),
        Kind::Pattern => match node.text() {
            None => context.add(node, Code::InvalidPropertyType, "must be a text"),
            Some(_) if placed.node.get("helper-text").is_none() => {
                context.add(node, Code::InvalidDependencies, "a pattern needs helper-text that explains it");
            }
            Some(_) => {}
        },
        Kind::Bool => values::typed(context, place, node, Type::Boolean),
        Kind::Count { min, max, dynamic } => count(context, place, node, (min, max), dynamic),
        Kind::Ratio => values::typed(context, place, node, Type::Number),
        Kind::Choice(choices) => choice(context, node, choices),
        Kind::Dynamic(choices) => {
            if values::refers(context, node) {
                values::typed(context, place, node, Type::String);
            } else {
                choice(context, node, choices);
            }
        }
        Kind::Click(allowed) => actions::check(context, screen, node, allowed, actions::By::Tap),
        Kind::Select(allowed) => actions::check(context, screen, node, allowed, actions::By::Choice),
        Kind::Picture => values::picture(context, place, node, false),
        Kind::Options(fewest, most, most_pictured) => {
            options::check(context, screen, node, fewest, most, most_pictured);
        }
        Kind::Items => items::check(context, screen, placed.node, node),
        Kind::Pictures => pictures(context, place, node),
        Kind::Date => values::date(context, place, node),
        Kind::Dates => match &node.value {
            Value::Array(dates) => dates.iter().for_each(|date| values::date(context, place, date)),
            _ => values::typed(context, place, node, Type::Array),
        },
        Kind::Value => init(context, placed, prop, place, node),
        Kind::Values => values_by_name(context, screen, prop, node),
        Kind::Strings => match &node.value {
            Value::Array(texts) => {
                texts.iter().for_each(|text| values::typed(context, place, text, Type::String));
            }
            _ => values::typed(context, place, node, Type::Array),
        },
        Kind::Children | Kind::Cases => children(context, prop, node),
        Kind::Condition => super::branches::condition(context, screen, prop.name, node),
    }
}

/// The names of components are fixed, so that payloads can name them.
fn name(context: &Context<'_, '_>, node: &Node<'_>) {
    match node.text() {
        None => context.add(node, Code::InvalidPropertyType, "must be a text"),
        Some("") => context.add(node, Code::MinCharsRequired, "must not be empty"),
        Some(name) if name.trim().is_empty() || name.contains("${") || name.contains('`') => {
            context.add(node, Code::PatternMismatch, "a name is a plain word, not an expression");
        }
        Some(_) => {}
    }
}

fn lines<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    placed: &Placed<'a, 't>,
    node: &'a Node<'t>,
    most: usize,
) {
    let rich = placed.is("RichText");
    let place = Place::Property(screen);
    match &node.value {
        Value::Array(lines) if lines.is_empty() => {
            context.add(node, Code::MinItemsRequired, "at least one text is needed");
        }
        Value::Array(lines) => {
            for line in lines {
                match line.text() {
                    Some(_) if rich => {
                        if values::refers(context, line) {
                            context.add(line, Code::PatternMismatch, "texts of a list are fixed");
                        }
                    }
                    Some(_) | None => values::text(context, place, line, most),
                }
            }
        }
        _ if rich && node.text().is_some_and(|text| text.starts_with('`') && text.ends_with('`')) => {
            context.add(node, Code::PatternMismatch, "rich text takes no nested expression");
        }
        _ => values::text(context, place, node, most),
    }
}

fn labels<'a, 't>(context: &Context<'a, 't>, place: Place<'_, 'a, 't>, node: &'a Node<'t>, most: usize) {
    if !matches!(node.value, Value::Object(_)) {
        values::text(context, place, node, most);
        return;
    }
    for member in node.members() {
        if matches!(member.key.as_ref(), "start-date" | "end-date") {
            values::text(context, place, &member.value, most);
        } else {
            context.add_key(member, Code::InvalidPropertyKey, "there are start-date and end-date");
        }
    }
}

fn count<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &'a Node<'t>,
    (min, max): (u32, u32),
    dynamic: bool,
) {
    let number = match (&node.value, node.text()) {
        (_, Some(_)) if dynamic && values::refers(context, node) => {
            values::any(context, place, node);
            return;
        }
        (_, Some(text)) if dynamic => text.parse().ok(),
        _ => node.number(),
    };
    match number {
        None => context.add(node, Code::InvalidPropertyType, "must be a number"),
        Some(number) if number.fract() != 0.0 => {
            context.add(node, Code::InvalidPropertyType, "must be a whole number");
        }
        Some(number) if number < f64::from(min) => {
            context.add(node, Code::MinimumValueRequired, format!("must be {min} or more"));
        }
        Some(number) if number > f64::from(max) => {
            context.add(node, Code::MaximumValueRequired, format!("must be {max} or less"));
        }
        Some(_) => {}
    }
}

fn choice(context: &Context<'_, '_>, node: &Node<'_>, choices: &[&str]) {
    match node.text() {
        None => context.add(node, Code::InvalidPropertyType, "must be a text"),
        Some(text) if !choices.contains(&text) => {
            context.add(node, Code::InvalidEnumValue, format!("must be one of {}", choices.join(", ")));
        }
        Some(_) => {}
    }
}

fn pictures<'a, 't>(context: &Context<'a, 't>, place: Place<'_, 'a, 't>, node: &'a Node<'t>) {
    let Value::Array(pictures) = &node.value else {
        values::typed(context, place, node, Type::Array);
        return;
    };
    match pictures.len() {
        0 => context.add(node, Code::MinItemsRequired, "at least one picture is needed"),
        1..=3 => {}
        _ => context.add(node, Code::MaxItemsRequired, "at most three pictures are shown"),
    }
    for picture in pictures {
        values::object(context, picture, &[("src", true), ("alt-text", true)], |key, value| match key {
            "src" => values::picture(context, place, value, false),
            _ => values::text(context, place, value, usize::MAX),
        });
    }
}

fn init<'a, 't>(
    context: &Context<'a, 't>,
    placed: &Placed<'a, 't>,
    prop: &Prop,
    place: Place<'_, 'a, 't>,
    node: &'a Node<'t>,
) {
    if prop.name == "init-value" && placed.in_form {
        let message = "inside a form, values are given by the form's init-values";
        context.add(node, Code::InvalidPropertyKey, message);
    }
    values::initial(context, place, node, placed.spec.and_then(|spec| spec.answer));
}

/// The initial values and the error messages of a form, by the names of its components.
fn values_by_name<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    prop: &Prop,
    node: &'a Node<'t>,
) {
    let place = Place::Property(screen);
    if !matches!(node.value, Value::Object(_)) {
        values::typed(context, place, node, Type::Object);
        return;
    }
    let initial = prop.name == "init-values";
    for member in node.members() {
        match screen.component(&member.key) {
            None => {
                let message = format!("no component is named {}", quote(&member.key));
                context.add_key(member, Code::InvalidPropertyKey, message);
            }
            Some((spec, _)) if initial && spec.is_native() => {
                let message = "photos and documents have no initial value";
                context.add_key(member, Code::NativeComponentInFormInitValues, message);
            }
            Some((spec, _)) if initial => {
                values::initial(context, place, &member.value, spec.answer);
            }
            Some(_) => values::typed(context, place, &member.value, Type::String),
        }
    }
}

fn children(context: &Context<'_, '_>, prop: &Prop, node: &Node<'_>) {
    match (&node.value, prop.kind) {
        (Value::Array(children), Kind::Children) => {
            if children.is_empty() {
                let code =
                    if prop.name == "children" { Code::MinItemsRequired } else { Code::InvalidPropertyValue };
                context.add(node, code, "at least one component is needed");
            }
        }
        (Value::Object(cases), Kind::Cases) => {
            if cases.is_empty() {
                context.add(node, Code::EmptySwitchCases, "at least one case is needed");
            }
            for case in cases {
                match &case.value.value {
                    Value::Array(children) if children.is_empty() => {
                        context.add(&case.value, Code::InvalidPropertyValue, "a case needs a component");
                    }
                    Value::Array(_) => {}
                    _ => {
                        context.add(&case.value, Code::InvalidPropertyType, "a case is a list of components")
                    }
                }
            }
        }
        (_, Kind::Cases) => context.add(node, Code::InvalidPropertyType, "cases must be an object"),
        _ => context.add(node, Code::InvalidPropertyType, "must be a list of components"),
    }
}
