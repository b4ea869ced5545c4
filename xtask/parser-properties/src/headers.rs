//! Requests before their bodies are parsed: framing, queries and headers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use guerdon_http_api::testing::{
    HeaderMap, HeaderName, HeaderValue, accepts_problems, encode_query_again, head_accepts_problems,
    parse_authorization, parse_page, read_feed_cursor, read_forwarded_address, read_idempotency_key,
    read_requests,
};

use crate::with_text;

const PER_PAGE_MAX: i64 = 1_000;

/// Requests are read in the same way, wherever the network splits them. The first byte selects a split.
pub(crate) fn check_requests(input: &[u8]) {
    let Some((split, bytes)) = input.split_first() else { return };
    let whole = read_requests(&[bytes]);
    let (front, back) = bytes.split_at(usize::from(*split).min(bytes.len()));
    let singles: Vec<&[u8]> = bytes.chunks(1).collect();
    for pieces in [&[front, back][..], &singles] {
        let (heads, accepted, is_refused) = read_requests(pieces);
        assert_eq!((heads, is_refused), (whole.0, whole.2));
        // A refused request that arrives in pieces may pass on more of its body before the fault arrives.
        assert!(if is_refused { accepted.starts_with(&whole.1) } else { accepted == whole.1 });
    }
}

pub(crate) fn check_query(input: &[u8]) {
    with_text(input, |text| {
        if let Some((number, per_page)) = parse_page(text, PER_PAGE_MAX) {
            assert!(number >= 1 && (1..=PER_PAGE_MAX).contains(&per_page));
        }
        let names = ["page", "email", "id"];
        if let Some(encoded) = encode_query_again(text, &names) {
            assert_eq!(encode_query_again(&encoded, &names).as_ref(), Some(&encoded));
        }
        if let Some(cursor) = read_feed_cursor(text) {
            assert_eq!(read_feed_cursor(&format!("after={cursor}")), Some(cursor));
        }
        drop(guerdon_console::Query::parse(text));
    });
}

/// The two parsers of `Accept` agree: the one for parsed requests and the one for malformed heads.
pub(crate) fn check_accept(input: &[u8]) {
    let Some(headers) = single_header("accept", input) else { return };
    if input.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        let head = [b"GET / HTTP/1.1\r\nAccept: ", input, b"\r\n\r\n"].concat();
        assert_eq!(accepts_problems(&headers), head_accepts_problems(&head));
    }
    let sent = [input, b", application/problem+json"].concat();
    if input.is_ascii() && !input.contains(&b'\t') {
        assert!(single_header("accept", &sent).is_none_or(|headers| accepts_problems(&headers)));
    }
}

pub(crate) fn check_authorization(input: &[u8]) {
    let Some((key, secret)) = parse_authorization(input) else { return };
    assert!(!key.contains(':') && !key.chars().chain(secret.chars()).any(char::is_control));
    let again = format!("Basic {}", STANDARD.encode(format!("{key}:{secret}")));
    assert_eq!(parse_authorization(again.as_bytes()), Some((key, secret)));
}

pub(crate) fn check_idempotency_key(input: &[u8]) {
    let Some(headers) = single_header("idempotency-key", input) else { return };
    if let Some(key) = read_idempotency_key(&headers) {
        assert_eq!(key.as_bytes(), input);
        assert!((1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()));
    }
}

/// The client is the peer, or the last address in the header that is not a trusted proxy.
pub(crate) fn check_forwarded_for(input: &[u8]) {
    let Some(headers) = single_header("x-forwarded-for", input) else { return };
    let peer = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    let trusted: Vec<_> = "10.0.0.0/8".parse().into_iter().collect();
    let address = read_forwarded_address(peer, &headers, &trusted);
    assert_eq!(address, address.to_canonical());
    let text = String::from_utf8_lossy(input);
    assert!(address == peer || text.rsplit(',').any(|item| names_address(item.trim(), address)));
}

/// Whether an item of the header is this address, with or without a port.
fn names_address(item: &str, address: IpAddr) -> bool {
    let parsed =
        item.parse::<IpAddr>().ok().or_else(|| item.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    parsed.is_some_and(|parsed| parsed.to_canonical() == address)
}

/// The headers of a request with one header; `None` if the HTTP parser refuses the value.
fn single_header(name: &'static str, value: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.append(HeaderName::from_static(name), HeaderValue::from_bytes(value).ok()?);
    Some(headers)
}
