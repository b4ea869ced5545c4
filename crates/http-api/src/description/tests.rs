//! The OpenAPI document is complete, and everything in it has a description.

use std::collections::HashSet;

use serde_json::Value;

use super::openapi;
use super::statuses::ERROR_STATUSES;
use crate::endpoints::ROUTES;

fn build_document() -> Value {
    openapi(Vec::new())
}

/// Collects every object schema with its path in the document.
fn collect_objects(path_prefix: &str, value: &Value, objects: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            if object.contains_key("properties") && object.contains_key("type") {
                objects.push((path_prefix.to_owned(), value.clone()));
            }
            for (name, member) in object {
                collect_objects(&format!("{path_prefix}/{name}"), member, objects);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_objects(path_prefix, item, objects)),
        _ => {}
    }
}

fn is_described(value: &Value) -> bool {
    value["description"].as_str().is_some_and(|text| !text.is_empty())
}

#[test]
fn every_route_is_an_operation_with_a_unique_name() {
    let document = build_document();
    let mut names = HashSet::new();
    for route in ROUTES {
        let operation = &document["paths"][route.pattern][route.method.to_lowercase()];
        assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
        assert!(!operation["tags"][0].as_str().unwrap().is_empty(), "{operation}");
        assert_eq!(operation["x-extension"] == true, route.is_extension, "{operation}");
    }
}

#[test]
fn every_field_and_parameter_is_described() {
    let mut objects = Vec::new();
    collect_objects("", &build_document(), &mut objects);
    assert!(objects.len() > 40, "{}", objects.len());
    for (path_prefix, object) in objects {
        for (name, property) in object["properties"].as_object().unwrap() {
            assert!(is_described(property), "{path_prefix}: {name} has no meaning");
            let is_made_of_others = property["$ref"].is_string() || property["type"] == "array";
            assert!(
                is_made_of_others || property["examples"].is_array(),
                "{path_prefix}: {name} has no example"
            );
        }
    }
    let document = build_document();
    assert!(!document.to_string().contains("Example: "), "an example is not JSON");
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(parameter["$ref"].is_string() || is_described(parameter), "{parameter}");
            }
        }
    }
}

#[test]
fn every_operation_has_an_example_of_its_request_its_response_and_its_errors() {
    let document = build_document();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let has_example = |content: &Value| !content["application/json"]["example"].is_null();
            let body = &operation["requestBody"];
            assert!(body.is_null() || has_example(&body["content"]), "{method} {path}");
            for parameter in operation["parameters"].as_array().unwrap() {
                let is_path = parameter["in"] == "path";
                assert!(!is_path || parameter["example"].is_string(), "{method} {path}: {parameter}");
            }
            for (status, response) in operation["responses"].as_object().unwrap() {
                let content = &response["content"];
                let is_complete = match status.as_str() {
                    "204" => content.is_null(),
                    "200" | "201" => has_example(content),
                    "400" | "403" | "404" => !content["application/json"]["examples"].is_null(),
                    _ => response["$ref"].is_string(),
                };
                assert!(is_complete, "{method} {path}: {status}");
            }
        }
    }
}

#[test]
fn every_number_can_be_represented_in_javascript() {
    fn check(value: &Value) {
        match value {
            Value::Number(number) => assert!(number.as_f64().unwrap().abs() < 2f64.powi(53), "{number}"),
            Value::Object(members) => members.values().for_each(check),
            Value::Array(items) => items.iter().for_each(check),
            _ => {}
        }
    }
    check(&build_document());
}

#[test]
fn every_error_status_is_described() {
    let document = build_document();
    let statuses = &document["components"]["schemas"]["Refusal"]["properties"]["status"]["enum"];
    let mut described: Vec<u16> = ERROR_STATUSES.iter().map(|status| status.code).chain([405]).collect();
    described.sort_unstable();
    assert_eq!(*statuses, serde_json::json!(described));
}

#[test]
fn the_documentation_lists_the_parameters_of_each_operation() {
    let page = include_str!("../../../../docs/specified-behaviour.md");
    let (_, after_heading) = page.split_once("**10.1 All of them.**").unwrap();
    let (table, _) = after_heading.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let document = build_document();
    let mut documented_user_fields = Vec::new();
    for (route, (endpoint, rest)) in ROUTES.iter().zip(rows) {
        let operation = &document["paths"][route.pattern][route.method.to_lowercase()];
        let fields =
            operation["requestBody"]["content"]["application/json"]["schema"]["properties"].as_object();
        let query =
            operation["parameters"].as_array().unwrap().iter().filter(|parameter| parameter["in"] == "query");
        let actual: HashSet<&str> = fields
            .into_iter()
            .flat_map(|properties| properties.keys().map(String::as_str))
            .chain(query.filter_map(|parameter| parameter["name"].as_str()))
            .collect();
        let cell = rest.split(" | ").next().unwrap().trim_matches(['|', ' ']).replace("**", "");
        let mut documented: Vec<String> = match cell.as_str() {
            "as for creation, except company_id" => documented_user_fields.clone(),
            "as for `POST /v1/recognitions`" => continue,
            cell => cell.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        };
        if let Some(index) = documented.iter().position(|name| name == "custom_field_1 to custom_field_5") {
            documented.splice(index..=index, (1..=5).map(|number| format!("custom_field_{number}")));
        }
        if endpoint == "POST /v1/users" {
            documented_user_fields =
                documented.iter().filter(|name| *name != "company_id").cloned().collect();
        }
        // Immutable fields may be sent with their current values (behaviour 7.3), but the table does not list them.
        let is_unchangeable = |name: &&str| route.method == "PUT" && ["domain", "company_id"].contains(name);
        let expected: HashSet<&str> = documented.iter().map(String::as_str).collect();
        assert_eq!(
            actual.into_iter().filter(|name| !is_unchangeable(name)).collect::<HashSet<_>>(),
            expected,
            "{endpoint}"
        );
    }
}
