//! Where events are sent when URLs, secrets and owners change, and while a provider has no URL or is suspended.

use serde_json::{Value, json};

use super::{
    ALLOW_LOCAL_RECEIVERS, FAST_RETRIES, WebhookFixture, register_provider, run_event_list, wait_for_state,
};
use crate::support::receiver::{DeliveredEvent as _, Reply, WebhookReceiver};
use crate::support::service::TestService;
use crate::support::wait_until;
use crate::support::{SampleCompany, for_each_database_with};

#[test]
fn events_of_a_provider_without_a_url_wait_for_a_replay() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let (provider, secret) = register_provider(service, None);
        let sample = SampleCompany::create_in_domain(service, provider, "acme.example.com", 3);
        sample.fund_peer_wallets(service, 100);
        let id = sample.provider.id.as_str();
        let users = &sample.users;
        assert_eq!(sample.send_recognition(service, &users[0], &[&users[1], &users[2]], 1).status, 201);
        let rows = run_event_list(service, &["--provider", id, "--state", "unaddressed"]);
        assert_eq!(rows.len(), 2);
        for row in &rows {
            assert_eq!((&row["attempts"], &row["next_attempt_at"]), (&json!(0), &Value::Null));
        }
        let receiver = WebhookReceiver::start().unwrap();
        let url = receiver.url();
        service.run_json_command(&["provider", "set", id, "--callback-url", &url]);
        let sent = sample.send_recognition(service, &users[0], &[&users[1]], 1).json();
        assert_eq!(
            receiver.next_request().json()["data"]["id"],
            sent["recognitions"][0]["id"],
            "new events arrive"
        );
        let words = ["event", "replay", "--provider", id, "--state", "unaddressed"];
        assert_eq!(service.run_json_command(&words), json!({"replayed": 2}));
        let mut came: Vec<String> = Vec::new();
        for arrival in receiver.take_requests(2) {
            assert_eq!(arrival.verify_signature(&url, &secret), Ok(()));
            came.push(arrival.event_id().to_owned());
        }
        came.sort();
        let mut kept_ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        kept_ids.sort_unstable();
        assert_eq!(came, kept_ids);
        wait_for_state(service, kept_ids[0], "delivered");
    });
}

#[test]
fn events_of_a_suspended_provider_wait_until_it_is_resumed() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let (fixture, other) = (WebhookFixture::create(service, 2), WebhookFixture::create(service, 2));
        let id = fixture.sample.provider.id.as_str();
        let set =
            |words: &[&str]| drop(service.run_json_command(&[&["provider", "set", id], words].concat()));
        let recognition = fixture.send_recognition(service)["id"].as_str().unwrap().to_owned();
        fixture.next();
        set(&["--suspended", "true"]);
        let update = |message: &str| {
            service.run_json_command(&["recognition", "update", &recognition, "--message", message])
        };
        update("One");
        update("Two");
        other.send_recognition(service);
        other.next();
        let rows = run_event_list(service, &["--provider", id, "--state", "pending"]);
        assert_eq!(rows.iter().map(|row| row["attempts"].clone()).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
        set(&["--suspended", "false"]);
        let mut secrets =
            [fixture.next(), fixture.next()].map(|arrival| arrival.json()["data"]["message"].to_string());
        secrets.sort();
        assert_eq!(secrets, ["\"One\"", "\"Two\""]);

        set(&["--suspended", "true"]);
        update("Three");
        set(&["--no-callback-url"]);
        set(&["--suspended", "false"]);
        let kept = wait_until("without a URL it should be unaddressed", || {
            run_event_list(service, &["--provider", id, "--state", "unaddressed"]).pop()
        });
        assert_eq!(kept["attempts"], 0);
        set(&["--callback-url", &fixture.url]);
        service.run_json_command(&["event", "replay", kept["id"].as_str().unwrap()]);
        assert_eq!(fixture.next().event_id(), kept["id"]);
    });
}

#[test]
fn an_attempt_uses_the_current_url_and_secret() {
    for_each_database_with(&FAST_RETRIES, |service| {
        let (fixture, new) = (WebhookFixture::create(service, 2), WebhookReceiver::start().unwrap());
        fixture.receiver.set_default_reply(Reply::Status(500));
        new.set_default_reply(Reply::Status(500));
        let id = fixture.sample.provider.id.as_str();
        fixture.send_recognition(service);
        let first = fixture.next();
        fixture.next();
        let url = format!("{}/new", new.url());
        service.run_json_command(&["provider", "set", id, "--callback-url", &url]);
        let moved = new.next_request();
        assert_eq!((moved.event_id(), &moved.body), (first.event_id(), &first.body));
        assert_eq!(moved.verify_signature(&url, &fixture.secret), Ok(()));
        let rotated = service.run_json_command(&["provider", "rotate", id, "--shared-secret"]);
        let secret = rotated["shared_secret"].as_str().unwrap().to_owned();
        let resigned = wait_until("the new secret should be used", || {
            let next = new.next_request();
            assert!(
                next.verify_signature(&url, &secret).is_ok()
                    != next.verify_signature(&url, &fixture.secret).is_ok()
            );
            next.verify_signature(&url, &secret).is_ok().then_some(next)
        });
        assert_eq!((resigned.event_id(), &resigned.body), (first.event_id(), &first.body));
        new.set_default_reply(Reply::Status(200));
        wait_for_state(service, first.event_id(), "delivered");
        let old = fixture.receiver.unread_requests(); // in flight when the URL changed
        assert!(old.iter().all(|arrival| arrival.verify_signature(&fixture.url, &fixture.secret).is_ok()));
        fixture.send_recognition(service);
        wait_until("a new event should go to the new URL", || {
            (new.next_request().event_id() != first.event_id()).then_some(())
        });
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
    });
}

#[test]
fn events_are_signed_by_the_old_secret_until_its_grace_ends() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let id = fixture.sample.provider.id.as_str();
        let rotate = |more: &[&str]| {
            let rotated =
                service.run_json_command(&[&["provider", "rotate", id, "--shared-secret"], more].concat());
            rotated["shared_secret"].as_str().unwrap().to_owned()
        };
        let second = rotate(&["--grace", "1"]);
        fixture.send_recognition(service);
        fixture.next().assert_standard_headers(&[&second, &fixture.secret]);
        service.run_json_command(&["webhook", "send-example", id, "--type", "redemption.created"]);
        fixture.next().assert_standard_headers(&[&second, &fixture.secret]);
        let third = rotate(&[]);
        fixture.send_recognition(service);
        let arrival = fixture.receiver.next_request();
        assert_eq!(arrival.verify_signature(&fixture.url, &third), Ok(()));
        arrival.assert_standard_headers(&[&third]);
    });
}

#[test]
fn an_example_is_signed_like_any_event_and_is_not_stored() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let id = fixture.sample.provider.id.as_str();
        for kind in ["recognition.received", "recognition.updated", "redemption.created"] {
            let result = service.run_json_command(&["webhook", "send-example", id, "--type", kind]);
            let arrival = fixture.next();
            arrival.assert_standard_headers(&[&fixture.secret]);
            assert_eq!(
                (arrival.json()["type"].as_str(), result["event_id"].as_str()),
                (Some(kind), Some(arrival.event_id()))
            );
            assert_eq!(
                (&result["status"], &result["confirmed"], &result["cause"]),
                (&json!(200), &json!(true), &Value::Null)
            );
        }
        assert_eq!(service.run_json_command(&["event", "list", "--provider", id]), json!([]));
        fixture.receiver.set_default_reply(Reply::Status(503));
        let refused = service.run_command(&["webhook", "send-example", id, "--type", "redemption.created"]);
        assert_eq!(refused.status, 1);
        assert!(
            refused.stdout.contains("not confirmed") && refused.stdout.contains("503"),
            "{}",
            refused.stdout
        );
        fixture.next();
        for (words, status, why) in [
            (
                ["webhook", "send-example", id, "--type", "other"],
                2,
                "'--type <TYPE>': must be recognition.received",
            ),
            (
                ["webhook", "send-example", &fixture.sample.company, "--type", "redemption.created"],
                1,
                "no provider has the id",
            ),
        ] {
            let refused = service.run_command(&words);
            assert_eq!(refused.status, status);
            assert!(refused.stderr.contains(why), "{}", refused.stderr);
        }
    });
}

#[test]
fn earlier_events_of_a_transferred_company_stay_with_the_old_provider() {
    for_each_database_with(&FAST_RETRIES, |service| {
        let (old, new) = (WebhookFixture::create(service, 2), WebhookFixture::create(service, 2));
        old.receiver.set_default_reply(Reply::Status(500));
        let before = old.send_recognition(service);
        let first = old.next();
        service.run_json_command(&[
            "company",
            "transfer",
            &old.sample.company,
            "--to",
            &new.sample.provider.id,
        ]);
        let id = before["id"].as_str().unwrap();
        service.run_json_command(&["recognition", "update", id, "--message", "Later"]);
        let after = new.next();
        assert_eq!(
            (&after.json()["type"], &after.json()["data"]["id"]),
            (&json!("recognition.updated"), &before["id"])
        );
        check_after_transfer(service, &old, &new);
        old.receiver.set_default_reply(Reply::Status(200));
        let row = wait_for_state(service, first.event_id(), "delivered");
        assert_eq!(row["provider_id"], old.sample.provider.id);
        for arrival in old.receiver.unread_requests() {
            assert_eq!(arrival.verify_signature(&old.url, &old.secret), Ok(()));
            assert_eq!((arrival.event_id(), &arrival.body), (first.event_id(), &first.body));
        }
        assert_eq!((old.list_events(service).len(), new.list_events(service).len()), (1, 2));
        assert_eq!(new.receiver.unread_requests().len(), 0);
    });
}

/// The new provider sends a recognition in the transferred company and receives its events.
fn check_after_transfer(service: &TestService, old: &WebhookFixture, new: &WebhookFixture) {
    let users = &old.sample.users;
    let body = old.sample.recognition_body("user", &users[0], &[&users[1]], 1);
    let sent = service.post(&new.sample.provider, "/v1/recognitions", &body);
    assert_eq!(sent.status, 201, "{}", sent.body);
    assert_eq!(new.next().json()["data"]["id"], sent.json()["recognitions"][0]["id"]);
    assert_eq!(service.post(&old.sample.provider, "/v1/recognitions", &body).status, 403);
}
