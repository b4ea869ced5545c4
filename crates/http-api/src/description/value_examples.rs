//! Composes examples of requests and responses from the examples of their fields.

use serde_json::{Map, Value};

/// The maximum nesting of schemas in an example.
const DEPTH_MAX: usize = 16;

/// Returns an example of the values that a schema describes. `components` are the schemas that it can refer to.
pub(super) fn compose_example(schema: &Value, components: &Map<String, Value>) -> Value {
    compose_to_depth(schema, components, DEPTH_MAX)
}

fn compose_to_depth(schema: &Value, components: &Map<String, Value>, depth: usize) -> Value {
    let compose = |schema: &Value| compose_to_depth(schema, components, depth.saturating_sub(1));
    if depth == 0 {
        return Value::Null;
    }
    if let Some(example) = schema.pointer("/examples/0").or_else(|| schema.get("const")) {
        return example.clone();
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return components.get(name).map(compose).unwrap_or_default();
    }
    if let Some(first) = schema.pointer("/oneOf/0").or_else(|| schema.pointer("/anyOf/0")) {
        return compose(first);
    }
    if let Some(items) = schema.get("items") {
        return Value::Array(vec![compose(items)]);
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        return properties.iter().map(|(name, property)| (name.clone(), compose(property))).collect();
    }
    schema.pointer("/enum/0").cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_example_has_the_examples_of_its_fields() {
        let components = json!({"User": {"properties": {"name": {"type": "string", "examples": ["Ada"]}}}});
        let check = |schema: Value, expected: Value| {
            assert_eq!(compose_example(&schema, components.as_object().unwrap()), expected, "{schema}");
        };
        check(json!({"type": "integer", "examples": [5]}), json!(5));
        check(json!({"const": "1.0"}), json!("1.0"));
        check(json!({"enum": ["a", "b"]}), json!("a"));
        check(json!({"$ref": "#/components/schemas/User"}), json!({"name": "Ada"}));
        check(json!({"items": {"$ref": "#/components/schemas/User"}}), json!([{"name": "Ada"}]));
        check(json!({"oneOf": [{"$ref": "#/components/schemas/User"}]}), json!({"name": "Ada"}));
        check(
            json!({"properties": {"a": {"const": 1}, "b": {"properties": {"c": {"examples": [null]}}}}}),
            json!({"a": 1, "b": {"c": null}}),
        );
    }

    #[test]
    fn an_example_of_a_recursive_schema_ends() {
        let components = json!({"Tree": {"properties": {"child": {"$ref": "#/components/schemas/Tree"}}}});
        let example =
            compose_example(&json!({"$ref": "#/components/schemas/Tree"}), components.as_object().unwrap());
        assert!(example.pointer("/child/child").is_some());
    }
}
