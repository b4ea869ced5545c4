//! The documentation of an operation that is not derived from its code. The rest of the API description comes from the types that it
//! reads and returns.

use schemars::JsonSchema;

use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::parameter::Parameter;

/// An operation in the API description.
pub(crate) trait OperationDocs {
    /// Its name in generated clients.
    const NAME: &'static str;
    /// A summary in one line.
    const SUMMARY: &'static str;
    /// Further documentation for clients, in Markdown.
    const DESCRIPTION: &'static str;
    /// Whether it is an addition of this service (behaviour 25).
    const IS_EXTENSION: bool = false;
    /// Whether the path accepts a domain instead of the id.
    const ACCEPTS_DOMAIN: bool = false;
    /// The status of its success.
    const SUCCESS_STATUS: u16 = 200;
    /// The component whose doc comments also describe the fields of the request that have the same names; `None` for the view.
    const DOCUMENTED_BY: Option<&str> = None;
    /// The doc comments of the other fields of the request.
    const FIELD_DOCS: FieldDocs = &[];
    /// The body of the success response; `()` for none. The doc comments of its fields describe them to clients.
    type View: JsonSchema;

    /// The parameters of its query.
    fn query_parameters() -> Vec<Parameter> {
        Vec::new()
    }
}
