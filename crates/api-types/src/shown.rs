//! How values look in an answer (behaviour 3).

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::form::Form;

/// A value shown by its `Display`: ids, addresses, dates, moments.
///
/// For the description it has the value's own form, also where a view holds the value otherwise.
pub struct Shown<T>(pub T);

impl<T: Form> JsonSchema for Shown<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::form()
    }
}

impl<T: Form> Form for &T {
    fn form() -> Schema {
        T::form()
    }
}

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
