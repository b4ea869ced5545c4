//! The reference: each operation with its fields, responses, errors and example requests, as Markdown.

use serde_json::Value;

use crate::errors::write_errors;
use crate::examples::ExampleRequest;
use crate::fields::{string_field, write_fields, write_parameters};
use crate::operation::Operation;
use crate::page::{Group, Page};
use crate::schemas::{list_items, render_example, resolve_reference};

/// Renders a page for each tag of the description that has operations.
pub(crate) fn render_chapters(description: &Value) -> Vec<Page> {
    let operations = list_operations(description);
    let chapters = list_items(description, "tags").filter_map(|tag| {
        let name = string_field(tag, "name");
        let operations: Vec<&Operation<'_>> =
            operations.iter().filter(|operation| has_tag(operation.specification, name)).collect();
        let path = format!("/docs/reference/{}", name.to_lowercase());
        let summary = string_field(tag, "description");
        let text = write_chapter(name, summary, &operations, description);
        (!operations.is_empty()).then(|| Page::from_markdown(Group::Reference, path, name, summary, &text))
    });
    chapters.collect()
}

fn has_tag(operation: &Value, tag: &str) -> bool {
    operation.pointer("/tags/0").is_some_and(|first| first == tag)
}

fn list_operations(description: &Value) -> Vec<Operation<'_>> {
    let mut all_operations = Vec::new();
    for (path, operations) in object_entries(description, "paths") {
        for (key, method) in [("post", "POST"), ("get", "GET"), ("put", "PUT"), ("delete", "DELETE")] {
            if let Some(specification) = operations.get(key) {
                all_operations.push(Operation { method, path, specification });
            }
        }
    }
    all_operations
}

fn object_entries<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}

fn write_chapter(name: &str, summary: &str, operations: &[&Operation<'_>], description: &Value) -> String {
    let mut text = format!("# {name}\n\n{summary}\n\n");
    for operation in operations {
        let id = string_field(operation.specification, "operationId");
        let title = string_field(operation.specification, "summary");
        text.push_str(&format!("- [{title}](#{id}): `{} {}`\n", operation.method, operation.path));
    }
    text.push_str(
        "\nThe examples use the variables that `guerdon dev` prints. The Python and JavaScript examples also use \
         [client.py](/docs/files/client.py) and [client.mjs](/docs/files/client.mjs), from the same folder.\n\n",
    );
    for operation in operations {
        text.push_str(&write_operation(operation, description));
    }
    text
}

fn write_operation(operation: &Operation<'_>, description: &Value) -> String {
    let specification = operation.specification;
    let id = string_field(specification, "operationId");
    let mut text = format!(
        "## {} {{#{id}}}\n\n**{}** `{}`\n\n{}\n\n",
        string_field(specification, "summary"),
        operation.method,
        operation.path,
        string_field(specification, "description")
    );
    if specification.get("x-extension").is_some() {
        text.push_str("> Extension of this service.\n\n");
    }
    text.push_str(&ExampleRequest::new(operation.method, operation.path, specification).to_markdown());
    let parameters: Vec<&Value> = list_items(specification, "parameters")
        .map(|parameter| resolve_reference(description, parameter))
        .collect();
    if !parameters.is_empty() {
        text.push_str(&format!("### Parameters {{#{id}-parameters}}\n\n"));
        text.push_str(&write_parameters(&parameters, description));
    }
    if let Some(schema) = specification.pointer("/requestBody/content/application~1json/schema") {
        text.push_str(&format!("### Request body {{#{id}-body}}\n\n"));
        text.push_str(&write_fields(schema, description));
    }
    text.push_str(&write_response(specification, id, description));
    text.push_str(&write_errors(operation, id, description));
    text
}

/// Writes the successful response.
fn write_response(specification: &Value, id: &str, description: &Value) -> String {
    let mut responses = object_entries(specification, "responses");
    let Some((status, response)) = responses.find(|(status, _)| status.starts_with('2')) else {
        return String::new();
    };
    let mut text = format!("### Response {status} {{#{id}-response}}\n\n");
    match response.pointer("/content/application~1json/schema") {
        Some(schema) => text.push_str(&format!(
            "```json\n{}\n```\n\n<details><summary>Fields of the response</summary>\n\n{}</details>\n\n",
            render_example(description, schema),
            write_fields(schema, description)
        )),
        None => text.push_str("The response has no body.\n\n"),
    }
    text
}
