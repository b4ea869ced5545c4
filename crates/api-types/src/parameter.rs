//! The parameters of an operation, and the faults of those that a client sent. Bodies and queries use the same types.

use std::fmt::Display;

use schemars::Schema;
use serde_json::Value;

/// A field of a body or a parameter of a query.
#[derive(Debug)]
pub struct Parameter {
    pub name: String,
    /// Its JSON Schema.
    pub form: Schema,
    pub is_required: bool,
    /// Whether null means that it is not set.
    pub may_be_null: bool,
    /// The value of a parameter that is not sent.
    pub default: Option<Value>,
}

impl Parameter {
    /// A parameter that may be left out.
    pub fn optional(name: &str, form: Schema) -> Self {
        Self { name: name.to_owned(), form, is_required: false, may_be_null: false, default: None }
    }

    pub fn required(name: &str, form: Schema) -> Self {
        Self { is_required: true, ..Self::optional(name, form) }
    }

    /// A parameter that may be left out or null.
    pub fn nullable(name: &str, form: Schema) -> Self {
        Self { may_be_null: true, ..Self::optional(name, form) }
    }

    pub fn with_default(name: &str, form: Schema, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..Self::optional(name, form) }
    }
}

/// What the reading of a body or a query reports: the faults, and for the API's description the parameters.
#[derive(Debug, Default)]
pub struct Report {
    /// The faults in the order in which they were found.
    pub faults: Vec<String>,
    parameters: Option<Vec<Parameter>>,
}

impl Report {
    /// A report that collects the parameters that are read, from a body or a query that is empty.
    pub fn of_parameters() -> Self {
        Self { parameters: Some(Vec::new()), ..Self::default() }
    }

    pub fn into_parameters(self) -> Vec<Parameter> {
        self.parameters.unwrap_or_default()
    }

    /// Adds a parameter if parameters are collected.
    pub fn declare(&mut self, parameter: impl FnOnce() -> Parameter) {
        if let Some(all) = &mut self.parameters {
            all.push(parameter());
        }
    }

    /// The value, or `None` after its fault was added.
    pub fn parsed<T, E: Display>(&mut self, name: &str, parsed: Result<T, E>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(fault) => self.reject(name, fault),
        }
    }

    /// Adds a fault, `<name> <fault>`, and returns `None`.
    pub fn reject<T>(&mut self, name: &str, fault: impl Display) -> Option<T> {
        self.faults.push(format!("{name} {fault}"));
        None
    }
}
