//! The errors of an operation, as Markdown: those that it can return because of its parameters, its body and the
//! objects that it reads, apart from those that every operation can return.

use serde_json::Value;

use crate::fields::string_field;
use crate::operation::Operation;
use crate::schemas::{list_items, ordered_fields, required_fields, resolve_reference};

/// An error that an operation can return.
struct OperationError {
    status: String,
    code: String,
    meaning: String,
    /// Empty if the message depends on the request.
    message: String,
}

/// The codes that every operation can return.
const COMMON_CODES: [&str; 8] = [
    "https_required",
    "unauthorized",
    "version_retired",
    "rate_limited",
    "login_rate_limited",
    "internal",
    "maintenance",
    "unavailable",
];

/// Writes a section with a table and an example.
pub(crate) fn write_errors(operation: &Operation<'_>, id: &str, description: &Value) -> String {
    let errors = list_errors(operation, description);
    let mut text = format!("### Errors {{#{id}-errors}}\n\n");
    if !errors.is_empty() {
        text.push_str("| Error | When |\n|---|---|\n");
    }
    for OperationError { status, code, meaning, message } in &errors {
        let message = if message.is_empty() { String::new() } else { format!(" Example: `{message}`") };
        text.push_str(&format!("| {status} [`{code}`](/docs/errors#{code}) | {meaning}{message} |\n"));
    }
    let example =
        errors.iter().filter(|error| !error.message.is_empty()).min_by_key(|error| match &*error.code {
            "idempotency_key_reused" => 3,
            "invalid_request" => 2,
            "not_found" => 1,
            _ => 0,
        });
    if let Some(error) = example {
        let message = Value::from(&*error.message);
        let body = format!(
            "{{\n  \"error\": {{\n    \"status\": {},\n    \"message\": {message}\n  }}\n}}",
            error.status
        );
        text.push_str(&format!("\n```json\n{body}\n```\n"));
    }
    let common = COMMON_CODES.map(|code| format!("[`{code}`](/docs/errors#{code})")).join(", ");
    text.push_str(&format!("\nEvery operation can also return {common}.\n\n"));
    text
}

/// Lists the errors in the order of their statuses, the general one of each status first.
fn list_errors(operation: &Operation<'_>, description: &Value) -> Vec<OperationError> {
    let responses = operation.specification.get("responses").and_then(Value::as_object).into_iter().flatten();
    let mut errors: Vec<OperationError> = responses
        .flat_map(|(status, response)| {
            let response = resolve_reference(description, response);
            let examples = response.pointer("/content/application~1json/examples").and_then(Value::as_object);
            examples
                .into_iter()
                .flatten()
                .filter_map(|(code, example)| operation_error(operation, status, code, example))
        })
        .collect();
    errors.sort_by_key(|error| (error.status.clone(), error.code != "invalid_request"));
    errors
}

/// Returns the error with this code; `None` if the operation does not return it, or if every operation does.
fn operation_error(
    operation: &Operation<'_>,
    status: &str,
    code: &str,
    example: &Value,
) -> Option<OperationError> {
    let body_names = body_fields(operation);
    let has_field = |name: &str| body_names.contains(&name);
    let general_message = example.pointer("/value/error/message").and_then(Value::as_str).unwrap_or_default();
    let (is_returned, message) = match code {
        "invalid_request" => (true, invalid_message(operation)),
        "forbidden" => (names_objects(operation, &body_names), String::new()),
        "not_found" => (true, not_found_message(operation.path)),
        "domain_taken" => (operation.method == "POST" && has_field("domain"), general_message.to_owned()),
        "email_taken" => (has_field("email"), general_message.to_owned()),
        "insufficient_funds" => (has_field("points_per_receiver"), general_message.to_owned()),
        "points_out_of_range" => (has_field("points_per_receiver"), String::new()),
        "idempotency_key_reused" => (accepts_key(operation), general_message.to_owned()),
        _ => (!COMMON_CODES.contains(&code), general_message.to_owned()),
    };
    let meaning = string_field(example, "summary").to_owned();
    is_returned.then(|| OperationError { status: status.to_owned(), code: code.to_owned(), meaning, message })
}

fn body_schema<'a>(operation: &Operation<'a>) -> Option<&'a Value> {
    operation.specification.pointer("/requestBody/content/application~1json/schema")
}

fn body_fields<'a>(operation: &Operation<'a>) -> Vec<&'a str> {
    body_schema(operation).map(ordered_fields).unwrap_or_default().into_iter().map(|(name, _)| name).collect()
}

/// Whether the request names an object, which may belong to another provider, or needs a special permission.
fn names_objects(operation: &Operation<'_>, body_names: &[&str]) -> bool {
    let mut parameters =
        list_items(operation.specification, "parameters").map(|parameter| string_field(parameter, "name"));
    operation.path.contains("{id}")
        || body_names.iter().any(|name| name.ends_with("_id") || name.ends_with("_ids"))
        || parameters.any(|name| name == "corporation_id")
        || string_field(operation.specification, "description").contains("403")
}

fn accepts_key(operation: &Operation<'_>) -> bool {
    let mut references =
        list_items(operation.specification, "parameters").map(|parameter| string_field(parameter, "$ref"));
    references.any(|reference| reference.ends_with("/Idempotency-Key"))
}

/// Returns the message about the first required field, or about the page of a list; otherwise an empty string.
fn invalid_message(operation: &Operation<'_>) -> String {
    let first_required = body_schema(operation).map(required_fields).unwrap_or_default().into_iter().next();
    let mut parameters =
        list_items(operation.specification, "parameters").map(|parameter| string_field(parameter, "name"));
    match (first_required, parameters.find(|name| ["page", "limit"].contains(name))) {
        (Some(field), _) => format!("{field} is required"),
        (None, Some(parameter)) => format!("{parameter} must be an integer from 1"),
        (None, None) => String::new(),
    }
}

/// Returns the message about the object in the path, or an empty string if the path has no id.
fn not_found_message(path: &str) -> String {
    let noun = match path.trim_start_matches("/v1/").split_once("/{id}").map(|(collection, _)| collection) {
        Some("companies") => "company",
        Some(plural) => plural.trim_end_matches('s'),
        None => return String::new(),
    };
    format!("{noun} not found")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(method: &'static str, path: &str, body: &Value, parameters: &Value) -> String {
        let example = |code: &str, message: &str| json!({code: {"summary": "Why.", "value": {"error": {"message": message}}}});
        let response = |examples: Value| json!({"content": {"application/json": {"examples": examples}}});
        let mut invalid = example("email_taken", "email has already been taken");
        invalid["invalid_request"] = json!({"summary": "Why."});
        let specification = json!({
            "parameters": parameters,
            "requestBody": {"content": {"application/json": {"schema": body}}},
            "responses": {
                "400": response(invalid),
                "401": response(example("unauthorized", "no")),
                "404": response(example("not_found", "company not found")),
            },
        });
        write_errors(&Operation { method, path, specification: &specification }, "x", &json!({}))
    }

    #[test]
    fn an_operation_has_the_errors_of_its_fields_and_of_its_path() {
        let schema = json!({"properties": {"email": {}}, "required": ["email"]});
        let text = write("POST", "/v1/users/{id}", &schema, &json!([]));
        for row in [
            "| 400 [`invalid_request`](/docs/errors#invalid_request) | Why. Example: `email is required` |",
            "| 400 [`email_taken`](/docs/errors#email_taken) | Why. Example: `email has already been taken` |",
            "| 404 [`not_found`](/docs/errors#not_found) | Why. Example: `user not found` |",
            "\"message\": \"email has already been taken\"",
            "Every operation can also return [`https_required`](/docs/errors#https_required)",
        ] {
            assert!(text.contains(row), "{row} is not in {text}");
        }
        assert!(!text.contains("| 401 "), "{text}");
    }

    #[test]
    fn an_operation_without_fields_has_no_errors_about_them() {
        let text = write("GET", "/v1/companies", &json!({}), &json!([{"name": "page"}]));
        assert!(!text.contains("email_taken"), "{text}");
        assert!(text.contains("Example: `page must be an integer from 1` |"), "{text}");
    }
}
