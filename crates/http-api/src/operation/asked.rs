//! What an operation asks its client for, and what is wrong with what came: the same for bodies and queries.

use std::fmt::Display;

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

/// What is noted while a body or a query is read.
#[derive(Default)]
pub(crate) struct Notes {
    /// What is wrong, in the order in which it was found.
    pub(crate) faults: Vec<String>,
    /// What was asked for, where that is to be known.
    asked: Option<Vec<Asked>>,
}

impl Notes {
    /// For a body or a query that is not there, to learn what a reader asks for.
    pub(crate) fn of_what_is_asked() -> Self {
        Self { asked: Some(Vec::new()), ..Self::default() }
    }

    pub(crate) fn into_asked(self) -> Vec<Asked> {
        self.asked.unwrap_or_default()
    }

    pub(crate) fn asks(&mut self, asked: impl FnOnce() -> Asked) {
        if let Some(all) = &mut self.asked {
            all.push(asked());
        }
    }

    /// A value that was read, or the fault of it.
    pub(crate) fn parsed<T, E: Display>(&mut self, name: &str, parsed: Result<T, E>) -> Option<T> {
        match parsed {
            Ok(read) => Some(read),
            Err(must_be) => self.refused(name, must_be),
        }
    }

    pub(crate) fn refused<T>(&mut self, name: &str, must_be: impl Display) -> Option<T> {
        self.faults.push(format!("{name} {must_be}"));
        None
    }
}
