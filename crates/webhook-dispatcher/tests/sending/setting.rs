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
    Courier, HttpCourier, HttpCourierLimits, HttpCourierParts, LookUp, OpenSecret, Order, Outcome, Policy,
    UnreadableSecret,
};
use time::macros::datetime;
use uuid::Uuid;
use zeroize::Zeroizing;

pub(super) const NOW: Timestamp = Timestamp::new(datetime!(2026-11-20 20:01:02.345678 UTC));
pub(super) const SECRET: &str = "whsec_1";
pub(super) const BODY: &[u8] = b"{\"type\":\"redemption.created\"}";
pub(super) const OPEN: Policy = Policy { allow_http: true, allow_private_networks: true };
pub(super) const CLOSED: Policy = Policy { allow_http: true, allow_private_networks: false };

/// Longer than any attempt in these tests takes unless something is broken.
pub(super) const LONG: Duration = Duration::from_secs(14);

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        NOW
    }
}

/// Seals a secret by reversing it.
struct Backwards;

impl OpenSecret for Backwards {
    fn open(&self, provider: &Provider) -> Result<Zeroizing<String>, UnreadableSecret> {
        let text = std::str::from_utf8(&provider.shared_secret_sealed).map_err(|_utf8| UnreadableSecret)?;
        Ok(Zeroizing::new(text.chars().rev().collect()))
    }
}

/// Names with their lookup results in order. The last result is repeated.
#[derive(Default)]
pub(super) struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Names {
    pub(super) fn one(name: &str, answers: &[&[&str]]) -> Arc<Self> {
        let parsed = |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        let names = Self::default();
        names.0.lock().unwrap().insert(name.to_owned(), answers.iter().map(parsed).collect());
        Arc::new(names)
    }
}

impl LookUp for Names {
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() })
    }
}

pub(super) fn parts(policy: Policy) -> HttpCourierParts {
    let limits = HttpCourierLimits { attempt_max: LONG, ..HttpCourierLimits::default() };
    HttpCourierParts {
        limits,
        look_up: Arc::new(Names::default()),
        ..HttpCourierParts::new(policy, Arc::new(Backwards), Arc::new(Stopped))
    }
}

pub(super) fn sender(policy: Policy) -> HttpCourier {
    HttpCourier::new(parts(policy)).unwrap()
}

/// A sender with short timeouts.
pub(super) fn impatient() -> HttpCourier {
    let mut parts = parts(OPEN);
    parts.limits.attempt_max = Duration::from_millis(300);
    HttpCourier::new(parts).unwrap()
}

pub(super) fn event() -> EventId {
    EventId::from_uuid(Uuid::from_u128(7))
}

pub(super) fn provider(url: Option<&str>) -> Provider {
    Provider {
        id: ProviderId::from_uuid(Uuid::from_u128(1)),
        name: "Provider".to_owned(),
        api_key: "key".to_owned(),
        api_secret_hash: Vec::new(),
        shared_secret_sealed: SECRET.bytes().rev().collect(),
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: url.map(str::to_owned),
        manages_all_domain_resources: false,
        suspended: false,
        created_at: NOW,
    }
}

/// Makes one attempt and asserts that it ends in time.
pub(super) fn attempt(sender: &HttpCourier, url: &str) -> Outcome {
    attempt_with(sender, url, BODY)
}

pub(super) fn attempt_with(sender: &HttpCourier, url: &str, body: &[u8]) -> Outcome {
    let provider = provider(Some(url));
    let outcome = sender.attempt(&Order { provider: &provider, event: event(), body });
    assert!(outcome.duration < LONG + Duration::from_secs(1), "took {:?}", outcome.duration);
    assert_eq!((outcome.started_at, outcome.ended_at), (NOW, NOW));
    outcome
}

/// The cause of failure of an attempt that got no response.
pub(super) fn cause(outcome: &Outcome) -> &str {
    assert_eq!((outcome.status, outcome.answer.as_slice()), (None, [].as_slice()));
    outcome.cause.as_deref().expect("the attempt must have failed")
}

pub(super) fn assert_confirmed(outcome: &Outcome) {
    assert_eq!((outcome.status, outcome.cause.as_deref()), (Some(200), None));
}
