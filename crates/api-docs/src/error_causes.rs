//! Describes in words when an operation returns an error, derived from the parameters and fields that the operation
//! reads.

use serde_json::Value;

use crate::fields::string_field;
use crate::operation::Operation;
use crate::schemas::{list_items, ordered_fields, required_fields};

/// Returns one or more sentences. `meaning` is the general meaning of the code.
pub(crate) fn describe_cause(operation: &Operation<'_>, code: &str, meaning: &str) -> String {
    let sentences = match code {
        "invalid_request" => invalid_parts(operation),
        "forbidden" => missing_rights(operation),
        "not_found" => missing_objects(operation),
        _ => Vec::new(),
    };
    if sentences.is_empty() { meaning.to_owned() } else { sentences.join(" ") }
}

fn invalid_parts(operation: &Operation<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(schema) = body_schema(operation) {
        sentences.push(match join_names(required_fields(schema).into_iter().map(quote)) {
            Some(names) => format!("The body is not a JSON object, or {names} is missing."),
            None => "The body is not a JSON object.".to_owned(),
        });
        sentences.push("A field does not follow its rule above, or contradicts another one.".to_owned());
    }
    let query = query_parameters(operation).map(|parameter| quote(string_field(parameter, "name")));
    sentences.extend(join_names(query).map(|names| format!("{names} does not follow its rule above.")));
    sentences
}

fn missing_rights(operation: &Operation<'_>) -> Vec<String> {
    let text = string_field(operation.specification, "description");
    let mut sentences = Vec::new();
    if text.contains("manage all domain resources") {
        sentences.push("You do not have the right to manage all domain resources.".to_owned());
    }
    if text.contains("Global occasions cannot be") {
        sentences.push("The occasion is global.".to_owned());
    }
    sentences
        .extend(path_noun(operation.path).map(|noun| format!("The {noun} belongs to another provider.")));
    sentences
        .extend(join_references(operation).map(|names| format!("{names} is an object of another provider.")));
    sentences
}

fn missing_objects(operation: &Operation<'_>) -> Vec<String> {
    let path = path_noun(operation.path).map(|noun| format!("The {noun} does not exist."));
    let references = join_references(operation).map(|names| format!("{names} does not exist."));
    path.into_iter().chain(references).collect()
}

/// Returns the noun of the object whose id is in the path: `company` for `/v1/companies/{id}/users`.
fn path_noun(path: &str) -> Option<&str> {
    let (collection, _) = path.trim_start_matches("/v1/").split_once("/{id}")?;
    Some(if collection == "companies" { "company" } else { collection.trim_end_matches('s') })
}

/// Returns the fields and query parameters that hold ids of objects: ``` `a`, `b` or `c` ```; `None` if there are none.
fn join_references(operation: &Operation<'_>) -> Option<String> {
    let fields = body_schema(operation).map(ordered_fields).unwrap_or_default();
    let query = query_parameters(operation)
        .filter_map(|parameter| Some((string_field(parameter, "name"), parameter.get("schema")?)));
    let references = fields
        .into_iter()
        .chain(query)
        .filter(|(name, schema)| is_reference(name, schema) && !is_immutable(operation, name));
    join_names(references.map(|(name, _)| quote(name)))
}

/// Joins names as ``` `a`, `b` or `c` ```; `None` if there are none.
fn join_names(names: impl Iterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.collect();
    let (last, others) = names.split_last()?;
    Some(if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) })
}

fn quote(name: &str) -> String {
    format!("`{name}`")
}

fn is_reference(name: &str, schema: &Value) -> bool {
    name == "receiver_ids" || string_field(schema, "format") == "uuid"
}

/// Whether the field can only be sent with its current value.
fn is_immutable(operation: &Operation<'_>, name: &str) -> bool {
    operation.method == "PUT" && name == "company_id"
}

fn body_schema<'a>(operation: &Operation<'a>) -> Option<&'a Value> {
    operation.specification.pointer("/requestBody/content/application~1json/schema")
}

fn query_parameters<'a>(operation: &Operation<'a>) -> impl Iterator<Item = &'a Value> {
    list_items(operation.specification, "parameters")
        .filter(|parameter| string_field(parameter, "in") == "query")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, specification: &Value, code: &str, expected: &str) {
        let operation = Operation { method: "POST", path, specification };
        assert_eq!(describe_cause(&operation, code, "In general."), expected, "{code} of {path}");
    }

    #[test]
    fn causes_name_what_the_operation_reads() {
        let schema = json!({"properties": {
            "occasion_id": {"format": "uuid"}, "receiver_ids": {}, "sender_id": {"type": "string", "format": "uuid"}, "idp_id": {},
        }});
        let send = json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
        check(
            "/v1/recognitions",
            &send,
            "not_found",
            "`occasion_id`, `receiver_ids` or `sender_id` does not exist.",
        );
        let delete = json!({"description": "Global occasions cannot be deleted (403)."});
        let expected = "The occasion is global. The occasion belongs to another provider.";
        check("/v1/occasions/{id}", &delete, "forbidden", expected);
        let list =
            json!({"parameters": [{"name": "corporation_id", "in": "query", "schema": {"format": "uuid"}}]});
        check("/v1/companies", &list, "forbidden", "`corporation_id` is an object of another provider.");
        check("/v1/companies", &list, "invalid_request", "`corporation_id` does not follow its rule above.");
        let schema = json!({"required": ["email", "last_name"], "properties": {}});
        let create = json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
        let expected = "The body is not a JSON object, or `email` or `last_name` is missing. \
             A field does not follow its rule above, or contradicts another one.";
        check("/v1/users", &create, "invalid_request", expected);
        check("/v1/companies/{id}/users", &json!({}), "not_found", "The company does not exist.");
        let schema = json!({"properties": {"company_id": {"format": "uuid"}}});
        let update = json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
        let operation = Operation { method: "PUT", path: "/v1/users/{id}", specification: &update };
        assert_eq!(describe_cause(&operation, "not_found", "In general."), "The user does not exist.");
    }

    #[test]
    fn other_codes_and_operations_have_the_general_meaning() {
        check("/v1/users/{id}", &json!({}), "email_taken", "In general.");
        check("/v1/users/{id}", &json!({}), "invalid_request", "In general.");
    }
}
