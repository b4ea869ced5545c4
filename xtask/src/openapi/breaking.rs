//! Finds changes to the description that break clients: an operation or response field that was removed or changed
//! its type, or a parameter that became required or accepts less than before.

use serde_json::{Map, Value};

/// The keywords that define the type of a value.
const TYPE_KEYWORDS: &[&str] = &["type", "format", "$ref", "const", "pattern"];

/// Returns a description of each breaking change.
pub(super) fn find_breaking_changes(before: &Value, now: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    for (path, method, old) in list_operations(before) {
        let name = format!("{} {path}", method.to_uppercase());
        match now.pointer(&format!("/paths/{}/{method}", escape_pointer(path))) {
            None => changes.push(format!("{name} is gone")),
            Some(new) => compare_operations(&name, &Documents { before, now }, old, new, &mut changes),
        }
    }
    for (kind, old) in object_entries(before.get("webhooks")) {
        let pointer = "/post/requestBody/content/application~1json/schema";
        let name = format!("webhook {kind}");
        match now.get("webhooks").and_then(|webhooks| webhooks.get(kind)) {
            None => changes.push(format!("{name} is gone")),
            Some(new) => {
                let sides = Documents { before, now };
                compare_response_schemas(
                    &name,
                    &sides,
                    old.pointer(pointer),
                    new.pointer(pointer),
                    &mut changes,
                );
            }
        }
    }
    changes
}

/// The two documents, for resolving references.
struct Documents<'a> {
    before: &'a Value,
    now: &'a Value,
}

fn list_operations(document: &Value) -> Vec<(&String, &String, &Value)> {
    let paths = object_entries(document.get("paths"));
    paths
        .flat_map(|(path, item)| {
            object_entries(Some(item)).map(move |(method, operation)| (path, method, operation))
        })
        .collect()
}

fn compare_operations(
    name: &str,
    sides: &Documents<'_>,
    old: &Value,
    new: &Value,
    changes: &mut Vec<String>,
) {
    let (old_query, new_query) =
        (operation_parameters(sides.before, old), operation_parameters(sides.now, new));
    for (parameter, new) in &new_query {
        let was = old_query.iter().find(|(name, _)| name == parameter).map(|(_, schema)| *schema);
        let is_required = |parameter: &Value| parameter.get("required") == Some(&Value::Bool(true));
        if is_required(new) && !was.is_some_and(is_required) {
            changes.push(format!("{name} requires the parameter {parameter}"));
        }
        compare_request_schemas(
            &format!("{name}: {parameter}"),
            was.and_then(|parameter| parameter.get("schema")),
            new.get("schema"),
            changes,
        );
    }
    let body = "/requestBody/content/application~1json/schema";
    let (old_body, new_body) = (old.pointer(body), new.pointer(body));
    for field in required_fields(new_body) {
        if !required_fields(old_body).contains(&field) {
            changes.push(format!("{name} requires the field {field}"));
        }
    }
    for (field, new) in object_entries(new_body.and_then(|body| body.get("properties"))) {
        let was = old_body.and_then(|body| body.get("properties")?.get(field));
        compare_request_schemas(&format!("{name}: {field}"), was, Some(new), changes);
    }
    for (status, response) in
        object_entries(old.get("responses")).filter(|(status, _)| status.starts_with('2'))
    {
        let pointer = "/content/application~1json/schema";
        match new.get("responses").and_then(|responses| responses.get(status)) {
            None => changes.push(format!("{name} does not answer {status} any more")),
            Some(new) => compare_response_schemas(
                name,
                sides,
                response.pointer(pointer),
                new.pointer(pointer),
                changes,
            ),
        }
    }
}

/// Values that clients send must still be accepted.
fn compare_request_schemas(name: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<String>) {
    let (Some(old), Some(new)) = (old, new) else { return };
    for key in TYPE_KEYWORDS.iter().filter(|key| **key != "type") {
        if new.get(key).is_some() && new.get(key) != old.get(key) {
            changes.push(format!("{name} has another {key}"));
        }
    }
    if !string_list(old, "type").iter().all(|kind| string_list(new, "type").contains(kind)) {
        changes.push(format!("{name} has another type"));
    }
    if new.get("enum").is_some()
        && !string_list(old, "enum").iter().all(|value| string_list(new, "enum").contains(value))
    {
        changes.push(format!("{name} may say less"));
    }
    for (key, narrows) in [("maxLength", -1), ("maximum", -1), ("minLength", 1), ("minimum", 1)] {
        let bound = |schema: &Value| schema.get(key).and_then(Value::as_i64);
        let is_narrower = match (bound(old), bound(new)) {
            (Some(old), Some(new)) => (new - old).signum() == narrows,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_narrower {
            changes.push(format!("{name} has a narrower {key}"));
        }
    }
}

/// Values that clients read must still exist and have the same type.
fn compare_response_schemas(
    name: &str,
    sides: &Documents<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    changes: &mut Vec<String>,
) {
    let Some(old) = old else { return };
    let Some(new) = new else { return changes.push(format!("{name} is not answered any more")) };
    let (was, is) = (resolve_reference(sides.before, old), resolve_reference(sides.now, new));
    for key in TYPE_KEYWORDS.iter().filter(|key| **key != "$ref" && **key != "pattern") {
        if was.get(key) != is.get(key) {
            changes.push(format!("{name} has another {key}"));
        }
    }
    if string_list(is, "enum").iter().any(|value| !string_list(was, "enum").contains(value))
        && was.get("enum").is_some()
    {
        changes.push(format!("{name} may say what it did not"));
    }
    for (field, old) in object_entries(was.get("properties")) {
        let new = is.get("properties").and_then(|properties| properties.get(field));
        match new {
            None => changes.push(format!("{name}: {field} is gone")),
            Some(_)
                if required_fields(Some(was)).contains(&field.as_str())
                    && !required_fields(Some(is)).contains(&field.as_str()) =>
            {
                changes.push(format!("{name}: {field} may be left out"));
            }
            Some(_) => compare_response_schemas(&format!("{name}: {field}"), sides, Some(old), new, changes),
        }
    }
    if let Some(items) = was.get("items") {
        compare_response_schemas(&format!("{name}[]"), sides, Some(items), is.get("items"), changes);
    }
}

fn resolve_reference<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.and_then(|pointer| document.pointer(pointer.trim_start_matches('#'))).unwrap_or(schema)
}

fn operation_parameters<'a>(document: &'a Value, operation: &'a Value) -> Vec<(String, &'a Value)> {
    let all = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let named = all.map(|parameter| resolve_reference(document, parameter)).map(|parameter| {
        let part = |key| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
        (format!("{} in the {}", part("name"), part("in")), parameter)
    });
    named.collect()
}

fn required_fields(schema: Option<&Value>) -> Vec<&str> {
    schema.map(|schema| string_list(schema, "required")).unwrap_or_default()
}

/// Returns a string or a list of strings as a list.
fn string_list<'a>(schema: &'a Value, key: &str) -> Vec<&'a str> {
    match schema.get(key) {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn object_entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn escape_pointer(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample_document() -> Value {
        json!({
            "paths": {"/v1/users": {"post": {
                "parameters": [{"name": "page", "in": "query", "required": false, "schema": {"type": "integer"}}],
                "requestBody": {"content": {"application/json": {"schema": {
                    "required": ["email"],
                    "properties": {
                        "email": {"type": "string", "maxLength": 254},
                        "kind": {"type": ["string", "null"], "enum": ["a", "b"]},
                    },
                }}}},
                "responses": {"201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/User"}}}}},
            }}},
            "components": {"schemas": {"User": {
                "required": ["id"],
                "properties": {"id": {"type": "string", "format": "uuid"}, "tags": {"type": "array", "items": {"type": "string"}}},
            }}},
            "webhooks": {"made": {"post": {"requestBody": {"content": {"application/json": {"schema": {
                "properties": {"type": {"const": "made"}},
            }}}}}}},
        })
    }

    fn assert_breaks(change: impl FnOnce(&mut Value), expected: &[&str]) {
        let mut now = sample_document();
        change(&mut now);
        assert_eq!(find_breaking_changes(&sample_document(), &now), expected);
    }

    const OPERATION: &str = "/paths/~1v1~1users/post";
    const FIELDS: &str = "/paths/~1v1~1users/post/requestBody/content/application~1json/schema";
    const USER: &str = "/components/schemas/User";

    #[test]
    fn additions_break_nothing() {
        assert_breaks(|_| {}, &[]);
        assert_breaks(|document| document["paths"]["/v1/more"] = json!({"get": {}}), &[]);
        assert_breaks(
            |document| {
                document.pointer_mut(FIELDS).unwrap()["properties"]["more"] = json!({"type": "string"})
            },
            &[],
        );
        assert_breaks(
            |document| document.pointer_mut(USER).unwrap()["properties"]["more"] = json!({"type": "string"}),
            &[],
        );
        assert_breaks(|document| document.pointer_mut(FIELDS).unwrap()["required"] = json!([]), &[]);
        assert_breaks(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["email"]["maxLength"] = json!(300),
            &[],
        );
    }

    #[test]
    fn what_clients_send_must_still_be_taken() {
        let name = "POST /v1/users";
        let field =
            |document: &mut Value, value: Value| document.pointer_mut(FIELDS).unwrap()["required"] = value;
        assert_breaks(
            |document| field(document, json!(["email", "kind"])),
            &[&format!("{name} requires the field kind")],
        );
        let parameter = |document: &mut Value| {
            document.pointer_mut(OPERATION).unwrap()["parameters"][0]["required"] = json!(true)
        };
        assert_breaks(parameter, &[&format!("{name} requires the parameter page in the query")]);
        assert_breaks(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["kind"]["enum"] = json!(["a"]),
            &[&format!("{name}: kind may say less")],
        );
        assert_breaks(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["kind"]["type"] = json!("string"),
            &[&format!("{name}: kind has another type")],
        );
        assert_breaks(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["email"]["maxLength"] = json!(100),
            &[&format!("{name}: email has a narrower maxLength")],
        );
    }

    #[test]
    fn what_clients_read_must_still_be_there() {
        let name = "POST /v1/users";
        assert_breaks(|document| document["paths"] = json!({}), &[&format!("{name} is gone")]);
        assert_breaks(
            |document| document.pointer_mut(OPERATION).unwrap()["responses"] = json!({}),
            &[&format!("{name} does not answer 201 any more")],
        );
        assert_breaks(
            |document| {
                document.pointer_mut(USER).unwrap()["properties"] =
                    json!({"id": {"type": "string", "format": "uuid"}})
            },
            &[&format!("{name}: tags is gone")],
        );
        assert_breaks(
            |document| document.pointer_mut(USER).unwrap()["properties"]["id"]["format"] = json!("int"),
            &[&format!("{name}: id has another format")],
        );
        assert_breaks(
            |document| document.pointer_mut(USER).unwrap()["required"] = json!([]),
            &[&format!("{name}: id may be left out")],
        );
        assert_breaks(
            |document| {
                document.pointer_mut(USER).unwrap()["properties"]["tags"]["items"]["type"] = json!("integer")
            },
            &[&format!("{name}: tags[] has another type")],
        );
        assert_breaks(|document| document["webhooks"] = json!({}), &["webhook made is gone"]);
    }
}
