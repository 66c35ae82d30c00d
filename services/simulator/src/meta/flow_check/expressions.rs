//! References: whether they point to something, and of which type it is.

use serde_json::{Map, Value};

use super::{
    super::{
        binding::{self, Bound, Reference},
        document::{Document, Object, fits},
        expression::{Expression, Operator},
    },
    properties,
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
    /// What a person writes into a field for numbers, or anything that the model does not tell.
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
            Bound::Expression(_) if self.document.version() < (6, 0) => {
                Err("expressions in backticks came with 6.0".to_owned())
            }
            bound => self.bound_type(bound),
        }
    }

    /// As `text_type`, where a property of a component says it: there the current screen's own input is `${form…}`.
    pub(super) fn property_type(&self, text: &str) -> Result<Type, String> {
        let own = format!("${{screen.{}.form.", self.screen);
        if text.contains(&own) {
            return Err("a screen refers to its own inputs by ${form.…}".to_owned());
        }
        self.text_type(text)
    }

    /// The type of a condition of an If, or of the value of a Switch. A literal decides nothing.
    pub(super) fn condition_type(&self, text: &str) -> Result<Type, String> {
        match binding::condition(text)? {
            Bound::Literal(_) => Err("refers to nothing".to_owned()),
            Bound::Expression(expression) if !refers(&expression) => Err("refers to nothing".to_owned()),
            bound => self.bound_type(bound),
        }
    }

    fn bound_type(&self, bound: Bound<'_>) -> Result<Type, String> {
        match bound {
            Bound::Literal(_) => Ok(Type::Text),
            Bound::Reference(reference) => self.reference_type(&reference),
            Bound::Expression(expression) => self.expression_type(&expression),
        }
    }

    fn expression_type(&self, expression: &Expression) -> Result<Type, String> {
        let known = |kind: Type, wanted: Type| kind == wanted || kind == Type::Unknown;
        match expression {
            Expression::Text(_) => Ok(Type::Text),
            Expression::Number(_) => Ok(Type::Number),
            Expression::Truth(_) => Ok(Type::Boolean),
            Expression::Reference(reference) => match self.reference_type(reference)? {
                Type::Media => Err("a picker cannot be part of an expression".to_owned()),
                Type::Object | Type::Array => {
                    Err("only plain values can be part of an expression".to_owned())
                }
                kind @ (Type::Text | Type::Number | Type::Boolean | Type::Unknown) => Ok(kind),
            },
            Expression::Not(inner) => match self.expression_type(inner)? {
                kind if known(kind, Type::Boolean) => Ok(Type::Boolean),
                _ => Err("! stands before a boolean".to_owned()),
            },
            Expression::Join(parts) => {
                parts.iter().try_for_each(|part| self.expression_type(part).map(|_| ()))?;
                Ok(Type::Text)
            }
            Expression::Binary(operator, one, other) => {
                let (one, other) = (self.expression_type(one)?, self.expression_type(other)?);
                let both = |wanted| known(one, wanted) && known(other, wanted);
                let (fits, result) = match operator {
                    Operator::Or | Operator::And => (both(Type::Boolean), Type::Boolean),
                    Operator::Equal | Operator::NotEqual => {
                        (known(one, other) || other == Type::Unknown, Type::Boolean)
                    }
                    Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                        (both(Type::Number), Type::Boolean)
                    }
                    Operator::Plus | Operator::Minus | Operator::Divide | Operator::Remainder => {
                        (both(Type::Number), Type::Number)
                    }
                };
                if fits { Ok(result) } else { Err(format!("{operator:?} between {one:?} and {other:?}")) }
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
        let word = |key: &str| component.map.get(key).and_then(Value::as_str).unwrap_or_default();
        properties::answer(component.kind, word("input-type"), word("mode"))
            .ok_or_else(|| format!("{name} is not an input"))
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

fn refers(expression: &Expression) -> bool {
    match expression {
        Expression::Reference(_) => true,
        Expression::Text(_) | Expression::Number(_) | Expression::Truth(_) => false,
        Expression::Not(inner) => refers(inner),
        Expression::Binary(_, one, other) => refers(one) || refers(other),
        Expression::Join(parts) => parts.iter().any(refers),
    }
}
