//! What is told of an operation beside what its code says: the rest of the description is made of what it reads and answers.

use schemars::JsonSchema;

use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::parameter::Parameter;

/// An operation that the description of the API tells of.
pub(crate) trait Described {
    /// Its name in generated clients.
    const NAME: &'static str;
    /// What it does, in a few words.
    const SUMMARY: &'static str;
    /// What else whoever calls it should know, in Markdown.
    const TEXT: &'static str;
    /// Whether it is an addition of this service (behaviour 25).
    const IS_EXTENSION: bool = false;
    /// Whether the path takes a domain in place of the id.
    const TAKES_DOMAIN: bool = false;
    /// The status of its success.
    const STATUS: u16 = 200;
    /// The component whose doc comments also describe the fields of the request that have the same names; `None` for the view.
    const DOCUMENTED_BY: Option<&str> = None;
    /// The doc comments of the other fields of the request.
    const FIELD_DOCS: FieldDocs = &[];
    /// What its success answers; `()` for nothing. The doc comments of its fields describe them to clients.
    type View: JsonSchema;

    /// What it reads in the query.
    fn query() -> Vec<Parameter> {
        Vec::new()
    }
}
