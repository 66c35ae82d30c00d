//! Single values: texts with their length, references with their type, dates, pictures.

use super::code::Code;
use super::context::{Context, Screen, quote};
use super::data_model::{Lost, Type, resolve};
use super::expression::{self, Reference, Source, Written};
use super::json::{Node, Value};
use super::version::{V6_0, V7_0};
use crate::limits;

/// Pictures in a list, in KiB.
const LIST_PICTURE_KB: usize = 100;
/// The same before version 6.0.
const OLD_LIST_PICTURE_KB: usize = 300;

/// Where a value stands, which decides the code of a bad reference.
#[derive(Clone, Copy)]
pub(crate) enum Place<'s, 'a, 't> {
    Property(&'s Screen<'a, 't>),
    Payload(&'s Screen<'a, 't>),
    Update(&'s Screen<'a, 't>),
}

impl<'s, 'a, 't> Place<'s, 'a, 't> {
    fn screen(self) -> &'s Screen<'a, 't> {
        match self {
            Self::Property(screen) | Self::Payload(screen) | Self::Update(screen) => screen,
        }
    }

    fn code(self, reference: Reference<'_>, nested: bool) -> Code {
        match self {
            Self::Property(_) if reference.screen.is_some() => Code::InvalidScreenData,
            Self::Property(_) => Code::InvalidScreenDynamicData,
            Self::Payload(_) if nested => Code::InvalidActionPayloadProperty,
            Self::Payload(_) if reference.screen.is_some() => Code::InvalidScreenData,
            Self::Payload(_) => Code::InvalidOnClickActionPayload,
            Self::Update(_) => Code::InvalidUpdateDataActionPayload,
        }
    }
}

/// Whether a text is meant to refer to something.
pub(crate) fn refers(context: &Context<'_, '_>, node: &Node<'_>) -> bool {
    let written = node.text().map(|text| expression::read(text, context.version));
    written.is_some_and(|written| written != Written::Literal)
}

/// A text that is shown.
pub(crate) fn text<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &Node<'t>,
    most: usize,
) {
    typed(context, place, node, Type::String);
    let Some(text) = node.text() else { return };
    if text.trim().is_empty() {
        context.add(node, Code::PatternMismatch, "must not be blank");
    } else if text.len() > most && !refers(context, node) {
        let length = limits::length(text);
        if length > most {
            context.add(node, Code::TextTooLong, format!("{length} characters long; {most} are shown"));
        }
    }
}

/// A value of one type, or a reference to one.
pub(crate) fn typed<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &Node<'t>,
    wanted: Type,
) {
    if node.text().is_some() && (wanted == Type::String || refers(context, node)) {
        if let Some(kind) = any(context, place, node)
            && kind != wanted
        {
            let message = format!("refers to a {}; a {} is needed", kind.name(), wanted.name());
            context.add(node, Code::InvalidScreenDynamicData, message);
        }
    } else if Type::of(node) != Some(wanted) {
        context.add(node, Code::InvalidPropertyType, format!("must be of type {}", wanted.name()));
    }
}

/// A text that may refer; its type where that is certain. Other values have the type they are written in.
pub(crate) fn any<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &Node<'t>,
) -> Option<Type> {
    let Some(text) = node.text() else { return Type::of(node) };
    match expression::read(text, context.version) {
        Written::Literal => Some(Type::String),
        Written::Reference(reference) => follow(context, place, node, reference, false),
        Written::Nested(references, kind) => {
            for reference in references {
                follow(context, place, node, reference, true);
            }
            kind
        }
        Written::Malformed(message) => {
            context.add(node, Code::PatternMismatch, message);
            None
        }
    }
}

/// The type at the end of a reference; what leads nowhere is said.
pub(crate) fn follow<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &Node<'t>,
    reference: Reference<'_>,
    nested: bool,
) -> Option<Type> {
    let here = place.screen();
    let target = match reference.screen {
        None => Some(here),
        Some(id) => context.screen(id),
    };
    let wrong = |message: String| {
        context.add(node, place.code(reference, nested), message);
        None
    };
    let Some(target) = target else {
        return wrong(format!("there is no screen {}", quote(reference.screen.unwrap_or_default())));
    };
    let mut names = reference.path.split('.');
    let first = names.next().unwrap_or_default();
    let shown = quote(reference.path);
    match reference.source {
        Source::Data => {
            let Some(field) = target.fields.get(first) else {
                return wrong(format!("the data of the screen has no {shown}"));
            };
            match resolve(field, names) {
                Ok(kind) => kind,
                Err(Lost::Undeclared) => wrong(format!("the data of the screen has no {shown}")),
                Err(Lost::IntoArray) => wrong(format!("{shown} leads into a list")),
            }
        }
        Source::Form => {
            let global = reference.screen.is_some() && std::ptr::eq(target, here);
            if global && matches!(place, Place::Property(_)) {
                return wrong("a screen reads its own form as ${form.name}".to_owned());
            }
            if target.forms.contains(&first) {
                return wrong(format!("{shown} is a form, not a value"));
            }
            match target.component(first) {
                None => wrong(format!("no component of the screen is named {shown}")),
                Some((spec, _)) if spec.is_native() && matches!(place, Place::Property(_)) => {
                    wrong(format!("{shown} is a picker, which is not a value"))
                }
                Some((spec, _)) => spec.answer,
            }
        }
    }
}

/// An initial value; from 7.0 its type must be that of the answer.
pub(crate) fn initial<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &Node<'t>,
    answer: Option<Type>,
) {
    if matches!(node.value, Value::Null) {
        context.add(node, Code::InvalidPropertyType, "must not be null");
        return;
    }
    // The ids of chosen options.
    for element in node.elements() {
        typed(context, place, element, Type::String);
    }
    let kind = any(context, place, node);
    // A number field takes a number as well as its digits.
    let fits = match (answer, kind) {
        (Some(Type::String), Some(Type::Number)) => true,
        (Some(answer), Some(kind)) => answer == kind,
        (None, _) | (_, None) => true,
    };
    if !fits && context.version >= V7_0 {
        let wanted = answer.map_or("another", Type::name);
        context.add(node, Code::InvalidPropertyType, format!("must be of type {wanted}"));
    }
}

/// A day as YYYY-MM-DD.
pub(crate) fn date<'a, 't>(context: &Context<'a, 't>, place: Place<'_, 'a, 't>, node: &Node<'t>) {
    typed(context, place, node, Type::String);
    if let Some(text) = node.text()
        && !refers(context, node)
        && !is_date(text)
    {
        context.add(node, Code::InvalidPropertyValueFormat, "a date is written YYYY-MM-DD");
    }
}

pub(crate) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |part: &str, length: usize| {
        (part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<u16>().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u16::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// A picture in base64. In rows and options a phone shows a placeholder for one that is too large.
pub(crate) fn picture<'a, 't>(
    context: &Context<'a, 't>,
    place: Place<'_, 'a, 't>,
    node: &Node<'t>,
    in_list: bool,
) {
    typed(context, place, node, Type::String);
    let Some(text) = node.text() else { return };
    if text.starts_with("${") || text.starts_with('`') {
        return;
    }
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let is_base64 = !digits.is_empty()
        && padding <= 2
        && text.len().is_multiple_of(4)
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    if !is_base64 {
        context.add(node, Code::InvalidPropertyValueFormat, "a picture is given in base64");
    }
    let most = if context.version >= V6_0 { LIST_PICTURE_KB } else { OLD_LIST_PICTURE_KB };
    if in_list && digits.len() / 4 * 3 > most * 1024 {
        context.add(node, Code::ImageTooLarge, format!("a picture in a list may have {most} KiB"));
    }
}

/// An object with exactly these members, the flagged ones required.
pub(crate) fn object<'a, 't>(
    context: &Context<'a, 't>,
    node: &'a Node<'t>,
    known: &[(&str, bool)],
    mut each: impl FnMut(&str, &'a Node<'t>),
) {
    if !matches!(node.value, Value::Object(_)) {
        context.add(node, Code::InvalidPropertyType, "must be an object");
        return;
    }
    for member in node.members() {
        if context.full() {
            return;
        }
        if known.iter().any(|(name, _)| member.key == *name) {
            each(&member.key, &member.value);
        } else {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let message = format!("unknown {}; there are {}", quote(&member.key), names.join(", "));
            context.add_key(member, Code::InvalidPropertyKey, message);
        }
    }
    for (name, _) in known.iter().filter(|(name, required)| *required && node.get(name).is_none()) {
        context.add(node, Code::MissingRequiredProperty, format!("{} is missing", quote(name)));
    }
}
