//! What a tap or a choice does, and what it takes along.

use super::code::Code;
use super::context::{Context, Screen, quote};
use super::data_model::{Type, declared};
use super::expression::{self, Reference, Source, Written};
use super::json::{Member, Node, Value};
use super::values::{self, Place};
use super::version::V6_0;

/// Missing keys that are named one by one.
const NAMED: usize = 5;
/// Files in an answer.
const MOST_FILES: f64 = 10.0;
/// Their size together, in KiB.
const MOST_KB: f64 = 102_400.0;
/// What a picker takes unless it says otherwise.
const DEFAULT_FILES: f64 = 30.0;
const DEFAULT_KB: f64 = 25_600.0;

/// What sets an action off.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum By {
    Tap,
    Choice,
}

/// The members of each action beside its name, with the version it came with.
fn members(action: &str) -> Option<&'static [&'static str]> {
    match action {
        "navigate" => Some(&["next", "payload"]),
        "complete" | "data_exchange" | "update_data" => Some(&["payload"]),
        "open_url" => Some(&["url"]),
        _ => None,
    }
}

pub(crate) fn check<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    node: &'a Node<'t>,
    allowed: &[&str],
    by: By,
) {
    if !matches!(node.value, Value::Object(_)) {
        context.add(node, Code::InvalidPropertyType, "an action must be an object");
        return;
    }
    let Some(name) = node.get("name") else {
        context.add(node, Code::MissingRequiredProperty, "an action needs a name");
        return;
    };
    let Some(action) = name.text() else {
        context.add(name, Code::InvalidPropertyType, "the name of an action must be a text");
        return;
    };
    let too_new = context.version < V6_0 && matches!(action, "update_data" | "open_url");
    let Some(known) = members(action).filter(|_| allowed.contains(&action) && !too_new) else {
        let message = format!("{} is not allowed here; there are {}", quote(action), allowed.join(", "));
        context.add(name, Code::InvalidEnumValue, message);
        return;
    };
    for member in node.members() {
        if context.full() {
            return;
        }
        if member.key != "name" && !known.contains(&member.key.as_ref()) {
            let message = format!("{action} has no {}", quote(&member.key));
            context.add_key(member, Code::InvalidPropertyKey, message);
        }
    }
    match action {
        "navigate" => navigate(context, screen, node),
        "complete" => {
            if !screen.terminal {
                let message = "only a terminal screen completes the form";
                context.add(name, Code::InvalidCompleteAction, message);
            }
            if let Some(payload) = node.get("payload") {
                files(context, screen, payload);
            }
        }
        "data_exchange" if !context.endpoint => {
            let message = "data_exchange needs an endpoint and data_api_version";
            context.add(name, Code::MissingRequiredProperty, message);
        }
        "open_url" => url(context, screen, node),
        _ => {}
    }
    if let Some(payload) = node.get("payload") {
        self::payload(context, screen, payload, action, by);
    } else if action == "update_data" {
        context.add(node, Code::MissingRequiredProperty, "update_data needs a payload");
    }
}

fn payload<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    payload: &'a Node<'t>,
    action: &str,
    by: By,
) {
    if !matches!(payload.value, Value::Object(_)) {
        context.add(payload, Code::InvalidPropertyType, "a payload must be an object");
        return;
    }
    let updates = by == By::Choice && action == "update_data";
    let place = if updates { Place::Update(screen) } else { Place::Payload(screen) };
    let takes_files = matches!(action, "complete" | "data_exchange");
    for member in payload.members() {
        value(context, place, screen, &member.value, takes_files);
        if updates && !screen.fields.contains_key(member.key.as_ref()) {
            let message = format!("the data of the screen has no {}", quote(&member.key));
            context.add_key(member, Code::InvalidUpdateDataActionPayload, message);
        }
    }
}

/// Bounded by the nesting that the reader allows.
fn value<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    screen: &Screen<'a, 't>,
    node: &'a Node<'t>,
    takes_files: bool,
) {
    match &node.value {
        Value::String(text) => {
            let message = match expression::read(text, context.version) {
                Written::Reference(reference) if !takes_files && is_native(context, screen, reference) => {
                    "a picker may only stand at the top of the payload of complete or data_exchange"
                }
                Written::Nested(references, _)
                    if references.iter().any(|it| is_native(context, screen, *it)) =>
                {
                    "a picker may not stand in an expression"
                }
                Written::Literal | Written::Reference(_) | Written::Nested(..) | Written::Malformed(_) => {
                    values::any(context, place, node);
                    return;
                }
            };
            context.add(node, Code::InvalidOnClickActionPayload, message);
        }
        Value::Array(elements) => {
            elements.iter().for_each(|element| value(context, place, screen, element, false));
        }
        Value::Object(members) => {
            members.iter().for_each(|member| value(context, place, screen, &member.value, false));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn native<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    reference: Reference<'_>,
) -> Option<&'a Node<'t>> {
    let target = match reference.screen {
        None => screen,
        Some(id) => context.screen(id)?,
    };
    let (spec, node) = target.component(reference.path).filter(|_| reference.source == Source::Form)?;
    spec.is_native().then_some(node)
}

fn is_native(context: &Context<'_, '_>, screen: &Screen<'_, '_>, reference: Reference<'_>) -> bool {
    native(context, screen, reference).is_some()
}

/// The platform counts what the pickers allow, not what is sent.
fn files<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, payload: &Node<'t>) {
    let (mut count, mut size) = (0.0, 0.0);
    for member in payload.members() {
        let Some(text) = member.value.text() else { continue };
        let Written::Reference(reference) = expression::read(text, context.version) else { continue };
        let Some(picker) = native(context, screen, reference) else { continue };
        let number = |key: &str| picker.get(key).and_then(Node::number);
        let most = number("max-uploaded-photos")
            .or_else(|| number("max-uploaded-documents"))
            .unwrap_or(DEFAULT_FILES);
        count += most;
        size += most * number("max-file-size-kb").unwrap_or(DEFAULT_KB);
    }
    if count > MOST_FILES || size > MOST_KB {
        let message =
            format!("{count} files of {size} KiB; an answer has at most 10 files of 102400 KiB together");
        context.add(payload, Code::InvalidOnClickActionPayload, message);
    }
}

fn url<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, node: &'a Node<'t>) {
    let Some(url) = node.get("url") else {
        context.add(node, Code::MissingRequiredProperty, "open_url needs a url");
        return;
    };
    values::typed(context, Place::Payload(screen), url, Type::String);
    if let Some(text) = url.text()
        && !values::refers(context, url)
    {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_url = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace));
        if !is_url {
            context.add(url, Code::InvalidPropertyValueFormat, "a url starts with https://");
        }
    }
}

fn navigate<'a, 't>(context: &Context<'a, 't>, screen: &Screen<'a, 't>, node: &'a Node<'t>) {
    let Some(next) = node.get("next") else {
        context.add(node, Code::MissingRequiredProperty, "navigate needs next");
        return;
    };
    values::object(context, next, &[("type", true), ("name", true)], |key, value| match value.text() {
        None => context.add(value, Code::InvalidPropertyType, "must be a text"),
        Some("screen") if key == "type" => {}
        Some(_) if key == "type" => context.add(value, Code::InvalidPropertyValue, "must be `screen`"),
        Some(target) if context.screen(target).is_none() => {
            let message = format!("there is no screen {}", quote(target));
            context.add(value, Code::InvalidNavigateActionNextScreenName, message);
        }
        Some(target) if screen.id == Some(target) => {
            let message = "a screen may not lead to itself";
            context.add(value, Code::InvalidNavigateActionNextScreenName, message);
        }
        Some(_) => {}
    });
    let target = next.get("name").and_then(Node::text).and_then(|name| context.screen(name));
    let Some(target) = target else { return };
    match node.get("payload") {
        Some(payload) => fits(context, screen, target, payload),
        None if !target.fields.is_empty() && !context.endpoint => {
            let message = "the target has data, so a payload is needed";
            context.add(node, Code::MissingNavigationActionPayload, message);
        }
        None => {}
    }
}

/// A payload becomes the data of its target: the same keys, of the same types.
fn fits<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    target: &Screen<'a, 't>,
    payload: &Node<'t>,
) {
    const CODE: Code = Code::InvalidNavigateActionPayload;
    for member in payload.members() {
        if context.full() {
            return;
        }
        match target.fields.get(member.key.as_ref()) {
            Some(field) => {
                let kind = written_type(context, screen, member);
                if let (Some(kind), Some(wanted)) = (kind, declared(field))
                    && kind != wanted
                {
                    let message = format!("is a {}; the target wants a {}", kind.name(), wanted.name());
                    context.add(&member.value, CODE, message);
                }
            }
            None if context.endpoint => {}
            None => {
                let message = format!("the data of the target has no {}", quote(&member.key));
                context.add_key(member, CODE, message);
            }
        }
    }
    if context.endpoint || target.fields.is_empty() {
        return;
    }
    let keys: std::collections::HashSet<&str> =
        payload.members().iter().map(|member| member.key.as_ref()).collect();
    let declared_keys = target.node.get("data").map_or(&[][..], Node::members);
    let missing = declared_keys.iter().filter(|field| !keys.contains(field.key.as_ref())).take(NAMED);
    for field in missing {
        let message = format!("the target also wants {}", quote(&field.key));
        context.add(payload, CODE, message);
    }
}

/// Without saying what is wrong with it: that is said once, where the payload is checked.
fn written_type<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    member: &Member<'t>,
) -> Option<Type> {
    let node = &member.value;
    let Some(text) = node.text() else { return Type::of(node) };
    match expression::read(text, context.version) {
        Written::Literal => Some(Type::String),
        Written::Nested(_, kind) => kind,
        Written::Malformed(_) => None,
        Written::Reference(reference) => {
            let target = match reference.screen {
                None => screen,
                Some(id) => context.screen(id)?,
            };
            let mut names = reference.path.split('.');
            let first = names.next()?;
            match reference.source {
                Source::Data => super::data_model::resolve(target.fields.get(first)?, names).ok().flatten(),
                Source::Form => target.component(first)?.0.answer,
            }
        }
    }
}
