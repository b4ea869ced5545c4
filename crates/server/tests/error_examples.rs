//! The examples of errors in the OpenAPI description are what the service returns, in both formats.

use serde_json::{Value, json};

use crate::support::fixture_templates::{for_each_fixture, for_each_fixture_pair};
use crate::support::provider_fixture::ProviderFixture;
use crate::support::service::{ApiResponse, ProviderCredentials, TestService, basic_authorization};
use crate::support::{company_body, user_body};

/// An id that no object has.
const UNKNOWN_ID: &str = "019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12";

/// An operation of the description.
struct DescribedOperation {
    method: String,
    pattern: String,
    specification: Value,
}

fn list_operations(service: &TestService) -> Vec<DescribedOperation> {
    let description = service.running.send_request("GET", "/openapi.json", &[], None).json();
    let mut described = Vec::new();
    for (pattern, operations) in description["paths"].as_object().unwrap() {
        for (method, specification) in operations.as_object().unwrap() {
            let (method, specification) = (method.to_uppercase(), specification.clone());
            described.push(DescribedOperation { method, pattern: pattern.clone(), specification });
        }
    }
    described
}

impl DescribedOperation {
    /// The example of an error; null if the operation has no example of this error.
    fn example(&self, status: u16, code: &str) -> &Value {
        let content = &self.specification["responses"][status.to_string()]["content"]["application/json"];
        &content["examples"][code]
    }

    fn has_body(&self) -> bool {
        self.specification.get("requestBody").is_some()
    }

    /// The id in a path of this operation.
    fn path_id<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (start, _) = self.pattern.split_once("{id}")?;
        path.strip_prefix(start)?.split(['/', '?']).next()
    }

    /// Sends a request in both formats, and asserts that the responses equal the example, apart from the id in the
    /// path.
    fn assert_example(
        &self,
        service: &TestService,
        provider: &ProviderCredentials,
        path: &str,
        body: &Value,
        (status, code): (u16, &str),
    ) {
        let example = self.example(status, code);
        let context = || format!("{} {path} {body}", self.method);
        let id = self.path_id(path).unwrap_or(UNKNOWN_ID);
        let send = |accept: &str| -> Value {
            let response = self.send(service, provider, path, body, accept);
            serde_json::from_str(&response.body.replace(id, UNKNOWN_ID)).unwrap()
        };
        assert_eq!(send("application/json"), example["value"], "{}", context());
        let mut problem = send("application/problem+json");
        problem["request_id"] = example["x-problem-details"]["request_id"].clone();
        assert_eq!(problem, example["x-problem-details"], "{}", context());
    }

    fn send(
        &self,
        service: &TestService,
        provider: &ProviderCredentials,
        path: &str,
        body: &Value,
        accept: &str,
    ) -> ApiResponse {
        let authorization = basic_authorization(provider);
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Accept", accept),
            ("Content-Type", "application/json"),
        ];
        let text = self.has_body().then(|| body.to_string());
        service.running.send_request(&self.method, path, &headers, text.as_deref())
    }
}

/// The id of the fixture's object that a path of this pattern names.
fn object_id<'a>(fixture: &'a ProviderFixture, pattern: &str) -> &'a str {
    match pattern.split('/').nth(2).unwrap() {
        "companies" => &fixture.sample.company,
        "corporations" => &fixture.corporation,
        "occasions" => &fixture.sample.occasion,
        "recognitions" => &fixture.recognition,
        "users" => &fixture.sample.users[0],
        "events" => &fixture.event,
        other => panic!("{other}"),
    }
}

#[test]
fn examples_of_unknown_and_foreign_objects_are_what_the_service_returns() {
    for_each_fixture_pair(|service, fixture, stranger| {
        for operation in
            list_operations(service).iter().filter(|operation| operation.pattern.contains("{id}"))
        {
            let query =
                if operation.pattern.ends_with("{id}/transactions") { "?type=peer_wallet" } else { "" };
            let path = |id: &str| operation.pattern.replace("{id}", id) + query;
            let provider = fixture.provider();
            let check = |id: &str, error: (u16, &str)| {
                operation.assert_example(service, provider, &path(id), &json!({}), error);
            };
            check(UNKNOWN_ID, (404, "not_found"));
            let summary = operation.example(403, "forbidden")["value"]["error"]["message"].as_str().unwrap();
            if summary.contains("belongs to another provider") {
                check(object_id(stranger, &operation.pattern), (403, "forbidden"));
            }
        }
    });
}

#[test]
fn examples_of_invalid_requests_are_what_the_service_returns() {
    for_each_fixture(|service, fixture| {
        let mut count = 0;
        for operation in list_operations(service) {
            let example = operation.example(400, "invalid_request");
            let Some(field) = example["x-problem-details"]["errors"][0]["field"].as_str() else { continue };
            let is_missing = example["value"]["error"]["message"].as_str().unwrap().contains("required");
            let id = match operation.specification["operationId"].as_str().unwrap() {
                "deleteUser" => &fixture.owner,
                _ if operation.pattern.contains("{id}") => object_id(fixture, &operation.pattern),
                _ => "",
            };
            let path = operation.pattern.replace("{id}", id);
            let path = if is_missing || operation.has_body() { path } else { format!("{path}?{field}=0") };
            let body = if is_missing { json!({}) } else { json!({ field: [] }) };
            operation.assert_example(service, fixture.provider(), &path, &body, (400, "invalid_request"));
            count += 1;
        }
        assert!(count > 20, "{count}");
    });
}

#[test]
fn examples_of_broken_rules_are_what_the_service_returns() {
    for_each_fixture(|service, fixture| {
        let plain = service.create_provider("Plain", false);
        let operations = list_operations(service);
        let check =
            |name: &str, provider: &ProviderCredentials, id: &str, body: &Value, status: u16, code: &str| {
                let named =
                    operations.iter().find(|operation| operation.specification["operationId"] == name);
                let operation = named.unwrap_or_else(|| panic!("no operation is named {name}"));
                let path = operation.pattern.replace("{id}", id);
                operation.assert_example(service, provider, &path, body, (status, code));
            };
        let (ours, sample) = (fixture.provider(), &fixture.sample);
        check("createCompany", ours, "", &company_body(&fixture.domain), 400, "domain_taken");
        check("createCompany", &plain, "", &company_body("new.example"), 403, "forbidden");
        let mut taken = user_body(&sample.company, "x");
        let ann = service.get(ours, &format!("/v1/users/{}", sample.users[0])).json();
        taken["email"] = ann["email"].clone();
        check("createUser", ours, "", &taken, 400, "email_taken");
        check("updateUser", ours, &sample.users[1], &json!({"email": ann["email"]}), 400, "email_taken");
        for name in ["sendRecognition", "dryRunRecognition"] {
            let send = |points: i64, status: u16, code: &str, occasion: &str| {
                let mut body = sample.recognition_body("user", &sample.users[2], &[&sample.users[0]], points);
                body["occasion_id"] = json!(occasion);
                check(name, ours, "", &body, status, code);
            };
            send(100_000, 400, "insufficient_funds", &sample.occasion);
            send(0, 400, "points_out_of_range", &sample.occasion);
            send(1, 404, "not_found", UNKNOWN_ID);
        }
        let global = create_global_occasion(service);
        for name in ["updateOccasion", "deleteOccasion"] {
            check(name, ours, &global, &json!({"name": "x"}), 403, "forbidden");
        }
    });
}

fn create_global_occasion(service: &TestService) -> String {
    let words =
        ["occasion", "create-global", "--name", "Global", "--title", "G", "--default-message", "Thanks"];
    service.run_json_command(&words)["id"].as_str().unwrap().to_owned()
}
