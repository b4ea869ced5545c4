//! Parses the headers that decide where a request ends and which host it is for.

use std::net::Ipv6Addr;
use std::ops::Range;

use super::FramingError;

/// Whether a byte may occur in a line of a request head.
pub(super) fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

/// Splits a header line into its name and its value, without the whitespace around the value. The line contains no
/// control characters except tabs.
pub(super) fn split_header(line: &[u8]) -> Result<(&[u8], &[u8]), FramingError> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(FramingError::Header)?;
    let (name, value) = line.split_at_checked(colon).ok_or(FramingError::Header)?;
    if !is_token(name) {
        return Err(FramingError::Header);
    }
    Ok((name, value.get(1..).unwrap_or_default().trim_ascii()))
}

/// Whether bytes are a token, the syntax of methods and header names.
pub(super) fn is_token(bytes: &[u8]) -> bool {
    let is_token_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !bytes.is_empty() && bytes.iter().all(is_token_byte)
}

/// Parses a length of decimal digits only.
pub(super) fn parse_length(value: &[u8]) -> Result<u64, FramingError> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(FramingError::Length);
    }
    let digits = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
    digits.ok_or(FramingError::Length)
}

/// The positions at which an item occurs in a comma-separated list, each including one of the adjacent commas.
pub(super) fn find_list_items(list: &[u8], item: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for part in list.split(|byte| *byte == b',') {
        let end = start + part.len();
        if part.trim_ascii().eq_ignore_ascii_case(item) {
            let is_last = end == list.len();
            let taken = found.last().map_or(0, |range| range.end);
            // The comma after the item, or before it if it is the last item.
            let from = if is_last { start.saturating_sub(1).max(taken) } else { start };
            found.push(from..if is_last { end } else { end + 1 });
        }
        start = end + 1;
    }
    found
}

/// Whether a value is a host, with or without a port.
pub(super) fn is_host(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value) else { return false };
    if let Some(rest) = value.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return address.parse::<Ipv6Addr>().is_ok() && is_port;
    }
    let (name, port) = value.split_once(':').map_or((value, None), |(name, port)| (name, Some(port)));
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_name_byte) && port.is_none_or(is_port)
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_a_port_or_without() {
        for host in [
            "localhost",
            "example.com",
            "EXAMPLE.com.",
            "my_service",
            "127.0.0.1",
            "127.0.0.1:8443",
            "x:",
            "x:0",
            "x:65535",
            "[::1]",
            "[2001:db8::1]:443",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "", ":80", "a b", "a,b", "a/b", "a@b", "x:65536", "x:-1", "x:+1", "x:1:2", "::1", "[::1", "::1]",
            "[::1]x", "[x]", "[]", "ä", "http://x", "x?", "x#", "%41", "x:8o",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
        assert!(!is_host(b"\xff"));
    }

    #[test]
    fn an_item_is_cut_out_of_its_list() {
        let without = |list: &str| {
            let mut left = list.as_bytes().to_vec();
            find_list_items(list.as_bytes(), b"upgrade")
                .into_iter()
                .rev()
                .for_each(|range| drop(left.drain(range)));
            String::from_utf8(left).unwrap()
        };
        for (list, left) in [
            ("", ""),
            ("close", "close"),
            ("upgrade", ""),
            ("Upgrade, close", " close"),
            ("keep-alive, UPGRADE", "keep-alive"),
            ("a,upgrade,b", "a,b"),
            ("a, upgrade , upgrade", "a,"),
            ("upgrade,upgrade", ""),
            ("upgrades, x-upgrade", "upgrades, x-upgrade"),
        ] {
            assert_eq!(without(list), left, "{list:?}");
        }
    }

    #[test]
    fn a_length_consists_of_digits_only() {
        assert_eq!(parse_length(b"0"), Ok(0));
        assert_eq!(parse_length(b"0012"), Ok(12));
        assert_eq!(parse_length(b"18446744073709551615"), Ok(u64::MAX));
        for value in ["", "+5", "-1", "5,5", "5, 5", "5 5", "0x5", "5.0", "18446744073709551616", "٥"] {
            assert_eq!(parse_length(value.as_bytes()), Err(FramingError::Length), "{value}");
        }
    }

    #[test]
    fn a_header_is_a_token_and_a_trimmed_value() {
        assert_eq!(split_header(b"A-b:1"), Ok((&b"A-b"[..], &b"1"[..])));
        assert_eq!(split_header(b"a: \t1 2\t "), Ok((&b"a"[..], &b"1 2"[..])));
        assert_eq!(split_header(b"a:"), Ok((&b"a"[..], &b""[..])));
        assert_eq!(split_header(b"a:b:c"), Ok((&b"a"[..], &b"b:c"[..])));
        for line in ["a", "", ":", ":1", "a :1", "a\t:1", " a:1", "a b:1", "ä:1", "a(:1"] {
            assert_eq!(split_header(line.as_bytes()), Err(FramingError::Header), "{line}");
        }
    }
}
