//! The operation of a route as data, from which `description/` generates the operation object of the OpenAPI document.

use std::borrow::Cow;

use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::parameter::Parameter;
use schemars::Schema;
use serde_json::json;

use super::error::ApiError;

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
    pub(crate) query_parameters: Vec<Parameter>,
    /// The fields of the body; `None` if the operation reads no body.
    pub(crate) body_parameters: Option<Vec<Parameter>>,
    /// The error of an invalid body; `None` if the operation reads no body.
    pub(crate) invalid_body: Option<ApiError>,
    /// Whether the operation accepts an idempotency key.
    pub(crate) accepts_idempotency_key: bool,
    /// The schema of the response; null if it has no body.
    pub(crate) response_schema: Schema,
    /// The component that describes those fields of the request that `field_docs` does not describe.
    pub(crate) documented_by: Cow<'static, str>,
    pub(crate) field_docs: FieldDocs,
}

/// Returns the error that `parse` reports for an example of an invalid body. Tries a body without fields, then a value
/// of the wrong type, then a body that is not an object.
pub(crate) fn find_invalid_body<T>(
    parameters: &[Parameter],
    parse: impl Fn(&mut Fields<'_>) -> Option<T>,
) -> Option<ApiError> {
    let changeable = parameters.iter().find(|parameter| !IMMUTABLE_FIELDS.contains(&&*parameter.name));
    let with_wrong_type = changeable.map_or_else(|| json!([]), |parameter| json!({&parameter.name: []}));
    ["{}", &with_wrong_type.to_string(), "[]"].iter().find_map(|body| {
        let parsed = Fields::parse(body.as_bytes()).and_then(|mut fields| {
            let command = parse(&mut fields);
            fields.check_faults(command).map(drop)
        });
        parsed.err().map(ApiError::from)
    })
}
