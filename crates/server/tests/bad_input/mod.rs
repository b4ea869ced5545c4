//! Bad input: the exact status is returned, every fault is named and nothing changes. The closest valid input is
//! accepted.

mod accepted_values;
mod bodies;
mod certificates;
mod endpoints;
mod fields;
mod headers;
mod queries;
mod receivers;
mod recognitions;
mod unique;
mod updates;
mod values;

use std::ops::Deref;

use serde_json::Value;

use crate::support::fixture_templates::for_each_fixture;
use crate::support::provider_fixture::ProviderFixture;
use crate::support::service::{ApiResponse, TestService, basic_authorization};
use endpoints::Endpoint;

/// A service with one object of every kind, and methods that send requests about these objects.
struct InputFixture<'a> {
    service: &'a TestService,
    objects: &'a ProviderFixture,
    authorization: String,
}

impl Deref for InputFixture<'_> {
    type Target = ProviderFixture;

    fn deref(&self) -> &ProviderFixture {
        self.objects
    }
}

/// Runs a test on every database.
fn for_each_input_fixture(test: impl Fn(&InputFixture<'_>)) {
    for_each_fixture(|service, objects| {
        let authorization = basic_authorization(objects.provider());
        test(&InputFixture { service, objects, authorization });
    });
}

impl InputFixture<'_> {
    fn send_to_endpoint(&self, endpoint: &Endpoint, body: &str) -> ApiResponse {
        self.send_request(endpoint.method, &endpoint.path, Some(body))
    }

    fn get(&self, path: &str) -> ApiResponse {
        self.send_request("GET", path, None)
    }

    fn send_request(&self, method: &str, path: &str, body: Option<&str>) -> ApiResponse {
        let headers = [("Authorization", self.authorization.as_str()), ("Content-Type", "application/json")];
        let headers = if body.is_some() { headers.as_slice() } else { &headers[..1] };
        self.service.running.send_request(method, path, headers, body)
    }

    fn post(&self, path: &str, body: &Value) -> ApiResponse {
        self.send_request("POST", path, Some(&body.to_string()))
    }

    fn put(&self, path: &str, body: &Value) -> ApiResponse {
        self.send_request("PUT", path, Some(&body.to_string()))
    }

    /// Asserts that `action` changes nothing.
    #[track_caller]
    fn assert_nothing_changes(&self, action: impl FnOnce()) {
        let before = self.take_snapshot(self.service);
        action();
        assert_eq!(self.take_snapshot(self.service), before);
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        endpoints::all_endpoints(self.objects)
    }
}

/// Whether a message reports a fault of this field.
fn reports_field(message: &str, field: &str) -> bool {
    message.split("; ").any(|part| part.starts_with(field) || part.starts_with(&format!("Invalid {field}, ")))
}
