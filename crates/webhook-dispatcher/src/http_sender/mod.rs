//! The sender: makes one signed HTTP request and reports its result (behaviour 23.5, 23.7).

mod agent;
mod failure_text;
mod options;

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use data_encoding::HEXLOWER;
use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::{sign, standard_signature};
use ureq::http::header::SET_COOKIE;
use ureq::http::{HeaderMap, Request, Uri};
use ureq::{Agent, Body};

pub use options::{HttpSenderError, HttpSenderLimits, HttpSenderParts, TrustedRoots};

use crate::egress_policy::{self, DnsCache};
use crate::sender::{AttemptOutcome, DeliveryRequest, EventSender};

const USER_AGENT: &str = "Guerdon-Webhooks";
/// The number of connection pools. There are several, because a pool cleans up under a lock, in time proportional to
/// its connections times its hosts.
const POOL_COUNT: u64 = 16;

/// Sends events over HTTP. Many threads can share a sender. It reuses connections between attempts.
pub struct HttpSender {
    parts: HttpSenderParts,
    pools: Vec<Agent>,
}

impl std::fmt::Debug for HttpSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpSender").finish_non_exhaustive()
    }
}

impl HttpSender {
    /// Creates a sender. It opens no connection yet.
    ///
    /// # Errors
    ///
    /// If the trusted roots are not certificates.
    pub fn new(parts: HttpSenderParts) -> Result<Self, HttpSenderError> {
        let roots = agent::load_root_certs(&parts.roots)?;
        let names = Arc::new(DnsCache::new(Arc::clone(&parts.resolver), parts.limits.dns_cache_ttl));
        let pools =
            (0..POOL_COUNT).map(|_| agent::build_agent(&parts, roots.clone(), Arc::clone(&names))).collect();
        Ok(Self { parts, pools })
    }

    fn pool_for(&self, uri: &Uri) -> Option<&Agent> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(uri.authority());
        usize::try_from(hash % POOL_COUNT).ok().and_then(|index| self.pools.get(index))
    }

    /// Returns the status of the response, its headers unless the status is 200, and the start of its body.
    fn send_request(
        &self,
        delivery: &DeliveryRequest<'_>,
        started_at: Timestamp,
    ) -> Result<(u16, Option<String>, Vec<u8>), String> {
        let url = delivery.provider.callback_url.as_deref().ok_or("there is no callback URL")?;
        let uri =
            egress_policy::parse_target(url, self.parts.policy).map_err(|refused| refused.to_string())?;
        let request = self.sign_request(delivery, url, &uri, started_at)?;
        egress_policy::begin_attempt(self.parts.limits.received_bytes_max);
        let pool = self.pool_for(&uri).ok_or("the request cannot be created")?;
        let mut response = pool.run(request).map_err(|error| failure_text::describe_error(&error))?;
        let body = self.read_body_start(response.body_mut());
        let status = response.status().as_u16();
        let headers = (status != 200).then(|| format_headers(response.headers()));
        Ok((status, headers, body))
    }

    /// Makes the request with both kinds of signature (behaviour 23.5, 23.12).
    fn sign_request<'a>(
        &self,
        delivery: &DeliveryRequest<'a>,
        url: &str,
        uri: &Uri,
        started_at: Timestamp,
    ) -> Result<Request<&'a [u8]>, String> {
        let secrets =
            self.parts.secrets.decrypt_secrets(delivery.provider).map_err(|error| error.to_string())?;
        let nonce = HEXLOWER.encode(&self.parts.nonces.next_nonce().map_err(|error| error.to_string())?);
        let (event_id, timestamp) = (delivery.event.to_string(), started_at.to_string());
        let signature = sign(secrets.service_secret(), url, &timestamp, &nonce, delivery.body);
        let timestamp_seconds = started_at.to_utc().unix_timestamp();
        let standard_signatures: Vec<_> = secrets
            .newest_first()
            .map(|secret| standard_signature(secret, &event_id, timestamp_seconds, delivery.body))
            .collect();
        let request = Request::post(uri)
            .header("Content-Type", "application/json")
            .header("User-Agent", USER_AGENT)
            .header("X-Service-Event-Id", &event_id)
            .header("X-Service-Timestamp", timestamp)
            .header("X-Service-Nonce", nonce)
            .header("X-Service-Signature", signature)
            .header("webhook-id", event_id)
            .header("webhook-timestamp", timestamp_seconds)
            .header("webhook-signature", standard_signatures.join(" "))
            .body(delivery.body);
        request.map_err(|_http| "the request cannot be created".to_owned())
    }

    /// Reads the response body up to the limits and returns its first bytes. Errors are ignored, because the status has
    /// decided the result. If the body was read to its end, the next attempt can reuse the connection.
    fn read_body_start(&self, body: &mut Body) -> Vec<u8> {
        let limits = &self.parts.limits;
        let mut stored = Vec::new();
        let mut buffer = [0; 4096];
        let mut left = limits.body_bytes_max;
        let mut reader = body.as_reader();
        while left > 0 {
            let chunk_size = left.min(buffer.len());
            let Some(buffer) = buffer.get_mut(..chunk_size) else { break };
            let Ok(read @ 1..) = reader.read(buffer) else { break };
            left = left.saturating_sub(read);
            let missing = (4 * limits.stored_characters_max).saturating_sub(stored.len());
            stored.extend(buffer.iter().take(read.min(missing)));
        }
        stored.truncate(count_bytes(&stored, limits.stored_characters_max));
        stored
    }
}

/// Returns the number of bytes of the first characters of a text. A sequence that is not UTF-8 counts as one character.
fn count_bytes(text: &[u8], characters: usize) -> usize {
    let lengths = text.utf8_chunks().flat_map(|chunk| {
        let invalid = Some(chunk.invalid().len()).filter(|length| *length > 0);
        chunk.valid().chars().map(char::len_utf8).chain(invalid)
    });
    lengths.take(characters).sum()
}

/// The maximum size of stored headers in bytes.
const STORED_HEADERS_MAX: usize = 1_024;

/// Formats headers as lines, up to the size limit. Cookies may be secrets, so their values are left out.
fn format_headers(headers: &HeaderMap) -> String {
    let mut text = String::new();
    for (name, value) in headers {
        let value = if name == SET_COOKIE { "…".into() } else { String::from_utf8_lossy(value.as_bytes()) };
        let line = format!("{name}: {value}\n");
        if text.len() + line.len() > STORED_HEADERS_MAX {
            break;
        }
        text.push_str(&line);
    }
    text
}

impl EventSender for HttpSender {
    fn attempt_delivery(&self, delivery: &DeliveryRequest<'_>) -> AttemptOutcome {
        let started_at = self.parts.clock.now();
        let started = Instant::now();
        let result = self.send_request(delivery, started_at);
        let (duration, ended_at) = (started.elapsed(), self.parts.clock.now());
        let (status, failure, response_headers, response_body) = match result {
            Ok((200, headers, body)) => (Some(200), None, headers, body),
            Ok((status, headers, body)) => {
                (Some(status), Some(format!("returned status {status}")), headers, body)
            }
            Err(failure) => (None, Some(failure), None, Vec::new()),
        };
        AttemptOutcome { started_at, ended_at, duration, status, failure, response_headers, response_body }
    }
}
