//! The errors that the reference lists for each operation.

use serde_json::Value;

use super::fetch_page;
use crate::support::for_each_database;
use crate::support::service::basic_authorization;

/// An id that no object has.
const UNKNOWN_ID: &str = "019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12";

#[test]
fn the_messages_in_the_reference_are_those_of_the_service() {
    for_each_database(|service| {
        let provider = service.create_provider("Messages", true);
        let authorization = basic_authorization(&provider);
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
        let description: Value = serde_json::from_str(&fetch_page(service, "/openapi.json")).unwrap();
        let mut count = 0;
        for (pattern, operations) in description["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let method = method.to_uppercase();
                let chapter = operation["tags"][0].as_str().unwrap().to_lowercase();
                let page = fetch_page(service, &format!("/docs/reference/{chapter}.md"));
                let request = format!("**{method}** `{pattern}`");
                let section = page.split("\n## ").find(|section| section.contains(&request)).unwrap();
                let body = operation.get("requestBody").map(|_| "{}");
                for path in faulty_paths(pattern) {
                    let response = service.running.send_request(&method, &path, &headers, body);
                    let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
                    let first = message.split("; ").next().unwrap();
                    let is_example = |text: &&str| section.contains(&format!("Example: `{text}` |"));
                    let is_documented = [first, &message].iter().any(is_example);
                    assert!(
                        is_documented || first == "since or state is required",
                        "{method} {path}: {message}"
                    );
                    count += 1;
                }
            }
        }
        assert!(count > 50, "{count}");
    });
}

/// Paths of this pattern with an unknown id, an invalid page number, or both.
fn faulty_paths(pattern: &str) -> Vec<String> {
    let path = pattern.replace("{id}", UNKNOWN_ID);
    let query = if pattern == "/v1/users/{id}/transactions" { "type=peer_wallet" } else { "" };
    let invalid = format!("{path}?page=0&limit=0&{query}");
    if path == pattern { vec![invalid] } else { vec![format!("{path}?{query}"), invalid] }
}
