//! The parameters of an operation, and the faults in a request. Bodies and queries share these types.

use std::fmt::Display;

use schemars::Schema;
use serde_json::Value;

/// A field of a body or a parameter of a query.
#[derive(Debug)]
pub struct Parameter {
    pub name: String,
    /// The JSON Schema of the value.
    pub schema: Schema,
    pub is_required: bool,
    /// Whether the parameter may be null, which means that it is not set.
    pub is_nullable: bool,
    /// The value if the parameter is not sent.
    pub default: Option<Value>,
}

impl Parameter {
    /// A parameter that may be left out.
    pub fn optional(name: &str, form: Schema) -> Self {
        Self { name: name.to_owned(), schema: form, is_required: false, is_nullable: false, default: None }
    }

    pub fn required(name: &str, form: Schema) -> Self {
        Self { is_required: true, ..Self::optional(name, form) }
    }

    /// A parameter that may be left out or null.
    pub fn nullable(name: &str, form: Schema) -> Self {
        Self { is_nullable: true, ..Self::optional(name, form) }
    }

    pub fn with_default(name: &str, form: Schema, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..Self::optional(name, form) }
    }
}

/// A fault in a request: a rule, and the fields that break it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFault {
    /// The fields that break the rule; several if the rule concerns their combination.
    pub fields: Vec<String>,
    /// A sentence for the client that names the fields and the rule.
    pub message: String,
    /// The message without the names of unknown fields; `None` if the fault does not concern unknown fields.
    rule: Option<&'static str>,
}

impl FieldFault {
    /// A fault of one field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { fields: vec![field.into()], message: message.into(), rule: None }
    }

    /// A fault of several fields together.
    pub fn of_fields<F: Into<String>>(
        fields: impl IntoIterator<Item = F>,
        message: impl Into<String>,
    ) -> Self {
        Self { fields: fields.into_iter().map(Into::into).collect(), message: message.into(), rule: None }
    }

    /// A fault of unknown fields. `rule` is the message without the names of the fields.
    pub fn of_unknown_fields(names: &[&str], rule: &'static str) -> Self {
        let message =
            if names.is_empty() { rule.to_owned() } else { format!("{rule}: {}", names.join(", ")) };
        Self { rule: Some(rule), ..Self::of_fields(names.iter().copied(), message) }
    }

    /// The message without names that the client chose. The message may still contain ids.
    pub fn message_without_names(&self) -> &str {
        self.rule.unwrap_or(&self.message)
    }

    /// All messages in one text, separated by semicolons.
    pub fn join_messages(faults: &[Self]) -> String {
        faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; ")
    }
}

/// The faults that were found while a body or a query was read. For the API description, the report instead collects
/// the parameters that are read.
#[derive(Debug, Default)]
pub struct ReadReport {
    /// The faults in the order in which they were found.
    pub faults: Vec<FieldFault>,
    parameters: Option<Vec<Parameter>>,
}

impl ReadReport {
    /// A report that collects the parameters that are read from an empty body or query.
    pub fn collecting_parameters() -> Self {
        Self { parameters: Some(Vec::new()), ..Self::default() }
    }

    pub fn into_parameters(self) -> Vec<Parameter> {
        self.parameters.unwrap_or_default()
    }

    /// Adds a parameter if parameters are collected.
    pub fn declare_parameter(&mut self, parameter: impl FnOnce() -> Parameter) {
        if let Some(all) = &mut self.parameters {
            all.push(parameter());
        }
    }

    /// Returns the value, or adds its fault and returns `None`.
    pub fn accept_parsed<T, E: Display>(&mut self, name: &str, parsed: Result<T, E>) -> Option<T> {
        match parsed {
            Ok(value) => Some(value),
            Err(fault) => self.add_fault(name, fault),
        }
    }

    /// Adds a fault, `<name> <fault>`, and returns `None`.
    pub fn add_fault<T>(&mut self, name: &str, fault: impl Display) -> Option<T> {
        self.faults.push(FieldFault::new(name, format!("{name} {fault}")));
        None
    }
}
