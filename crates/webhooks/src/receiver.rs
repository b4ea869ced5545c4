//! Turns an HTTP request into a verified, typed event.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use uuid::Uuid;

use crate::event::Event;
use crate::seen_nonces::SeenNonces;
use crate::signature::{Delivery, VerifyError, verify};

/// Verifies deliveries to one callback URL, rejects replays, and reads events. Threads can share it by reference.
pub struct Receiver {
    callback_url: String,
    shared_secrets: Vec<String>,
    seen_nonces: Mutex<SeenNonces>,
}

/// A verified delivery.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Received {
    /// The id of the event, which is the same in every attempt to deliver it: handle each id once.
    pub event_id: Uuid,
    pub event: Event,
}

/// Why a request must be rejected. Respond with any status other than 200.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// A header of the delivery is missing.
    #[error("the header {0} is missing")]
    MissingHeader(&'static str),
    /// The value of `X-Service-Event-Id` is not a UUID.
    #[error("the event's id is malformed")]
    MalformedEventId,
    /// The delivery is not genuine, is too old, or was received before.
    #[error(transparent)]
    Unverified(#[from] VerifyError),
    /// The delivery is genuine, but its body is not an event that this version of the crate can read.
    #[error("cannot read the event: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl Receiver {
    /// `callback_url` is the URL exactly as the operator registered it. `shared_secret` begins with `gw_`.
    pub fn new(callback_url: impl Into<String>, shared_secret: impl Into<String>) -> Self {
        Self {
            callback_url: callback_url.into(),
            shared_secrets: vec![shared_secret.into()],
            seen_nonces: Mutex::default(),
        }
    }

    /// Also accepts deliveries that are signed with `shared_secret`. While a secret is rotated, the receiver needs the
    /// old one and the new one: it cannot know which delivery is the last to be signed with the old one.
    #[must_use]
    pub fn with_additional_secret(mut self, shared_secret: impl Into<String>) -> Self {
        self.shared_secrets.push(shared_secret.into());
        self
    }

    /// Verifies a request at the current time of the system clock. `header` returns the value of a header by its name,
    /// which is given in lower case; `body` is the raw body.
    ///
    /// # Errors
    ///
    /// See [`ReceiveError`].
    pub fn receive<'a>(
        &self,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
    ) -> Result<Received, ReceiveError> {
        #[expect(clippy::disallowed_methods, reason = "the caller asks for the system clock")]
        let now = SystemTime::now();
        self.receive_at(header, body, now)
    }

    /// Verifies a request at `now`. See [`receive`](Self::receive).
    ///
    /// # Errors
    ///
    /// See [`ReceiveError`].
    pub fn receive_at<'a>(
        &self,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
        now: SystemTime,
    ) -> Result<Received, ReceiveError> {
        let header = |name| header(name).ok_or(ReceiveError::MissingHeader(name));
        let delivery = Delivery {
            url: &self.callback_url,
            timestamp: header("x-service-timestamp")?,
            nonce: header("x-service-nonce")?,
            signature: header("x-service-signature")?,
            body,
        };
        let event_id = header("x-service-event-id")?;
        self.verify(&delivery, now)?;
        self.seen_nonces.lock().unwrap_or_else(PoisonError::into_inner).remember(&delivery, now)?;
        let event_id = Uuid::try_parse(event_id).map_err(|_parse| ReceiveError::MalformedEventId)?;
        Ok(Received { event_id, event: Event::parse(body)? })
    }

    fn verify(&self, delivery: &Delivery<'_>, now: SystemTime) -> Result<(), VerifyError> {
        let mut results = self.shared_secrets.iter().map(|secret| verify(secret, delivery, now));
        results
            .find(|result| *result != Err(VerifyError::BadSignature))
            .unwrap_or(Err(VerifyError::BadSignature))
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Receiver").field("callback_url", &self.callback_url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::signature::sign;

    const URL: &str = "https://example.com/hook";
    const BODY: &[u8] = br#"{"type":"user.created","version":"1.0","data":{}}"#;

    #[test]
    fn genuine_delivery_is_read_once_and_everything_else_rejected() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_204_862_345);
        let timestamp = "2026-11-20T20:01:02.345Z";
        let signature = sign("gw_1", URL, timestamp, "00ff", BODY);
        let headers = [
            ("x-service-timestamp", timestamp),
            ("x-service-nonce", "00ff"),
            ("x-service-signature", &signature),
            ("x-service-event-id", "01a1fdd4-8a51-741c-a29d-73192bacd34c"),
        ];
        let receiver = Receiver::new(URL, "gw_1");
        assert!(!format!("{receiver:?}").contains("gw_1"));
        let receive = |omitted_header: &str, body| {
            let find = |name: &str| {
                headers
                    .iter()
                    .find(|header| header.0 == name && name != omitted_header)
                    .map(|header| header.1)
            };
            receiver
                .receive_at(find, body, now)
                .map(|received| (received.event_id.to_string(), received.event.kind))
        };
        for (name, _) in headers {
            assert!(
                matches!(receive(name, BODY), Err(ReceiveError::MissingHeader(missing)) if missing == name)
            );
        }
        let unverified = |result, expected| {
            assert!(
                matches!(result, Err(ReceiveError::Unverified(cause)) if cause == expected),
                "{result:?}"
            );
        };
        unverified(receive("", b"{}"), VerifyError::BadSignature);
        let expected = ("01a1fdd4-8a51-741c-a29d-73192bacd34c".to_owned(), "user.created".to_owned());
        assert_eq!(receive("", BODY).unwrap(), expected);
        unverified(receive("", BODY), VerifyError::Replayed);
    }

    #[test]
    fn during_a_rotation_both_secrets_are_accepted() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_204_862_345);
        let timestamp = "2026-11-20T20:01:02.345Z";
        let receiver =
            Receiver::new(URL, "gw_new").with_additional_secret("").with_additional_secret("gw_old");
        assert!(!format!("{receiver:?}").contains("gw_old"));
        let receive = |secret, nonce: &str, now| {
            let signature = sign(secret, URL, timestamp, nonce, BODY);
            let find = |name: &str| match name {
                "x-service-timestamp" => Some(timestamp),
                "x-service-nonce" => Some(nonce),
                "x-service-signature" => Some(signature.as_str()),
                _ => Some("01a1fdd4-8a51-741c-a29d-73192bacd34c"),
            };
            match receiver.receive_at(find, BODY, now) {
                Ok(_) => Ok(()),
                Err(ReceiveError::Unverified(cause)) => Err(cause),
                Err(other) => panic!("{other}"),
            }
        };
        assert_eq!(receive("gw_new", "01", now), Ok(()));
        assert_eq!(receive("gw_old", "02", now), Ok(()));
        assert_eq!(receive("gw_old", "01", now), Err(VerifyError::Replayed));
        assert_eq!(receive("gw_older", "03", now), Err(VerifyError::BadSignature));
        assert_eq!(receive("", "03", now), Err(VerifyError::BadSignature), "everyone knows an empty secret");
        assert_eq!(receive("gw_old", "04", now + Duration::from_secs(301)), Err(VerifyError::Stale));
    }
}
