//! An operation of the OpenAPI description.

use serde_json::Value;

/// An operation of the API.
pub(crate) struct Operation<'a> {
    /// In upper case.
    pub(crate) method: &'static str,
    pub(crate) path: &'a str,
    /// The operation object of the description.
    pub(crate) specification: &'a Value,
}
