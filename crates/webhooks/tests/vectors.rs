//! Signatures made by another program (`make_vectors.py`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use guerdon_webhooks::{Delivery, VerifyError, sign, verify};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[derive(serde::Deserialize)]
struct Vector {
    secret: String,
    url: String,
    timestamp: String,
    nonce: String,
    body_hex: String,
    signature: String,
}

impl Vector {
    fn decode_body(&self) -> Vec<u8> {
        HEXLOWER.decode(self.body_hex.as_bytes()).unwrap()
    }
}

fn load_vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("vectors.json")).unwrap()
}

#[test]
fn signatures_equal_those_of_another_program() {
    let vectors = load_vectors();
    assert!(vectors.len() >= 50);
    for vector in &vectors {
        let signature =
            sign(&vector.secret, &vector.url, &vector.timestamp, &vector.nonce, &vector.decode_body());
        assert_eq!(signature, vector.signature, "{} {}", vector.url, vector.body_hex);
    }
}

/// Equivalent URLs have different signatures, because URLs are not normalised.
#[test]
fn signatures_are_distinct() {
    let vectors = load_vectors();
    let signed: HashSet<_> = vectors
        .iter()
        .map(|vector| (&vector.secret, &vector.url, &vector.timestamp, &vector.nonce, &vector.body_hex))
        .collect();
    let signatures: HashSet<_> = vectors.iter().map(|vector| &vector.signature).collect();
    assert_eq!(signatures.len(), signed.len());
}

/// An empty secret signs like any other, but nothing verifies with it, because everyone knows it.
#[test]
fn deliveries_signed_by_another_program_verify_unless_the_secret_is_empty() {
    for vector in load_vectors() {
        let now = SystemTime::from(OffsetDateTime::parse(&vector.timestamp, &Rfc3339).unwrap());
        let body = vector.decode_body();
        let delivery = Delivery {
            url: &vector.url,
            timestamp: &vector.timestamp,
            nonce: &vector.nonce,
            signature: &vector.signature,
            body: &body,
        };
        let expected = if vector.secret.is_empty() { Err(VerifyError::BadSignature) } else { Ok(()) };
        assert_eq!(verify(&vector.secret, &delivery, now), expected, "{}", vector.url);
        let longer = [&body[..], b" "].concat();
        let changed = Delivery { body: &longer, ..delivery };
        assert_eq!(verify(&vector.secret, &changed, now), Err(VerifyError::BadSignature));
        let changed = Delivery { url: &format!("{}/", vector.url), ..delivery };
        assert_eq!(verify(&vector.secret, &changed, now), Err(VerifyError::BadSignature));
    }
}
