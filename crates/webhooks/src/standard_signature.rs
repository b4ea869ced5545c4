//! Signatures of the Standard Webhooks specification, for receivers that use one of its libraries (behaviour 23.12).

use data_encoding::BASE64;
use ring::hmac::{Context, HMAC_SHA256, Key};

/// Returns one signature of `webhook-signature`: `v1,` and the Base64 of HMAC-SHA-256, keyed by the bytes of the shared
/// secret, over `event_id.timestamp_seconds.body`. `event_id` is the value of `webhook-id`. `timestamp_seconds` is the
/// value of `webhook-timestamp`, in Unix time. A header with the signatures of several secrets separates them by
/// spaces.
///
/// The callback URL is not signed. A receiver that uses one secret for several URLs cannot tell which URL a delivery
/// was signed for; [`sign`](crate::sign) covers the URL.
pub fn standard_signature(
    secret: impl AsRef<[u8]>,
    event_id: &str,
    timestamp_seconds: i64,
    body: &[u8],
) -> String {
    let mut context = Context::with_key(&Key::new(HMAC_SHA256, secret.as_ref()));
    context.update(format!("{event_id}.{timestamp_seconds}.").as_bytes());
    context.update(body);
    format!("v1,{}", BASE64.encode(context.sign().as_ref()))
}

#[cfg(test)]
mod tests;
