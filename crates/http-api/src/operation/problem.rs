//! Problem details (RFC 9457), the other format of errors (behaviour 5.6, 5.7).

use guerdon_api_types::parameter::FieldFault;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::error::status_schema;
use crate::operation::{ErrorCode, ErrorDetails};

/// An error in the format of RFC 9457.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Problem<'a> {
    /// The documentation of the code. Example: `"https://localhost:8443/docs/errors#not_found"`
    #[schemars(extend("format" = "uri"))]
    r#type: String,
    /// What the status means. Example: `"Not Found"`
    title: &'a str,
    /// The HTTP status. Example: `404`
    #[schemars(schema_with = "status_schema")]
    status: u16,
    /// Human-readable explanation, equal to `message` in the default format.
    /// Example: `"company not found: id 019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12"`
    detail: &'a str,
    /// Machine-readable error code. New codes can be added. Example: `"not_found"`
    code: ErrorCode,
    /// The id of the request, as in `X-Request-Id`. Example: `"019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12"`
    request_id: &'a str,
    /// The invalid fields of the path, the query or the body, in the order of the detail; empty if the error concerns
    /// no field.
    errors: Vec<FieldError>,
}

/// An invalid field.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FieldError {
    /// The name of the field. Example: `"id"`
    field: String,
    /// The part of the detail about this field.
    /// Example: `"company not found: id 019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12"`
    message: String,
}

impl<'a> Problem<'a> {
    /// The problem that an error response describes.
    pub(crate) fn new(details: &'a ErrorDetails, service_url: &str, request_id: &'a str) -> Self {
        let ErrorDetails { code, message, faults, .. } = details;
        Self {
            r#type: format!("{service_url}/docs/errors#{}", code.name()),
            title: code.status().canonical_reason().unwrap_or_default(),
            status: code.status().as_u16(),
            detail: message,
            code: *code,
            request_id,
            errors: list_field_errors(faults),
        }
    }
}

/// Returns one entry for each field. The entry of a field that breaks several rules contains all its messages.
fn list_field_errors(faults: &[FieldFault]) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = Vec::new();
    for FieldFault { fields, message, .. } in faults {
        for field in fields {
            match errors.iter_mut().find(|error| error.field == *field) {
                Some(error) => error.message = format!("{}; {message}", error.message),
                None => errors.push(FieldError { field: field.clone(), message: message.clone() }),
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ApiError;

    fn problem_of(error: &ApiError) -> serde_json::Value {
        serde_json::to_value(Problem::new(error.details(), "https://api.example", "r-1")).unwrap()
    }

    #[test]
    fn every_code_has_its_status_title_and_documentation() {
        for code in ErrorCode::ALL {
            let problem = problem_of(&ApiError::new(*code, "reason"));
            assert_eq!(problem["code"], code.name());
            assert_eq!(problem["type"], format!("https://api.example/docs/errors#{}", code.name()));
            assert_eq!(problem["status"], code.status().as_u16());
            assert_eq!(problem["title"], code.status().canonical_reason().unwrap());
            assert_eq!(problem["errors"], serde_json::json!([]));
        }
    }

    #[test]
    fn each_field_has_one_entry_with_its_part_of_the_detail() {
        let problem = problem_of(&ApiError::invalid_fields(vec![
            FieldFault::new("a", "a is required"),
            FieldFault::new("b", "b must not be x"),
            FieldFault::new("b", "b must not be y"),
            FieldFault::of_fields(["c", "d"], "c and d must be small"),
        ]));
        let entry = |field: &str, message: &str| serde_json::json!({"field": field, "message": message});
        let expected = serde_json::json!([
            entry("a", "a is required"),
            entry("b", "b must not be x; b must not be y"),
            entry("c", "c and d must be small"),
            entry("d", "c and d must be small"),
        ]);
        assert_eq!(problem["errors"], expected);
        assert_eq!(
            problem["detail"],
            "a is required; b must not be x; b must not be y; c and d must be small"
        );
    }
}
