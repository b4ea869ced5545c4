//! A sender and the event that it sends.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use guerdon_domain::ports::{Clock, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{EventId, ProviderId};
use guerdon_webhook_dispatcher::{
    AttemptOutcome, DecryptSecrets, DeliveryRequest, EgressPolicy, EventSender, HostResolver, HttpSender,
    HttpSenderLimits, HttpSenderParts, SharedSecrets, UnreadableSecret,
};
use time::macros::datetime;
use uuid::Uuid;
use zeroize::Zeroizing;

pub(super) const NOW: Timestamp = Timestamp::new(datetime!(2026-11-20 20:01:02.345678 UTC));
pub(super) const SECRET: &str = "whsec_1";
pub(super) const BODY: &[u8] = b"{\"type\":\"redemption.created\"}";
pub(super) const ALLOW_ALL: EgressPolicy = EgressPolicy { allow_http: true, allow_private_networks: true };
pub(super) const PUBLIC_ONLY: EgressPolicy = EgressPolicy { allow_http: true, allow_private_networks: false };

/// The time limit of an attempt. It is longer than any attempt in these tests takes, unless the sender is broken.
pub(super) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(14);

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        NOW
    }
}

/// Secrets that are encrypted by reversing them.
struct ReversedSecrets;

impl DecryptSecrets for ReversedSecrets {
    fn decrypt_secrets(&self, provider: &Provider) -> Result<SharedSecrets, UnreadableSecret> {
        let open = |sealed: &[u8]| {
            let text = std::str::from_utf8(sealed).map_err(|_utf8| UnreadableSecret)?;
            Ok(Zeroizing::new(text.chars().rev().collect()))
        };
        let former = provider.former_encrypted_shared_secret(NOW);
        Ok(SharedSecrets {
            current: open(&provider.encrypted_shared_secret)?,
            former: former.map(open).transpose()?,
        })
    }
}

/// Names with their lookup results in order. The last result is repeated.
#[derive(Default)]
pub(super) struct ScriptedResolver(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl ScriptedResolver {
    pub(super) fn with_name(name: &str, results: &[&[&str]]) -> Arc<Self> {
        let parsed = |result: &&[&str]| result.iter().map(|address| address.parse().unwrap()).collect();
        let names = Self::default();
        names.0.lock().unwrap().insert(name.to_owned(), results.iter().map(parsed).collect());
        Arc::new(names)
    }
}

impl HostResolver for ScriptedResolver {
    fn resolve_host(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let results = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if results.len() > 1 { results.remove(0) } else { results[0].clone() })
    }
}

pub(super) fn sender_parts(policy: EgressPolicy) -> HttpSenderParts {
    let limits = HttpSenderLimits { attempt_timeout: ATTEMPT_TIMEOUT, ..HttpSenderLimits::default() };
    HttpSenderParts {
        limits,
        resolver: Arc::new(ScriptedResolver::default()),
        ..HttpSenderParts::new(policy, Arc::new(ReversedSecrets), Arc::new(FixedClock))
    }
}

pub(super) fn create_sender(policy: EgressPolicy) -> HttpSender {
    HttpSender::new(sender_parts(policy)).unwrap()
}

/// A sender with short timeouts.
pub(super) fn impatient_sender() -> HttpSender {
    let mut parts = sender_parts(ALLOW_ALL);
    parts.limits.attempt_timeout = Duration::from_millis(300);
    HttpSender::new(parts).unwrap()
}

pub(super) fn event_id() -> EventId {
    EventId::from_uuid(Uuid::from_u128(7))
}

pub(super) fn provider_with_url(url: Option<&str>) -> Provider {
    Provider {
        id: ProviderId::from_uuid(Uuid::from_u128(1)),
        name: "Provider".to_owned(),
        api_key: "key".to_owned(),
        api_secret_hash: Vec::new(),
        encrypted_shared_secret: SECRET.bytes().rev().collect(),
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: url.map(str::to_owned),
        manages_all_domain_resources: false,
        suspended: false,
        created_at: NOW,
    }
}

/// Makes one attempt and asserts that it ends in time.
pub(super) fn attempt_delivery(sender: &HttpSender, url: &str) -> AttemptOutcome {
    attempt_with_body(sender, url, BODY)
}

pub(super) fn attempt_with_body(sender: &HttpSender, url: &str, body: &[u8]) -> AttemptOutcome {
    let provider = provider_with_url(Some(url));
    let outcome = sender.attempt_delivery(&DeliveryRequest { provider: &provider, event: event_id(), body });
    assert!(outcome.duration < ATTEMPT_TIMEOUT + Duration::from_secs(1), "took {:?}", outcome.duration);
    assert_eq!((outcome.started_at, outcome.ended_at), (NOW, NOW));
    outcome
}

/// The cause of failure of an attempt that got no response.
pub(super) fn failure_of(outcome: &AttemptOutcome) -> &str {
    assert_eq!((outcome.status, outcome.response_body.as_slice()), (None, [].as_slice()));
    outcome.failure.as_deref().expect("the attempt must have failed")
}

pub(super) fn assert_confirmed(outcome: &AttemptOutcome) {
    assert_eq!((outcome.status, outcome.failure.as_deref()), (Some(200), None));
}
