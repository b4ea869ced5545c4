//! Events from their cause to a receiver: content, time and number of deliveries, and what the operator sees.

mod addressing;
mod crash;
mod faults;
mod guard;
mod head_of_line;
mod kinds;
mod metrics;
mod patience;
mod samples;
mod schedule;
mod severed;
mod sharing;

use serde_json::Value;

use crate::support::receiver::{Arrival, Receiver};
use crate::support::service::{Provider, Service};
use crate::support::{Sample, until};

/// Allows receivers on this machine.
pub const LOCAL: [(&str, &str); 2] =
    [("GUERDON_WEBHOOKS__ALLOW_HTTP", "true"), ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true")];
/// Like `LOCAL`, with a first retry after a few milliseconds.
const HASTY: [(&str, &str); 3] = [LOCAL[0], LOCAL[1], ("GUERDON_WEBHOOKS__TIME_SCALE", "10000")];

/// A provider with funded users, and its receiver.
struct Post {
    sample: Sample,
    receiver: Receiver,
    url: String,
    secret: String,
}

impl Post {
    fn make(service: &Service, users: usize) -> Self {
        Self::at(service, users, Receiver::url)
    }

    /// Registers a URL that the test chooses.
    fn at(service: &Service, users: usize, url: impl Fn(&Receiver) -> String) -> Self {
        let receiver = Receiver::start();
        let url = url(&receiver);
        let (provider, secret) = registered(service, Some(&url));
        let domain = format!("{}.example.com", provider.id);
        let sample = Sample::in_domain(service, provider, &domain, users);
        sample.fund(service, 10_000);
        Self { sample, receiver, url, secret }
    }

    /// The first user recognises the second. Returns the recognition from the API response.
    fn recognise(&self, service: &Service) -> Value {
        self.recognise_all(service, &[&self.sample.users[1]]).remove(0)
    }

    fn recognise_all(&self, service: &Service, receivers: &[&str]) -> Vec<Value> {
        let answer = self.sample.send(service, &self.sample.users[0], receivers, 1);
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["recognitions"].as_array().unwrap().clone()
    }

    /// The next request, whose signature must be genuine.
    fn next(&self) -> Arrival {
        let arrival = self.receiver.next();
        assert_eq!(arrival.verified(&self.url, &self.secret), Ok(()), "{arrival:?}");
        arrival
    }

    fn events(&self, service: &Service) -> Vec<Value> {
        listed(service, &["--provider", &self.sample.provider.id])
    }
}

/// A designated provider and its shared secret.
fn registered(service: &Service, url: Option<&str>) -> (Provider, String) {
    let mut words = vec!["provider", "create", "--name", "Acme", "--manages-all-domain-resources"];
    words.extend(url.iter().flat_map(|url| ["--callback-url", url]));
    let made = service.json(&words);
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    let provider = Provider { id: text("id"), api_key: text("api_key"), api_secret: text("api_secret") };
    (provider, text("shared_secret"))
}

/// The output of `event list`.
fn listed(service: &Service, words: &[&str]) -> Vec<Value> {
    service.json(&[&["event", "list"], words].concat()).as_array().unwrap().clone()
}

/// The event in `event list`, as soon as it is in this state.
fn in_state(service: &Service, event: &str, state: &str) -> Value {
    until(&format!("{event} should be {state}"), || {
        let all = listed(service, &["--state", state]);
        all.into_iter().find(|row| row["id"] == event)
    })
}
