//! Tables of fields and parameters, as Markdown.

use serde_json::Value;

use crate::schemas::{describe_schema, ordered_fields, required_fields, resolve_reference};

/// Writes a table of parameters. The type begins with the parameter's place: path, query or header.
pub(crate) fn write_parameters(parameters: &[&Value], description: &Value) -> String {
    let mut text = "| Name | Description |\n|---|---|\n".to_owned();
    for parameter in parameters {
        let is_required = parameter.get("required") == Some(&Value::Bool(true));
        let name = string_field(parameter, "name");
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        let row = format!(
            "| `{name}`{} | {} |\n",
            required_mark(is_required),
            describe_value(parameter, schema, description)
        );
        text.push_str(&row);
    }
    text.push('\n');
    text
}

/// Writes a table of an object's fields, followed by a table for each nested object.
pub(crate) fn write_fields(schema: &Value, description: &Value) -> String {
    let schema = resolve_reference(description, schema);
    if let Some(kinds) = schema.pointer("/discriminator/mapping").and_then(Value::as_object) {
        return write_event_kinds(kinds.keys());
    }
    let required = required_fields(schema);
    let is_sent = schema.get("x-order").is_some();
    let mut text = "| Field | Description |\n|---|---|\n".to_owned();
    for (name, field) in ordered_fields(schema) {
        let mark = required_mark(is_sent && required.contains(&name));
        text.push_str(&format!("| `{name}`{mark} | {} |\n", describe_value(field, field, description)));
    }
    text.push('\n');
    for (name, field) in ordered_fields(schema) {
        if let Some(nested) = nested_object(field) {
            text.push_str(&format!("Fields of `{name}`:\n\n{}", write_fields(nested, description)));
        }
    }
    text
}

/// Writes links to the pages of the kinds of events, which list the fields of each kind.
fn write_event_kinds<'a>(kinds: impl Iterator<Item = &'a String>) -> String {
    let links: Vec<_> = kinds.map(|kind| format!("[`{kind}`](/docs/events/{kind})")).collect();
    format!("The fields depend on the kind of event: {}.\n\n", links.join(", "))
}

fn required_mark(is_required: bool) -> &'static str {
    if is_required { " **required**" } else { "" }
}

/// Returns the description of a field or parameter with its schema in words, for a cell of a table.
fn describe_value(documented: &Value, schema: &Value, description: &Value) -> String {
    let mut words = describe_schema(description, schema);
    if let Some(place) = documented.get("in").and_then(Value::as_str) {
        words = format!("{place}: {words}");
    }
    let text = format!("{} *{words}*", string_field(documented, "description"));
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', r"\|")
}

/// Returns the object that a field holds, directly or in a list.
fn nested_object(field: &Value) -> Option<&Value> {
    let object = field.get("items").unwrap_or(field);
    (object.get("$ref").is_some() || object.get("properties").is_some()).then_some(object)
}

/// Returns a string in an object; empty if it is missing.
pub(crate) fn string_field<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_a_row_with_its_description_and_its_type() {
        let schema = json!({
            "properties": {"a": {"type": "string", "description": "One of `x|y`.\n\nMore."}, "b": {"items": {"$ref": "#/c"}}},
            "required": ["a"],
            "x-order": ["a", "b"],
        });
        let text = write_fields(&schema, &json!({"c": {"properties": {"d": {"type": "integer"}}}}));
        assert!(text.contains("| `a` **required** | One of `x\\|y`. More. *string* |\n"), "{text}");
        assert!(
            text.contains("Fields of `b`:\n\n| Field | Description |\n|---|---|\n| `d` | *integer* |\n"),
            "{text}"
        );
    }

    #[test]
    fn a_parameter_is_a_row_with_its_place() {
        let parameter =
            json!({"name": "page", "in": "query", "description": "The page.", "schema": {"type": "integer"}});
        let text = write_parameters(&[&parameter], &json!({}));
        assert!(text.ends_with("| `page` | The page. *query: integer* |\n\n"), "{text}");
    }
}
