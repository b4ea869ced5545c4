//! The receiver on this machine to which `guerdon listen` sends events.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use data_encoding::HEXLOWER;
use guerdon_client::Event;
use guerdon_domain::ports::Clock as _;
use guerdon_webhooks::sign;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectionDetails, Connector, RustlsConnector, TcpConnector, Transport};
use ureq::{Agent, Body, Error};

use crate::platform::{SystemClock, random};

/// How long a receiver may take, the same as for real deliveries.
const WITHIN: Duration = Duration::from_secs(15);
/// The most bytes of a response that are read, and the most characters that are shown.
const SAID_BYTES: u64 = 4_096;
const SAID_CHARACTERS: usize = 200;

/// The outcome of sending an event.
pub(super) enum Answer {
    Taken,
    /// The status, and the first line of the body.
    Refused(u16, String),
    /// The receiver accepted the connection, but did not respond.
    Silent(String),
    /// No receiver accepted the connection.
    Away(String),
}

/// The address of the receiver, and the secret that signs events for it.
pub(super) struct Target {
    agent: Agent,
    url: String,
    secret: Option<String>,
    /// Whether the last event got a connection.
    made: Arc<AtomicBool>,
}

impl Target {
    /// Sends an event like the service, with a connection per event.
    pub(super) fn new(url: &str, secret: Option<&str>) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(WITHIN))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .proxy(None)
            .build();
        let made = Arc::new(AtomicBool::new(false));
        let connector = ().chain(TcpConnector::default()).chain(RustlsConnector::default());
        let connector = connector.chain(Noted(Arc::clone(&made)));
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        Self { agent, url: url.to_owned(), secret: secret.map(str::to_owned), made }
    }

    pub(super) fn send(&self, event: &Event) -> Result<Answer> {
        let body = event.body.get();
        let mut request = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("User-Agent", "Guerdon-Webhooks")
            .header("X-Service-Event-Id", event.id.to_string());
        if let Some(secret) = &self.secret {
            let (timestamp, nonce) =
                (SystemClock.now().to_string(), HEXLOWER.encode(&random::bytes::<16>()?));
            let signature = sign(secret, &self.url, &timestamp, &nonce, body.as_bytes());
            request = request
                .header("X-Service-Timestamp", timestamp)
                .header("X-Service-Nonce", nonce)
                .header("X-Service-Signature", signature);
        }
        self.made.store(false, Ordering::Relaxed);
        Ok(match request.send(body) {
            Ok(answer) if answer.status() == 200 => Answer::Taken,
            Ok(answer) => Answer::Refused(answer.status().as_u16(), said(answer.into_body())),
            Err(cause) if self.made.load(Ordering::Relaxed) => Answer::Silent(told(&cause, "answer")),
            Err(cause) => Answer::Away(told(&cause, "connection")),
        })
    }
}

/// The last connector, after TCP and TLS: it records that the connection was established. A failure after that is the
/// receiver's.
#[derive(Debug)]
struct Noted(Arc<AtomicBool>);

impl<In: Transport> Connector<In> for Noted {
    type Out = In;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<In>, Error> {
        self.0.store(chained.is_some(), Ordering::Relaxed);
        Ok(chained)
    }
}

/// The first line of the response, as far as it was received.
fn said(body: Body) -> String {
    let mut bytes = Vec::new();
    let _as_far = body.into_reader().take(SAID_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(SAID_CHARACTERS).collect()
}

fn told(cause: &Error, awaited: &str) -> String {
    match cause {
        Error::Timeout(_) => format!("no {awaited} within {} s", WITHIN.as_secs()),
        Error::Io(cause) => cause.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    fn event() -> Event {
        let told = r#"{"id":"01a1fdd4-8a51-741c-a29d-73192bacd34c","type":"redemption.created","state":"pending",
            "attempts":0,"created_at":"2026-11-20T20:01:02.345Z","next_attempt_at":null,"body":{}}"#;
        serde_json::from_str(told).unwrap()
    }

    fn sent(url: &str) -> (u16, String) {
        match Target::new(url, Some("gw_local")).send(&event()).unwrap() {
            Answer::Taken => (200, String::new()),
            Answer::Refused(status, said) => (status, said),
            Answer::Silent(cause) => (0, format!("silent: {cause}")),
            Answer::Away(cause) => (0, format!("away: {cause}")),
        }
    }

    /// Returns the outcome if the receiver sends this response as soon as the request arrives, and closes.
    fn answered(scheme: &str, answer: &'static str) -> (u16, String) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("{scheme}://{}/hook", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _request = stream.read(&mut [0; 4_096]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let sent = sent(&url);
        served.join().unwrap();
        sent
    }

    #[test]
    fn a_refusal_includes_status_and_body() {
        let check = |answer, status, expected: &str| {
            assert_eq!(answered("http", answer), (status, expected.to_owned()));
        };
        check("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 200, "");
        check("HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n", 201, "");
        check("HTTP/1.1 302 Found\r\nlocation: http://localhost/\r\ncontent-length: 0\r\n\r\n", 302, "");
        check("HTTP/1.1 500 Oh\r\n\r\n\n no such user \r\nTrace:\n 1", 500, "no such user");
        check("HTTP/1.1 500 Oh\r\ncontent-length: 90\r\n\r\nbroken off", 500, "broken off");
        let long: &'static str = format!("HTTP/1.1 400 No\r\n\r\n{}", "é".repeat(3_000)).leak();
        check(long, 400, &"é".repeat(SAID_CHARACTERS));
    }

    #[test]
    fn only_an_accepted_connection_counts_as_available() {
        let check = |sent: (u16, String), expected: &str| {
            assert!(sent.0 == 0 && sent.1.starts_with(expected), "{sent:?}");
        };
        check(answered("http", ""), "silent: ");
        check(answered("http", "no HTTP at all\r\n\r\n"), "silent: ");
        check(answered("https", "HTTP/1.1 400 No\r\n\r\n"), "away: ");
        check(answered("https", ""), "away: ");
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let refusing = format!("http://{}/hook", listener.local_addr().unwrap());
        drop(listener);
        check(sent(&refusing), "away: ");
        // Too long for a header name.
        check(sent(&format!("http://{}.example/hook", "a".repeat(64))), "away: ");
    }
}
