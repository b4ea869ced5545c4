//! Where events are sent when URLs, secrets and owners change, and while a provider has no URL or is suspended.

use serde_json::{Value, json};

use super::{HASTY, LOCAL, Post, in_state, listed, registered};
use crate::support::receiver::{Receiver, Reply};
use crate::support::service::Service;
use crate::support::until;
use crate::support::{Sample, on_each_with};

#[test]
fn events_of_a_provider_without_a_url_wait_for_a_replay() {
    on_each_with(&LOCAL, |service| {
        let (provider, secret) = registered(service, None);
        let sample = Sample::in_domain(service, provider, "acme.example.com", 3);
        sample.fund(service, 100);
        let id = sample.provider.id.as_str();
        let users = &sample.users;
        assert_eq!(sample.send(service, &users[0], &[&users[1], &users[2]], 1).status, 201);
        let rows = listed(service, &["--provider", id, "--state", "unaddressed"]);
        assert_eq!(rows.len(), 2);
        for row in &rows {
            assert_eq!((&row["attempts"], &row["next_attempt_at"]), (&json!(0), &Value::Null));
        }
        let receiver = Receiver::start();
        let url = receiver.url();
        service.json(&["provider", "set", id, "--callback-url", &url]);
        let sent = sample.send(service, &users[0], &[&users[1]], 1).json();
        assert_eq!(receiver.next().json()["data"]["id"], sent["recognitions"][0]["id"], "new events arrive");
        let words = ["event", "replay", "--provider", id, "--state", "unaddressed"];
        assert_eq!(service.json(&words), json!({"replayed": 2}));
        let mut came: Vec<String> = Vec::new();
        for arrival in receiver.take(2) {
            assert_eq!(arrival.verified(&url, &secret), Ok(()));
            came.push(arrival.event_id().to_owned());
        }
        came.sort();
        let mut kept: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        kept.sort_unstable();
        assert_eq!(came, kept);
        in_state(service, kept[0], "delivered");
    });
}

#[test]
fn events_of_a_suspended_provider_wait_until_it_is_resumed() {
    on_each_with(&LOCAL, |service| {
        let (post, other) = (Post::make(service, 2), Post::make(service, 2));
        let id = post.sample.provider.id.as_str();
        let set = |words: &[&str]| drop(service.json(&[&["provider", "set", id], words].concat()));
        let recognition = post.recognise(service)["id"].as_str().unwrap().to_owned();
        post.next();
        set(&["--suspended", "true"]);
        let update =
            |message: &str| service.json(&["recognition", "update", &recognition, "--message", message]);
        update("One");
        update("Two");
        other.recognise(service);
        other.next();
        let rows = listed(service, &["--provider", id, "--state", "pending"]);
        assert_eq!(rows.iter().map(|row| row["attempts"].clone()).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(post.receiver.so_far().len(), 0);
        set(&["--suspended", "false"]);
        let mut told =
            [post.next(), post.next()].map(|arrival| arrival.json()["data"]["message"].to_string());
        told.sort();
        assert_eq!(told, ["\"One\"", "\"Two\""]);

        set(&["--suspended", "true"]);
        update("Three");
        set(&["--no-callback-url"]);
        set(&["--suspended", "false"]);
        let kept = until("without a URL it should be unaddressed", || {
            listed(service, &["--provider", id, "--state", "unaddressed"]).pop()
        });
        assert_eq!(kept["attempts"], 0);
        set(&["--callback-url", &post.url]);
        service.json(&["event", "replay", kept["id"].as_str().unwrap()]);
        assert_eq!(post.next().event_id(), kept["id"]);
    });
}

#[test]
fn an_attempt_uses_the_current_url_and_secret() {
    on_each_with(&HASTY, |service| {
        let (post, new) = (Post::make(service, 2), Receiver::start());
        post.receiver.answer(Reply::Status(500));
        new.answer(Reply::Status(500));
        let id = post.sample.provider.id.as_str();
        post.recognise(service);
        let first = post.next();
        post.next();
        let url = format!("{}/new", new.url());
        service.json(&["provider", "set", id, "--callback-url", &url]);
        let moved = new.next();
        assert_eq!((moved.event_id(), &moved.body), (first.event_id(), &first.body));
        assert_eq!(moved.verified(&url, &post.secret), Ok(()));
        let rotated = service.json(&["provider", "rotate", id, "--shared-secret"]);
        let secret = rotated["shared_secret"].as_str().unwrap().to_owned();
        let resigned = until("the new secret should be used", || {
            let next = new.next();
            assert!(next.verified(&url, &secret).is_ok() != next.verified(&url, &post.secret).is_ok());
            next.verified(&url, &secret).is_ok().then_some(next)
        });
        assert_eq!((resigned.event_id(), &resigned.body), (first.event_id(), &first.body));
        new.answer(Reply::Status(200));
        in_state(service, first.event_id(), "delivered");
        let old = post.receiver.so_far(); // in flight when the URL changed
        assert!(old.iter().all(|arrival| arrival.verified(&post.url, &post.secret).is_ok()));
        post.recognise(service);
        until("a new event should go to the new URL", || {
            (new.next().event_id() != first.event_id()).then_some(())
        });
        assert_eq!(post.receiver.so_far().len(), 0);
    });
}

#[test]
fn events_are_signed_by_the_old_secret_until_its_grace_ends() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        let id = post.sample.provider.id.as_str();
        service.json(&["provider", "rotate", id, "--shared-secret", "--grace", "1"]);
        post.recognise(service);
        post.next();
        let rotated = service.json(&["provider", "rotate", id, "--shared-secret"]);
        post.recognise(service);
        assert_eq!(
            post.receiver.next().verified(&post.url, rotated["shared_secret"].as_str().unwrap()),
            Ok(())
        );
    });
}

#[test]
fn an_example_is_signed_like_any_event_and_leaves_no_trace() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        let id = post.sample.provider.id.as_str();
        for kind in ["recognition.received", "recognition.updated", "redemption.created"] {
            let told = service.json(&["webhook", "send-example", id, "--type", kind]);
            let arrival = post.next();
            assert_eq!(arrival.verified(&post.url, &post.secret), Ok(()));
            assert_eq!(
                (arrival.json()["type"].as_str(), told["event_id"].as_str()),
                (Some(kind), Some(arrival.event_id()))
            );
            assert_eq!(
                (&told["status"], &told["confirmed"], &told["cause"]),
                (&json!(200), &json!(true), &Value::Null)
            );
        }
        assert_eq!(service.json(&["event", "list", "--provider", id]), json!([]));
        post.receiver.answer(Reply::Status(503));
        let refused = service.guerdon(&["webhook", "send-example", id, "--type", "redemption.created"]);
        assert_eq!(refused.status, 1);
        assert!(refused.out.contains("not confirmed") && refused.out.contains("503"), "{}", refused.out);
        post.next();
        for (words, why) in [
            (["webhook", "send-example", id, "--type", "other"], "--type must be"),
            (
                ["webhook", "send-example", &post.sample.company, "--type", "redemption.created"],
                "no provider has this id",
            ),
        ] {
            let refused = service.guerdon(&words);
            assert_eq!(refused.status, 1);
            assert!(refused.err.contains(why), "{}", refused.err);
        }
    });
}

#[test]
fn events_from_before_a_transfer_stay_with_the_old_provider() {
    on_each_with(&HASTY, |service| {
        let (old, new) = (Post::make(service, 2), Post::make(service, 2));
        old.receiver.answer(Reply::Status(500));
        let before = old.recognise(service);
        let first = old.next();
        service.json(&["company", "transfer", &old.sample.company, "--to", &new.sample.provider.id]);
        let id = before["id"].as_str().unwrap();
        service.json(&["recognition", "update", id, "--message", "Later"]);
        let after = new.next();
        assert_eq!(
            (&after.json()["type"], &after.json()["data"]["id"]),
            (&json!("recognition.updated"), &before["id"])
        );
        after_transfer(service, &old, &new);
        old.receiver.answer(Reply::Status(200));
        let row = in_state(service, first.event_id(), "delivered");
        assert_eq!(row["provider_id"], old.sample.provider.id);
        for arrival in old.receiver.so_far() {
            assert_eq!(arrival.verified(&old.url, &old.secret), Ok(()));
            assert_eq!((arrival.event_id(), &arrival.body), (first.event_id(), &first.body));
        }
        assert_eq!((old.events(service).len(), new.events(service).len()), (1, 2));
        assert_eq!(new.receiver.so_far().len(), 0);
    });
}

/// The new provider sends a recognition in the transferred company and receives its events.
fn after_transfer(service: &Service, old: &Post, new: &Post) {
    let users = &old.sample.users;
    let body = old.sample.recognition("user", &users[0], &[&users[1]], 1);
    let sent = service.post(&new.sample.provider, "/v1/recognitions", &body);
    assert_eq!(sent.status, 201, "{}", sent.body);
    assert_eq!(new.next().json()["data"]["id"], sent.json()["recognitions"][0]["id"]);
    assert_eq!(service.post(&old.sample.provider, "/v1/recognitions", &body).status, 403);
}
