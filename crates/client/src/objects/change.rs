//! The change of a field that can be empty.

use serde::{Serialize, Serializer};

/// What an update does to a field that can be empty. Fields that cannot be empty are `Option`s, where `None` keeps the
/// value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// The field is not sent, and keeps its value.
    #[default]
    Keep,
    /// The field is sent as null, and becomes empty.
    Clear,
    /// The field gets this value.
    Set(T),
}

impl<T> Change<T> {
    pub(crate) fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<T> for Change<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl From<&str> for Change<String> {
    fn from(value: &str) -> Self {
        Self::Set(value.to_owned())
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => value.serialize(serializer),
            // Every struct with such a field skips `Keep`.
            Self::Keep | Self::Clear => serializer.serialize_none(),
        }
    }
}
