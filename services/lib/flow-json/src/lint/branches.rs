//! If and Switch: their conditions, and the footer that every branch must have when one has it.

use super::code::Code;
use super::context::{Context, Screen};
use super::data_model::Type;
use super::expression::{self, Written};
use super::json::{Member, Node};
use super::values::{self, Place};

/// The `condition` of an If or the `value` of a Switch.
pub(crate) fn condition<'a, 't>(
    context: &Context<'a, 't>,
    screen: &Screen<'a, 't>,
    prop: &str,
    node: &'a Node<'t>,
) {
    let Some(text) = node.text() else {
        context.add(node, Code::InvalidPropertyType, "must be a text that refers to a value");
        return;
    };
    let is_condition = prop == "condition";
    let written =
        if is_condition { expression::condition(text) } else { expression::read(text, context.version) };
    let place = Place::Property(screen);
    let kind = match written {
        Written::Reference(reference) => values::follow(context, place, node, reference, false),
        Written::Nested(references, kind) if !references.is_empty() => {
            for reference in references {
                values::follow(context, place, node, reference, true);
            }
            kind
        }
        Written::Nested(..) | Written::Literal => {
            context.add(node, Code::InvalidPropertyValue, "must refer to a value");
            return;
        }
        Written::Malformed(message) => {
            context.add(node, Code::InvalidPropertyValue, message);
            return;
        }
    };
    if is_condition && kind.is_some_and(|kind| kind != Type::Boolean) {
        context.add(node, Code::InvalidPropertyValue, "a condition must be true or false");
    }
}

/// Whether the screen has a footer, however deep; and that it has one wherever it is looked at.
pub(crate) fn footers(context: &Context<'_, '_>, children: &Node<'_>) -> bool {
    branch(context, children.elements(), 0) > 0
}

/// The number of footers that a person could see at once below these components.
fn branch(context: &Context<'_, '_>, children: &[Node<'_>], depth: usize) -> usize {
    let (mut plain, mut shown) = (0, 0);
    for node in children {
        let more = match node.get("type").and_then(Node::text) {
            Some("Footer") => {
                if depth > 1 {
                    let message = "a footer may stand in the first level of an If or Switch only";
                    context.add(node, Code::InvalidComponentPlacement, message);
                }
                plain += 1;
                1
            }
            Some("Form") => branch(context, node.get("children").map_or(&[][..], Node::elements), depth),
            Some("If") => {
                let side =
                    |key: &str| branch(context, node.get(key).map_or(&[][..], Node::elements), depth + 1);
                let (then, otherwise) = (side("then"), side("else"));
                if (then == 0) != (otherwise == 0) {
                    let message = "a footer in one branch needs one in the other";
                    context.add(node, Code::MissingFooterInIfElseBranches, message);
                }
                then.max(otherwise)
            }
            Some("Switch") => {
                let cases = node.get("cases").map_or(&[][..], Node::members);
                let counts: Vec<usize> = cases
                    .iter()
                    .map(|Member { value, .. }| branch(context, value.elements(), depth + 1))
                    .collect();
                let with = counts.iter().filter(|count| **count > 0).count();
                if with > 0 && with < counts.len() {
                    let message = "a footer in one case needs one in every case";
                    context.add(node, Code::MissingFooterInSwitchBranches, message);
                }
                counts.into_iter().max().unwrap_or(0)
            }
            Some(_) | None => 0,
        };
        if more > 0 && shown > 0 {
            let both_plain = plain > 1 && depth == 0 && plain == shown + more;
            let code = if both_plain { Code::MaxFooterPerScreen } else { Code::MoreThanOneFooter };
            context.add(node, code, "a screen shows one footer");
        }
        shown += more;
    }
    shown
}

/// Ifs within Ifs.
pub(crate) const MOST_IFS: usize = 3;
