//! Expressions: what stands in backticks, and in the condition of an If.
//!
//! `||` binds loosest, then `&&`, comparisons, values side by side (which are joined as text), `+ -`, `/ %`, `!`.

use super::binding::{Reference, reference};

/// Parentheses and negations within each other.
const DEEPEST: usize = 32;
/// Values and operators; longer ones would nest as deep.
const LONGEST: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Divide,
    Remainder,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Expression {
    Text(String),
    Number(f64),
    Truth(bool),
    Reference(Reference),
    Not(Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
    /// Side by side.
    Join(Vec<Self>),
}

/// Reads an expression without its backticks. The error says what is malformed.
pub(crate) fn parse(text: &str) -> Result<Expression, String> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens, at: 0, depth: 0 };
    let expression = reader.loosest()?;
    match reader.tokens.get(reader.at) {
        None => Ok(expression),
        Some(_) => Err("an operator without its values".to_owned()),
    }
}

#[derive(Debug, PartialEq)]
enum Token {
    Value(Value),
    Operator(Operator),
    Not,
    Open,
    Close,
}

#[derive(Debug, PartialEq)]
enum Value {
    Text(String),
    Number(f64),
    Truth(bool),
    Reference(String),
}

const OPERATORS: [(&str, Operator); 12] = [
    ("||", Operator::Or),
    ("&&", Operator::And),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("+", Operator::Plus),
    ("-", Operator::Minus),
    ("/", Operator::Divide),
    ("%", Operator::Remainder),
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) =
            if let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) {
                (Token::Operator(*operator), &rest[sign.len()..])
            } else {
                let after = &rest[first.len_utf8()..];
                match first {
                    '!' => (Token::Not, after),
                    '(' => (Token::Open, after),
                    ')' => (Token::Close, after),
                    '\'' => {
                        let (literal, after) = quoted(after)?;
                        (Token::Value(Value::Text(literal)), after)
                    }
                    '$' => {
                        let inner = after.strip_prefix('{').ok_or("a $ without {")?;
                        let (inner, after) = inner.split_once('}').ok_or("a ${ without }")?;
                        (Token::Value(Value::Reference(inner.to_owned())), after)
                    }
                    '0'..='9' => {
                        let end =
                            rest.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(rest.len());
                        let (number, after) = rest.split_at(end);
                        let number = number.parse().map_err(|_| format!("{number} is no number"))?;
                        (Token::Value(Value::Number(number)), after)
                    }
                    _ => {
                        let end = rest.find(|one: char| !one.is_ascii_alphabetic()).unwrap_or(rest.len());
                        let (word, after) = rest.split_at(end);
                        let truth = match word {
                            "true" => true,
                            "false" => false,
                            _ => return Err(format!("{first} has no meaning in an expression")),
                        };
                        (Token::Value(Value::Truth(truth)), after)
                    }
                }
            };
        tokens.push(token);
        if tokens.len() > LONGEST {
            return Err("the expression is too long".to_owned());
        }
        rest = after.trim_start();
    }
    if tokens.is_empty() { Err("an empty expression".to_owned()) } else { Ok(tokens) }
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

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn operator(&mut self, among: &[Operator]) -> Option<Operator> {
        match self.tokens.get(self.at) {
            Some(Token::Operator(operator)) if among.contains(operator) => {
                self.at += 1;
                Some(*operator)
            }
            _ => None,
        }
    }

    /// Operands with operators of one rank between them, from left to right.
    fn rank(
        &mut self,
        operators: &[Operator],
        operand: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = operand(self)?;
        while let Some(operator) = self.operator(operators) {
            left = Expression::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn loosest(&mut self) -> Result<Expression, String> {
        self.rank(&[Operator::Or], |reader| reader.rank(&[Operator::And], Self::comparison))
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        const COMPARE: [Operator; 6] = [
            Operator::Equal,
            Operator::NotEqual,
            Operator::LessOrEqual,
            Operator::GreaterOrEqual,
            Operator::Less,
            Operator::Greater,
        ];
        self.rank(&COMPARE, Self::joined)
    }

    fn joined(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.sum()?];
        while matches!(self.tokens.get(self.at), Some(Token::Value(_) | Token::Open | Token::Not)) {
            parts.push(self.sum()?);
        }
        match parts.pop() {
            Some(only) if parts.is_empty() => Ok(only),
            last => Ok(Expression::Join(parts.into_iter().chain(last).collect())),
        }
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.rank(&[Operator::Plus, Operator::Minus], |reader| {
            reader.rank(&[Operator::Divide, Operator::Remainder], Self::value)
        })
    }

    fn value(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the expression is nested too deeply".to_owned());
        }
        let at = self.at;
        self.at += 1;
        let value = match self.tokens.get(at) {
            Some(Token::Value(Value::Text(text))) => Expression::Text(text.clone()),
            Some(Token::Value(Value::Number(number))) => Expression::Number(*number),
            Some(Token::Value(Value::Truth(truth))) => Expression::Truth(*truth),
            Some(Token::Value(Value::Reference(inner))) => Expression::Reference(reference(inner)?),
            Some(Token::Not) => Expression::Not(Box::new(self.value()?)),
            Some(Token::Open) => {
                let inner = self.loosest()?;
                if self.tokens.get(self.at) != Some(&Token::Close) {
                    return Err("a ( without )".to_owned());
                }
                self.at += 1;
                inner
            }
            Some(Token::Operator(_) | Token::Close) | None => {
                return Err("an operator without its values".to_owned());
            }
        };
        self.depth -= 1;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_they_do_elsewhere() {
        let shape = |text: &str| {
            fn show(expression: &Expression) -> String {
                match expression {
                    Expression::Text(text) => format!("'{text}'"),
                    Expression::Number(number) => number.to_string(),
                    Expression::Truth(truth) => truth.to_string(),
                    Expression::Reference(_) => "$".to_owned(),
                    Expression::Not(inner) => format!("!{}", show(inner)),
                    Expression::Binary(operator, one, other) => {
                        format!("({} {operator:?} {})", show(one), show(other))
                    }
                    Expression::Join(parts) => {
                        format!("[{}]", parts.iter().map(show).collect::<Vec<_>>().join(" "))
                    }
                }
            }
            parse(text).map(|expression| show(&expression))
        };
        for (text, expected) in [
            ("1 + 2 / 3 - 4", "((1 Plus (2 Divide 3)) Minus 4)"),
            ("'a' ${data.b} == 'c' && !true || false", "(((['a' $] Equal 'c') And !true) Or false)"),
            ("'a' (1 + 2)", "['a' (1 Plus 2)]"),
            ("${form.age}>=18", "($ GreaterOrEqual 18)"),
        ] {
            assert_eq!(shape(text).as_deref(), Ok(expected), "{text}");
        }
        for malformed in ["", "1 +", "+ 1", "(1", "1)", "'a", "${data.x", "$x", "a", "1.2.3", "!", "1 * 2"] {
            assert!(parse(malformed).is_err(), "{malformed}");
        }
        assert!(parse(&"(".repeat(10_000)).is_err());
        assert!(parse(&"!".repeat(10_000)).is_err());
        assert!(parse(&"1+".repeat(10_000)).is_err());
    }
}
