//! Parses HTTP Basic credentials (RFC 7617): API key and API secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// The API key and the API secret that a client sent.
pub(in crate::middleware) struct Credentials {
    /// The user name.
    pub(in crate::middleware) key: String,
    /// The password; its memory is cleared on drop.
    pub(in crate::middleware) secret: Zeroizing<String>,
}

/// Parses `Basic <base64 of key:secret>`; `None` for anything else. Control characters are not allowed (RFC 7617):
/// PostgreSQL rejects a query for a key that contains U+0000.
pub(in crate::middleware) fn parse_basic(header: &[u8]) -> Option<Credentials> {
    let (scheme, encoded) = std::str::from_utf8(header).ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = Zeroizing::new(STANDARD.decode(encoded.trim_matches(' ')).ok()?);
    let pair = std::str::from_utf8(&decoded).ok().filter(|pair| !pair.chars().any(char::is_control))?;
    let (key, secret) = pair.split_once(':')?;
    Some(Credentials { key: key.to_owned(), secret: Zeroizing::new(secret.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_base64_of_a_key_and_a_secret_in_utf_8() {
        let check = |header: &str, expected: Option<(&str, &str)>| {
            let parsed = parse_basic(header.as_bytes());
            let parsed =
                parsed.as_ref().map(|credentials| (credentials.key.as_str(), credentials.secret.as_str()));
            assert_eq!(parsed, expected, "{header:?}");
        };
        check("Basic a2V5OnNlY3JldA==", Some(("key", "secret")));
        check("basic a2V5OnNlY3JldA==", Some(("key", "secret")));
        check("BASIC  a2V5OnNlY3JldA== ", Some(("key", "secret")));
        check("Basic a2V5OmE6Yg==", Some(("key", "a:b")));
        check("Basic a2V5Og==", Some(("key", "")));
        check("Basic OnNlY3JldA==", Some(("", "secret")));
        check("Basic a8O8OsO8", Some(("kü", "ü")));
        check("Basic a2V5ADpzZWNyZXQ=", None); // U+0000 after the key
        check("Basic a2V5OnNlY3JldAo=", None); // a line break after the secret
        check("Basic a2V5", None);
        check("Basic a2V5OnNlY3JldA", None);
        check("Basic a2V5-nNlY3JldA==", None);
        check("Basic !", None);
        check("Basic a/w6YQ==", None);
        check("Basic", None);
        check("Basic ", None);
        check("", None);
        check("Bearer a2V5OnNlY3JldA==", None);
        check("Basica2V5OnNlY3JldA==", None);
        check("a2V5OnNlY3JldA==", None);
        assert!(parse_basic(b"Basic \xff").is_none());
    }
}
