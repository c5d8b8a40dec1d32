//! Values of settings. Written as plain scalars in every file format.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// The settings of one point, by name. Sorted, so that equal settings are written equally.
pub type Settings = BTreeMap<String, Value>;

/// One value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A number with a fraction; always finite.
    Float(f64),
    /// Any text.
    Text(String),
    /// `true` or `false`.
    Switch(bool),
}

impl Value {
    /// The value as a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::Text(_) | Value::Switch(_) => None,
        }
    }

    /// The word for the kind of value, as error messages use it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Integer(_) => "integer",
            Value::Float(_) => "number",
            Value::Text(_) => "text",
            Value::Switch(_) => "switch",
        }
    }

    /// Orders numbers by size, and everything else by kind and then by text.
    pub fn natural_order(&self, other: &Value) -> std::cmp::Ordering {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Switch(a), Value::Switch(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => self.kind().cmp(other.kind()),
            },
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => write!(f, "{number}"),
            // `{:?}` prints the shortest text that reads back as the same number, and keeps `1.0` apart from `1`.
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Text(text) => f.write_str(text),
            Value::Switch(state) => write!(f, "{state}"),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Switch(state) => serializer.serialize_bool(*state),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true or false")
    }

    fn visit_bool<E: de::Error>(self, state: bool) -> Result<Value, E> {
        Ok(Value::Switch(state))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        i64::try_from(number).map(Value::Integer).map_err(|_| E::custom("integer too large"))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_plain_scalars_in_json_and_keep_their_kind() {
        let values = vec![
            Value::Integer(8),
            Value::Float(8.0),
            Value::Float(0.03),
            Value::from("eight"),
            Value::Switch(true),
        ];
        let text = serde_json::to_string(&values).unwrap();
        assert_eq!(text, r#"[8,8.0,0.03,"eight",true]"#);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap(), values);
    }
}
