//! The eleven scheduled attempts, and replays by the operator.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture, run_event_list, wait_for_state};
use crate::support::for_each_database_with;
use crate::support::receiver::{DeliveredEvent as _, ReceivedRequest, Reply};
use crate::support::service::TestService;
use crate::support::wait_until;

const TIME_SCALE: f64 = 100_000.0;
/// In seconds (behaviour 23.8).
const WAITS_SECONDS: [f64; 10] =
    [15.0, 18.0, 95.0, 582.0, 2_319.0, 6_890.0, 16_863.0, 36_030.0, 69_647.0, 124_674.0];
const LATE_MAX: Duration = Duration::from_secs(1);

#[test]
fn an_event_is_tried_eleven_times_stored_and_replayed() {
    let settings = [
        &ALLOW_LOCAL_RECEIVERS[..],
        &[("GUERDON_WEBHOOKS__TIME_SCALE", "100000"), ("GUERDON_LOG__LEVEL", "debug")],
    ]
    .concat();
    for_each_database_with(&settings, |service| {
        let fixture = WebhookFixture::create_with_url(service, 2, |receiver| {
            format!("{}?token=of-the-receiver", receiver.url())
        });
        fixture.receiver.set_default_reply(Reply::Status(500));
        let mut attempts: HashMap<String, Vec<ReceivedRequest>> = HashMap::new();
        for _ in 0..3 {
            fixture.send_recognition(service);
        }
        for _ in 0..33 {
            let describe = || {
                format!(
                    "{:#?}, {} without an answer",
                    fixture.list_events(service),
                    count_attempts_without_response(service)
                )
            };
            let arrival = fixture.receiver.try_next_request().unwrap_or_else(|| panic!("{}", describe()));
            assert_eq!(arrival.verify_signature(&fixture.url, &fixture.secret), Ok(()));
            attempts.entry(arrival.event_id().to_owned()).or_default().push(arrival);
        }
        let mut ids: Vec<&String> = attempts.keys().collect();
        ids.sort();
        for id in &ids {
            let row = wait_for_state(service, id, "exhausted");
            assert_eq!((&row["attempts"], &row["next_attempt_at"]), (&json!(11), &json!(null)));
            assert_eq!(
                (&row["type"], &row["provider_id"]),
                (&json!("recognition.received"), &json!(fixture.sample.provider.id))
            );
            assert_schedule_kept(&attempts[*id]);
        }
        assert_eq!(run_event_list(service, &["--state", "exhausted"]).len(), 3);
        assert_eq!(service.database.count_rows("attempts WHERE status = 500 AND failure IS NOT NULL"), 33);
        check_replays(service, &fixture, &ids, &attempts);
        for private in ["of-the-receiver", &fixture.secret, "@example."] {
            assert_eq!(service.running.count_in_log(private), 0, "{private}");
        }
    });
}

fn count_attempts_without_response(service: &TestService) -> i64 {
    service.database.count_rows("attempts WHERE status IS NULL")
}

fn assert_schedule_kept(attempts: &[ReceivedRequest]) {
    assert_eq!(attempts.len(), 11);
    for (pair, seconds) in attempts.windows(2).zip(WAITS_SECONDS) {
        assert_eq!(pair[0].body, pair[1].body);
        let (wait, waited) =
            (Duration::from_secs_f64(seconds / TIME_SCALE), pair[1].received_at - pair[0].received_at);
        assert!(waited >= wait, "{waited:?} is less than {wait:?}");
        assert!(waited <= wait + LATE_MAX, "{waited:?} is too long for {wait:?}");
    }
    let mut nonces: Vec<&str> = attempts.iter().map(|attempt| attempt.header("X-Service-Nonce")).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 11);
}

fn check_replays(
    service: &TestService,
    fixture: &WebhookFixture,
    ids: &[&String],
    before: &HashMap<String, Vec<ReceivedRequest>>,
) {
    let is_the_same =
        |arrival: &ReceivedRequest| assert_eq!(arrival.body, before[arrival.event_id()][0].body);
    let provider = fixture.sample.provider.id.as_str();
    let replay = |words: &[&str]| service.run_json_command(&[&["event", "replay"], words].concat());
    fixture.receiver.set_default_reply(Reply::Status(200));

    assert_eq!(replay(&[ids[0]]), json!({"replayed": 1}));
    let arrival = fixture.next();
    assert_eq!(arrival.event_id(), ids[0]);
    is_the_same(&arrival);
    assert_eq!(wait_for_state(service, ids[0], "delivered")["attempts"], 12);

    fixture.receiver.queue_replies([Reply::Status(500)]); // the schedule restarts
    let both = ["--provider", provider, "--state", "pending", "--state", "exhausted"];
    assert_eq!(replay(&both), json!({"replayed": 2}), "none is counted twice");
    (0..3).for_each(|_| is_the_same(&fixture.next()));
    let attempts =
        [ids[1], ids[2]].map(|id| wait_for_state(service, id, "delivered")["attempts"].as_u64().unwrap());
    assert_eq!(attempts.iter().sum::<u64>(), 12 + 13);

    let both = ["--provider", provider, "--state", "exhausted", "--state", "pending"];
    assert_eq!(replay(&both), json!({"replayed": 0}));
    assert_eq!(replay(&[ids[1], ids[2]]), json!({"replayed": 2})); // delivered events can be replayed too
    (0..2).for_each(|_| is_the_same(&fixture.next()));
    let absent = "0193a5c0-0000-7000-8000-000000000001";
    assert_eq!(service.run_command(&["event", "replay", ids[0], absent]).status, 1); // all or nothing
    assert_eq!(service.run_command(&["event", "replay"]).status, 2);
    assert_eq!(replay(&["--provider", provider, "--state", "pending"]), json!({"replayed": 0}));
    assert_eq!(
        service.run_command(&["event", "replay", "--provider", provider, "--state", "delivered"]).status,
        2
    );
    let sentinel = fixture.send_recognition(service);
    assert_eq!(fixture.next().json()["data"]["id"], sentinel["id"], "the other events are not sent again");
}

#[test]
fn a_pending_event_is_listed_with_its_next_attempt_and_a_replay_makes_it_due_now() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        fixture.receiver.set_default_reply(Reply::Status(500));
        let started = Instant::now();
        let recognition = fixture.send_recognition(service);
        let event = fixture.next().event_id().to_owned();
        let row = wait_until("one attempt should be settled", || {
            run_event_list(service, &["--provider", &fixture.sample.provider.id, "--state", "pending"])
                .into_iter()
                .find(|row| row["attempts"] == 1)
        });
        assert_eq!((&row["id"], &row["type"]), (&json!(event), &json!("recognition.received")));
        let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["attempts", "created_at", "id", "next_attempt_at", "provider_id", "state", "type"]);
        let moment = |value: &serde_json::Value| {
            let format = &time::format_description::well_known::Rfc3339;
            time::OffsetDateTime::parse(value.as_str().unwrap(), format).unwrap()
        };
        let wait = moment(&row["next_attempt_at"]) - moment(&recognition["created_at"]);
        let (min_delay, max_delay) = (Duration::from_secs(15), Duration::from_secs(15) + started.elapsed());
        assert!(wait >= min_delay && wait <= max_delay, "{wait}");
        let attempt = &service.run_json_command(&["event", "show", &event])["attempts"][0];
        assert_eq!((&attempt["status"], attempt["response_body"].is_string()), (&json!(500), true));
        assert_eq!(run_event_list(service, &["--state", "delivered"]).len(), 0);
        assert_eq!(fixture.receiver.unread_requests().len(), 0);
        assert_eq!(service.run_json_command(&["event", "replay", &event]), json!({"replayed": 1}));
        assert_eq!(fixture.next().event_id(), event);
        let again = wait_until("a second attempt should be settled", || {
            run_event_list(service, &["--state", "pending"]).into_iter().find(|row| row["attempts"] == 2)
        });
        let wait = moment(&again["next_attempt_at"]) - moment(&row["next_attempt_at"]);
        assert!(wait < Duration::from_secs(18), "the schedule continues where it stopped: {wait}");
    });
}

#[test]
fn all_pending_events_are_sent_at_once_by_the_operator_or_the_provider() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let provider = &fixture.sample.provider;
        fixture.receiver.set_default_reply(Reply::Status(500));
        (0..3).for_each(|_| drop(fixture.send_recognition(service)));
        let await_attempt = |number: u64| {
            (0..3).for_each(|_| drop(fixture.next()));
            wait_until("each event should have been tried", || {
                let rows = run_event_list(service, &["--state", "pending"]);
                rows.iter().all(|row| row["attempts"] == number).then_some(())
            });
        };
        await_attempt(1);
        let stranger = service.create_provider("Stranger", false);
        let body = json!({"state": "pending"});
        assert_eq!(service.post(&stranger, "/v1/events/replay", &body).json(), json!({"replayed": 0}));
        let words = ["event", "replay", "--provider", &provider.id, "--state", "pending"];
        assert_eq!(service.run_json_command(&words), json!({"replayed": 3}));
        await_attempt(2);
        let audit = service.run_json_command(&["audit", "--provider", &provider.id, "--limit", "1"]);
        assert_eq!(audit[0]["detail"], "3 events");
        fixture.receiver.set_default_reply(Reply::Status(200));
        assert_eq!(service.post(provider, "/v1/events/replay", &body).json(), json!({"replayed": 3}));
        (0..3).for_each(|_| drop(fixture.next()));
        wait_until("everything should be delivered", || {
            (run_event_list(service, &["--state", "delivered"]).len() == 3).then_some(())
        });
    });
}
