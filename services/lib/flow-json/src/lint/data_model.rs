//! The data of a screen: names with a type and an example, in the manner of JSON Schema.

use super::code::Code;
use super::context::Context;
use super::json::{Node, Value};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    String,
    Number,
    Boolean,
    Array,
    Object,
}

impl Type {
    fn named(name: &str) -> Option<Self> {
        match name {
            "string" => Some(Self::String),
            "number" | "integer" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "array" => Some(Self::Array),
            "object" => Some(Self::Object),
            _ => None,
        }
    }

    /// The type of a written value; null has none.
    pub(crate) fn of(node: &Node<'_>) -> Option<Self> {
        match &node.value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(_) => Some(Self::Number),
            Value::String(_) => Some(Self::String),
            Value::Array(_) => Some(Self::Array),
            Value::Object(_) => Some(Self::Object),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// The type a field or a property declares.
pub(crate) fn declared(schema: &Node<'_>) -> Option<Type> {
    schema.get("type").and_then(Node::text).and_then(Type::named)
}

/// Why a path into the data leads nowhere.
pub(crate) enum Lost {
    Undeclared,
    IntoArray,
}

/// The type at the end of a path, where it is declared; the first name is a field.
pub(crate) fn resolve<'n>(
    field: &'n Node<'n>,
    rest: impl Iterator<Item = &'n str>,
) -> Result<Option<Type>, Lost> {
    let mut schema = field;
    for name in rest {
        if declared(schema) == Some(Type::Array) {
            return Err(Lost::IntoArray);
        }
        schema = schema.get("properties").and_then(|it| it.get(name)).ok_or(Lost::Undeclared)?;
    }
    Ok(declared(schema))
}

/// Checks the `data` of a screen.
pub(crate) fn check(context: &Context<'_, '_>, data: &Node<'_>) {
    if Type::of(data) != Some(Type::Object) {
        context.add(data, Code::InvalidPropertyType, "data must be an object");
        return;
    }
    for member in data.members() {
        if context.full() {
            return;
        }
        let field = &member.value;
        if Type::of(field) != Some(Type::Object) {
            context.add(field, Code::InvalidScreenData, "a field is an object with type and __example__");
            continue;
        }
        schema(context, field, true);
        match field.get("__example__") {
            None => context.add(field, Code::InvalidScreenData, "a field needs an __example__"),
            Some(example) => conforms(context, field, example),
        }
    }
}

fn schema(context: &Context<'_, '_>, node: &Node<'_>, top: bool) {
    let Some(kind) = declared(node) else {
        let at = node.get("type").unwrap_or(node);
        context.add(at, Code::InvalidScreenData, "type must be string, number, boolean, array or object");
        return;
    };
    if !top && let Some(example) = node.get("__example__") {
        context.add(example, Code::InvalidScreenData, "__example__ belongs to the field, not inside it");
    }
    match kind {
        Type::Array => match node.get("items") {
            Some(items) if Type::of(items) == Some(Type::Object) => schema(context, items, false),
            Some(items) if Type::of(items) == Some(Type::Boolean) => {}
            Some(items) => {
                context.add(items, Code::InvalidScreenData, "items must be an object or a boolean");
            }
            None => context.add(node, Code::InvalidScreenData, "an array needs items"),
        },
        Type::Object => match node.get("properties") {
            Some(properties) if Type::of(properties) == Some(Type::Object) => {
                for member in properties.members() {
                    schema(context, &member.value, false);
                }
            }
            Some(properties) => {
                context.add(properties, Code::InvalidScreenData, "properties must be an object");
            }
            None => context.add(node, Code::InvalidScreenData, "an object needs properties"),
        },
        Type::String | Type::Number | Type::Boolean => {}
    }
}

/// An example against its schema. What the schema does not speak of passes.
fn conforms(context: &Context<'_, '_>, schema: &Node<'_>, example: &Node<'_>) {
    let Some(kind) = declared(schema) else { return };
    if Type::of(example) != Some(kind) {
        context.add(example, Code::InvalidScreenData, format!("the example is not of type {}", kind.name()));
        return;
    }
    match kind {
        Type::Array => {
            if let Some(items) = schema.get("items") {
                example.elements().iter().for_each(|element| conforms(context, items, element));
            }
        }
        Type::Object => {
            let Some(properties) = schema.get("properties") else { return };
            for member in example.members() {
                if let Some(schema) = properties.get(&member.key) {
                    conforms(context, schema, &member.value);
                }
            }
        }
        Type::String | Type::Number | Type::Boolean => {}
    }
}
