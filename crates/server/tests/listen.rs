//! `guerdon listen`: receives events on a local machine without a callback URL.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::iter::repeat;
use std::net::TcpListener;
use std::path::Path;
use std::process::{ChildStdout, Command, Output, Stdio};

use guerdon_test_harness::ProcessGuard;

use crate::support::receiver::{DeliveredEvent as _, ReceivedRequest, Reply, WebhookReceiver};
use crate::support::service::{TestService, build_plain_command};
use crate::support::{SampleCompany, for_each_database, wait_until};

const SECRET: &str = "gw_of_my_own";

struct Listener {
    _process: ProcessGuard,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Listener {
    fn start(
        service: &TestService,
        sample: &SampleCompany,
        receiver: &WebhookReceiver,
        home: &Path,
        more: &[&str],
    ) -> Self {
        let certificate = service.data_dir.path().join("tls/certificate.pem");
        let mut command = listen_command(sample, home);
        command
            .args(["--base-url", &service.running.api_url, "--forward-to", &receiver.url()])
            .args(["--shared-secret", SECRET, "--cacert", certificate.to_str().unwrap()])
            .args(more)
            .stdout(Stdio::piped());
        let mut process = ProcessGuard::kill_on_drop(&mut command).unwrap();
        let mut lines = BufReader::new(process.process().stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        assert_eq!(
            first,
            format!(
                "Forwarding events of {} to {}. Ctrl-C stops it.",
                service.running.api_url,
                receiver.url()
            )
        );
        Self { _process: process, lines }
    }

    fn next_line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

fn listen_command(sample: &SampleCompany, home: &Path) -> Command {
    let mut command = build_plain_command();
    command
        .arg("listen")
        .env("GUERDON_API_KEY", &sample.provider.api_key)
        .env("GUERDON_API_SECRET", &sample.provider.api_secret)
        .env("XDG_STATE_HOME", home);
    command
}

/// Sends a recognition from the first user to the second. Returns its id.
fn send_recognition(service: &TestService, sample: &SampleCompany) -> String {
    let sent = sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 1).json();
    sent["recognitions"][0]["id"].as_str().unwrap().to_owned()
}

fn next(receiver: &WebhookReceiver) -> ReceivedRequest {
    let arrival = receiver.next_request();
    arrival.verify_signature(&receiver.url(), SECRET).unwrap();
    arrival.assert_standard_headers(&[SECRET]);
    arrival
}

#[test]
fn events_arrive_live_and_resume_after_a_restart() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 1_000);
        let send = || send_recognition(service, &sample);
        let (receiver, home) = (WebhookReceiver::start().unwrap(), tempfile::tempdir().unwrap());
        let first = send();
        let listener = Listener::start(service, &sample, &receiver, home.path(), &["--since", "1h"]);
        let arrival = next(&receiver);
        assert_eq!(arrival.json()["data"]["id"], first.as_str());
        let second = send();
        assert_eq!(next(&receiver).json()["data"]["id"], second.as_str());
        let read_state = || {
            let folder = std::fs::read_dir(home.path().join("guerdon/listen")).unwrap();
            let file = folder.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_none());
            file.map(|path| std::fs::read_to_string(path).unwrap())
        };
        let event = service.get(&sample.provider, "/v1/events").json();
        let next_place = event["next"].as_str().unwrap().to_owned();
        wait_until(&format!("{next_place} is not stored"), || {
            read_state().filter(|content| content.ends_with(&format!(" {next_place}")))
        });
        drop(listener);
        let third = send();
        let same = format!("{}/v1/", service.running.api_url);
        let certificate = service.data_dir.path().join("tls/certificate.pem");
        let mut child = listen_command(&sample, home.path())
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
fn the_first_run_starts_with_new_events() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 1_000);
        let send = || send_recognition(service, &sample);
        send();
        let (receiver, home) = (WebhookReceiver::start().unwrap(), tempfile::tempdir().unwrap());
        let _listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        let new = send();
        assert_eq!(next(&receiver).json()["data"]["id"], new.as_str());
    });
}

#[test]
fn a_restart_repeats_only_the_event_in_flight() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 1_000);
        let ids: Vec<String> = (0..3).map(|_| send_recognition(service, &sample)).collect();
        let (receiver, home) = (WebhookReceiver::start().unwrap(), tempfile::tempdir().unwrap());
        let came = || next(&receiver).json()["data"]["id"].as_str().unwrap().to_owned();
        receiver.queue_replies([Reply::AfterRelease(200)]);
        let listener = Listener::start(service, &sample, &receiver, home.path(), &["--since", "1h"]);
        assert_eq!(came(), ids[0]);
        drop(listener); // before the receiver responded to the first event
        receiver.queue_replies([Reply::Status(200), Reply::AfterRelease(200)]);
        let listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        assert_eq!([came(), came()], ids[..2]);
        drop(listener); // before the receiver responded to the second event
        let _listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        assert_eq!([came(), came()], ids[1..]);
    });
}

#[test]
fn refused_events_are_reported_with_the_reason_and_a_remedy() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 1_000);
        let (receiver, home) = (WebhookReceiver::start().unwrap(), tempfile::tempdir().unwrap());
        receiver.queue_replies([
            Reply::Bytes(b"HTTP/1.1 422 No\r\nContent-Length: 15\r\n\r\nnot \x1b[31mmine\nx"),
            Reply::Status(201),
            Reply::Status(200),
        ]);
        let mut listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        for _ in 0..3 {
            assert_eq!(
                sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 1).status,
                201
            );
        }
        let first = listener.next_line();
        assert!(first.starts_with("!! recognition.received ") && first.contains(" 422 in "), "{first}");
        assert!(first.ends_with(": not \\u001b[31mmine"), "{first}");
        assert!(listener.next_line().contains("Not retried; restart with an earlier --since"));
        let second = listener.next_line();
        assert!(second.starts_with("!! ") && second.contains(" 201 in "), "{second}");
        let third = listener.next_line();
        assert!(third.starts_with("ok "), "{third}");
    });
}

#[test]
fn invalid_addresses_and_certificates_are_reported() {
    for_each_database(|service| {
        let (sample, home) = (SampleCompany::create(service, 1), tempfile::tempdir().unwrap());
        let refused = |base: &str, to: &str| {
            let Output { status, stderr, .. } = listen_command(&sample, home.path())
                .args(["--base-url", base, "--forward-to", to])
                .output()
                .unwrap();
            assert_eq!(status.code(), Some(1));
            String::from_utf8(stderr).unwrap()
        };
        let here = "http://localhost:2/hook";
        let message = refused("localhost:8443", here);
        assert_eq!(message, "guerdon: --base-url must be an http or https URL, not localhost:8443\n");
        let message = refused("https://localhost:1", "ftp://\n\u{1b}localhost");
        assert_eq!(
            message,
            "guerdon: --forward-to must be an http or https URL, not ftp://\\n\\u001blocalhost\n"
        );
        let message = refused(&service.running.api_url, here);
        let expected = "guerdon: the certificate is not trusted: invalid peer certificate: UnknownIssuer; pass the service's \
                        certificate with --cacert FILE\n";
        assert_eq!(message, expected);
    });
}

/// Starts a plain HTTP service that sends these responses, one per connection, and repeats the last one. Returns its
/// URL.
fn start_hostile_service(responses: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let last = responses.last().cloned().unwrap();
        for (stream, response) in listener.incoming().zip(responses.into_iter().chain(repeat(last))) {
            let mut stream = stream.unwrap();
            let _request = stream.read(&mut [0; 8_192]);
            let _cut_off = stream.write_all(&response);
        }
    });
    address
}

fn http_response(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

/// Runs `listen` until it exits, with credentials that the service does not know. Returns its output.
fn run_listen(base_url: &str, forward_to: &str) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let output = build_plain_command()
        .args(["listen", "--base-url", base_url, "--forward-to", forward_to])
        .envs([("GUERDON_API_KEY", "gk_x"), ("GUERDON_API_SECRET", "gs_x")])
        .env("XDG_STATE_HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn responses_above_8_mib_are_rejected() {
    let mut endless = b"HTTP/1.1 200 OK\r\n\r\n{\"events\": [], \"next\": \"".to_vec();
    endless.resize(9 << 20, b'a');
    let base = start_hostile_service(vec![endless]);
    let (_, err) = run_listen(&base, "http://localhost:2/hook");
    assert_eq!(err, "guerdon: the response is larger than 8388608 bytes\n");
}

#[test]
fn credentials_are_not_sent_unencrypted_to_another_machine() {
    let (_, err) = run_listen("http://guerdon.example", "http://localhost:2/hook");
    let why = "the service's address must be https: the credentials would be sent unencrypted";
    assert_eq!(err, format!("guerdon: {why}\n"));
}

#[test]
fn terminal_control_characters_from_the_service_are_escaped() {
    let event = r#"{"events": [{"id": "01a1fdd4-8a51-741c-a29d-73192bacd34c", "type": "evil\u202egpj\u001b[2J\n",
        "state": "pending", "attempts": 0, "created_at": "2999-11-20T20:01:02.345Z", "next_attempt_at": null,
        "body": {}}], "next": "1f.ab"}"#;
    let refusal = r#"{"error": {"status": 401, "message": "gone\u2066\u009b1m"}}"#;
    let none = r#"{"events": [], "next": "1f.aa"}"#;
    let base = start_hostile_service(vec![
        http_response("200 OK", none),
        http_response("200 OK", event),
        http_response("401 No", refusal),
    ]);
    let receiver = WebhookReceiver::start().unwrap();
    let (out, err) = run_listen(&base, &receiver.url());
    assert!(out.contains("ok evil\\u202egpj\\u001b[2J\\n 01a1fdd4"), "{out:?}");
    assert!(err.contains("401: gone\\u2066\\u009b1m"), "{err:?}");
    let is_plain = |text: &str| text.chars().all(|c| c == '\n' || c.is_ascii_graphic() || " µ".contains(c));
    assert!(is_plain(&out) && is_plain(&err), "{out:?} {err:?}");
}

#[test]
fn missing_settings_are_reported() {
    let bare = build_plain_command()
        .args(["listen", "--base-url", "https://localhost:1", "--forward-to", "http://localhost:2"])
        .output()
        .unwrap();
    assert_eq!(bare.status.code(), Some(1));
    let message = String::from_utf8(bare.stderr).unwrap();
    assert_eq!(message, "guerdon: GUERDON_API_KEY is not set: use the value that the operator gave you\n");
}
