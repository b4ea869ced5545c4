//! Bad input: the exact status is returned, every fault is named and nothing changes. The closest valid input is
//! accepted.

mod bodies;
mod certificates;
mod endpoints;
mod fields;
mod good;
mod headers;
mod queries;
mod receivers;
mod recognitions;
mod unique;
mod updates;
mod values;

use std::ops::Deref;

use serde_json::Value;

use crate::support::on_each;
use crate::support::service::{Answer, Service, basic};
use crate::support::world::World;
use endpoints::Endpoint;

/// A service, one object of every kind in it, and requests about them.
struct Bench<'a> {
    service: &'a Service,
    world: World,
    authorization: String,
}

impl Deref for Bench<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

/// Runs a test on every database.
fn on_bench(test: impl Fn(&Bench<'_>)) {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let authorization = basic(world.provider());
        test(&Bench { service, world, authorization });
    });
}

impl Bench<'_> {
    fn send(&self, endpoint: &Endpoint, body: &str) -> Answer {
        self.call(endpoint.method, &endpoint.path, Some(body))
    }

    fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None)
    }

    fn call(&self, method: &str, path: &str, body: Option<&str>) -> Answer {
        let headers = [("Authorization", self.authorization.as_str()), ("Content-Type", "application/json")];
        let headers = if body.is_some() { headers.as_slice() } else { &headers[..1] };
        self.service.running.request(method, path, headers, body)
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, Some(&body.to_string()))
    }

    fn put(&self, path: &str, body: &Value) -> Answer {
        self.call("PUT", path, Some(&body.to_string()))
    }

    /// Asserts that `done` changes nothing.
    fn unchanged(&self, done: impl FnOnce()) {
        let before = self.picture(self.service);
        done();
        assert_eq!(self.picture(self.service), before);
    }

    fn endpoints(&self) -> Vec<Endpoint> {
        endpoints::all(&self.world)
    }
}

/// Whether a message reports a fault of this field.
fn names(message: &str, field: &str) -> bool {
    message.split("; ").any(|part| part.starts_with(field) || part.starts_with(&format!("Invalid {field}, ")))
}
