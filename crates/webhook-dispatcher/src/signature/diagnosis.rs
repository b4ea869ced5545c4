//! Why a signature does not match: the mistakes that receivers make, tried one by one.

use std::fmt;

use guerdon_domain::ports::Timestamp;

use super::{Delivery, REPLAY_WINDOW, VerifyError, sign, signed_at, verify};

/// What is wrong with a delivery, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// `url`, `timestamp`, `nonce`, `signature`, `body` or `secret`.
    pub part: &'static str,
    /// What is wrong, and what to do.
    pub hint: String,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.part, self.hint)
    }
}

/// Checks a delivery as [`verify`] does, and finds out which part is wrong.
///
/// # Errors
///
/// The part that is wrong, as far as that can be told.
pub fn diagnose(secret: &str, delivery: &Delivery<'_>, now: Timestamp) -> Result<(), Diagnosis> {
    let told = |part, hint: &str| Err(Diagnosis { part, hint: hint.to_owned() });
    match verify(secret, delivery, now) {
        Ok(()) => Ok(()),
        Err(VerifyError::Stale) => Err(Diagnosis { part: "timestamp", hint: stale(delivery, now) }),
        Err(VerifyError::Malformed("the timestamp")) => told(
            "timestamp",
            "it is no time such as 2026-11-20T20:01:02.345Z; take the header's value as it came",
        ),
        Err(VerifyError::Malformed("the nonce")) => told("nonce", "it is empty, or holds a line break"),
        Err(VerifyError::Malformed(_)) => told(
            "signature",
            "it is not 64 lower-case hexadecimal digits; take the header's value as it came",
        ),
        Err(VerifyError::BadSignature | VerifyError::Replayed) => Err(mistake(secret, delivery)),
    }
}

fn stale(delivery: &Delivery<'_>, now: Timestamp) -> String {
    let minutes = REPLAY_WINDOW.as_secs() / 60;
    let off = signed_at(delivery).map_or(0, |at| (now - at).whole_seconds());
    let (seconds, side) = if off < 0 { (-off, "ahead of") } else { (off, "behind") };
    format!(
        "the signature is right, but it is {seconds} s {side} this clock, more than {minutes} minutes: \
         an old delivery that somebody repeats, or a clock that is wrong"
    )
}

/// Whoever changes one part alone and finds the signature knows the part.
fn mistake(secret: &str, delivery: &Delivery<'_>) -> Diagnosis {
    let fits = |secret: &str, url: &str, body: &[u8]| {
        sign(secret, url, delivery.timestamp, delivery.nonce, body) == delivery.signature
    };
    if let Some((url, what)) =
        urls(delivery.url).into_iter().find(|(url, _)| fits(secret, url, delivery.body))
    {
        let hint = format!("it was signed as `{url}`: {what}; use the URL exactly as it was registered");
        return Diagnosis { part: "url", hint };
    }
    if let Some((_, what)) =
        bodies(delivery.body).into_iter().find(|(body, _)| fits(secret, delivery.url, body))
    {
        let hint = format!("{what}; check the raw bytes that came, before anything reads them");
        return Diagnosis { part: "body", hint };
    }
    if secret != secret.trim() && fits(secret.trim(), delivery.url, delivery.body) {
        let hint = "it has blanks or a line break around it that are none of it".to_owned();
        return Diagnosis { part: "secret", hint };
    }
    let hint = "no usual mistake in the URL or the body explains it: it is another provider's secret, an older one, or the \
                API secret; or the body is of another delivery";
    Diagnosis { part: "secret", hint: hint.to_owned() }
}

/// Other ways to write a URL, and what distinguishes them.
fn urls(url: &str) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    match url.strip_suffix('/') {
        Some(bare) => all.push((bare.to_owned(), "without the slash at its end")),
        None => all.push((format!("{url}/"), "with a slash at its end")),
    }
    all.push((url.trim().to_owned(), "without blanks around it"));
    all.push((url.to_lowercase(), "in lower case"));
    if let Some((scheme, rest)) = url.split_once("://") {
        let (host, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
        all.push((format!("{scheme}://{}{path}", host.to_lowercase()), "with its host in lower case"));
        let other = if scheme == "https" { "http" } else { "https" };
        all.push((format!("{other}://{rest}"), "with the other scheme"));
        for port in [":443", ":80"] {
            match host.strip_suffix(port) {
                Some(bare) => all.push((format!("{scheme}://{bare}{path}"), "without its port")),
                None => all.push((format!("{scheme}://{host}{port}{path}"), "with its port")),
            }
        }
        if let Some((before, _)) = url.split_once('?') {
            all.push((before.to_owned(), "without its query"));
        }
    }
    all
}

/// What a body may have been before something changed it.
fn bodies(body: &[u8]) -> Vec<(Vec<u8>, &'static str)> {
    let mut all = Vec::new();
    let trimmed = body.trim_ascii();
    if trimmed != body {
        all.push((trimmed.to_vec(), "blanks or line breaks were added around it"));
    }
    let compact = compact(trimmed);
    if let Some(plain) = unescaped(&compact) {
        all.push((plain, "it was read and written again, with letters escaped"));
    }
    all.push((compact, "it was read and written again, with blanks between its parts"));
    all
}

/// The JSON without what stands between its parts.
fn compact(json: &[u8]) -> Vec<u8> {
    let (mut is_text, mut is_escaped) = (false, false);
    let mut compact = Vec::with_capacity(json.len());
    for byte in json {
        if !is_text && byte.is_ascii_whitespace() {
            continue;
        }
        compact.push(*byte);
        is_text ^= *byte == b'"' && !is_escaped;
        is_escaped = is_text && *byte == b'\\' && !is_escaped;
    }
    compact
}

/// The same with each `\uXXXX` of a letter as the letter itself; none where there is none.
fn unescaped(json: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(json).ok()?;
    let mut parts = text.split("\\u");
    let mut plain = parts.next()?.to_owned();
    let (mut units, mut found) = (Vec::new(), false);
    for part in parts {
        let unit = part.get(..4).and_then(|it| u16::from_str_radix(it, 16).ok())?;
        units.push(unit);
        let rest = part.get(4..)?;
        if rest.is_empty() && (0xd800..0xdc00).contains(&unit) {
            continue; // its other half follows
        }
        plain.extend(char::decode_utf16(units.drain(..)).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)));
        plain.push_str(rest);
        found = true;
    }
    found.then(|| plain.into_bytes())
}
