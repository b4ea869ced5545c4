//! The sample receivers under docs/receivers, as processes: they accept genuine deliveries and reject everything else.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver as Lines};

use guerdon_test_support::require_program;
use guerdon_webhooks::sign;
use serde_json::{Value, json};

use super::{LOCAL, Post};
use crate::support::on_each_with;
use crate::support::receiver::{Arrival, PATIENCE, Reply, forward};

#[test]
fn the_python_sample_accepts_only_genuine_events() {
    takes_what_is_genuine("python3", "receiver.py");
}

#[test]
fn the_javascript_sample_accepts_only_genuine_events() {
    takes_what_is_genuine("node", "receiver.mjs");
}

/// A running sample.
struct Process {
    child: Child,
    port: u16,
    printed: Lines<String>,
    complained: Lines<String>,
}

fn takes_what_is_genuine(program: &str, script: &str) {
    if require_program(program).is_none() {
        return;
    }
    on_each_with(&LOCAL, |service| {
        let post = Post::make(service, 2);
        let sample = Process::start(program, script, &post.secret, &post.url);
        post.receiver.answer(Reply::Relay(sample.port));
        let recognition = post.recognise(service);
        let arrival = post.next();
        let printed: Value = serde_json::from_str(&line(&sample.printed)).unwrap();
        assert_eq!(
            (&printed["event_id"], &printed["type"]),
            (&json!(arrival.event_id()), &json!("recognition.received"))
        );
        assert_eq!(printed["data"], arrival.json()["data"]);
        assert_eq!(printed["data"]["id"], recognition["id"]);
        super::in_state(service, arrival.event_id(), "delivered");
        sample.refuses(&arrival, "the nonce was used before");
        refuses_what_was_changed(&sample, &arrival, &post);
        let other = Process::start(program, script, &post.secret, &format!("{}/", post.url));
        other.refuses(&arrival, "the signature does not fit");
        let other = Process::start(program, script, &format!("{}x", post.secret), &post.url);
        other.refuses(&arrival, "the signature does not fit");
        assert_eq!(sample.printed.try_iter().count(), 0);
        let again = signed(&arrival, &post, "0123456789abcdef0123456789abcdef");
        assert_eq!(forward(sample.port, &again), 200); // a retry is confirmed but not handled again
        post.recognise(service);
        let next = post.next();
        let printed: Value = serde_json::from_str(&line(&sample.printed)).unwrap();
        assert_eq!(printed["event_id"], next.event_id());
        says_what_it_cannot_take(&sample, &arrival, &post);
        takes_eight_at_once(&sample, &arrival, &post);
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
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.starts_with("set SHARED_SECRET and CALLBACK_URL: "), "{told}");
    }
}

/// A genuine request that cannot be accepted is rejected with the reason, does not use up its nonce, and has no
/// effect.
fn says_what_it_cannot_take(sample: &Process, arrival: &Arrival, post: &Post) {
    let mut timeless = arrival.clone();
    timeless.set("X-Service-Timestamp", "now");
    sample.refuses(&signed(&timeless, post, &"1".repeat(32)), "the timestamp is no time");
    let mut endless = arrival.clone();
    endless.set("Content-Length", "+7");
    assert_eq!(forward(sample.port, &endless), 400);
    let mut first = arrival.clone();
    first.set("X-Service-Event-Id", "an-event");
    let mut broken = first.clone();
    broken.body = vec![b'x'; broken.body.len()];
    assert_eq!(forward(sample.port, &signed(&broken, post, &"2".repeat(32))), 500);
    assert!(line(&sample.complained).starts_with("not taken: "));
    assert_eq!(forward(sample.port, &signed(&first, post, &"3".repeat(32))), 200);
    let printed: Value = serde_json::from_str(&line(&sample.printed)).unwrap();
    assert_eq!(printed["event_id"], "an-event");
}

/// Sends eight requests concurrently, the most in flight to one receiver: each is handled once, and each output line
/// is complete.
fn takes_eight_at_once(sample: &Process, arrival: &Arrival, post: &Post) {
    const ROUNDS: usize = 25;
    let deliveries: Vec<Arrival> = (0..8 * ROUNDS)
        .map(|number| {
            let mut one = arrival.clone();
            one.set("X-Service-Event-Id", &format!("event-{number}"));
            signed(&one, post, &format!("{:032x}", number + 1))
        })
        .collect();
    let port = sample.port;
    std::thread::scope(|scope| {
        for part in deliveries.chunks(ROUNDS) {
            scope.spawn(move || part.iter().for_each(|delivery| assert_eq!(forward(port, delivery), 200)));
        }
    });
    for _ in 0..8 * ROUNDS {
        let printed = line(&sample.printed);
        let printed: Value = serde_json::from_str(&printed).unwrap_or_else(|e| panic!("{e}: {printed}"));
        assert_eq!(printed["data"], arrival.json()["data"]);
    }
}

fn refuses_what_was_changed(sample: &Process, arrival: &Arrival, post: &Post) {
    let changed = |change: &dyn Fn(&mut Arrival)| {
        let mut copy = arrival.clone();
        change(&mut copy);
        sample.refuses(&copy, "the signature does not fit");
    };
    changed(&|copy| *copy.body.last_mut().unwrap() ^= 1);
    changed(&|copy| copy.set("X-Service-Timestamp", "2026-01-01T00:00:00.000Z"));
    changed(&|copy| copy.set("X-Service-Nonce", "0123456789abcdef0123456789abcdef"));
    changed(&|copy| copy.set("X-Service-Signature", &"0".repeat(64)));
    changed(&|copy| copy.set("X-Service-Signature", "none"));
    changed(&|copy| copy.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("X-Service-Signature")));
    for stale in ["2020-01-01T00:00:00.000Z", "2120-01-01T00:00:00.000Z"] {
        let mut copy = arrival.clone();
        copy.set("X-Service-Timestamp", stale);
        let copy = signed(&copy, post, "00000000000000000000000000000000");
        sample.refuses(&copy, "the timestamp is too old or too new");
    }
}

/// The same request, signed with the right secret and another nonce.
fn signed(arrival: &Arrival, post: &Post, nonce: &str) -> Arrival {
    let mut copy = arrival.clone();
    copy.set("X-Service-Nonce", nonce);
    let signature = sign(&post.secret, &post.url, copy.header("X-Service-Timestamp"), nonce, &copy.body);
    copy.set("X-Service-Signature", &signature);
    copy
}

impl Process {
    fn start(program: &str, script: &str, secret: &str, url: &str) -> Self {
        let script = format!("{}/../../docs/receivers/{script}", env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(program);
        command.arg(script).envs([("SHARED_SECRET", secret), ("CALLBACK_URL", url), ("PORT", "0")]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let printed = lines(child.stdout.take().unwrap());
        let complained = lines(child.stderr.take().unwrap());
        let first = line(&complained);
        let port = first.strip_prefix("listening on port ").unwrap_or_else(|| panic!("{first}"));
        Self { port: port.parse().unwrap(), child, printed, complained }
    }

    fn refuses(&self, arrival: &Arrival, why: &str) {
        assert_eq!(forward(self.port, arrival), 401, "{arrival:?}");
        assert_eq!(line(&self.complained), format!("refused: {why}"));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

fn line(lines: &Lines<String>) -> String {
    lines.recv_timeout(PATIENCE).expect("the sample should print something")
}

fn lines(pipe: impl Read + Send + 'static) -> Lines<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(pipe).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}
