//! The hand-written documentation of an operation. The rest of the API description is derived from the types that the
//! operation reads and returns.

use guerdon_api_types::FieldDocs;
use schemars::JsonSchema;

use crate::operation::Query;

/// An operation in the API description.
pub(crate) trait OperationDocs {
    /// The name of the operation in generated clients.
    const NAME: &'static str;
    /// A summary in one line.
    const SUMMARY: &'static str;
    /// Further documentation for clients, in Markdown.
    const DESCRIPTION: &'static str;
    /// Whether the operation is an addition of this service (behaviour 25).
    const IS_EXTENSION: bool = false;
    /// Whether the path accepts a domain instead of the id.
    const ACCEPTS_DOMAIN: bool = false;
    /// The status of a successful response.
    const SUCCESS_STATUS: u16 = 200;
    /// The component whose doc comments also describe the request's fields of the same names; `None` for the component
    /// of the view.
    const DOCUMENTED_BY: Option<&str> = None;
    /// The doc comments of the other fields of the request.
    const FIELD_DOCS: FieldDocs = &[];
    /// Reads the query, to document its parameters and its faults.
    const READ_QUERY: fn(&mut Query) = |_| {};
    /// The body of a successful response; `()` for none. The API description contains the doc comments of its fields.
    type View: JsonSchema;
}
