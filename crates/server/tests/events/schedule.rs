//! The eleven scheduled attempts, and replays by the operator.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{LOCAL, Post, in_state, listed};
use crate::support::on_each_with;
use crate::support::receiver::{Arrival, Reply};
use crate::support::service::Service;
use crate::support::until;

const SCALE: f64 = 100_000.0;
/// In seconds (behaviour 23.8).
const WAITS: [f64; 10] = [15.0, 18.0, 95.0, 582.0, 2_319.0, 6_890.0, 16_863.0, 36_030.0, 69_647.0, 124_674.0];
const LATE_MAX: Duration = Duration::from_secs(1);

#[test]
fn an_event_is_tried_eleven_times_stored_and_replayed() {
    let settings = [LOCAL[0], LOCAL[1], ("GUERDON_WEBHOOKS__TIME_SCALE", "100000")];
    on_each_with(&settings, |service| {
        let post = Post::make(service, 2);
        post.receiver.answer(Reply::Status(500));
        let mut attempts: HashMap<String, Vec<Arrival>> = HashMap::new();
        for _ in 0..3 {
            post.recognise(service);
        }
        for _ in 0..33 {
            let told = || format!("{:#?}, {} without an answer", post.events(service), unanswered(service));
            let arrival = post.receiver.came().unwrap_or_else(|| panic!("{}", told()));
            assert_eq!(arrival.verified(&post.url, &post.secret), Ok(()));
            attempts.entry(arrival.event_id().to_owned()).or_default().push(arrival);
        }
        let mut ids: Vec<&String> = attempts.keys().collect();
        ids.sort();
        for id in &ids {
            let row = in_state(service, id, "exhausted");
            assert_eq!((&row["attempts"], &row["next_attempt_at"]), (&json!(11), &json!(null)));
            assert_eq!(
                (&row["type"], &row["provider_id"]),
                (&json!("recognition.received"), &json!(post.sample.provider.id))
            );
            keep_the_schedule(&attempts[*id]);
        }
        assert_eq!(listed(service, &["--state", "exhausted"]).len(), 3);
        assert_eq!(service.database.count("attempts WHERE status = 500 AND cause IS NOT NULL"), 33);
        replays(service, &post, &ids, &attempts);
    });
}

fn unanswered(service: &Service) -> i64 {
    service.database.count("attempts WHERE status IS NULL")
}

fn keep_the_schedule(attempts: &[Arrival]) {
    assert_eq!(attempts.len(), 11);
    for (pair, seconds) in attempts.windows(2).zip(WAITS) {
        assert_eq!(pair[0].body, pair[1].body);
        let (wait, waited) = (Duration::from_secs_f64(seconds / SCALE), pair[1].at - pair[0].at);
        assert!(waited >= wait, "{waited:?} is less than {wait:?}");
        assert!(waited <= wait + LATE_MAX, "{waited:?} is too long for {wait:?}");
    }
    let mut nonces: Vec<&str> = attempts.iter().map(|attempt| attempt.header("X-Service-Nonce")).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 11);
}

fn replays(service: &Service, post: &Post, ids: &[&String], before: &HashMap<String, Vec<Arrival>>) {
    let is_the_same = |arrival: &Arrival| assert_eq!(arrival.body, before[arrival.event_id()][0].body);
    let provider = post.sample.provider.id.as_str();
    let replay = |words: &[&str]| service.json(&[&["event", "replay"], words].concat());
    post.receiver.answer(Reply::Status(200));

    assert_eq!(replay(&[ids[0]]), json!({"replayed": 1}));
    let arrival = post.next();
    assert_eq!(arrival.event_id(), ids[0]);
    is_the_same(&arrival);
    assert_eq!(in_state(service, ids[0], "delivered")["attempts"], 12);

    post.receiver.script([Reply::Status(500)]); // the schedule restarts
    assert_eq!(replay(&["--provider", provider, "--state", "exhausted"]), json!({"replayed": 2}));
    (0..3).for_each(|_| is_the_same(&post.next()));
    let attempts =
        [ids[1], ids[2]].map(|id| in_state(service, id, "delivered")["attempts"].as_u64().unwrap());
    assert_eq!(attempts.iter().sum::<u64>(), 12 + 13);

    assert_eq!(replay(&["--provider", provider, "--state", "exhausted"]), json!({"replayed": 0}));
    assert_eq!(replay(&[ids[1], ids[2]]), json!({"replayed": 2})); // delivered events can be replayed too
    (0..2).for_each(|_| is_the_same(&post.next()));
    let absent = "0193a5c0-0000-7000-8000-000000000001";
    assert_eq!(service.guerdon(&["event", "replay", ids[0], absent]).status, 1); // all or nothing
    assert_eq!(service.guerdon(&["event", "replay"]).status, 2);
    for state in ["delivered", "pending"] {
        let words = ["event", "replay", "--provider", provider, "--state", state];
        assert_eq!(service.guerdon(&words).status, 2);
    }
    let sentinel = post.recognise(service);
    assert_eq!(post.next().json()["data"]["id"], sentinel["id"], "no more requests for the others");
}

#[test]
fn a_pending_event_is_listed_with_its_next_attempt_and_a_replay_makes_it_due_now() {
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        post.receiver.answer(Reply::Status(500));
        let began = Instant::now();
        let recognition = post.recognise(service);
        let event = post.next().event_id().to_owned();
        let row = until("one attempt should be settled", || {
            listed(service, &["--provider", &post.sample.provider.id, "--state", "pending"])
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
        let (least, most) = (Duration::from_secs(15), Duration::from_secs(15) + began.elapsed());
        assert!(wait >= least && wait <= most, "{wait}");
        assert_eq!(listed(service, &["--state", "delivered"]).len(), 0);
        assert_eq!(post.receiver.so_far().len(), 0);
        assert_eq!(service.json(&["event", "replay", &event]), json!({"replayed": 1}));
        assert_eq!(post.next().event_id(), event);
        let again = until("a second attempt should be settled", || {
            listed(service, &["--state", "pending"]).into_iter().find(|row| row["attempts"] == 2)
        });
        let wait = moment(&again["next_attempt_at"]) - moment(&row["next_attempt_at"]);
        assert!(wait < Duration::from_secs(18), "the schedule continues where it was: {wait}");
    });
}
