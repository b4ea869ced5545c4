//! The time limit of an attempt, and an attempt that is in flight when the service stops.

use std::time::Duration;

use guerdon_persistence::testing::{TestDatabase, create_databases};

use super::{ALLOW_LOCAL_RECEIVERS, FAST_RETRIES, WebhookFixture, wait_for_state};
use crate::support::receiver::{DeliveredEvent as _, Reply};
use crate::support::service::TestService;
use crate::support::wait_until;
use crate::support::{SampleCompany, for_each_database_with};

#[test]
fn an_attempt_ends_after_15_seconds() {
    std::thread::scope(|scope| {
        for database in create_databases() {
            scope.spawn(|| check_hanging_receivers(database));
        }
    });
}

fn check_hanging_receivers(database: TestDatabase) {
    let service = TestService::start(database, &FAST_RETRIES);
    let fixtures = [(); 2].map(|()| WebhookFixture::create(&service, 2));
    let replies = [Reply::AfterRelease(200), Reply::Drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")];
    for (fixture, reply) in fixtures.iter().zip(&replies) {
        fixture.receiver.queue_replies([reply.clone()]);
        fixture.send_recognition(&service);
    }
    for (fixture, reply) in fixtures.iter().zip(&replies) {
        let (first, second) = (fixture.next(), fixture.next());
        let waited = second.received_at - first.received_at;
        assert!(waited > Duration::from_millis(14_800), "{reply:?}: {waited:?}");
        assert!(waited < Duration::from_millis(16_000), "{reply:?}: {waited:?}");
        assert_eq!((second.event_id(), &second.body), (first.event_id(), &first.body));
        assert_eq!(wait_for_state(&service, first.event_id(), "delivered")["attempts"], 2);
    }
    assert_eq!(service.run_command(&["verify"]).status, 0);
}

#[test]
fn a_stop_waits_for_the_attempt_in_flight() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        fixture.receiver.set_default_reply(Reply::AfterRelease(200));
        fixture.send_recognition(service);
        let arrival = fixture.next();
        service.running.terminate().unwrap();
        wait_until("the service should begin to stop", || {
            (service.running.operator_page_status("/readyz") != 200).then_some(())
        });
        fixture.receiver.release_held_replies();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        assert_eq!(wait_for_state(service, arrival.event_id(), "delivered")["attempts"], 1);
        service.restart();
        fixture.send_recognition(service);
        assert_ne!(fixture.next().event_id(), arrival.event_id());
    });
}

#[test]
fn events_are_delivered_during_maintenance() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let recognition = fixture.send_recognition(service);
        fixture.next();
        service.run_json_command(&["maintenance", "on"]);
        let SampleCompany { provider, company, .. } = &fixture.sample;
        wait_until("maintenance should begin", || {
            (service.get(provider, &format!("/v1/companies/{company}")).status == 503).then_some(())
        });
        let id = recognition["id"].as_str().unwrap();
        service.run_json_command(&["recognition", "update", id, "--message", "Meanwhile"]);
        assert_eq!(fixture.next().json()["data"]["message"], "Meanwhile");
        service.run_json_command(&["maintenance", "off"]);
    });
}
