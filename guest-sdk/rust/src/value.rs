//! Values of databases.

use crate::abi;
use crate::wire::{Decoded, Encoder, Fields, Malformed};

/// A value of a database, in a row or as an argument. What has no variant of its own, as a time or a decimal, is text
/// in the database's own form.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false. MySQL and SQLite have integers instead, 0 and 1.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// Says what this is, after "is".
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a text",
            Value::Bytes(_) => "bytes",
        }
    }

    /// Adds the fields of the value.
    pub(crate) fn encode(&self, message: &mut Encoder) {
        let kind = match self {
            Value::Null => abi::SQL_NULL,
            Value::Bool(_) => abi::SQL_BOOL,
            Value::Int(_) => abi::SQL_INT,
            Value::Float(_) => abi::SQL_FLOAT,
            Value::Text(_) => abi::SQL_TEXT,
            Value::Bytes(_) => abi::SQL_BYTES,
        };
        message.number(1, kind.into());
        match self {
            Value::Null => {}
            Value::Bool(set) => message.flag(2, *set),
            Value::Int(number) => message.number(2, *number as u64),
            Value::Float(number) => message.double(3, *number),
            Value::Text(text) => message.text(4, text),
            Value::Bytes(bytes) => message.element(5, bytes),
        }
    }

    pub(crate) fn decode(message: &[u8]) -> Decoded<Self> {
        let (mut kind, mut number, mut float, mut text, mut bytes) = (abi::SQL_NULL, 0, 0.0, "", &[][..]);
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => kind = field.u32()?,
                2 => number = field.u64()? as i64,
                3 => float = field.double()?,
                4 => text = field.text()?,
                5 => bytes = field.bytes()?,
                _ => {}
            }
        }
        Ok(match kind {
            abi::SQL_NULL => Value::Null,
            abi::SQL_BOOL => Value::Bool(number != 0),
            abi::SQL_INT => Value::Int(number),
            abi::SQL_FLOAT => Value::Float(float),
            abi::SQL_TEXT => Value::Text(text.to_owned()),
            abi::SQL_BYTES => Value::Bytes(bytes.to_vec()),
            _ => return Err(Malformed),
        })
    }
}

/// What a value of a row can be had as.
///
/// | type | is made of |
/// |---|---|
/// | integers | integers and bools that it can hold, and texts of such integers |
/// | `f64` | floats, integers, texts of numbers |
/// | `bool` | bools, and integers, of which 0 is false |
/// | `String` | all but null and bytes that are not UTF-8, in decimals, `true` or `false` |
/// | `Vec<u8>` | bytes, and texts |
/// | `Option` of them | the same, with `None` for null |
/// | [`Value`] | everything |
pub trait FromValue: Sized {
    /// What it is, after "not", as in "a bool".
    const NAME: &'static str;

    /// Makes it of a value, if it can be.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for Value {
    const NAME: &'static str = "a value";

    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const NAME: &'static str = T::NAME;

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl FromValue for bool {
    const NAME: &'static str = "a bool";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(set) => Some(*set),
            Value::Int(number) => Some(*number != 0),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    const NAME: &'static str = "a number";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Float(number) => Some(*number),
            Value::Int(number) => Some(*number as f64),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl FromValue for String {
    const NAME: &'static str = "a text";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(set) => Some(set.to_string()),
            Value::Int(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Text(text) => Some(text.clone()),
            Value::Bytes(bytes) => String::from_utf8(bytes.clone()).ok(),
        }
    }
}

impl FromValue for Vec<u8> {
    const NAME: &'static str = "bytes";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes.clone()),
            Value::Text(text) => Some(text.as_bytes().to_vec()),
            _ => None,
        }
    }
}

macro_rules! integers {
    ($($type:ident),*) => {$(
        impl FromValue for $type {
            const NAME: &'static str = concat!("an integer of type ", stringify!($type));

            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(number) => (*number).try_into().ok(),
                    Value::Bool(set) => Some((*set).into()),
                    Value::Text(text) => text.parse().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

macro_rules! arguments {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

arguments!(bool => Bool, i8 => Int, i16 => Int, i32 => Int, i64 => Int, u8 => Int, u16 => Int, u32 => Int);
arguments!(f32 => Float, f64 => Float, &str => Text, String => Text, &String => Text, &[u8] => Bytes, Vec<u8> => Bytes);

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(bytes: &[u8; N]) -> Self {
        Value::Bytes(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, T::into)
    }
}
