//! Texts of a Flow JSON that stand for something else: `${…}` and expressions in backticks.

use super::expression::{self, Expression};

/// What a reference points to.
#[derive(Debug, PartialEq)]
pub(crate) enum Reference {
    /// `${data.a.b}`
    Data(Vec<String>),
    /// `${form.name}`
    Form(String),
    /// `${screen.ID.data.a.b}`
    ScreenData { screen: String, path: Vec<String> },
    /// `${screen.ID.form.name}`
    ScreenForm { screen: String, name: String },
}

/// A text, read.
#[derive(Debug, PartialEq)]
pub(crate) enum Bound<'a> {
    Literal(&'a str),
    Reference(Reference),
    Expression(Expression),
}

/// Reads a text. The error says what is malformed.
pub(crate) fn read(text: &str) -> Result<Bound<'_>, String> {
    if let Some(inner) = text.strip_prefix('`') {
        let inner = inner.strip_suffix('`').ok_or("an expression ends with a backtick")?;
        return expression::parse(inner).map(Bound::Expression);
    }
    if !text.contains("${") {
        return Ok(Bound::Literal(text));
    }
    let whole = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match whole.filter(|inner| !inner.contains("${") && !inner.contains('}')) {
        Some(inner) => reference(inner).map(Bound::Reference),
        None => Err("text and ${} mix only in an expression in backticks".to_owned()),
    }
}

/// Reads what stands between `${` and `}`.
pub(super) fn reference(inner: &str) -> Result<Reference, String> {
    let parts: Vec<&str> = inner.split('.').collect();
    let names = |path: &[&str]| path.iter().map(|&name| name.to_owned()).collect();
    let well_formed =
        |name: &&str| !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_');
    if !parts.iter().all(well_formed) {
        return Err(format!("${{{inner}}} is malformed"));
    }
    match parts.as_slice() {
        ["data", path @ ..] if !path.is_empty() => Ok(Reference::Data(names(path))),
        ["form", name] => Ok(Reference::Form((*name).to_owned())),
        ["screen", screen, "data", path @ ..] if !path.is_empty() => {
            Ok(Reference::ScreenData { screen: (*screen).to_owned(), path: names(path) })
        }
        ["screen", screen, "form", name] => {
            Ok(Reference::ScreenForm { screen: (*screen).to_owned(), name: (*name).to_owned() })
        }
        _ => Err(format!("${{{inner}}} points to nothing")),
    }
}

/// Reads the condition of an If or the value of a Switch: a reference, or an expression with or without backticks.
pub(crate) fn condition(text: &str) -> Result<Bound<'_>, String> {
    match text.strip_prefix('`') {
        Some(_) => read(text),
        None => match expression::parse(text)? {
            Expression::Reference(reference) => Ok(Bound::Reference(reference)),
            other => Ok(Bound::Expression(other)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_literals_references_and_expressions() {
        assert_eq!(read("a/b"), Ok(Bound::Literal("a/b")));
        assert_eq!(read("${form.note}"), Ok(Bound::Reference(Reference::Form("note".to_owned()))));
        assert_eq!(
            read("`'a\\'b: ' ${data.x}`"),
            Ok(Bound::Expression(Expression::Join(vec![
                Expression::Text("a'b: ".to_owned()),
                Expression::Reference(Reference::Data(vec!["x".to_owned()])),
            ])))
        );
        let age = || Reference::Form("age".to_owned());
        assert_eq!(condition("${form.age}"), Ok(Bound::Reference(age())));
        assert_eq!(condition("${form.age} > 3"), condition("`${form.age} > 3`"));
        for malformed in ["a ${form.note}", "${form.note}${form.b}", "${other.x}", "${data.}", "`'a`", "`a`"]
        {
            assert!(read(malformed).is_err(), "{malformed}");
        }
    }
}
