//! Values in responses (behaviour 3).

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::values::ValueSchema;

/// A value that is serialized by its `Display`: an id, an address, a date or a timestamp.
///
/// In the API description it has the schema of the value. A view that stores the value as another type, such as `&str`,
/// declares `schemars(with = "WireValue<T>")`.
pub struct WireValue<T>(pub T);

impl<T: ValueSchema> JsonSchema for WireValue<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::value_schema()
    }
}

impl<T: ValueSchema> ValueSchema for &T {
    fn value_schema() -> Schema {
        T::value_schema()
    }
}

impl<T: fmt::Display> Serialize for WireValue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
