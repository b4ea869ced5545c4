//! Web URLs.

use url::{Host, Url};

use super::domain_name::DomainName;
use crate::values::InvalidValue;
use crate::values::text::has_at_most_chars;

/// The maximum number of characters in a label of a host name (RFC 1035, section 2.3.4).
const LABEL_CHARS_MAX: usize = 63;

/// The maximum number of characters of a host with a final dot and a port.
const AUTHORITY_CHARS_MAX: usize = DomainName::CHARS_MAX + ".:65535".len();

/// An absolute http or https URL with a host and without user info: up to 2,048 characters, of which the host has up to
/// 253, no white space, no control characters (behaviour 8.4). It is stored byte for byte, without the normalisation
/// that browsers apply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebUrl(String);

impl WebUrl {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 2_048;

    /// Parses a URL. It is stored byte for byte.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        is_web_url(text).then(|| Self(text.to_owned())).ok_or(InvalidValue(
            "must be an absolute http or https URL of at most 2,048 characters, with a host of at most 253 and without \
             user info",
        ))
    }

    /// The URL as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The URL parser corrects some mistakes (tabs, backslashes, missing slashes). A URL that is stored as sent
/// must need no correction, so that every parser reads it in the same way.
fn is_web_url(text: &str) -> bool {
    let is_refused = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if !has_at_most_chars(text, WebUrl::CHARS_MAX) || text.chars().any(is_refused) {
        return false;
    }
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_web
        && !authority.is_empty()
        // The time to decode a host name grows with the square of its length.
        && has_at_most_chars(authority, AUTHORITY_CHARS_MAX)
        && !authority.contains('@')
        && Url::parse(text).is_ok_and(|url| is_reachable(&url))
}

/// Whether a server could have this host and port: a name that DNS permits, no port 0.
fn is_reachable(url: &Url) -> bool {
    let is_host = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            let is_label = |label: &str| (1..=LABEL_CHARS_MAX).contains(&label.len());
            name.len() <= DomainName::CHARS_MAX && name.split('.').all(is_label)
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    };
    is_host && url.port() != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_absolute_http_with_a_host_and_no_user_info() {
        let check = |input: &str, expected: bool| {
            let url = WebUrl::parse(input);
            assert_eq!(url.is_ok(), expected, "{input:?}");
            assert!(url.is_err() || url.unwrap().as_str() == input, "{input:?} is changed");
        };
        check("https://.example.com/", false);
        check("https://a..b/", false);
        check("https://./", false);
        check("https://example.com:0/", false);
        check("https://example.com./", true);
        check("https://example.com", true);
        check("http://example.com/logo.png", true);
        check("HTTPS://Example.COM:8443/a/../b?x=1&y=%20#z", true);
        check("https://example.com/@ada?mail=a@b", true);
        check("https://localhost/x", true);
        check("http://192.0.2.1/x", true);
        check("http://[2001:db8::1]:8080/x", true);
        check("https://bücher.example/ü", true);
        check("", false);
        check("example.com", false);
        check("/logo.png", false);
        check("//example.com/logo.png", false);
        check("https:example.com", false);
        check("https:/example.com", false);
        check("https:///example.com", false);
        check("https://", false);
        check("https://?x", false);
        check("https://:443/", false);
        check("https://example.com:99999/", false);
        check("https://exa mple.com/", false);
        check("https://example.com/a b", false);
        check(" https://example.com", false);
        check("https://example.com\r\nx", false);
        check("ht\ttps://example.com", false);
        check("https://example.com/\0", false);
        check("https://example.com/\u{85}", false);
        check("https://example.com\\@evil.example/", false);
        check("https://ada@example.com/", false);
        check("https://ada:secret@example.com/", false);
        check("https://@example.com/", false);
        check("javascript:alert(1)", false);
        check("javascript://example.com/%0aalert(1)", false);
        check("data:image/png;base64,AA==", false);
        check("file:///etc/passwd", false);
        check("ftp://example.com/x", false);
    }

    #[test]
    fn a_url_has_at_most_2_048_characters() {
        let check = |length: usize, expected| {
            let url = format!("https://example.com/{}", "x".repeat(length - 20));
            assert_eq!(WebUrl::parse(&url).is_ok(), expected, "{length}");
        };
        check(2_048, true);
        check(2_049, false);
        check(8_192, false);
    }

    #[test]
    fn a_host_name_is_as_long_as_dns_permits() {
        let check = |host: String, expected| {
            for url in [format!("https://{host}"), format!("https://{host}.:8443/logo.png")] {
                assert_eq!(WebUrl::parse(&url).is_ok(), expected, "{url}");
            }
        };
        let label = |length| "x".repeat(length);
        check(label(63), true);
        check(label(64), false);
        check(format!("{}.{}", [label(63), label(63), label(63)].join("."), label(61)), true);
        check(format!("{}.{}", [label(63), label(63), label(63)].join("."), label(62)), false);
        check("ü".repeat(70), false); // longer as ASCII
        check(format!("xn--{}", "p".repeat(2_000)), false);
    }
}
