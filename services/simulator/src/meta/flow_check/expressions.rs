//! References: whether they point to something, and of which type it is.

use serde_json::{Map, Value};

use super::super::{
    binding::{self, Bound, Part, Reference},
    document::{Document, Object, fits},
};

/// The type of a value that a phone will compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Text,
    Number,
    Boolean,
    Object,
    Array,
    /// The files of a picker.
    Media,
    /// The result of an operator.
    Unknown,
}

impl Type {
    fn of_schema(schema: &Value) -> Self {
        match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
            "string" => Self::Text,
            "number" | "integer" => Self::Number,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "array" => Self::Array,
            _ => Self::Unknown,
        }
    }

    /// Whether a value of this type can stand where the schema asks for its own.
    pub(super) fn suits(self, schema: &Value) -> bool {
        self == Self::Unknown || self == Self::of_schema(schema)
    }
}

/// The screen in which a reference is written.
pub(super) struct Scope<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) screen: &'a str,
}

impl Scope<'_> {
    /// The type of what a text stands for; a literal is a text.
    pub(super) fn text_type(&self, text: &str) -> Result<Type, String> {
        match binding::read(text)? {
            Bound::Literal(_) => Ok(Type::Text),
            Bound::Reference(reference) => self.reference_type(&reference),
            Bound::Expression(parts) => {
                let mut result = Type::Text;
                for part in &parts {
                    match part {
                        Part::Text(_) => {}
                        Part::Operator(_) => result = Type::Unknown,
                        Part::Reference(reference) => match self.reference_type(reference)? {
                            Type::Media => return Err("a picker cannot be part of an expression".to_owned()),
                            Type::Object | Type::Array => {
                                return Err("only plain values can be part of an expression".to_owned());
                            }
                            Type::Text | Type::Number | Type::Boolean | Type::Unknown => {}
                        },
                    }
                }
                Ok(result)
            }
        }
    }

    pub(super) fn reference_type(&self, reference: &Reference) -> Result<Type, String> {
        match reference {
            Reference::Data(path) => self.data_type(self.screen, path),
            Reference::ScreenData { screen, path } => {
                self.known(screen)?;
                self.data_type(screen, path)
            }
            Reference::Form(name) => self.form_type(self.screen, name),
            Reference::ScreenForm { screen, name } => {
                self.known(screen)?;
                self.form_type(screen, name)
            }
        }
    }

    fn known(&self, screen: &str) -> Result<(), String> {
        self.document.screen(screen).map(|_| ()).ok_or_else(|| format!("there is no screen {screen}"))
    }

    fn data_type(&self, screen: &str, path: &[String]) -> Result<Type, String> {
        let empty = Map::new();
        let mut fields: &Object = self.document.model(screen).unwrap_or(&empty);
        let mut kind = Type::Unknown;
        for (depth, name) in path.iter().enumerate() {
            let schema =
                fields.get(name).ok_or_else(|| format!("{name} is not in the data model of {screen}"))?;
            kind = Type::of_schema(schema);
            match schema.get("properties").and_then(Value::as_object) {
                Some(properties) => fields = properties,
                None if depth + 1 < path.len() => return Err(format!("{name} has no properties")),
                None => {}
            }
        }
        Ok(kind)
    }

    fn form_type(&self, screen: &str, name: &str) -> Result<Type, String> {
        let component = self
            .document
            .named(screen, name)
            .ok_or_else(|| format!("there is no input {name} on the screen {screen}"))?;
        match component.kind {
            "PhotoPicker" => Ok(Type::Media),
            "OptIn" => Ok(Type::Boolean),
            "TextInput" | "TextArea" | "NavigationList" => Ok(Type::Text),
            _ => Err(format!("{name} is not an input")),
        }
    }

    /// Whether a value of a payload suits a field of the target's data model.
    pub(super) fn payload_fits(&self, schema: &Value, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => match self.text_type(text)? {
                Type::Media => Err("a picker cannot be passed on".to_owned()),
                kind if kind.suits(schema) => Ok(()),
                kind => Err(format!("is {kind:?}, which is not the type of the data model")),
            },
            Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.nested(value)?;
                fits(schema, value)
            }
        }
    }

    /// References inside arrays and objects: they must resolve, and none may be a picker.
    pub(super) fn nested(&self, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) if self.text_type(text)? == Type::Media => {
                Err("a picker may stand only at the top of a payload".to_owned())
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.nested(item)),
            Value::Object(map) => map.values().try_for_each(|item| self.nested(item)),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
}
