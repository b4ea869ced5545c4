//! Checks that a response conforms to docs/openapi.json: its operation lists the status, and the status lists the
//! headers and the body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::service::ApiResponse;

/// Headers that the description does not list: those of HTTP itself, and those of every response of the service.
const UNDESCRIBED_HEADERS: &[&str] = &[
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-security-policy",
    "content-type",
    "date",
    "referrer-policy",
    "server", // added by a load balancer
    "strict-transport-security",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
    "x-service-cell", // only with several installations
];

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let mut description = serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap();
    forbid_extra_properties(&mut description);
    description
});
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Panics if the response does not conform.
pub fn check_response(method: &str, path: &str, response: &ApiResponse) {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let method = match method {
        "HEAD" | "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "DELETE" => "delete",
        _ => "",
    };
    let describe =
        || format!("{method} {path} answered {} {:?} {}", response.status, response.headers, response.body);
    let patterns = DESCRIPTION["paths"].as_object().unwrap().keys();
    let Some(pattern) =
        patterns.filter(|pattern| matches_pattern(pattern, path)).min_by_key(|pattern| pattern.contains('{'))
    else {
        return check_refusal(path, response);
    };
    let operation = &DESCRIPTION["paths"][pattern][method];
    if operation.is_null() {
        assert!(response.status >= 400, "{}", describe());
        return check_refusal(path, response);
    }
    let place = format!("/paths/{}/{method}/responses/{}", escape_pointer(pattern), response.status);
    let (place, description) =
        resolve_reference(&place).unwrap_or_else(|| panic!("no such status: {}", describe()));
    for name in
        response.headers.keys().map(|name| name.as_str()).filter(|name| !UNDESCRIBED_HEADERS.contains(name))
    {
        let listed =
            description["headers"].as_object().unwrap().keys().any(|key| key.eq_ignore_ascii_case(name));
        assert!(listed, "{name} is not a header of {}", describe());
    }
    if response.body.is_empty() {
        return;
    }
    let kind = response.headers["content-type"].to_str().unwrap();
    // The responses list only the default format of errors.
    let place = match kind {
        "application/problem+json" => "/components/schemas/Problem".to_owned(),
        _ => format!("{place}/content/{}/schema", escape_pointer(kind)),
    };
    validate_body(&place, &response.body).unwrap_or_else(|fault| panic!("{fault}: {}", describe()));
}

/// Panics if the body is not that of an event.
pub fn check_event(body: &[u8]) {
    let body = std::str::from_utf8(body).unwrap();
    let kind = serde_json::from_str::<Value>(body).unwrap()["type"].as_str().unwrap().to_owned();
    let place = format!("/webhooks/{kind}/post/requestBody/content/application~1json/schema");
    validate_body(&place, body).unwrap_or_else(|fault| panic!("{fault}: {body}"));
}

/// Paths outside the description return the standard error body or a page.
fn check_refusal(path: &str, response: &ApiResponse) {
    if response.status >= 400 && !response.body.is_empty() {
        let schema = match response.headers["content-type"].to_str().unwrap() {
            "text/html; charset=utf-8" => return,
            "application/problem+json" => "Problem",
            _ => "Error",
        };
        validate_body(&format!("/components/schemas/{schema}"), &response.body)
            .unwrap_or_else(|fault| panic!("{fault}: {path} {}", response.body));
    }
}

fn matches_pattern(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("{id}"), Some(_)) => {}
            (Some(here), Some(there)) if here == there => {}
            _ => return false,
        }
    }
}

/// Follows the references at a JSON pointer. Returns the final pointer and its value.
fn resolve_reference(place: &str) -> Option<(String, &'static Value)> {
    let value = DESCRIPTION.pointer(place)?;
    match value["$ref"].as_str() {
        Some(reference) => resolve_reference(reference.trim_start_matches('#')),
        None => Some((place.to_owned(), value)),
    }
}

fn validate_body(place: &str, body: &str) -> Result<(), String> {
    let value: Value = serde_json::from_str(body).map_err(|fault| fault.to_string())?;
    let validator = Arc::clone(VALIDATORS.lock().unwrap().entry(place.to_owned()).or_insert_with(|| {
        let mut schema = DESCRIPTION.clone();
        schema["$ref"] = json!(format!("#{}", place.replace('{', "%7B").replace('}', "%7D")));
        let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        Arc::new(options.build(&schema).unwrap())
    }));
    validator.validate(&value).map_err(|fault| format!("{} at {}", fault, fault.instance_path()))
}

/// Makes objects reject properties that the description does not list.
fn forbid_extra_properties(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_extra_properties);
            let is_schema = object.get("type").is_some_and(|kind| kind == "object");
            if is_schema && object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_extra_properties),
        _ => {}
    }
}

fn escape_pointer(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
