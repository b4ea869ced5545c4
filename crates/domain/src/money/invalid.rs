//! What is no number of its kind.

use std::fmt::Display;

/// A number that was refused, and what it must be.
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
