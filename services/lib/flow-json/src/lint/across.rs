//! What one document alone does not show: whether the message that opens it fits, and whether the languages of one
//! form are one form.

use serde_json::Value as Json;

use super::code::Code;
use super::context::{Context, Found, quote};
use super::data_model::{Type, declared};
use super::json::{self, Node, Value};
use super::{Violation, document, places};

/// Bytes of what a message gives its form. Messages with about a megabyte are taken and never arrive.
pub const MOST_INIT_BYTES: usize = 512 * 1024;

/// What a message would give a screen when it opens the form, against the data of that screen. `text` is the
/// Flow JSON, `data` the `flow_action_payload.data` of the message; none if the message has none.
///
/// The screen must be one that no other leads to, the names must be those of its data, of the same types, and the
/// whole must be small enough to arrive. A document that cannot be read gives nothing: that is for
/// [`lint`](super::lint) to say.
pub fn lint_init_data(text: &str, screen: &str, data: Option<&Json>) -> Vec<Violation> {
    let Ok(read) = json::read(text) else { return Vec::new() };
    let context = Context::new(document::version(&read.root), &read.root);
    match context.screen(screen) {
        None => {
            let message = format!("there is no screen {} to open", quote(screen));
            context.add(&read.root, Code::InitDataMismatch, message);
        }
        Some(target) => {
            if is_entered(&context, screen) {
                let message = format!("{} is led to by another screen and cannot be opened", quote(screen));
                context.add(target.node, Code::InitDataMismatch, message);
            }
            given(&context, target.node, data);
        }
    }
    places::place(text, Some(&read.root), context.found.into_inner())
}

fn is_entered(context: &Context<'_, '_>, screen: &str) -> bool {
    let components = context.screens.iter().flat_map(|screen| &screen.components);
    let mut actions = components.flat_map(|placed| {
        let rows = placed.node.get("list-items").map_or(&[][..], Node::elements);
        std::iter::once(placed.node).chain(rows).filter_map(|node| node.get("on-click-action"))
    });
    actions.any(|action| {
        action.get("next").and_then(|next| next.get("name")).and_then(Node::text) == Some(screen)
    })
}

fn given(context: &Context<'_, '_>, screen: &Node<'_>, data: Option<&Json>) {
    const CODE: Code = Code::InitDataMismatch;
    let fields = screen.get("data").map_or(&[][..], Node::members);
    let empty = serde_json::Map::new();
    let members = match data {
        None => &empty,
        Some(Json::Object(members)) if !members.is_empty() => members,
        Some(_) => {
            context.add(screen, CODE, "the data of a message is an object with at least one member");
            return;
        }
    };
    for field in fields {
        let wanted = declared(&field.value);
        match members.get(field.key.as_ref()) {
            None => {
                context.add(&field.value, CODE, format!("the message does not give {}", quote(&field.key)))
            }
            Some(value) if wanted.is_some() && wanted != of(value) => {
                let message = format!("the message gives {} another type", quote(&field.key));
                context.add(&field.value, CODE, message);
            }
            Some(_) => {}
        }
    }
    for key in members.keys().filter(|key| !fields.iter().any(|field| field.key == key.as_str())) {
        context.add(
            screen,
            CODE,
            format!("the message gives {}, which the screen does not take", quote(key)),
        );
    }
    let bytes = data.map_or(0, |data| data.to_string().len());
    if bytes > MOST_INIT_BYTES {
        let message =
            format!("{bytes} bytes for the first screen; above {MOST_INIT_BYTES} a message may not arrive");
        context.add(screen, Code::MessageTooLarge, message);
    }
}

fn of(value: &Json) -> Option<Type> {
    match value {
        Json::Null => None,
        Json::Bool(_) => Some(Type::Boolean),
        Json::Number(_) => Some(Type::Number),
        Json::String(_) => Some(Type::String),
        Json::Array(_) => Some(Type::Array),
        Json::Object(_) => Some(Type::Object),
    }
}

/// Where the form of another language differs from the first in more than words: in screens, components, rows,
/// targets, names or the keys of payloads. The violations are of `other`.
///
/// Words are the texts that a person reads; the values of payloads and the examples of data are words too, unless
/// `is_fixed` says of the key that its value must be the same, as a route's.
pub fn lint_languages(first: &str, other: &str, is_fixed: impl Fn(&str) -> bool) -> Vec<Violation> {
    let (Ok(one), Ok(two)) = (json::read(first), json::read(other)) else { return Vec::new() };
    let mut compare = Compare { is_fixed: &is_fixed, found: Vec::new() };
    compare.nodes(&one.root, &two.root, "", false);
    places::place(other, Some(&two.root), compare.found)
}

/// Members whose text is for a person.
const WORDS: [&str; 15] = [
    "title",
    "label",
    "text",
    "description",
    "metadata",
    "helper-text",
    "error-message",
    "left-caption",
    "center-caption",
    "right-caption",
    "badge",
    "alt-text",
    "init-value",
    "src",
    "image",
];

struct Compare<'f> {
    is_fixed: &'f dyn Fn(&str) -> bool,
    found: Vec<Found>,
}

impl Compare<'_> {
    fn differs(&mut self, at: &Node<'_>, message: String) {
        self.found.push(Found { at: at.at, code: Code::StructureDiffers, message });
    }

    /// `words` is true inside payloads and examples, where values are words unless fixed.
    fn nodes(&mut self, one: &Node<'_>, two: &Node<'_>, key: &str, words: bool) {
        match (&one.value, &two.value) {
            (Value::Object(first), Value::Object(_)) => {
                let words = words || key == "payload";
                for member in first {
                    match two.get(&member.key) {
                        Some(value) => self.nodes(&member.value, value, &member.key, words),
                        None => {
                            self.differs(two, format!("{} is only in the first language", quote(&member.key)))
                        }
                    }
                }
                for member in two.members().iter().filter(|member| one.get(&member.key).is_none()) {
                    self.differs(
                        &member.value,
                        format!("{} is not in the first language", quote(&member.key)),
                    );
                }
            }
            (Value::Array(first), Value::Array(second)) => {
                if first.len() != second.len() {
                    let message =
                        format!("{} elements; the first language has {}", second.len(), first.len());
                    self.differs(two, message);
                }
                for (one, two) in first.iter().zip(second) {
                    self.nodes(one, two, key, words);
                }
            }
            (Value::String(first), Value::String(second)) => {
                let is_word = words || WORDS.contains(&key) || key == "__example__" || key == "tags";
                let refers = |text: &str| text.contains("${") || text.starts_with('`');
                let free = is_word && !(self.is_fixed)(key) && !refers(first) && !refers(second);
                if first != second && !free {
                    self.differs(two, format!("{}; the first language has {}", quote(second), quote(first)));
                }
            }
            (Value::Null, Value::Null) => {}
            (Value::Bool(first), Value::Bool(second)) if first == second => {}
            (Value::Number(first), Value::Number(second)) if first == second => {}
            _ => self.differs(two, "the first language has another value".to_owned()),
        }
    }
}
