//! What an operation asks its client for, written down while it reads a body or a query that is not there.

use schemars::Schema;
use serde_json::Value;

/// A field of a body or a parameter of a query.
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) form: Schema,
    /// Whether it must be sent.
    pub(crate) is_required: bool,
    /// Whether null means that it is not set.
    pub(crate) may_be_null: bool,
    /// What is taken where it is not sent.
    pub(crate) default: Option<Value>,
}

impl Asked {
    /// One that may be left out.
    pub(crate) fn optional(name: &str, form: Schema) -> Self {
        Self { name: name.to_owned(), form, is_required: false, may_be_null: false, default: None }
    }

    pub(crate) fn required(name: &str, form: Schema) -> Self {
        Self { is_required: true, ..Self::optional(name, form) }
    }

    /// One that may be null too.
    pub(crate) fn nullable(name: &str, form: Schema) -> Self {
        Self { may_be_null: true, ..Self::optional(name, form) }
    }

    pub(crate) fn with_default(name: &str, form: Schema, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..Self::optional(name, form) }
    }
}
