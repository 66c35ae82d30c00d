//! Texts of a Flow JSON that stand for something else: `${…}` and expressions in backticks.

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
    Expression(Vec<Part>),
}

/// A piece of an expression; pieces without an operator between them are joined.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Reference(Reference),
    /// Known to phones, not evaluated by the walker.
    Operator(char),
}

/// Reads a text. The error says what is malformed.
pub(crate) fn read(text: &str) -> Result<Bound<'_>, String> {
    if let Some(inner) = text.strip_prefix('`') {
        let inner = inner.strip_suffix('`').ok_or("an expression ends with a backtick")?;
        return expression(inner).map(Bound::Expression);
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

fn reference(inner: &str) -> Result<Reference, String> {
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

fn expression(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        rest = match first {
            ' ' => after,
            '\'' => {
                let (literal, after) = quoted(after)?;
                parts.push(Part::Text(literal));
                after
            }
            '$' => {
                let inner = after.strip_prefix('{').ok_or("a $ without {")?;
                let (inner, after) = inner.split_once('}').ok_or("a ${ without }")?;
                parts.push(Part::Reference(reference(inner)?));
                after
            }
            '0'..='9' => {
                let end = rest.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(rest.len());
                let (number, after) = rest.split_at(end);
                parts.push(Part::Text(number.to_owned()));
                after
            }
            '=' | '!' | '<' | '>' | '&' | '|' | '+' | '-' | '/' | '%' | '(' | ')' => {
                parts.push(Part::Operator(first));
                after
            }
            other => return Err(format!("{other} has no meaning in an expression")),
        };
    }
    if parts.is_empty() { Err("an empty expression".to_owned()) } else { Ok(parts) }
}

/// A literal up to its closing quote; a backslash keeps the next character as it is.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut literal = String::new();
    let mut characters = text.char_indices();
    while let Some((at, one)) = characters.next() {
        match one {
            '\'' => return Ok((literal, &text[at + 1..])),
            '\\' => literal.extend(characters.next().map(|(_, next)| next)),
            other => literal.push(other),
        }
    }
    Err("a text without a closing quote".to_owned())
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
            Ok(Bound::Expression(vec![
                Part::Text("a'b: ".to_owned()),
                Part::Reference(Reference::Data(vec!["x".to_owned()])),
            ]))
        );
        for malformed in ["a ${form.note}", "${form.note}${form.b}", "${other.x}", "${data.}", "`'a`", "`a`"]
        {
            assert!(read(malformed).is_err(), "{malformed}");
        }
    }
}
