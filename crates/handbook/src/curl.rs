//! The curl command line of an operation, with the variables that `guerdon dev` prints.

use serde_json::Value;

use super::forms::{fields, list, required, value};

/// Returns the variable for an id in this field.
fn variable(field: &str) -> Option<&'static str> {
    Some(match field {
        "company_id" => "COMPANY_ID",
        "corporation_id" => "CORPORATION_ID",
        "occasion_id" => "OCCASION_ID",
        "sender_id" => "USER_ID",
        "receiver_ids" => "RECEIVER_ID",
        _ => return None,
    })
}

/// Returns the variable for an id in this path. An example of a deletion uses an object that no other example needs.
fn variable_in(method: &str, path: &str) -> &'static str {
    match (path.split('/').nth(1), method) {
        (Some("companies"), _) => "COMPANY_ID",
        (Some("corporations"), _) => "CORPORATION_ID",
        (Some("occasions"), "DELETE") => "EXTRA_OCCASION_ID",
        (Some("occasions"), _) => "OCCASION_ID",
        (Some("users"), "DELETE") => "EXTRA_USER_ID",
        (Some("users"), _) => "USER_ID",
        _ => "EVENT_ID",
    }
}

/// Returns the command line.
pub(crate) fn line(method: &str, path: &str, operation: &Value) -> String {
    let path = path.trim_start_matches("/v1");
    let path = path.replace("{id}", &format!("${}", variable_in(method, path)));
    let query = query(operation);
    let mut line = "curl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\"".to_owned();
    if !matches!(method, "GET" | "POST") {
        line.push_str(&format!(" \\\n  -X {method}"));
    }
    line.push_str(&format!(" \\\n  \"$URL{path}{query}\""));
    match body(operation) {
        Some(body) => line.push_str(&format!(" \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'")),
        None if method == "POST" => line.push_str(" \\\n  -d ''"),
        None => {}
    }
    line
}

/// Returns the required query parameters.
fn query(operation: &Value) -> String {
    let must = list(operation, "parameters").filter(|parameter| {
        parameter.get("in").is_some_and(|place| place == "query")
            && parameter.get("required") == Some(&Value::Bool(true))
    });
    let given: Vec<String> = must
        .filter_map(|parameter| {
            let name = parameter.get("name")?.as_str()?;
            let value = parameter.get("example").or_else(|| parameter.get("schema")?.get("enum")?.get(0))?;
            Some(format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        })
        .collect();
    if given.is_empty() { String::new() } else { format!("?{}", given.join("&")) }
}

/// Returns a body with the required fields; if no field is required, with the first that can be changed.
fn body(operation: &Value) -> Option<String> {
    let schema = operation.pointer("/requestBody/content/application~1json/schema")?;
    let required = required(schema);
    let all = fields(schema);
    let is_wanted = |name: &str| {
        if required.is_empty() {
            is_harmless(name)
        } else {
            required.contains(&name) || is_worth_showing(name)
        }
    };
    let chosen: Vec<_> = all.iter().filter(|(name, _)| is_wanted(name)).collect();
    let written =
        chosen.iter().take(if required.is_empty() { 1 } else { usize::MAX }).map(|(name, field)| {
            let value = match variable(name) {
                Some(variable) => format!("\"'\"${variable}\"'\""),
                None => value(field).to_string().replace('\'', r"'\''"),
            };
            format!("\"{name}\": {value}")
        });
    Some(format!("{{{}}}", written.collect::<Vec<_>>().join(",\n       ")))
}

/// Whether an update can set this field to its example without conflicting with objects created from other examples.
fn is_harmless(name: &str) -> bool {
    !["domain", "company_id", "email", "active"].contains(&name)
}

/// Whether an optional field is shown because it is the purpose of the operation.
fn is_worth_showing(name: &str) -> bool {
    name == "message"
}
