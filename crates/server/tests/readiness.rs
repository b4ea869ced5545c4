//! Readiness while the disk is full.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::support::service::Service;
use crate::support::{Sample, on_each, until};

/// Limits the size of the files that the service writes. `None` removes the limit.
fn limit_files(service: &Service, bytes_max: Option<u64>) {
    let maximum = rustix::process::getrlimit(Resource::Fsize).maximum;
    let pid = Pid::from_raw(service.running.pid());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes_max, maximum }).unwrap();
}

fn until_ready(service: &Service, expected: u16) {
    until("readiness should reflect the disk", || {
        (service.running.health("/readyz") == expected).then_some(())
    });
}

#[test]
fn a_full_disk_is_reported_once_and_readiness_recovers() {
    on_each(|service| {
        if !service.database.is_embedded() {
            return;
        }
        let sample = Sample::make(service, 1);
        let create = |number: u32| {
            let body = json!({"name": format!("Corporation {number}")});
            service.post(&sample.provider, "/v1/corporations", &body).status
        };
        assert_eq!((create(0), service.running.health("/readyz")), (201, 200));
        limit_files(service, Some(0));
        assert!((1..=20).all(|number| create(number) == 503));
        until_ready(service, 503);
        assert_eq!(service.get(&sample.provider, "/v1/companies").status, 200, "reads are served");
        assert!((21..=40).all(|number| create(number) == 503));
        until("the log should report it", || {
            (service.running.says("the database rejects writes") > 0).then_some(())
        });
        assert_eq!(service.running.says("failed (logged once a minute)"), 1);
        limit_files(service, None);
        until_ready(service, 200);
        assert_eq!(create(41), 201);
        let listed = service.get(&sample.provider, "/v1/corporations").json();
        assert_eq!(listed["total_count"], 2, "refused requests store nothing");
    });
}
