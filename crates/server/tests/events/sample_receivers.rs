//! Runs the sample receivers under docs/receivers: they accept genuine deliveries and reject everything else.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver as Lines;

use guerdon_test_harness::forward_lines;
use guerdon_test_support::require_program;
use guerdon_webhooks::sign;
use serde_json::{Value, json};

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture};
use crate::support::for_each_database_with;
use crate::support::receiver::{
    DeliveredEvent as _, RECEIVE_TIMEOUT, ReceivedRequest, Reply, forward_request,
};

#[test]
fn the_python_sample_accepts_only_genuine_events() {
    check_genuine_deliveries("python3", "receiver.py");
}

#[test]
fn the_javascript_sample_accepts_only_genuine_events() {
    check_genuine_deliveries("node", "receiver.mjs");
}

/// A running sample.
struct ReceiverProcess {
    child: Child,
    port: u16,
    stdout_lines: Lines<String>,
    stderr_lines: Lines<String>,
}

fn check_genuine_deliveries(program: &str, script: &str) {
    if require_program(program).is_none() {
        return;
    }
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let secrets = format!("gw_new {}", fixture.secret);
        let sample = ReceiverProcess::start_program(program, script, &secrets, &fixture.url);
        fixture.receiver.set_default_reply(Reply::Relay(sample.port));
        let recognition = fixture.send_recognition(service);
        let arrival = fixture.next();
        let printed: Value = serde_json::from_str(&next_line(&sample.stdout_lines)).unwrap();
        assert_eq!(
            (&printed["event_id"], &printed["type"]),
            (&json!(arrival.event_id()), &json!("recognition.received"))
        );
        assert_eq!(printed["data"], arrival.json()["data"]);
        assert_eq!(printed["data"]["id"], recognition["id"]);
        super::wait_for_state(service, arrival.event_id(), "delivered");
        sample.assert_rejects(&arrival, "the nonce was used before");
        check_altered_deliveries(&sample, &arrival, &fixture);
        let other =
            ReceiverProcess::start_program(program, script, &fixture.secret, &format!("{}/", fixture.url));
        other.assert_rejects(&arrival, "the signature does not match");
        let other =
            ReceiverProcess::start_program(program, script, &format!("{}x", fixture.secret), &fixture.url);
        other.assert_rejects(&arrival, "the signature does not match");
        assert_eq!(sample.stdout_lines.try_iter().count(), 0);
        let again = sign_again(&arrival, &fixture, "0123456789abcdef0123456789abcdef");
        assert_eq!(forward_request(sample.port, &again), 200); // a retry is confirmed but not handled again
        let other_secret = sign_with("gw_new", &arrival, &fixture, "1123456789abcdef0123456789abcdef");
        assert_eq!(forward_request(sample.port, &other_secret), 200);
        fixture.send_recognition(service);
        let next = fixture.next();
        let printed: Value = serde_json::from_str(&next_line(&sample.stdout_lines)).unwrap();
        assert_eq!(printed["event_id"], next.event_id());
        check_unsupported_requests(&sample, &arrival, &fixture);
        check_concurrent_deliveries(&sample, &arrival, &fixture);
    });
}

#[test]
fn the_samples_report_missing_settings() {
    for (program, script) in [("python3", "receiver.py"), ("node", "receiver.mjs")] {
        let Some(program) = require_program(program) else { continue };
        let output = Command::new(program)
            .arg(format!("{}/../../docs/receivers/{script}", env!("CARGO_MANIFEST_DIR")))
            .env_remove("SHARED_SECRET")
            .env_remove("CALLBACK_URL")
            .output()
            .unwrap();
        assert!(!output.status.success());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("set SHARED_SECRET and CALLBACK_URL: "), "{stderr}");
    }
}

/// Checks that a genuine request that cannot be accepted is rejected with a reason, does not use up its nonce, and has
/// no effect.
fn check_unsupported_requests(sample: &ReceiverProcess, arrival: &ReceivedRequest, fixture: &WebhookFixture) {
    let mut timeless = arrival.clone();
    timeless.set_header("X-Service-Timestamp", "now");
    sample.assert_rejects(&sign_again(&timeless, fixture, &"1".repeat(32)), "the timestamp is malformed");
    let mut endless = arrival.clone();
    endless.set_header("Content-Length", "+7");
    assert_eq!(forward_request(sample.port, &endless), 400);
    let mut first = arrival.clone();
    first.set_header("X-Service-Event-Id", "an-event");
    let mut broken = first.clone();
    broken.body = vec![b'x'; broken.body.len()];
    assert_eq!(forward_request(sample.port, &sign_again(&broken, fixture, &"2".repeat(32))), 500);
    assert!(next_line(&sample.stderr_lines).starts_with("not stored: "));
    assert_eq!(forward_request(sample.port, &sign_again(&first, fixture, &"3".repeat(32))), 200);
    let printed: Value = serde_json::from_str(&next_line(&sample.stdout_lines)).unwrap();
    assert_eq!(printed["event_id"], "an-event");
}

/// Sends eight requests concurrently, the maximum for one receiver. Each must be handled once, and each output line
/// must be complete.
fn check_concurrent_deliveries(
    sample: &ReceiverProcess,
    arrival: &ReceivedRequest,
    fixture: &WebhookFixture,
) {
    const ROUNDS: usize = 25;
    let deliveries: Vec<ReceivedRequest> = (0..8 * ROUNDS)
        .map(|number| {
            let mut changed = arrival.clone();
            changed.set_header("X-Service-Event-Id", &format!("event-{number}"));
            sign_again(&changed, fixture, &format!("{:032x}", number + 1))
        })
        .collect();
    let port = sample.port;
    std::thread::scope(|scope| {
        for part in deliveries.chunks(ROUNDS) {
            scope.spawn(move || {
                part.iter().for_each(|delivery| assert_eq!(forward_request(port, delivery), 200))
            });
        }
    });
    for _ in 0..8 * ROUNDS {
        let printed = next_line(&sample.stdout_lines);
        let printed: Value = serde_json::from_str(&printed).unwrap_or_else(|e| panic!("{e}: {printed}"));
        assert_eq!(printed["data"], arrival.json()["data"]);
    }
}

fn check_altered_deliveries(sample: &ReceiverProcess, arrival: &ReceivedRequest, fixture: &WebhookFixture) {
    let changed = |change: &dyn Fn(&mut ReceivedRequest)| {
        let mut copy = arrival.clone();
        change(&mut copy);
        sample.assert_rejects(&copy, "the signature does not match");
    };
    changed(&|copy| *copy.body.last_mut().unwrap() ^= 1);
    changed(&|copy| copy.set_header("X-Service-Timestamp", "2026-01-01T00:00:00.000Z"));
    changed(&|copy| copy.set_header("X-Service-Nonce", "0123456789abcdef0123456789abcdef"));
    changed(&|copy| copy.set_header("X-Service-Signature", &"0".repeat(64)));
    changed(&|copy| copy.set_header("X-Service-Signature", "none"));
    changed(&|copy| copy.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("X-Service-Signature")));
    for stale in ["2020-01-01T00:00:00.000Z", "2120-01-01T00:00:00.000Z"] {
        let mut copy = arrival.clone();
        copy.set_header("X-Service-Timestamp", stale);
        let copy = sign_again(&copy, fixture, "00000000000000000000000000000000");
        sample.assert_rejects(&copy, "the timestamp is too old or too new");
    }
}

/// The same request, signed with the right secret and another nonce.
fn sign_again(arrival: &ReceivedRequest, fixture: &WebhookFixture, nonce: &str) -> ReceivedRequest {
    sign_with(&fixture.secret, arrival, fixture, nonce)
}

fn sign_with(
    secret: &str,
    arrival: &ReceivedRequest,
    fixture: &WebhookFixture,
    nonce: &str,
) -> ReceivedRequest {
    let mut copy = arrival.clone();
    copy.set_header("X-Service-Nonce", nonce);
    let signature = sign(secret, &fixture.url, copy.header("X-Service-Timestamp"), nonce, &copy.body);
    copy.set_header("X-Service-Signature", &signature);
    copy
}

impl ReceiverProcess {
    fn start_program(program: &str, script: &str, secret: &str, url: &str) -> Self {
        let script = format!("{}/../../docs/receivers/{script}", env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(program);
        command.arg(script).envs([("SHARED_SECRET", secret), ("CALLBACK_URL", url), ("PORT", "0")]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let printed = forward_lines(child.stdout.take().unwrap());
        let complained = forward_lines(child.stderr.take().unwrap());
        let first = next_line(&complained);
        let port = first.strip_prefix("listening on port ").unwrap_or_else(|| panic!("{first}"));
        Self { port: port.parse().unwrap(), child, stdout_lines: printed, stderr_lines: complained }
    }

    fn assert_rejects(&self, arrival: &ReceivedRequest, reason: &str) {
        assert_eq!(forward_request(self.port, arrival), 401, "{arrival:?}");
        assert_eq!(next_line(&self.stderr_lines), format!("rejected: {reason}"));
    }
}

impl Drop for ReceiverProcess {
    fn drop(&mut self) {
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

fn next_line(lines: &Lines<String>) -> String {
    lines.recv_timeout(RECEIVE_TIMEOUT).expect("the sample should print something")
}
