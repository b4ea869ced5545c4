//! The error for an invalid number.

use std::fmt::Display;

/// A number that was refused, and the condition that it must meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} must be {must_be}")]
pub struct InvalidNumber {
    value: String,
    must_be: &'static str,
}

impl InvalidNumber {
    pub(super) fn new(value: impl Display, must_be: &'static str) -> Self {
        Self { value: value.to_string(), must_be }
    }
}
