//! Events from their cause to a receiver: their content, the times and the number of deliveries, and the operator's
//! commands.

mod addressing;
mod attempt_timeout;
mod crash;
mod egress_policy;
mod failing_receivers;
mod head_of_line;
mod kinds;
mod long_polling;
mod lost_connections;
mod metrics;
mod sample_receivers;
mod schedule;
mod two_services;

use guerdon_persistence::testing::TestDatabase;
use serde_json::Value;

use crate::support::receiver::{DeliveredEvent as _, ReceivedRequest, WebhookReceiver};
use crate::support::service::{ProviderCredentials, TestService};
use crate::support::{SampleCompany, wait_until};

/// Allows receivers on this machine.
pub const ALLOW_LOCAL_RECEIVERS: [(&str, &str); 2] =
    [("GUERDON_WEBHOOKS__ALLOW_HTTP", "true"), ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true")];
/// Like `ALLOW_LOCAL_RECEIVERS`, with a first retry after a few milliseconds.
const FAST_RETRIES: [(&str, &str); 3] =
    [ALLOW_LOCAL_RECEIVERS[0], ALLOW_LOCAL_RECEIVERS[1], ("GUERDON_WEBHOOKS__TIME_SCALE", "10000")];

/// Simulates that a minute has passed, so that leases end; the embedded database does not need this. Skips rows that a
/// service is updating: waiting for them could deadlock.
fn expire_leases(database: &TestDatabase) {
    let leased = "SELECT event_id FROM deliveries WHERE lease_id IS NOT NULL FOR UPDATE SKIP LOCKED";
    let end = format!("UPDATE deliveries SET next_attempt_at = now() WHERE event_id IN ({leased})");
    database.execute_sql("", &end);
}

/// A provider with funded users, and its receiver.
struct WebhookFixture {
    sample: SampleCompany,
    receiver: WebhookReceiver,
    url: String,
    secret: String,
}

impl WebhookFixture {
    fn create(service: &TestService, users: usize) -> Self {
        Self::create_with_url(service, users, WebhookReceiver::url)
    }

    /// Registers a URL that the test chooses.
    fn create_with_url(
        service: &TestService,
        users: usize,
        url: impl Fn(&WebhookReceiver) -> String,
    ) -> Self {
        let receiver = WebhookReceiver::start().unwrap();
        let url = url(&receiver);
        let (provider, secret) = register_provider(service, Some(&url));
        let domain = format!("{}.example.com", provider.id);
        let sample = SampleCompany::create_in_domain(service, provider, &domain, users);
        sample.fund_peer_wallets(service, 10_000);
        Self { sample, receiver, url, secret }
    }

    /// Sends a recognition from the first user to the second. Returns the recognition from the response.
    fn send_recognition(&self, service: &TestService) -> Value {
        self.send_recognitions(service, &[&self.sample.users[1]]).remove(0)
    }

    fn send_recognitions(&self, service: &TestService, receivers: &[&str]) -> Vec<Value> {
        let response = self.sample.send_recognition(service, &self.sample.users[0], receivers, 1);
        assert_eq!(response.status, 201, "{}", response.body);
        response.json()["recognitions"].as_array().unwrap().clone()
    }

    /// The next request, whose signature must be valid.
    fn next(&self) -> ReceivedRequest {
        let arrival = self.receiver.next_request();
        assert_eq!(arrival.verify_signature(&self.url, &self.secret), Ok(()), "{arrival:?}");
        arrival
    }

    fn list_events(&self, service: &TestService) -> Vec<Value> {
        run_event_list(service, &["--provider", &self.sample.provider.id])
    }
}

/// A designated provider and its shared secret.
fn register_provider(service: &TestService, url: Option<&str>) -> (ProviderCredentials, String) {
    let mut words = vec!["--manages-all-domain-resources"];
    words.extend(url.iter().flat_map(|url| ["--callback-url", url]));
    service.register_provider("Acme", &words)
}

/// The output of `event list`.
fn run_event_list(service: &TestService, words: &[&str]) -> Vec<Value> {
    service.run_json_command(&[&["event", "list"], words].concat()).as_array().unwrap().clone()
}

/// The event in `event list`, as soon as it is in this state.
fn wait_for_state(service: &TestService, event: &str, state: &str) -> Value {
    wait_until(&format!("{event} should be {state}"), || {
        let all = run_event_list(service, &["--state", state]);
        all.into_iter().find(|row| row["id"] == event)
    })
}
