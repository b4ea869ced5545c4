//! The errors of an operation, as Markdown: a table of those that it can return because of its parameters, its body and
//! the objects that it reads, an example in both formats, and links to the errors that every operation can return.

use serde_json::Value;

use crate::error_causes::describe_cause;
use crate::fields::string_field;
use crate::operation::Operation;
use crate::schemas::resolve_reference;

/// An error that an operation can return.
struct OperationError {
    status: String,
    code: String,
    cause: String,
    message: String,
    /// The same error as problem details.
    problem: Value,
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

/// The members of problem details, in the order in which the service sends them.
const PROBLEM_MEMBERS: [&str; 7] = ["type", "title", "status", "detail", "code", "request_id", "errors"];

/// Writes a section with a table and an example.
pub(crate) fn write_errors(operation: &Operation<'_>, id: &str, description: &Value) -> String {
    let errors = list_errors(operation, description);
    let mut text = format!("### Errors {{#{id}-errors}}\n\n");
    if !errors.is_empty() {
        text.push_str("| Error | When |\n|---|---|\n");
    }
    for OperationError { status, code, cause, message, .. } in &errors {
        let error = format!("{status} [`{code}`](/docs/errors#{code})");
        text.push_str(&format!("| {error} | {cause} Example: `{message}` |\n"));
    }
    if let Some(error) = errors.iter().min_by_key(|error| example_order(&error.code)) {
        text.push_str(&write_example(error));
    }
    let common = COMMON_CODES.map(|code| format!("[`{code}`](/docs/errors#{code})")).join(", ");
    text.push_str(&format!("\nEvery operation can also return {common}.\n\n"));
    text
}

/// Returns the rank of an error as the example of an operation; the lowest rank is preferred. Errors that the
/// operation's own rules cause come first.
fn example_order(code: &str) -> u8 {
    match code {
        "not_found" => 1,
        "invalid_request" => 2,
        "forbidden" | "idempotency_key_reused" => 3,
        _ => 0,
    }
}

/// Writes an error in the default format and as problem details.
fn write_example(error: &OperationError) -> String {
    let message = Value::from(&*error.message);
    let default = format!(
        "{{\n  \"error\": {{\n    \"status\": {},\n    \"message\": {message}\n  }}\n}}",
        error.status
    );
    let members = PROBLEM_MEMBERS.iter().filter_map(|name| Some((name, error.problem.get(name)?)));
    let members: Vec<String> = members.map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    let mut text = format!("\n```json\n{default}\n```\n");
    if !members.is_empty() {
        text.push_str(&format!(
            "\n<details><summary>With <code>Accept: application/problem+json</code></summary>\n\n\
             ```json\n{{\n{}\n}}\n```\n\n</details>\n",
            members.join(",\n")
        ));
    }
    text
}

/// Lists the errors in the order of their statuses. Within a status, `invalid_request` comes first.
fn list_errors(operation: &Operation<'_>, description: &Value) -> Vec<OperationError> {
    let responses = operation.specification.get("responses").and_then(Value::as_object).into_iter().flatten();
    let mut errors = Vec::new();
    for (status, response) in responses {
        let response = resolve_reference(description, response);
        let examples = response.pointer("/content/application~1json/examples").and_then(Value::as_object);
        let own_examples =
            examples.into_iter().flatten().filter(|(code, _)| !COMMON_CODES.contains(&code.as_str()));
        errors.extend(
            own_examples.map(|(code, example)| OperationError {
                status: status.clone(),
                code: code.clone(),
                cause: describe_cause(operation, code, string_field(example, "summary")),
                message: example
                    .pointer("/value/error/message")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                problem: example.get("x-problem-details").cloned().unwrap_or_default(),
            }),
        );
    }
    errors.sort_by_key(|error| (error.status.clone(), error.code != "invalid_request"));
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_has_its_own_errors_with_an_example_in_both_formats() {
        let example = |code: &str, message: &str| json!({"summary": "Why.", "value": {"error": {"message": message}}, "x-problem-details": {"errors": [], "code": code}});
        let response = |examples: Value| json!({"content": {"application/json": {"examples": examples}}});
        let specification = json!({"responses": {
            "200": {},
            "400": response(json!({
                "email_taken": example("email_taken", "email has already been taken"),
                "invalid_request": example("invalid_request", "email is required"),
            })),
            "401": {"$ref": "#/unauthorized"},
        }});
        let description =
            json!({"unauthorized": response(json!({"unauthorized": example("unauthorized", "no")}))});
        let operation = Operation { method: "POST", path: "/v1/users", specification: &specification };
        let text = write_errors(&operation, "createUser", &description);
        for part in [
            "Example: `email is required` |\n| 400 [`email_taken`](/docs/errors#email_taken) | Why. Example: `email has already been taken` |",
            "\"message\": \"email has already been taken\"",
            "```json\n{\n  \"code\": \"email_taken\",\n  \"errors\": []\n}\n```",
            "Every operation can also return [`https_required`](/docs/errors#https_required)",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(!text.contains("| 401 "), "{text}");
    }
}
