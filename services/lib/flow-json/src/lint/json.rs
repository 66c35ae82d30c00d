//! A JSON reader that keeps the place of every value and every key, so that what is wrong can be shown where it
//! stands.
//!
//! Nesting is bounded, so nothing that walks what was read can exhaust the stack. Strings without escapes are
//! borrowed from the text: ten megabytes of pictures cost no copy.

mod reader;
mod scalar;

use std::borrow::Cow;

pub(crate) use reader::read;

/// A value and the byte it starts at.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) at: usize,
    pub(crate) value: Value<'t>,
}

#[derive(Debug)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// As written.
    Number(&'t str),
    String(Cow<'t, str>),
    Array(Vec<Node<'t>>),
    Object(Vec<Member<'t>>),
}

/// A key with its place, and its value.
#[derive(Debug)]
pub(crate) struct Member<'t> {
    pub(crate) at: usize,
    pub(crate) key: Cow<'t, str>,
    pub(crate) value: Node<'t>,
}

/// A text that was read.
pub(crate) struct Read<'t> {
    pub(crate) root: Node<'t>,
    /// Places of keys that stand a second time in their object.
    pub(crate) repeated: Vec<usize>,
}

/// Why a text is not JSON, and the byte where that showed.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

impl<'t> Node<'t> {
    /// The first member of this name, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The members of an object; none for anything else.
    pub(crate) fn members(&self) -> &[Member<'t>] {
        if let Value::Object(members) = &self.value { members } else { &[] }
    }

    /// The elements of an array; none for anything else.
    pub(crate) fn elements(&self) -> &[Node<'t>] {
        if let Value::Array(elements) = &self.value { elements } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    pub(crate) fn truth(&self) -> Option<bool> {
        if let Value::Bool(truth) = self.value { Some(truth) } else { None }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Value::Number(digits) = self.value { digits.parse().ok() } else { None }
    }
}
