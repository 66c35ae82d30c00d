//! The schema of the values: closed, so that a misspelt value is refused and named.

use anyhow::{bail, ensure};
use serde_json::{Map, Value, json};

use super::values::Node;

/// The schema of the whole file.
///
/// # Errors
/// A default does not say what may stand in its place, and neither does its comment.
pub(super) fn of(root: &Node) -> anyhow::Result<Value> {
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("Values of the chart abisu"));
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties(root, root)?));
    schema.insert("additionalProperties".into(), json!(false));
    Ok(Value::Object(schema))
}

fn properties(node: &Node, root: &Node) -> anyhow::Result<Map<String, Value>> {
    node.children.iter().map(|(key, child)| Ok((key.clone(), one(child, root)?))).collect()
}

fn one(node: &Node, root: &Node) -> anyhow::Result<Value> {
    let path = &node.path;
    let mut schema = Map::new();
    schema.insert("description".into(), json!(node.about));
    match &node.default {
        Value::Null => ensure!(node.extra.contains_key("type"), "values.yaml: {path} is null: add its type"),
        Value::Bool(_) => drop(schema.insert("type".into(), json!("boolean"))),
        Value::Number(number) => {
            let kind = if number.is_f64() { "number" } else { "integer" };
            schema.insert("type".into(), json!(kind));
        }
        Value::String(_) => drop(schema.insert("type".into(), json!("string"))),
        Value::Array(_) => {
            ensure!(node.extra.contains_key("items"), "values.yaml: {path} is a list: say of what (items)");
            schema.insert("type".into(), json!("array"));
        }
        Value::Object(map) => {
            schema.insert("type".into(), json!("object"));
            let open = ["properties", "additionalProperties"].iter().any(|key| node.extra.contains_key(*key));
            ensure!(open || !map.is_empty(), "values.yaml: {path} is empty: say what may stand in it");
            if !map.is_empty() && !node.extra.contains_key("properties") {
                let mut inside = properties(node, root)?;
                if let Some(key) = &node.extends {
                    extend(&mut inside, key, root)?;
                }
                schema.insert("properties".into(), Value::Object(inside));
                schema.insert("additionalProperties".into(), json!(false));
            }
        }
    }
    if node.children.is_empty() && !node.default.is_null() {
        schema.insert("default".into(), node.default.clone());
    }
    schema.extend(node.extra.clone());
    Ok(Value::Object(schema))
}

/// Lets the values below a key at the top stand here as well; what is here already is stronger.
fn extend(inside: &mut Map<String, Value>, key: &str, root: &Node) -> anyhow::Result<()> {
    let Some((_, base)) = root.children.iter().find(|(name, _)| name == key) else {
        bail!("values.yaml: @extends {key}: there is no such key")
    };
    for (name, _) in &base.children {
        if !inside.contains_key(name) {
            let place = format!("#/properties/{key}/properties/{name}");
            inside.insert(name.clone(), json!({ "$ref": place }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::values::parse;
    use super::*;

    #[test]
    fn the_schema_is_closed_and_a_service_takes_what_holds_for_all() {
        let text = "# All.\nall:\n  # N.\n  # @schema {\"minimum\": 0}\n  n: 2\n# One.\n# @extends all\none:\n  # Own.\n  own: x\n# Free.\n# @schema {\"additionalProperties\": true}\nfree: {}\n";
        let schema = of(&parse(text).unwrap()).unwrap();
        assert_eq!(schema["additionalProperties"], false);
        let one = &schema["properties"]["one"];
        assert_eq!(one["additionalProperties"], false);
        assert_eq!(one["properties"]["n"]["$ref"], "#/properties/all/properties/n");
        assert_eq!(schema["properties"]["all"]["properties"]["n"]["minimum"], 0);
        assert_eq!(schema["properties"]["free"]["additionalProperties"], true);
    }

    #[test]
    fn a_default_that_says_too_little_is_named() {
        for (text, says) in [
            ("# A.\na: null\n", "a is null"),
            ("# A.\na: []\n", "a is a list"),
            ("# A.\na: {}\n", "a is empty"),
        ] {
            let error = of(&parse(text).unwrap()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
