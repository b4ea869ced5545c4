//! Finds changes to the description that break clients: an operation or response field that was removed or changed
//! its type, or a parameter that became required or accepts less than before.

use serde_json::{Map, Value};

/// The keywords that define the type of a value.
const FORM: &[&str] = &["type", "format", "$ref", "const", "pattern"];

/// Returns a description of each breaking change.
pub(super) fn between(before: &Value, now: &Value) -> Vec<String> {
    let mut breaks = Vec::new();
    for (path, method, old) in operations(before) {
        let name = format!("{} {path}", method.to_uppercase());
        match now.pointer(&format!("/paths/{}/{method}", escaped(path))) {
            None => breaks.push(format!("{name} is gone")),
            Some(new) => compare(&name, &Sides { before, now }, old, new, &mut breaks),
        }
    }
    for (kind, old) in object(before.get("webhooks")) {
        let place = "/post/requestBody/content/application~1json/schema";
        let name = format!("webhook {kind}");
        match now.get("webhooks").and_then(|webhooks| webhooks.get(kind)) {
            None => breaks.push(format!("{name} is gone")),
            Some(new) => {
                let sides = Sides { before, now };
                answered(&name, &sides, old.pointer(place), new.pointer(place), &mut breaks);
            }
        }
    }
    breaks
}

/// The two documents, for resolving references.
struct Sides<'a> {
    before: &'a Value,
    now: &'a Value,
}

fn operations(document: &Value) -> Vec<(&String, &String, &Value)> {
    let paths = object(document.get("paths"));
    paths
        .flat_map(|(path, item)| object(Some(item)).map(move |(method, operation)| (path, method, operation)))
        .collect()
}

fn compare(name: &str, sides: &Sides<'_>, old: &Value, new: &Value, breaks: &mut Vec<String>) {
    let (old_query, new_query) = (parameters(sides.before, old), parameters(sides.now, new));
    for (parameter, new) in &new_query {
        let was = old_query.iter().find(|(name, _)| name == parameter).map(|(_, schema)| *schema);
        let is_required = |parameter: &Value| parameter.get("required") == Some(&Value::Bool(true));
        if is_required(new) && !was.is_some_and(is_required) {
            breaks.push(format!("{name} requires the parameter {parameter}"));
        }
        asked(
            &format!("{name}: {parameter}"),
            was.and_then(|parameter| parameter.get("schema")),
            new.get("schema"),
            breaks,
        );
    }
    let body = "/requestBody/content/application~1json/schema";
    let (old_body, new_body) = (old.pointer(body), new.pointer(body));
    for field in required(new_body) {
        if !required(old_body).contains(&field) {
            breaks.push(format!("{name} requires the field {field}"));
        }
    }
    for (field, new) in object(new_body.and_then(|body| body.get("properties"))) {
        let was = old_body.and_then(|body| body.get("properties")?.get(field));
        asked(&format!("{name}: {field}"), was, Some(new), breaks);
    }
    for (status, response) in object(old.get("responses")).filter(|(status, _)| status.starts_with('2')) {
        let place = "/content/application~1json/schema";
        match new.get("responses").and_then(|responses| responses.get(status)) {
            None => breaks.push(format!("{name} does not answer {status} any more")),
            Some(new) => answered(name, sides, response.pointer(place), new.pointer(place), breaks),
        }
    }
}

/// Values that clients send must still be accepted.
fn asked(name: &str, old: Option<&Value>, new: Option<&Value>, breaks: &mut Vec<String>) {
    let (Some(old), Some(new)) = (old, new) else { return };
    for key in FORM.iter().filter(|key| **key != "type") {
        if new.get(key).is_some() && new.get(key) != old.get(key) {
            breaks.push(format!("{name} has another {key}"));
        }
    }
    if !names(old, "type").iter().all(|kind| names(new, "type").contains(kind)) {
        breaks.push(format!("{name} has another type"));
    }
    if new.get("enum").is_some() && !names(old, "enum").iter().all(|value| names(new, "enum").contains(value))
    {
        breaks.push(format!("{name} may say less"));
    }
    for (key, narrows) in [("maxLength", -1), ("maximum", -1), ("minLength", 1), ("minimum", 1)] {
        let bound = |schema: &Value| schema.get(key).and_then(Value::as_i64);
        let is_narrower = match (bound(old), bound(new)) {
            (Some(old), Some(new)) => (new - old).signum() == narrows,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_narrower {
            breaks.push(format!("{name} has a narrower {key}"));
        }
    }
}

/// Values that clients read must still exist and have the same type.
fn answered(
    name: &str,
    sides: &Sides<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    breaks: &mut Vec<String>,
) {
    let Some(old) = old else { return };
    let Some(new) = new else { return breaks.push(format!("{name} is not answered any more")) };
    let (was, is) = (resolved(sides.before, old), resolved(sides.now, new));
    for key in FORM.iter().filter(|key| **key != "$ref" && **key != "pattern") {
        if was.get(key) != is.get(key) {
            breaks.push(format!("{name} has another {key}"));
        }
    }
    if names(is, "enum").iter().any(|value| !names(was, "enum").contains(value)) && was.get("enum").is_some()
    {
        breaks.push(format!("{name} may say what it did not"));
    }
    for (field, old) in object(was.get("properties")) {
        let new = is.get("properties").and_then(|properties| properties.get(field));
        match new {
            None => breaks.push(format!("{name}: {field} is gone")),
            Some(_)
                if required(Some(was)).contains(&field.as_str())
                    && !required(Some(is)).contains(&field.as_str()) =>
            {
                breaks.push(format!("{name}: {field} may be left out"));
            }
            Some(_) => answered(&format!("{name}: {field}"), sides, Some(old), new, breaks),
        }
    }
    if let Some(items) = was.get("items") {
        answered(&format!("{name}[]"), sides, Some(items), is.get("items"), breaks);
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    reference.and_then(|pointer| document.pointer(pointer.trim_start_matches('#'))).unwrap_or(schema)
}

fn parameters<'a>(document: &'a Value, operation: &'a Value) -> Vec<(String, &'a Value)> {
    let all = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let named = all.map(|it| resolved(document, it)).map(|it| {
        let part = |key| it.get(key).and_then(Value::as_str).unwrap_or_default();
        (format!("{} in the {}", part("name"), part("in")), it)
    });
    named.collect()
}

fn required(schema: Option<&Value>) -> Vec<&str> {
    schema.map(|schema| names(schema, "required")).unwrap_or_default()
}

/// Returns a string or a list of strings as a list.
fn names<'a>(schema: &'a Value, key: &str) -> Vec<&'a str> {
    match schema.get(key) {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn object(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
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

    fn check(change: impl FnOnce(&mut Value), expected: &[&str]) {
        let mut now = document();
        change(&mut now);
        assert_eq!(between(&document(), &now), expected);
    }

    const OPERATION: &str = "/paths/~1v1~1users/post";
    const FIELDS: &str = "/paths/~1v1~1users/post/requestBody/content/application~1json/schema";
    const USER: &str = "/components/schemas/User";

    #[test]
    fn additions_break_nothing() {
        check(|_| {}, &[]);
        check(|document| document["paths"]["/v1/more"] = json!({"get": {}}), &[]);
        check(
            |document| {
                document.pointer_mut(FIELDS).unwrap()["properties"]["more"] = json!({"type": "string"})
            },
            &[],
        );
        check(
            |document| document.pointer_mut(USER).unwrap()["properties"]["more"] = json!({"type": "string"}),
            &[],
        );
        check(|document| document.pointer_mut(FIELDS).unwrap()["required"] = json!([]), &[]);
        check(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["email"]["maxLength"] = json!(300),
            &[],
        );
    }

    #[test]
    fn what_clients_send_must_still_be_taken() {
        let name = "POST /v1/users";
        let field =
            |document: &mut Value, value: Value| document.pointer_mut(FIELDS).unwrap()["required"] = value;
        check(
            |document| field(document, json!(["email", "kind"])),
            &[&format!("{name} requires the field kind")],
        );
        let parameter = |document: &mut Value| {
            document.pointer_mut(OPERATION).unwrap()["parameters"][0]["required"] = json!(true)
        };
        check(parameter, &[&format!("{name} requires the parameter page in the query")]);
        check(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["kind"]["enum"] = json!(["a"]),
            &[&format!("{name}: kind may say less")],
        );
        check(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["kind"]["type"] = json!("string"),
            &[&format!("{name}: kind has another type")],
        );
        check(
            |document| document.pointer_mut(FIELDS).unwrap()["properties"]["email"]["maxLength"] = json!(100),
            &[&format!("{name}: email has a narrower maxLength")],
        );
    }

    #[test]
    fn what_clients_read_must_still_be_there() {
        let name = "POST /v1/users";
        check(|document| document["paths"] = json!({}), &[&format!("{name} is gone")]);
        check(
            |document| document.pointer_mut(OPERATION).unwrap()["responses"] = json!({}),
            &[&format!("{name} does not answer 201 any more")],
        );
        check(
            |it| {
                it.pointer_mut(USER).unwrap()["properties"] =
                    json!({"id": {"type": "string", "format": "uuid"}})
            },
            &[&format!("{name}: tags is gone")],
        );
        check(
            |document| document.pointer_mut(USER).unwrap()["properties"]["id"]["format"] = json!("int"),
            &[&format!("{name}: id has another format")],
        );
        check(
            |document| document.pointer_mut(USER).unwrap()["required"] = json!([]),
            &[&format!("{name}: id may be left out")],
        );
        check(
            |document| {
                document.pointer_mut(USER).unwrap()["properties"]["tags"]["items"]["type"] = json!("integer")
            },
            &[&format!("{name}: tags[] has another type")],
        );
        check(|document| document["webhooks"] = json!({}), &["webhook made is gone"]);
    }
}
