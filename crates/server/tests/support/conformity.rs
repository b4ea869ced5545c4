//! Checks that a response conforms to docs/openapi.json: its operation lists the status, and the status lists the
//! headers and the body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::service::Answer;

/// Headers that the description does not list: those of HTTP itself, and those of every response of the service.
const KNOWN: &[&str] = &[
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
];

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let mut description = serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap();
    close(&mut description);
    description
});
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Panics if the response does not conform.
pub fn check(method: &str, path: &str, answer: &Answer) {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let method = match method {
        "HEAD" | "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "DELETE" => "delete",
        _ => "",
    };
    let told = || format!("{method} {path} answered {} {:?} {}", answer.status, answer.headers, answer.body);
    let patterns = DESCRIPTION["paths"].as_object().unwrap().keys();
    let Some(pattern) =
        patterns.filter(|pattern| fits(pattern, path)).min_by_key(|pattern| pattern.contains('{'))
    else {
        return check_refusal(path, answer);
    };
    let operation = &DESCRIPTION["paths"][pattern][method];
    if operation.is_null() {
        assert!(answer.status >= 400, "{}", told());
        return check_refusal(path, answer);
    }
    let place = format!("/paths/{}/{method}/responses/{}", escaped(pattern), answer.status);
    let (place, response) = resolved(&place).unwrap_or_else(|| panic!("no such status: {}", told()));
    for name in answer.headers.keys().map(|name| name.as_str()).filter(|name| !KNOWN.contains(name)) {
        let listed =
            response["headers"].as_object().unwrap().keys().any(|key| key.eq_ignore_ascii_case(name));
        assert!(listed, "{name} is not a header of {}", told());
    }
    if answer.body.is_empty() {
        return;
    }
    let kind = answer.headers["content-type"].to_str().unwrap();
    let place = format!("{place}/content/{}/schema", escaped(kind));
    judge(&place, &answer.body).unwrap_or_else(|fault| panic!("{fault}: {}", told()));
}

/// Panics if the body is not that of an event.
pub fn check_event(body: &[u8]) {
    let body = std::str::from_utf8(body).unwrap();
    let kind = serde_json::from_str::<Value>(body).unwrap()["type"].as_str().unwrap().to_owned();
    let place = format!("/webhooks/{kind}/post/requestBody/content/application~1json/schema");
    judge(&place, body).unwrap_or_else(|fault| panic!("{fault}: {body}"));
}

/// Paths outside the description return the standard error body or a page.
fn check_refusal(path: &str, answer: &Answer) {
    if answer.status >= 400 && !answer.body.is_empty() {
        let schema = match answer.headers["content-type"].to_str().unwrap() {
            "text/html; charset=utf-8" => return,
            "application/problem+json" => "Problem",
            _ => "Error",
        };
        judge(&format!("/components/schemas/{schema}"), &answer.body)
            .unwrap_or_else(|fault| panic!("{fault}: {path} {}", answer.body));
    }
}

fn fits(pattern: &str, path: &str) -> bool {
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

/// A JSON pointer with its value, after following a reference.
fn resolved(place: &str) -> Option<(String, &'static Value)> {
    let found = DESCRIPTION.pointer(place)?;
    match found["$ref"].as_str() {
        Some(reference) => resolved(reference.trim_start_matches('#')),
        None => Some((place.to_owned(), found)),
    }
}

fn judge(place: &str, body: &str) -> Result<(), String> {
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
fn close(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            let is_schema = object.get("type").is_some_and(|kind| kind == "object");
            if is_schema && object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
