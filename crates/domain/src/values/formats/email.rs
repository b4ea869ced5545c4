//! Email addresses.

use std::hash::{Hash, Hasher};
use std::net::{Ipv4Addr, Ipv6Addr};

use email_address::Options;

use super::domain_name::ascii_host;
use crate::values::InvalidValue;
use crate::values::text::has_at_most_chars;

/// An email address of RFC 5321, in ASCII, without a display name: up to 254 characters, no control
/// characters (behaviour 8.5).
///
/// It is stored as sent. Two addresses are equal if their [`folded`](Self::folded) forms are equal.
#[derive(Debug, Clone)]
pub struct EmailAddress {
    sent: String,
    folded: String,
}

impl EmailAddress {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 254;

    /// Parses an address. It is stored byte for byte.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        Some(text)
            .filter(|text| {
                text.is_ascii()
                    && has_at_most_chars(text, EmailAddress::CHARS_MAX)
                    && !text.chars().any(char::is_control)
            })
            .filter(|text| email_address::EmailAddress::parse_with_options(text, parser_options()).is_ok())
            .and_then(fold_address)
            .map(|folded| Self { sent: text.to_owned(), folded })
            .ok_or(InvalidValue("must be an email address in ASCII of at most 254 characters"))
    }

    /// The address as it was sent; emails go to this form.
    pub fn as_str(&self) -> &str {
        &self.sent
    }

    /// The whole address in lower case, for comparing and storing.
    pub fn folded(&self) -> &str {
        &self.folded
    }
}

impl PartialEq for EmailAddress {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl Eq for EmailAddress {}

impl Hash for EmailAddress {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded.hash(state);
    }
}

fn parser_options() -> Options {
    Options::default().without_display_text().with_domain_literal()
}

/// The folded form, or `None` if the domain is neither a host name nor an address in brackets. Without this
/// check, the `email_address` crate would accept `a@b_c.com` and `a@[x]`. It would also accept an empty
/// display name, as in ` <a@b.com>`.
fn fold_address(text: &str) -> Option<String> {
    let (local, domain) = text.rsplit_once('@')?;
    let domain = match domain.strip_prefix('[') {
        Some(literal) => fold_address_literal(literal.strip_suffix(']')?)?,
        None => ascii_host(domain)?,
    };
    Some(format!("{}@{domain}", local.to_lowercase()))
}

fn fold_address_literal(text: &str) -> Option<String> {
    let is_address = match text.get(..5) {
        Some(tag) if tag.eq_ignore_ascii_case("IPv6:") => text.get(5..)?.parse::<Ipv6Addr>().is_ok(),
        _ => text.parse::<Ipv4Addr>().is_ok(),
    };
    is_address.then(|| format!("[{}]", text.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_follows_rfc_5321() {
        let check = |input: &str, expected: bool| {
            let address = EmailAddress::parse(input);
            assert_eq!(address.is_ok(), expected, "{input:?}");
            assert!(address.is_err() || address.unwrap().as_str() == input, "{input:?} is changed");
        };
        check("ada@example.com", true);
        check("Ada.Lovelace+points@Example.COM", true);
        check("o'brien@example.co.uk", true);
        check("!#$%&'*+-/=?^_`{|}~@example.com", true);
        check("\"ada lovelace\"@example.com", true);
        check("ada@localhost", true);
        check("ada@xn--bcher-kva.example", true);
        check("ada@bücher.example", false); // only the ASCII form of the domain is valid
        check("adá@example.com", false);
        check("ada@[192.0.2.1]", true);
        check("ada@[IPv6:2001:db8::1]", true);
        check("e\u{301}@example.com", false); // a combining mark is not ASCII
        check("🎉@example.com", false);
        check("", false);
        check("ada", false);
        check("@example.com", false);
        check("ada@", false);
        check("ada@@example.com", false);
        check("a@b@example.com", false);
        check(".ada@example.com", false);
        check("ada.@example.com", false);
        check("a..b@example.com", false);
        check("ada lovelace@example.com", false);
        check("ada@example..com", false);
        check("ada@.example.com", false);
        check("ada@example.com.", false);
        check("ada@-example.com", false);
        check("ada@exa_mple.com", false);
        check("ada@exa!mple.com", false);
        check("ada@exa mple.com", false);
        check("ada@[x]", false);
        check("ada@[192.0.2.256]", false);
        check("Ada <ada@example.com>", false);
        check(" <ada@example.com>", false);
        check("<ada@example.com>", false);
        check(" ada@example.com", false);
        check("ada@example.com ", false);
        check("ada@example.com,eve@example.com", false);
        check("ada@example.com\r\nBcc: eve@example.com", false);
        check("\"a\tb\"@example.com", false);
        check("ada\0@example.com", false);
        check("ada\u{85}@example.com", false);
    }

    #[test]
    fn an_address_has_at_most_254_characters() {
        let check = |local: usize, expected| {
            let domain = format!("{0}.{0}.{1}", "d".repeat(63), "e".repeat(61));
            let address = format!("{}@{domain}", "a".repeat(local));
            assert_eq!(EmailAddress::parse(&address).is_ok(), expected, "{}", address.len());
        };
        check(64, true); // 64 + 1 + 189 = 254
        check(65, false);
        check(8_192, false);
    }

    #[test]
    fn addresses_are_compared_without_case() {
        let check = |one, other, expected| {
            let (one, other) = (EmailAddress::parse(one).unwrap(), EmailAddress::parse(other).unwrap());
            assert_eq!(one == other, expected, "{one} and {other}");
        };
        check("ada@example.com", "ADA@Example.COM", true);
        check("ada@XN--Bcher-KVA.example", "ada@xn--bcher-kva.example", true);
        check("ada@example.com", "ida@example.com", false);
        check("ada@example.com", "ada@example.org", false);
        assert_eq!(EmailAddress::parse("Ada@Example.COM").unwrap().folded(), "ada@example.com");
    }
}
