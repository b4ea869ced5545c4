//! The description tells all of the API, and all of it in words.

use std::collections::HashSet;

use serde_json::Value;

use super::{openapi, words};
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
            for (name, it) in object {
                objects(&format!("{place}/{name}"), it, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|it| objects(place, it, found)),
        _ => {}
    }
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
            assert!(property["description"].is_string(), "{place}: {name} has no meaning");
            let is_made_of_others = property["$ref"].is_string() || property["type"] == "array";
            assert!(is_made_of_others || property["examples"].is_array(), "{place}: {name} has no example");
        }
    }
    let document = document();
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(parameter["$ref"].is_string() || parameter["description"].is_string(), "{parameter}");
            }
        }
    }
}

#[test]
fn every_word_is_used_and_stands_once() {
    let text = document().to_string();
    let mut seen = HashSet::new();
    for word in words::WORDS {
        assert!(seen.insert((word.of, word.name)), "{:?} {} stands twice", word.of, word.name);
        let is_of_events = [
            "version",
            "data",
            "sender_name",
            "sender_email",
            "receiver_name",
            "receiver_email",
            "occasion_name",
            "user_id",
            "user_email",
        ];
        let is_elsewhere =
            is_of_events.contains(&word.name) || word.of.is_some_and(|it| it.ends_with("Data"));
        assert!(
            is_elsewhere || text.contains(&format!("{:?}", word.meaning)),
            "nobody has {:?} {}",
            word.of,
            word.name
        );
    }
}

#[test]
fn examples_are_json() {
    for word in words::WORDS {
        assert!(serde_json::from_str::<Value>(word.example).is_ok(), "{}", word.name);
    }
}
