//! As much of JSON Schema as the contract uses. A keyword that is not known here fails, so the contract cannot outgrow
//! its test unnoticed.

use serde_json::{Map, Value};

/// What is wrong with `value`, by its place; nothing if it is valid.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(schema) = schema else { return Err("a schema that is no object".to_owned()) };
    schema.iter().try_for_each(|(keyword, rule)| {
        keyword_holds(document, schema, keyword, rule, value).map_err(|wrong| format!("{wrong} in {value}"))
    })
}

fn keyword_holds(
    document: &Value,
    schema: &Map<String, Value>,
    keyword: &str,
    rule: &Value,
    value: &Value,
) -> Result<(), String> {
    let holds = |right: bool| if right { Ok(()) } else { Err(format!("{keyword} {rule}")) };
    match keyword {
        // Annotations.
        "description" | "format" => Ok(()),
        "$ref" => {
            let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).unwrap_or_default();
            check(document, document.pointer(pointer).ok_or_else(|| format!("{rule} leads nowhere"))?, value)
        }
        "type" => {
            let is = |name: &Value| match name.as_str().unwrap_or_default() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                other => panic!("{other} is no type"),
            };
            holds(rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is)))
        }
        "const" => holds(value == rule),
        "enum" => holds(rule.as_array().is_some_and(|all| all.contains(value))),
        "not" => holds(check(document, rule, value).is_err()),
        "anyOf" => {
            let all = rule.as_array().ok_or("anyOf is no array")?;
            holds(all.iter().any(|schema| check(document, schema, value).is_ok()))
        }
        "required" => {
            let names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
            let Value::Object(fields) = value else { return Ok(()) };
            names.into_iter().try_for_each(|name| {
                fields.contains_key(name).then_some(()).ok_or_else(|| format!("{name} is missing"))
            })
        }
        "properties" => {
            let Value::Object(fields) = value else { return Ok(()) };
            let rules = rule.as_object().into_iter().flatten();
            rules
                .filter_map(|(name, rule)| Some((rule, fields.get(name)?)))
                .try_for_each(|(rule, field)| check(document, rule, field))
        }
        "items" => value.as_array().into_iter().flatten().try_for_each(|item| check(document, rule, item)),
        "minItems" => holds(value.as_array().is_none_or(|all| all.len() as u64 >= rule.as_u64().unwrap())),
        "maxItems" => holds(value.as_array().is_none_or(|all| all.len() as u64 <= rule.as_u64().unwrap())),
        "minLength" => holds(value.as_str().is_none_or(|text| text.len() as u64 >= rule.as_u64().unwrap())),
        "maxLength" => holds(value.as_str().is_none_or(|text| text.len() as u64 <= rule.as_u64().unwrap())),
        "minimum" => holds(value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap())),
        "maximum" => holds(value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap())),
        "pattern" => match rule.as_str().unwrap_or_default() {
            "^[!-~]+$" => {
                holds(value.as_str().is_none_or(|text| text.bytes().all(|byte| byte.is_ascii_graphic())))
            }
            other => panic!("the pattern {other} is not known in {schema:?}"),
        },
        other => panic!("the keyword {other} is not known"),
    }
}
