//! What a text of a form refers to: nothing, one value as `${data.name}`, or several in a nested expression, which
//! stands between backticks.
//!
//! ```text
//! either    := both ("||" both)*                 boolean
//! both      := compare ("&&" compare)*           boolean
//! compare   := sum (("=="|"!="|"<"|"<="|">"|">=") sum)?
//! sum       := joined (("+"|"-"|"/"|"%") joined)*
//! joined    := single single*                    texts side by side are joined
//! single    := "!" single | "(" either ")" | 'text' | number | true | false | ${reference}
//! ```

use super::data_model::Type;
use super::version::{V6_0, Version};

/// Parentheses and negations within each other.
const MAX_DEPTH: usize = 40;

/// A text as the platform reads it.
#[derive(Debug, PartialEq)]
pub(crate) enum Written<'s> {
    /// Shown as it stands.
    Literal,
    /// One value.
    Reference(Reference<'s>),
    /// A nested expression, with the type of its result where that is certain.
    Nested(Vec<Reference<'s>>, Option<Type>),
    /// Meant as one of these, and not right.
    Malformed(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reference<'s> {
    /// Another screen; none for the one the text stands on.
    pub(crate) screen: Option<&'s str>,
    pub(crate) source: Source,
    /// Names joined by dots.
    pub(crate) path: &'s str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Data,
    Form,
}

/// Reads a text of a component or a payload.
pub(crate) fn read(text: &str, version: Version) -> Written<'_> {
    if let Some(inner) = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        if version < V6_0 {
            return Written::Malformed("nested expressions need version 6.0");
        }
        return nested(inner);
    }
    if !text.contains("${") {
        return Written::Literal;
    }
    match whole(text) {
        Some(reference) => Written::Reference(reference),
        None => Written::Malformed(
            "a reference is written ${data.name}, ${form.name} or ${screen.ID.data.name}, alone or between backticks",
        ),
    }
}

/// Reads the condition of an If, which is an expression with or without backticks.
pub(crate) fn condition(text: &str) -> Written<'_> {
    let inner = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    match inner {
        Some(inner) => nested(inner),
        None => whole(text).map_or_else(|| nested(text), Written::Reference),
    }
}

fn nested(text: &str) -> Written<'_> {
    let mut parser = Parser { rest: text, references: Vec::new() };
    match parser.either(0) {
        Ok(result) if parser.rest.trim_start().is_empty() => Written::Nested(parser.references, result),
        Ok(_) => Written::Malformed("the expression cannot be read to its end"),
        Err(message) => Written::Malformed(message),
    }
}

fn whole(text: &str) -> Option<Reference<'_>> {
    reference(text.strip_prefix("${")?.strip_suffix('}')?)
}

fn reference(inner: &str) -> Option<Reference<'_>> {
    let is_path = |path: &str| path.split('.').all(is_name);
    let (first, rest) = inner.split_once('.')?;
    match first {
        "data" if is_path(rest) => Some(Reference { screen: None, source: Source::Data, path: rest }),
        "form" if is_path(rest) => Some(Reference { screen: None, source: Source::Form, path: rest }),
        "screen" => {
            let (screen, rest) = rest.split_once('.')?;
            let own = reference(rest).filter(|own| own.screen.is_none() && is_name(screen))?;
            Some(Reference { screen: Some(screen), ..own })
        }
        _ => None,
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|sign| sign.is_alphanumeric() || sign == '_')
}

struct Parser<'s> {
    rest: &'s str,
    references: Vec<Reference<'s>>,
}

type Step = Result<Option<Type>, &'static str>;

impl<'s> Parser<'s> {
    fn take(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn either(&mut self, depth: usize) -> Step {
        let mut result = self.both(depth)?;
        while self.take("||") {
            self.both(depth)?;
            result = Some(Type::Boolean);
        }
        Ok(result)
    }

    fn both(&mut self, depth: usize) -> Step {
        let mut result = self.compare(depth)?;
        while self.take("&&") {
            self.compare(depth)?;
            result = Some(Type::Boolean);
        }
        Ok(result)
    }

    fn compare(&mut self, depth: usize) -> Step {
        let result = self.sum(depth)?;
        if ["==", "!=", "<=", ">=", "<", ">"].iter().any(|sign| self.take(sign)) {
            self.sum(depth)?;
            return Ok(Some(Type::Boolean));
        }
        Ok(result)
    }

    fn sum(&mut self, depth: usize) -> Step {
        let mut result = self.joined(depth)?;
        loop {
            if self.take("+") {
                let second = self.joined(depth)?;
                result = result.filter(|first| Some(*first) == second);
            } else if ["-", "/", "%"].iter().any(|sign| self.take(sign)) {
                self.joined(depth)?;
                result = Some(Type::Number);
            } else {
                return Ok(result);
            }
        }
    }

    fn joined(&mut self, depth: usize) -> Step {
        let mut result = self.single(depth)?;
        loop {
            self.rest = self.rest.trim_start();
            let another = self.rest.starts_with(['\'', '(', '$'])
                || self.rest.starts_with(|sign: char| sign.is_ascii_alphanumeric());
            if !another {
                return Ok(result);
            }
            self.single(depth)?;
            result = Some(Type::String);
        }
    }

    fn single(&mut self, depth: usize) -> Step {
        if depth > MAX_DEPTH {
            return Err("the expression is nested too deeply");
        }
        if self.take("${") {
            let (inner, rest) = self.rest.split_once('}').ok_or("a reference has no closing brace")?;
            let found = reference(inner).ok_or("a reference is written ${data.name} or ${form.name}")?;
            self.references.push(found);
            self.rest = rest;
            return Ok(None);
        }
        if self.take("(") {
            let result = self.either(depth + 1)?;
            return if self.take(")") { Ok(result) } else { Err("a parenthesis is not closed") };
        }
        if self.take("!") {
            self.single(depth + 1)?;
            return Ok(Some(Type::Boolean));
        }
        if self.take("'") {
            return self.quoted();
        }
        for (word, kind) in [("true", Type::Boolean), ("false", Type::Boolean)] {
            if self.take(word) {
                return Ok(Some(kind));
            }
        }
        let digits = self.rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        if digits == 0 {
            return Err("words in an expression stand between single quotes");
        }
        self.rest = &self.rest[digits..];
        Ok(Some(Type::Number))
    }

    /// A backslash takes the sign that follows along.
    fn quoted(&mut self) -> Step {
        let mut signs = self.rest.char_indices();
        while let Some((place, sign)) = signs.next() {
            match sign {
                '\\' => {
                    signs.next();
                }
                '\'' => {
                    self.rest = &self.rest[place + 1..];
                    return Ok(Some(Type::String));
                }
                _ => {}
            }
        }
        Err("a text in an expression has no closing quote")
    }
}

#[cfg(test)]
mod tests {
    use super::super::version::{V5_1, V7_3};
    use super::*;

    #[test]
    fn texts_are_read_as_the_platform_reads_them() {
        let own = |source, path| Reference { screen: None, source, path };
        for (text, expected) in [
            ("plain `code` 5 $", Written::Literal),
            ("${data.a}", Written::Reference(own(Source::Data, "a"))),
            ("${form.a.b}", Written::Reference(own(Source::Form, "a.b"))),
            ("`'a' ${data.a}`", Written::Nested(vec![own(Source::Data, "a")], Some(Type::String))),
            (
                "`${data.a} == 3 && !(true)`",
                Written::Nested(vec![own(Source::Data, "a")], Some(Type::Boolean)),
            ),
            ("`1 - 2 / 3`", Written::Nested(vec![], Some(Type::Number))),
            (r"`'it\'s'`", Written::Nested(vec![], Some(Type::String))),
        ] {
            assert_eq!(read(text, V7_3), expected, "{text}");
        }
        for text in [
            "a ${data.a}",
            "${data}",
            "${data.}",
            "${data.a-b}",
            "${screen.A}",
            "${screen.A.b.c}",
            "`a`",
            "`'a`",
            "`(1`",
            "`1 ==`",
            "`1 2)`",
            "``",
            "`${data.a`",
            "`${x.y}`",
        ] {
            assert!(matches!(read(text, V7_3), Written::Malformed(_)), "{text}");
        }
        assert!(matches!(read("`1`", V5_1), Written::Malformed(_)));
        let deep = format!("`{}1{}`", "(".repeat(100_000), ")".repeat(100_000));
        assert!(matches!(read(&deep, V7_3), Written::Malformed(_)));
    }
}
