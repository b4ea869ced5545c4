//! Domain names.

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};

use crate::values::InvalidValue;
use crate::values::text::has_at_most_chars;

/// A host name with at least two labels and at most 253 characters, stored in lower-case ASCII by IDNA
/// (behaviour 8.6).
///
/// IP addresses, trailing dots and underscores are refused: the name becomes a part of `sp_id`
/// (behaviour 18.3) and of paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainName(String);

impl DomainName {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 253;

    /// Parses a name, and converts it to lower-case ASCII.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        ascii_host(text)
            .filter(|host| host.contains('.') && !ends_in_a_number(host))
            .map(Self)
            .ok_or(InvalidValue("must be a domain name of at least two labels and at most 253 characters"))
    }

    /// The name in lower-case ASCII.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The host name in lower-case ASCII, or `None` if the string is not a host name. The length is also checked
/// before the conversion, because the cost of the conversion grows with the length.
pub(super) fn ascii_host(text: &str) -> Option<String> {
    if !has_at_most_chars(text, DomainName::CHARS_MAX) {
        return None;
    }
    Uts46::new()
        .to_ascii(text.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify)
        .ok()
        .map(|host| host.to_ascii_lowercase())
}

/// Whether the last label is a decimal or hexadecimal number: such a host would be interpreted as an IPv4
/// address.
fn ends_in_a_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_decimal = last.bytes().all(|byte| byte.is_ascii_digit());
    let is_hexadecimal =
        last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_decimal || is_hexadecimal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_a_host_name_in_lower_case_ascii() {
        let check = |input: &str, expected: Option<&str>| {
            assert_eq!(DomainName::parse(input).ok().as_ref().map(DomainName::as_str), expected, "{input:?}");
        };
        check("example.com", Some("example.com"));
        check("Example.COM", Some("example.com"));
        check("a.b.c.example.co.uk", Some("a.b.c.example.co.uk"));
        check("r3---sn.example.com", Some("r3---sn.example.com"));
        check("1and1.example", Some("1and1.example"));
        check("bücher.example", Some("xn--bcher-kva.example"));
        check("BÜCHER.example", Some("xn--bcher-kva.example"));
        check("bu\u{308}cher.example", Some("xn--bcher-kva.example"));
        check("xn--bcher-kva.example", Some("xn--bcher-kva.example"));
        check("XN--BCHER-KVA.example", Some("xn--bcher-kva.example"));
        check("例え。jp", Some("xn--r8jz45g.jp"));
        check("", None);
        check(" ", None);
        check("localhost", None);
        check(".", None);
        check("example.com.", None);
        check(".example.com", None);
        check("a..b", None);
        check("-a.example", None);
        check("a-.example", None);
        check("a_b.example", None);
        check("a b.example", None);
        check("a*b.example", None);
        check("example.com/x", None);
        check("example.com:443", None);
        check("https://example.com", None);
        check("ada@example.com", None);
        check("example.com\r\nx", None);
        check("exam\0ple.com", None);
        check("exam\u{85}ple.com", None);
        check("exam\tple.com", None);
        check("192.0.2.1", None);
        check("１９２.0.2.1", None);
        check("1.2", None);
        check("a.0x1f", None);
        check("[::1]", None);
        check("2001:db8::1", None);
        check("xn--a.example", None);
        check("👩‍💻\u{202e}.example", None);
    }

    #[test]
    fn a_domain_has_at_most_253_characters_and_63_to_a_label() {
        let check = |input: String, expected| {
            assert_eq!(DomainName::parse(&input).is_ok(), expected, "{}", input.len());
        };
        let label = "a".repeat(63);
        check(format!("{label}.{label}.{label}.{}", "b".repeat(61)), true); // 253
        check(format!("{label}.{label}.{label}.{}", "b".repeat(62)), false);
        check(format!("{label}.example"), true);
        check(format!("a{label}.example"), false);
        check(format!("{}.example", "ü".repeat(63)), false);
        check(format!("{}a.example", "\u{ad}".repeat(1_000)), false);
    }
}
