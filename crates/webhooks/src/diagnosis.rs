//! Finds out why a signature does not match, by undoing common mistakes of receivers.

use std::fmt;
use std::time::SystemTime;

use serde::de::IgnoredAny;

use crate::rewritten_body::original_bodies;
use crate::signature::{Delivery, REPLAY_WINDOW, VerifyError, age_nanoseconds, sign, verify};

/// The length of the nonces that the service sends.
const NONCE_DIGITS: usize = 32;

/// Host names that all mean this machine and are often confused, each with its wording in a hint.
const LOOPBACK_HOSTS: [(&str, &str); 3] = [
    ("localhost", "with the host localhost"),
    ("127.0.0.1", "with the host 127.0.0.1"),
    ("[::1]", "with the host [::1]"),
];

/// A part of a delivery, or two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryPart {
    Url,
    Timestamp,
    Nonce,
    Signature,
    Body,
    Secret,
    /// Both are wrong.
    UrlAndBody,
    /// Either is wrong; neither can be ruled out.
    SecretOrBody,
}

impl DeliveryPart {
    /// The name in messages, such as `url and body`.
    pub fn as_str(self) -> &'static str {
        match self {
            DeliveryPart::Url => "url",
            DeliveryPart::Timestamp => "timestamp",
            DeliveryPart::Nonce => "nonce",
            DeliveryPart::Signature => "signature",
            DeliveryPart::Body => "body",
            DeliveryPart::Secret => "secret",
            DeliveryPart::UrlAndBody => "url and body",
            DeliveryPart::SecretOrBody => "secret or body",
        }
    }
}

impl fmt::Display for DeliveryPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Which part of a delivery is wrong, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    pub part: DeliveryPart,
    /// The mistake and its correction.
    pub hint: String,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.part, self.hint)
    }
}

/// Verifies a delivery at `now` as [`verify`] does, and names the part that is wrong. `content_length` is the value of
/// that header, if it is known. For troubleshooting, not for receivers: the hint may contain the URL that was signed.
///
/// # Errors
///
/// The part that is most likely wrong.
pub fn diagnose(
    secret: &str,
    delivery: &Delivery<'_>,
    content_length: Option<usize>,
    now: SystemTime,
) -> Result<(), Diagnosis> {
    let wrong = |part, hint: &str| Err(Diagnosis { part, hint: hint.to_owned() });
    match verify(secret, delivery, now) {
        Ok(()) => Ok(()),
        Err(VerifyError::Stale) => {
            Err(Diagnosis { part: DeliveryPart::Timestamp, hint: stale_hint(delivery, now) })
        }
        Err(VerifyError::MalformedTimestamp) => wrong(
            DeliveryPart::Timestamp,
            "it is not a time such as 2026-11-20T20:01:02.345Z; use the header's value unchanged",
        ),
        Err(VerifyError::MalformedNonce) => {
            wrong(DeliveryPart::Nonce, "it is empty or contains a line break")
        }
        Err(VerifyError::MalformedSignature) => wrong(
            DeliveryPart::Signature,
            "it is not 64 lower-case hexadecimal digits; use the header's value unchanged",
        ),
        Err(VerifyError::BadSignature | VerifyError::Replayed) => {
            Err(find_mistake(secret, delivery, content_length))
        }
    }
}

fn stale_hint(delivery: &Delivery<'_>, now: SystemTime) -> String {
    let minutes = REPLAY_WINDOW.as_secs() / 60;
    let age_seconds = age_nanoseconds(delivery, now).unwrap_or_default() / 1_000_000_000;
    let direction = if age_seconds.is_negative() { "ahead of" } else { "behind" };
    format!(
        "the signature is correct, but the timestamp is {} s {direction} this clock, more than {minutes} minutes: \
         either an old delivery was sent again, or a clock is wrong",
        age_seconds.unsigned_abs()
    )
}

/// Changes one or two parts of the delivery until its signature matches. The change identifies the mistake.
fn find_mistake(secret: &str, delivery: &Delivery<'_>, content_length: Option<usize>) -> Diagnosis {
    let matches_signature = |secret: &str, url: &str, body: &[u8]| {
        sign(secret, url, delivery.timestamp, delivery.nonce, body) == delivery.signature
    };
    let (url, body) = (delivery.url, delivery.body);
    let (urls, bodies) = (similar_urls(url), original_bodies(body));
    let url_hint = |url: &str, description: &str| {
        format!("the signed URL is `{url}`, {description}; use the URL exactly as it was registered")
    };
    let body_hint = |description: &str| {
        format!("{description}; verify the raw bytes of the request, before they are parsed")
    };
    if let Some((url, description)) = urls.iter().find(|(url, _)| matches_signature(secret, url, body)) {
        return Diagnosis { part: DeliveryPart::Url, hint: url_hint(url, description) };
    }
    if let Some((_, description)) = bodies.iter().find(|(body, _)| matches_signature(secret, url, body)) {
        return Diagnosis { part: DeliveryPart::Body, hint: body_hint(description) };
    }
    let mut pairs = urls.iter().flat_map(|url| bodies.iter().map(move |body| (url, body)));
    if let Some(((url, other), (_, description))) =
        pairs.find(|((url, _), (body, _))| matches_signature(secret, url, body))
    {
        let hint = format!("{}; body: {}", url_hint(url, other), body_hint(description));
        return Diagnosis { part: DeliveryPart::UrlAndBody, hint };
    }
    if let Some((_, hint)) =
        similar_secrets(secret).iter().find(|(secret, _)| matches_signature(secret, url, body))
    {
        return Diagnosis { part: DeliveryPart::Secret, hint: (*hint).to_owned() };
    }
    diagnose_form(secret, delivery, content_length)
}

/// Names the first part that does not have the form in which the service sends it.
fn diagnose_form(secret: &str, delivery: &Delivery<'_>, content_length: Option<usize>) -> Diagnosis {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let (part, hint) = if secret.trim().starts_with("gs_") || secret.trim().starts_with("gk_") {
        (
            DeliveryPart::Secret,
            "it is an API credential (gk_… or gs_…); events are signed with the shared secret (gw_…)",
        )
    } else if secret.trim().starts_with("whsec_") {
        let hint = "it is the form of the secret for Standard Webhooks (whsec_…), which its libraries use with the header \
                    webhook-signature; X-Service-Signature is made with the shared secret (gw_…)";
        (DeliveryPart::Secret, hint)
    } else if !is_in_milliseconds(delivery.timestamp) {
        (
            DeliveryPart::Timestamp,
            "it is not in the form 2026-11-20T20:01:02.345Z, in which it is sent; use the header's value unchanged",
        )
    } else if delivery.nonce.len() != NONCE_DIGITS || !delivery.nonce.bytes().all(is_digit) {
        (DeliveryPart::Nonce, "it is not 32 lower-case hexadecimal digits; use the header's value unchanged")
    } else if let Some(hint) = incomplete_hint(delivery.body, content_length) {
        return Diagnosis { part: DeliveryPart::Body, hint };
    } else {
        let hint = "no common mistake explains it: the secret may be old or belong to another provider, or the body may be \
                    changed or belong to another delivery";
        (DeliveryPart::SecretOrBody, hint)
    };
    Diagnosis { part, hint: hint.to_owned() }
}

/// Whether a time in RFC 3339 is written like `2026-11-20T20:01:02.345Z`.
fn is_in_milliseconds(time: &str) -> bool {
    time.len() == "2026-11-20T20:01:02.345Z".len() && time.ends_with('Z') && time.get(10..11) == Some("T")
}

/// Why a body cannot be the whole body of an event; `None` if it may be complete.
fn incomplete_hint(body: &[u8], content_length: Option<usize>) -> Option<String> {
    let length = body.len();
    if length == 0 {
        return Some("it is empty: read the raw body before other code consumes it".to_owned());
    }
    if let Some(sent) = content_length.filter(|sent| *sent != length) {
        return Some(format!("it has {length} bytes, but the content-length header says {sent}"));
    }
    let cause = serde_json::from_slice::<IgnoredAny>(body).err()?;
    cause.is_eof().then(|| format!("it was truncated: its JSON is incomplete after {length} bytes"))
}

/// Corrections of a secret that was copied incorrectly, each with a hint.
fn similar_secrets(secret: &str) -> [(String, &'static str); 3] {
    let trimmed = secret.trim();
    [
        (trimmed.to_owned(), "it has white space around it that is not part of it"),
        (trimmed.trim_matches(['"', '\'']).to_owned(), "it has quotes around it that are not part of it"),
        (format!("gw_{trimmed}"), "its prefix gw_ is missing"),
    ]
}

/// Variants of a URL, each with a description of the difference.
fn similar_urls(url: &str) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    match url.strip_suffix('/') {
        Some(trimmed) => all.push((trimmed.to_owned(), "without the slash at its end")),
        None => all.push((format!("{url}/"), "with a slash at its end")),
    }
    all.push((url.trim().to_owned(), "without white space around it"));
    all.push((url.trim_matches(['"', '\'']).to_owned(), "without quotes around it"));
    all.push((url.to_lowercase(), "in lower case"));
    if let Some((scheme, rest)) = url.split_once("://") {
        let (host, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
        all.push((format!("{scheme}://{}{path}", host.to_lowercase()), "with its host in lower case"));
        let other = if scheme == "https" { "http" } else { "https" };
        all.push((format!("{other}://{rest}"), "with the other scheme"));
        let port = host.rfind(':').filter(|_| !host.ends_with(']'));
        let (name, port) = port.map_or((host, ""), |at| host.split_at(at));
        let other_hosts = LOOPBACK_HOSTS.iter().filter(|(loopback, _)| *loopback != name);
        all.extend(
            other_hosts.map(|(other, description)| (format!("{scheme}://{other}{port}{path}"), *description)),
        );
        for port in [":443", ":80"] {
            match host.strip_suffix(port) {
                Some(trimmed) => all.push((format!("{scheme}://{trimmed}{path}"), "without its port")),
                None => all.push((format!("{scheme}://{host}{port}{path}"), "with its port")),
            }
        }
        if let Some((before, _)) = url.split_once('?') {
            all.push((before.to_owned(), "without its query"));
        }
    }
    all
}

#[cfg(test)]
mod tests;
