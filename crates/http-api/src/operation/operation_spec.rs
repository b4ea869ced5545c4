//! The operation of a route as data, from which `description/` generates the operation object of the OpenAPI document.

use std::borrow::Cow;

use guerdon_api_types::FieldDocs;
use guerdon_api_types::parameter::Parameter;
use schemars::Schema;
use serde_json::json;

use super::{ApiError, Query};

/// Fields of an update that must not change.
pub(crate) const IMMUTABLE_FIELDS: [&str; 2] = ["domain", "company_id"];

/// What the OpenAPI document says about a route's operation.
pub(crate) struct OperationSpec {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// Whether the path accepts a domain instead of the id.
    pub(crate) accepts_domain: bool,
    /// The status of a successful response.
    pub(crate) success_status: u16,
    pub(crate) read_query: fn(&mut Query),
    pub(crate) query_parameters: Vec<Parameter>,
    /// The reader of the body; `None` if the operation reads no body.
    pub(crate) body: Option<BodyReader>,
    /// Whether the operation accepts an idempotency key.
    pub(crate) accepts_idempotency_key: bool,
    /// The schema of the response; null if it has no body.
    pub(crate) response_schema: Schema,
    /// The component that describes those fields of the request that `field_docs` does not describe.
    pub(crate) documented_by: Cow<'static, str>,
    pub(crate) field_docs: FieldDocs,
}

/// How an operation reads its body.
pub(crate) struct BodyReader {
    /// The fields of the body.
    pub(crate) parameters: Vec<Parameter>,
    /// Parses a body. Fails with the error that a request with this body gets.
    pub(crate) check_body: fn(&[u8]) -> Result<(), ApiError>,
}

impl BodyReader {
    /// Returns the error for an example of an invalid body. Tries a body without fields, then a value of the wrong
    /// type, then a body that is not an object.
    pub(crate) fn find_invalid_body(&self) -> Option<ApiError> {
        let changeable =
            self.parameters.iter().find(|parameter| !IMMUTABLE_FIELDS.contains(&&*parameter.name));
        let with_wrong_type = changeable.map_or_else(|| json!([]), |parameter| json!({&parameter.name: []}));
        let bodies = ["{}", &with_wrong_type.to_string(), "[]"];
        bodies.iter().find_map(|body| (self.check_body)(body.as_bytes()).err())
    }
}
