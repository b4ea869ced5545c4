//! The time limit of an attempt, and an attempt that is in flight when the service stops.

use std::time::Duration;

use guerdon_persistence::testing::{TestDatabase, each};

use super::{HASTY, LOCAL, Post, in_state};
use crate::support::receiver::Reply;
use crate::support::service::Service;
use crate::support::until;
use crate::support::{Sample, on_each_with};

#[test]
fn an_attempt_ends_after_15_seconds() {
    std::thread::scope(|scope| {
        for database in each() {
            scope.spawn(|| hangs(database));
        }
    });
}

fn hangs(database: TestDatabase) {
    let service = Service::start(database, &HASTY);
    let posts = [(); 2].map(|()| Post::make(&service, 2));
    let replies = [Reply::Held(200), Reply::Drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")];
    for (post, reply) in posts.iter().zip(&replies) {
        post.receiver.script([reply.clone()]);
        post.recognise(&service);
    }
    for (post, reply) in posts.iter().zip(&replies) {
        let (first, second) = (post.next(), post.next());
        let waited = second.at - first.at;
        assert!(waited > Duration::from_millis(14_800), "{reply:?}: {waited:?}");
        assert!(waited < Duration::from_millis(16_000), "{reply:?}: {waited:?}");
        assert_eq!((second.event_id(), &second.body), (first.event_id(), &first.body));
        assert_eq!(in_state(&service, first.event_id(), "delivered")["attempts"], 2);
    }
    assert_eq!(service.guerdon(&["verify"]).status, 0);
}

#[test]
fn a_stop_waits_for_the_attempt_in_flight() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        post.receiver.answer(Reply::Held(200));
        post.recognise(service);
        let arrival = post.next();
        service.running.terminate();
        while service.running.health("/readyz") == 200 {}
        post.receiver.release();
        assert_eq!(service.running.ended(), Some(0));
        assert_eq!(in_state(service, arrival.event_id(), "delivered")["attempts"], 1);
        service.restart();
        post.recognise(service);
        assert_ne!(post.next().event_id(), arrival.event_id());
    });
}

#[test]
fn events_are_delivered_during_maintenance() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        let recognition = post.recognise(service);
        post.next();
        service.json(&["maintenance", "on"]);
        let Sample { provider, company, .. } = &post.sample;
        until("maintenance should begin", || {
            (service.get(provider, &format!("/v1/companies/{company}")).status == 503).then_some(())
        });
        let id = recognition["id"].as_str().unwrap();
        service.json(&["recognition", "update", id, "--message", "Meanwhile"]);
        assert_eq!(post.next().json()["data"]["message"], "Meanwhile");
        service.json(&["maintenance", "off"]);
    });
}
