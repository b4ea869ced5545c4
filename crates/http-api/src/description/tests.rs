//! The OpenAPI document is complete, and everything in it has a description.

use std::collections::HashSet;

use serde_json::Value;

use super::openapi;
use super::statuses::REFUSALS;
use crate::endpoints::ROUTES;

fn document() -> Value {
    openapi(Vec::new())
}

/// Every schema of an object, with where it stands.
fn objects(place: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            if object.contains_key("properties") && object.contains_key("type") {
                found.push((place.to_owned(), value.clone()));
            }
            for (name, member) in object {
                objects(&format!("{place}/{name}"), member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| objects(place, item, found)),
        _ => {}
    }
}

fn is_described(value: &Value) -> bool {
    value["description"].as_str().is_some_and(|text| !text.is_empty())
}

#[test]
fn every_route_is_an_operation_with_a_name_of_its_own() {
    let document = document();
    let mut names = HashSet::new();
    for route in ROUTES {
        let operation = &document["paths"][route.pattern][route.method.to_lowercase()];
        assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
        assert!(!operation["tags"][0].as_str().unwrap().is_empty(), "{operation}");
        assert_eq!(operation["x-extension"] == true, route.is_extension, "{operation}");
    }
}

#[test]
fn every_field_and_parameter_is_explained() {
    let mut found = Vec::new();
    objects("", &document(), &mut found);
    assert!(found.len() > 40, "{}", found.len());
    for (place, object) in found {
        for (name, property) in object["properties"].as_object().unwrap() {
            assert!(is_described(property), "{place}: {name} has no meaning");
            let is_made_of_others = property["$ref"].is_string() || property["type"] == "array";
            assert!(is_made_of_others || property["examples"].is_array(), "{place}: {name} has no example");
        }
    }
    let document = document();
    assert!(!document.to_string().contains("Example: "), "an example is no JSON");
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(parameter["$ref"].is_string() || is_described(parameter), "{parameter}");
            }
        }
    }
}

#[test]
fn a_refusal_has_one_of_the_statuses_that_are_described() {
    let document = document();
    let statuses = &document["components"]["schemas"]["Refusal"]["properties"]["status"]["enum"];
    let described: Vec<u16> = REFUSALS.iter().map(|refusal| refusal.code).chain([405]).collect();
    assert_eq!(*statuses, serde_json::json!(described));
}

#[test]
fn the_page_lists_what_each_operation_reads() {
    let page = include_str!("../../../../docs/specified-behaviour.md");
    let (_, from_there) = page.split_once("**10.1 All of them.**").unwrap();
    let (table, _) = from_there.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let document = document();
    let mut listed_of_users = Vec::new();
    for (route, (endpoint, rest)) in ROUTES.iter().zip(rows) {
        let told = &document["paths"][route.pattern][route.method.to_lowercase()];
        let fields = told["requestBody"]["content"]["application/json"]["schema"]["properties"].as_object();
        let query =
            told["parameters"].as_array().unwrap().iter().filter(|parameter| parameter["in"] == "query");
        let read: HashSet<&str> = fields
            .into_iter()
            .flat_map(|properties| properties.keys().map(String::as_str))
            .chain(query.filter_map(|parameter| parameter["name"].as_str()))
            .collect();
        let cell = rest.split(" | ").next().unwrap().trim_matches(['|', ' ']).replace("**", "");
        let mut listed: Vec<String> = match cell.as_str() {
            "as for creation, but company_id" => listed_of_users.clone(),
            "as for sending one" => continue,
            cell => cell.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        };
        if let Some(at) = listed.iter().position(|name| name == "custom_field_1 to custom_field_5") {
            listed.splice(at..=at, (1..=5).map(|number| format!("custom_field_{number}")));
        }
        if endpoint == "POST /v1/users" {
            listed_of_users = listed.iter().filter(|name| *name != "company_id").cloned().collect();
        }
        // What cannot change may be written back (behaviour 7.3), which the table need not say.
        let stays = |name: &&str| route.method == "PUT" && ["domain", "company_id"].contains(name);
        let expected: HashSet<&str> = listed.iter().map(String::as_str).collect();
        assert_eq!(
            read.into_iter().filter(|name| !stays(name)).collect::<HashSet<_>>(),
            expected,
            "{endpoint}"
        );
    }
}
