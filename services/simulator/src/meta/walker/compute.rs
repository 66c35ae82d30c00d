//! Operators, on values as a phone holds them.

use serde_json::{Number, Value, json};

use super::super::expression::Operator;

/// What an operator makes of two values.
pub(super) fn compute(operator: Operator, one: &Value, other: &Value) -> Result<Value, String> {
    let truth = |value: &Value| *value == Value::Bool(true);
    let numbers = || Ok::<_, String>((number(one)?, number(other)?));
    Ok(match operator {
        Operator::Or => json!(truth(one) || truth(other)),
        Operator::And => json!(truth(one) && truth(other)),
        Operator::Equal => json!(equal(one, other)),
        Operator::NotEqual => json!(!equal(one, other)),
        Operator::Less => numbers().map(|(one, other)| json!(one < other))?,
        Operator::LessOrEqual => numbers().map(|(one, other)| json!(one <= other))?,
        Operator::Greater => numbers().map(|(one, other)| json!(one > other))?,
        Operator::GreaterOrEqual => numbers().map(|(one, other)| json!(one >= other))?,
        Operator::Plus => numbers().map(|(one, other)| of(one + other))?,
        Operator::Minus => numbers().map(|(one, other)| of(one - other))?,
        Operator::Divide => numbers().map(|(one, other)| of(one / other))?,
        Operator::Remainder => numbers().map(|(one, other)| of(one % other))?,
    })
}

/// A number, also one that a person wrote; an empty field is none yet.
fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text.trim().is_empty() => Some(0.0),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .ok_or_else(|| format!("'{}' is no number", written(value)))
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), _) | (_, Value::Number(_)) => {
            number(one).is_ok_and(|one| number(other).is_ok_and(|other| one.total_cmp(&other).is_eq()))
        }
        (Value::String(_), _)
        | (_, Value::String(_))
        | (
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_),
        ) => one == other,
    }
}

/// Whole numbers have no point.
pub(super) fn of(number: f64) -> Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < WHOLE {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        return json!(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// A value within a text.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}
