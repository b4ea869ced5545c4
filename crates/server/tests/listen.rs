//! `guerdon listen`: receives events on a local machine without a callback URL.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::iter::repeat;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Instant;

use crate::support::receiver::{Arrival, PATIENCE, Receiver, Reply};
use crate::support::service::Service;
use crate::support::{Sample, on_each};

const SECRET: &str = "gw_of_my_own";

struct Listener {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Listener {
    fn start(service: &Service, sample: &Sample, receiver: &Receiver, home: &Path, more: &[&str]) -> Self {
        let certificate = service.data.path().join("tls/certificate.pem");
        let mut child = command(sample, home)
            .args(["--base-url", &service.running.api, "--forward-to", &receiver.url()])
            .args(["--shared-secret", SECRET, "--cacert", certificate.to_str().unwrap()])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        assert_eq!(
            first,
            format!("Forwarding events of {} to {}. Ctrl-C stops it.", service.running.api, receiver.url())
        );
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

fn command(sample: &Sample, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guerdon"));
    command
        .arg("listen")
        .env("GUERDON_API_KEY", &sample.provider.api_key)
        .env("GUERDON_API_SECRET", &sample.provider.api_secret)
        .env("XDG_STATE_HOME", home);
    command
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn next(receiver: &Receiver) -> Arrival {
    let arrival = receiver.next();
    arrival.verified(&receiver.url(), SECRET).unwrap();
    arrival
}

#[test]
fn events_arrive_live_and_resume_after_a_restart() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 1_000);
        let send = || {
            let sent = sample.send(service, &sample.users[0], &[&sample.users[1]], 1).json();
            sent["recognitions"][0]["id"].as_str().unwrap().to_owned()
        };
        let (receiver, home) = (Receiver::start(), tempfile::tempdir().unwrap());
        let first = send();
        let listener = Listener::start(service, &sample, &receiver, home.path(), &["--since", "1h"]);
        let arrival = next(&receiver);
        assert_eq!(arrival.json()["data"]["id"], first.as_str());
        let second = send();
        assert_eq!(next(&receiver).json()["data"]["id"], second.as_str());
        let kept = || {
            let folder = std::fs::read_dir(home.path().join("guerdon/listen")).unwrap();
            let file = folder.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_none());
            file.map(|path| std::fs::read_to_string(path).unwrap())
        };
        let event = service.get(&sample.provider, "/v1/events").json();
        let next_place = event["next"].as_str().unwrap().to_owned();
        let deadline = Instant::now() + PATIENCE;
        while !kept().is_some_and(|content| content.ends_with(&format!(" {next_place}"))) {
            assert!(Instant::now() < deadline, "{:?} is not stored as {next_place}", kept());
            std::thread::yield_now();
        }
        drop(listener);
        let third = send();
        let same = format!("{}/v1/", service.running.api);
        let certificate = service.data.path().join("tls/certificate.pem");
        let mut child = command(&sample, home.path())
            .args(["--base-url", &same, "--forward-to", &receiver.url(), "--shared-secret", SECRET])
            .args(["--cacert", certificate.to_str().unwrap()])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(next(&receiver).json()["data"]["id"], third.as_str(), "the second event exactly once");
        drop(child.kill().and_then(|()| child.wait()));
    });
}

#[test]
fn a_restart_repeats_only_the_event_in_flight() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 1_000);
        let ids: Vec<String> = (0..3)
            .map(|_| {
                let sent = sample.send(service, &sample.users[0], &[&sample.users[1]], 1).json();
                sent["recognitions"][0]["id"].as_str().unwrap().to_owned()
            })
            .collect();
        let (receiver, home) = (Receiver::start(), tempfile::tempdir().unwrap());
        let came = || next(&receiver).json()["data"]["id"].as_str().unwrap().to_owned();
        receiver.script([Reply::Held(200)]);
        let listener = Listener::start(service, &sample, &receiver, home.path(), &["--since", "1h"]);
        assert_eq!(came(), ids[0]);
        drop(listener); // before the receiver responded to the first event
        receiver.script([Reply::Status(200), Reply::Held(200)]);
        let listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        assert_eq!([came(), came()], ids[..2]);
        drop(listener); // before the receiver responded to the second event
        let _listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        assert_eq!([came(), came()], ids[1..]);
    });
}

#[test]
fn refused_events_are_reported_with_the_reason_and_a_remedy() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 1_000);
        let (receiver, home) = (Receiver::start(), tempfile::tempdir().unwrap());
        receiver.script([
            Reply::Bytes(b"HTTP/1.1 422 No\r\nContent-Length: 15\r\n\r\nnot \x1b[31mmine\nx"),
            Reply::Status(201),
            Reply::Status(200),
        ]);
        let mut listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        for _ in 0..3 {
            assert_eq!(sample.send(service, &sample.users[0], &[&sample.users[1]], 1).status, 201);
        }
        let first = listener.line();
        assert!(first.starts_with("!! recognition.received ") && first.contains(" 422 in "), "{first}");
        assert!(first.ends_with(": not \\u001b[31mmine"), "{first}");
        assert!(listener.line().contains("Not retried; restart with an earlier --since"));
        let second = listener.line();
        assert!(second.starts_with("!! ") && second.contains(" 201 in "), "{second}");
        let third = listener.line();
        assert!(third.starts_with("ok "), "{third}");
    });
}

#[test]
fn invalid_addresses_and_certificates_are_reported() {
    on_each(|service| {
        let (sample, home) = (Sample::make(service, 1), tempfile::tempdir().unwrap());
        let refused = |base: &str, to: &str| {
            let Output { status, stderr, .. } = command(&sample, home.path())
                .args(["--base-url", base, "--forward-to", to])
                .output()
                .unwrap();
            assert_eq!(status.code(), Some(1));
            String::from_utf8(stderr).unwrap()
        };
        let here = "http://localhost:2/hook";
        let told = refused("localhost:8443", here);
        assert_eq!(told, "guerdon: --base-url must be an http or https URL, not localhost:8443\n");
        let told = refused("https://localhost:1", "ftp://\n\u{1b}localhost");
        assert_eq!(
            told,
            "guerdon: --forward-to must be an http or https URL, not ftp://\\n\\u001blocalhost\n"
        );
        let told = refused(&service.running.api, here);
        let expected = "guerdon: the certificate is not trusted: invalid peer certificate: UnknownIssuer; pass the service's \
                        certificate with --cacert FILE\n";
        assert_eq!(told, expected);
    });
}

/// Starts a plain HTTP service with these responses, one per connection, the last one repeated. Returns its URL.
fn hostile_service(answers: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let last = answers.last().cloned().unwrap();
        for (stream, answer) in listener.incoming().zip(answers.into_iter().chain(repeat(last))) {
            let mut stream = stream.unwrap();
            let _request = stream.read(&mut [0; 8_192]);
            let _cut_off = stream.write_all(&answer);
        }
    });
    address
}

fn http(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// The output of `listen` on a service that does not know the credentials, until `listen` exits.
fn listen_to(base_url: &str, forward_to: &str) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_guerdon"))
        .args(["listen", "--base-url", base_url, "--forward-to", forward_to])
        .envs([("GUERDON_API_KEY", "gk_x"), ("GUERDON_API_SECRET", "gs_x")])
        .env("XDG_STATE_HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1));
    (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn responses_above_8_mib_are_rejected_and_plain_http_is_warned_about() {
    let mut endless = b"HTTP/1.1 200 OK\r\n\r\n{\"events\": [], \"next\": \"".to_vec();
    endless.resize(9 << 20, b'a');
    let base = hostile_service(vec![endless]);
    let (_, err) = listen_to(&base, "http://localhost:2/hook");
    let warning =
        format!("guerdon: warning: {base} is not https: the API key and secret are sent unencrypted\n");
    assert_eq!(err, format!("{warning}guerdon: the response is larger than 8388608 bytes\n"));
}

#[test]
fn terminal_control_characters_from_the_service_are_escaped() {
    let event = r#"{"events": [{"id": "01a1fdd4-8a51-741c-a29d-73192bacd34c", "type": "evil\u202egpj\u001b[2J\n",
        "state": "pending", "attempts": 0, "created_at": "2999-11-20T20:01:02.345Z", "next_attempt_at": null,
        "body": {}}], "next": "1f.ab"}"#;
    let refusal = r#"{"error": {"status": 401, "message": "gone\u2066\u009b1m"}}"#;
    let none = r#"{"events": [], "next": "1f.aa"}"#;
    let base = hostile_service(vec![http("200 OK", none), http("200 OK", event), http("401 No", refusal)]);
    let receiver = Receiver::start();
    let (out, err) = listen_to(&base, &receiver.url());
    assert!(out.contains("ok evil\\u202egpj\\u001b[2J\\n 01a1fdd4"), "{out:?}");
    assert!(err.contains("401: gone\\u2066\\u009b1m"), "{err:?}");
    let is_plain = |text: &str| text.chars().all(|c| c == '\n' || c.is_ascii_graphic() || " µ".contains(c));
    assert!(is_plain(&out) && is_plain(&err), "{out:?} {err:?}");
}

#[test]
fn missing_settings_are_reported() {
    let bare = Command::new(env!("CARGO_BIN_EXE_guerdon"))
        .args(["listen", "--base-url", "https://localhost:1", "--forward-to", "http://localhost:2"])
        .env_remove("GUERDON_API_KEY")
        .output()
        .unwrap();
    assert_eq!(bare.status.code(), Some(1));
    let told = String::from_utf8(bare.stderr).unwrap();
    assert_eq!(told, "guerdon: GUERDON_API_KEY is not set: use the value that the operator gave you\n");
}
