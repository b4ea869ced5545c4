//! The signature against vectors that another program made (`make_vectors.py`).

use std::collections::HashSet;

use guerdon_domain::ports::Timestamp;
use guerdon_webhook_dispatcher::{Delivery, VerifyError, sign, verify};
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
    fn body(&self) -> Vec<u8> {
        let digits: Vec<_> = self.body_hex.chars().collect();
        digits.chunks(2).map(|it| u8::from_str_radix(&String::from_iter(it), 16).unwrap()).collect()
    }
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("vectors.json")).unwrap()
}

#[test]
fn what_we_sign_is_what_another_program_signs() {
    let vectors = vectors();
    assert!(vectors.len() >= 50);
    for it in &vectors {
        let signed = sign(&it.secret, &it.url, &it.timestamp, &it.nonce, &it.body());
        assert_eq!(signed, it.signature, "{} {}", it.url, it.body_hex);
    }
}

/// If two URLs that mean the same were signed alike, one of them would have been changed.
#[test]
fn no_two_urls_are_signed_alike() {
    let vectors = vectors();
    let different: HashSet<_> =
        vectors.iter().map(|it| (&it.secret, &it.url, &it.timestamp, &it.nonce, &it.body_hex)).collect();
    let signatures: HashSet<_> = vectors.iter().map(|it| &it.signature).collect();
    assert_eq!(signatures.len(), different.len());
}

#[test]
fn what_another_program_signed_verifies() {
    for it in vectors() {
        let (body, now) =
            (it.body(), Timestamp::new(OffsetDateTime::parse(&it.timestamp, &Rfc3339).unwrap()));
        let delivery = Delivery {
            url: &it.url,
            timestamp: &it.timestamp,
            nonce: &it.nonce,
            signature: &it.signature,
            body: &body,
        };
        assert_eq!(verify(&it.secret, &delivery, now), Ok(()), "{}", it.url);
        let longer = [&body[..], b" "].concat();
        let changed = Delivery { body: &longer, ..delivery };
        assert_eq!(verify(&it.secret, &changed, now), Err(VerifyError::BadSignature));
        let changed = Delivery { url: &format!("{}/", it.url), ..delivery };
        assert_eq!(verify(&it.secret, &changed, now), Err(VerifyError::BadSignature));
    }
}
