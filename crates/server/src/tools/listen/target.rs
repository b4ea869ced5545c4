//! The receiver on this machine to which `guerdon listen` sends events.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use data_encoding::HEXLOWER;
use guerdon_client::Event;
use guerdon_domain::ports::Clock as _;
use guerdon_webhooks::{sign, standard_signature};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectionDetails, Connector, RustlsConnector, TcpConnector, Transport};
use ureq::{Agent, Body, Error};

use crate::platform::{SystemClock, random};

/// How long a receiver may take to respond, as with real deliveries.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum number of bytes of a response that are read, and the maximum number of characters that are shown.
const RESPONSE_BYTES_MAX: u64 = 4_096;
const RESPONSE_CHARACTERS_MAX: usize = 200;

/// The outcome of sending an event.
pub(super) enum ForwardOutcome {
    Accepted,
    /// The receiver responded with this status; the text is the first line of the body.
    Refused(u16, String),
    /// The receiver accepted the connection, but did not respond.
    NoResponse(String),
    /// No receiver accepted the connection.
    Unreachable(String),
}

/// The URL of the receiver, and the secret that signs the forwarded events.
pub(super) struct ForwardTarget {
    agent: Agent,
    url: String,
    secret: Option<String>,
    /// Whether the connection for the last event was established.
    is_connected: Arc<AtomicBool>,
}

impl ForwardTarget {
    /// Creates a target. Events are sent with the limits that the service applies to deliveries, each over its own
    /// connection.
    pub(super) fn new(url: &str, secret: Option<&str>) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(RESPONSE_TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .proxy(None)
            .build();
        let is_connected = Arc::new(AtomicBool::new(false));
        let connector = ().chain(TcpConnector::default()).chain(RustlsConnector::default());
        let connector = connector.chain(ConnectionRecorder(Arc::clone(&is_connected)));
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        Self { agent, url: url.to_owned(), secret: secret.map(str::to_owned), is_connected }
    }

    pub(super) fn send_event(&self, event: &Event) -> Result<ForwardOutcome> {
        let (event_id, body) = (event.id.to_string(), event.body.get());
        let mut request = self
            .agent
            .post(&self.url)
            .header("Content-Type", "application/json")
            .header("User-Agent", "Guerdon-Webhooks")
            .header("X-Service-Event-Id", &event_id)
            .header("webhook-id", &event_id);
        if let Some(secret) = &self.secret {
            let (now, nonce) = (SystemClock.now(), HEXLOWER.encode(&random::generate_bytes::<16>()?));
            let (timestamp, timestamp_seconds) = (now.to_string(), now.to_utc().unix_timestamp());
            let signature = sign(secret, &self.url, &timestamp, &nonce, body.as_bytes());
            let standard_signature =
                standard_signature(secret, &event_id, timestamp_seconds, body.as_bytes());
            request = request
                .header("X-Service-Timestamp", timestamp)
                .header("X-Service-Nonce", nonce)
                .header("X-Service-Signature", signature)
                .header("webhook-timestamp", timestamp_seconds)
                .header("webhook-signature", standard_signature);
        }
        self.is_connected.store(false, Ordering::Relaxed);
        Ok(match request.send(body) {
            Ok(response) if response.status() == 200 => ForwardOutcome::Accepted,
            Ok(response) => {
                ForwardOutcome::Refused(response.status().as_u16(), first_line(response.into_body()))
            }
            Err(cause) if self.is_connected.load(Ordering::Relaxed) => {
                ForwardOutcome::NoResponse(describe_error(&cause, "response"))
            }
            Err(cause) => ForwardOutcome::Unreachable(describe_error(&cause, "connection")),
        })
    }
}

/// The last connector, after those for TCP and TLS. It records that the connection was established; any later failure
/// is the receiver's.
#[derive(Debug)]
struct ConnectionRecorder(Arc<AtomicBool>);

impl<In: Transport> Connector<In> for ConnectionRecorder {
    type Out = In;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<In>, Error> {
        self.0.store(chained.is_some(), Ordering::Relaxed);
        Ok(chained)
    }
}

/// The first line of the response, or the part of it that was received.
fn first_line(body: Body) -> String {
    let mut bytes = Vec::new();
    let _as_far = body.into_reader().take(RESPONSE_BYTES_MAX).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(RESPONSE_CHARACTERS_MAX).collect()
}

fn describe_error(cause: &Error, awaited: &str) -> String {
    match cause {
        Error::Timeout(_) => format!("no {awaited} within {} s", RESPONSE_TIMEOUT.as_secs()),
        Error::Io(cause) => cause.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    fn sample_event() -> Event {
        let json = r#"{"id":"01a1fdd4-8a51-741c-a29d-73192bacd34c","type":"redemption.created","state":"pending",
            "attempts":0,"created_at":"2026-11-20T20:01:02.345Z","next_attempt_at":null,"body":{}}"#;
        serde_json::from_str(json).unwrap()
    }

    fn send_to(url: &str) -> (u16, String) {
        match ForwardTarget::new(url, Some("gw_local")).send_event(&sample_event()).unwrap() {
            ForwardOutcome::Accepted => (200, String::new()),
            ForwardOutcome::Refused(status, line) => (status, line),
            ForwardOutcome::NoResponse(cause) => (0, format!("silent: {cause}")),
            ForwardOutcome::Unreachable(cause) => (0, format!("away: {cause}")),
        }
    }

    /// Returns the outcome for a receiver that sends this response as soon as the request arrives, and closes the
    /// connection.
    fn send_to_responder(scheme: &str, response: &'static str) -> (u16, String) {
        let (url, served) = start_responder(scheme, response);
        let sent = send_to(&url);
        served.join().unwrap();
        sent
    }

    /// Starts a receiver for one request. Returns its URL, and a thread that returns the beginning of the request.
    fn start_responder(scheme: &str, response: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("{scheme}://{}/hook", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4_096];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        (url, served)
    }

    #[test]
    fn without_a_secret_an_event_has_its_id_and_no_signature() {
        let (url, served) = start_responder("http", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        ForwardTarget::new(&url, None).send_event(&sample_event()).unwrap();
        let request = served.join().unwrap();
        let header_names = request.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name);
        let mut own_names: Vec<_> = header_names
            .filter(|name| name.starts_with("webhook-") || name.starts_with("x-service-"))
            .collect();
        own_names.sort_unstable();
        assert_eq!(own_names, ["webhook-id", "x-service-event-id"]);
    }

    #[test]
    fn a_refusal_includes_status_and_body() {
        let check = |response, status, expected: &str| {
            assert_eq!(send_to_responder("http", response), (status, expected.to_owned()));
        };
        check("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 200, "");
        check("HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n", 201, "");
        check("HTTP/1.1 302 Found\r\nlocation: http://localhost/\r\ncontent-length: 0\r\n\r\n", 302, "");
        check("HTTP/1.1 500 Oh\r\n\r\n\n no such user \r\nTrace:\n 1", 500, "no such user");
        check("HTTP/1.1 500 Oh\r\ncontent-length: 90\r\n\r\nbroken off", 500, "broken off");
        let long: &'static str = format!("HTTP/1.1 400 No\r\n\r\n{}", "é".repeat(3_000)).leak();
        check(long, 400, &"é".repeat(RESPONSE_CHARACTERS_MAX));
    }

    #[test]
    fn only_an_accepted_connection_counts_as_available() {
        let check = |sent: (u16, String), expected: &str| {
            assert!(sent.0 == 0 && sent.1.starts_with(expected), "{sent:?}");
        };
        check(send_to_responder("http", ""), "silent: ");
        check(send_to_responder("http", "no HTTP at all\r\n\r\n"), "silent: ");
        check(send_to_responder("https", "HTTP/1.1 400 No\r\n\r\n"), "away: ");
        check(send_to_responder("https", ""), "away: ");
        check(send_to("http://127.0.0.1:1/hook"), "away: "); // a port on which nothing listens
        // Too long for a header name.
        check(send_to(&format!("http://{}.example/hook", "a".repeat(64))), "away: ");
    }
}
