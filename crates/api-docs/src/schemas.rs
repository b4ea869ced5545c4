//! Describes JSON Schemas in words and creates examples from them.

use serde_json::{Map, Value, json};

/// Returns the schema to which a reference refers, or the schema itself if it is not a reference.
pub(crate) fn resolve_reference<'a>(description: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.and_then(|pointer| description.pointer(pointer.trim_start_matches('#'))).unwrap_or(schema)
}

/// Returns the items of a list in an object; none if the list is missing.
pub(crate) fn list_items<'a>(object: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the required fields of an object.
pub(crate) fn required_fields(schema: &Value) -> Vec<&str> {
    list_items(schema, "required").filter_map(Value::as_str).collect()
}

/// Describes a value: `email or null, at most 254 characters`.
pub(crate) fn describe_schema(description: &Value, schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return name.to_owned();
    }
    let mut words = vec![describe_type(description, schema)];
    let number = |key: &str| schema.get(key).and_then(Value::as_i64);
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        let names: Vec<String> = names.iter().filter(|name| !name.is_null()).map(plain_text).collect();
        words.push(format!("one of {}", names.join(", ")));
    }
    if let Some(value) = schema.get("const") {
        words.push(format!("always {}", plain_text(value)));
    }
    match (number("minimum"), number("maximum").filter(|maximum| *maximum < i64::MAX)) {
        (Some(minimum), Some(maximum)) => words.push(format!("{minimum} to {maximum}")),
        (Some(minimum), None) => words.push(format!("from {minimum}")),
        (None, Some(maximum)) => words.push(format!("at most {maximum}")),
        (None, None) => {}
    }
    match (number("minLength"), number("maxLength")) {
        (Some(minimum), Some(maximum)) => words.push(format!("{minimum} to {maximum} characters")),
        (None, Some(maximum)) => words.push(format!("at most {maximum} characters")),
        _ => {}
    }
    if let Some(default) = schema.get("default") {
        words.push(format!("default {default}"));
    }
    words.join(", ")
}

fn describe_type(description: &Value, schema: &Value) -> String {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let named = names.iter().map(|name| match (*name, schema.get("format").and_then(Value::as_str)) {
        ("string", Some("uuid")) => "UUID".to_owned(),
        ("string", Some("date-time")) => "timestamp".to_owned(),
        ("string", Some("hostname")) => "domain name".to_owned(),
        ("string", Some("uri")) => "URL".to_owned(),
        ("string", Some(format)) => format.to_owned(),
        ("string", None) => "string".to_owned(),
        ("array", _) => {
            let items =
                schema.get("items").map(|items| describe_schema(description, items)).unwrap_or_default();
            format!("array of {items}")
        }
        (other, _) => other.to_owned(),
    });
    named.collect::<Vec<_>>().join(" or ")
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the fields of an object in the order of documentation.
pub(crate) fn ordered_fields(schema: &Value) -> Vec<(&str, &Value)> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let order = schema.get("x-order").or_else(|| schema.get("required")).and_then(Value::as_array);
    let named = order.into_iter().flatten().filter_map(Value::as_str);
    let mut fields: Vec<_> = named.filter_map(|name| properties.get_key_value(name)).collect();
    fields.extend(
        properties
            .iter()
            .filter(|(name, _)| !fields.iter().any(|(known, _)| known == name))
            .collect::<Vec<_>>(),
    );
    fields.into_iter().map(|(name, field)| (name.as_str(), field)).collect()
}

/// Returns an example of a value as JSON, with its fields in order.
pub(crate) fn render_example(description: &Value, schema: &Value) -> String {
    let mut text = String::new();
    write_example(description, schema, 0, &mut text);
    text
}

fn write_example(description: &Value, schema: &Value, depth: usize, text: &mut String) {
    let schema = resolve_reference(description, schema);
    let fields = ordered_fields(schema);
    if let Some(first) = schema.pointer("/oneOf/0") {
        write_example(description, first, depth, text);
    } else if let Some(items) = schema.get("items") {
        text.push('[');
        write_example(description, items, depth, text);
        text.push(']');
    } else if !fields.is_empty() && depth < 6 {
        let indent = "  ".repeat(depth + 1);
        text.push_str("{\n");
        for (number, (name, field)) in fields.iter().enumerate() {
            let comma = if number == 0 { "" } else { ",\n" };
            text.push_str(&format!("{comma}{indent}\"{name}\": "));
            write_example(description, field, depth + 1, text);
        }
        text.push_str(&format!("\n{}}}", "  ".repeat(depth)));
    } else {
        text.push_str(&example_value(schema).to_string());
    }
}

/// Returns an example of a value that is not an object with fields.
pub(crate) fn example_value(schema: &Value) -> Value {
    let example = schema.get("examples").and_then(|examples| examples.get(0)).or_else(|| schema.get("const"));
    example
        .cloned()
        .or_else(|| Some(schema.get("enum")?.get(0)?.clone()))
        .unwrap_or_else(|| json!(Map::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_described_in_words() {
        let check =
            |schema: Value, expected: &str| assert_eq!(describe_schema(&json!({}), &schema), expected);
        check(
            json!({"type": ["string", "null"], "format": "email", "maxLength": 254}),
            "email or null, at most 254 characters",
        );
        check(json!({"type": "integer", "minimum": 1, "maximum": 10_000}), "integer, 1 to 10000");
        check(json!({"type": "integer", "minimum": 0, "maximum": i64::MAX}), "integer, from 0");
        check(json!({"type": "string", "enum": ["user", "company"]}), "string, one of user, company");
        check(json!({"type": "boolean", "default": true}), "boolean, default true");
        check(json!({"type": "array", "items": {"$ref": "#/components/schemas/User"}}), "array of User");
    }

    #[test]
    fn an_example_keeps_the_order_of_the_fields() {
        let schema = json!({
            "properties": {"a": {"examples": [1]}, "b": {"items": {"$ref": "#/x"}, "type": "array"}},
            "required": ["b", "a"],
        });
        let text = render_example(&json!({"x": {"properties": {"c": {"examples": ["d"]}}}}), &schema);
        assert_eq!(text, "{\n  \"b\": [{\n    \"c\": \"d\"\n  }],\n  \"a\": 1\n}");
        assert_eq!(render_example(&json!({}), &json!({"oneOf": [{"const": 1}, {"const": 2}]})), "1");
    }
}
