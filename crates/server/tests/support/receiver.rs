//! Checks events that the receiver of the test harness has received.

pub use guerdon_test_harness::{RECEIVE_TIMEOUT, ReceivedRequest, Reply, WebhookReceiver, forward_request};

use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::{Delivery, VerifyError, standard_signature, verify_now};
use serde_json::Value;

use super::openapi_conformance;

/// A request that delivers an event.
pub trait DeliveredEvent {
    /// The body, which must conform to the API description.
    fn json(&self) -> Value;

    /// Verifies the signature with the published verification library.
    fn verify_signature(&self, url: &str, secret: &str) -> Result<(), VerifyError>;

    /// Asserts the headers of Standard Webhooks. `secrets` are those that sign the delivery, the newest first.
    fn assert_standard_headers(&self, secrets: &[&str]);
}

impl DeliveredEvent for ReceivedRequest {
    fn json(&self) -> Value {
        openapi_conformance::check_event(&self.body);
        serde_json::from_slice(&self.body).unwrap()
    }

    fn verify_signature(&self, url: &str, secret: &str) -> Result<(), VerifyError> {
        let delivery = Delivery {
            url,
            timestamp: self.header("X-Service-Timestamp"),
            nonce: self.header("X-Service-Nonce"),
            signature: self.header("X-Service-Signature"),
            body: &self.body,
        };
        verify_now(secret, &delivery)
    }

    fn assert_standard_headers(&self, secrets: &[&str]) {
        let sent_at = Timestamp::parse(self.header("X-Service-Timestamp")).unwrap();
        let timestamp_seconds = sent_at.to_utc().unix_timestamp();
        let sign = |secret: &&str| standard_signature(secret, self.event_id(), timestamp_seconds, &self.body);
        let signatures: Vec<String> = secrets.iter().map(sign).collect();
        assert_eq!(self.header("webhook-id"), self.event_id());
        assert_eq!(self.header("webhook-timestamp"), timestamp_seconds.to_string());
        assert_eq!(self.header("webhook-signature"), signatures.join(" "));
    }
}
