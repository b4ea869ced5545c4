//! The protocol and the client's address of a request, either from the connection or from the headers of a trusted
//! proxy (behaviour 2.1).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderMap;
use ipnet::IpNet;

use super::headers::single_header;
use crate::api::Transport;

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED_PROTO: &str = "x-forwarded-proto";

/// Whether the request came over HTTPS. Always true if this service terminates TLS. Otherwise, true only if a trusted
/// proxy says so.
pub(super) fn is_https(transport: &Transport, request: &ServiceRequest) -> bool {
    transport.terminates_tls || {
        let peer = request.peer_addr().map(|address| address.ip());
        let is_proxy = peer.is_some_and(|address| is_trusted_proxy(address, &transport.trusted_proxies));
        is_proxy && forwards_https(request.headers())
    }
}

/// The client's address for limits by address; `None` if the connection has no address.
pub(super) fn client_address(transport: &Transport, request: &ServiceRequest) -> Option<IpAddr> {
    let peer = request.peer_addr()?.ip().to_canonical();
    Some(if is_trusted_proxy(peer, &transport.trusted_proxies) {
        forwarded_address(peer, request.headers(), &transport.trusted_proxies)
    } else {
        peer
    })
}

/// The address that limits use. An IPv6 address is replaced by its /64 network, because one owner has all its
/// addresses.
pub(crate) fn limit_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// Whether an address belongs to a trusted proxy.
pub(crate) fn is_trusted_proxy(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

fn forwards_https(headers: &HeaderMap) -> bool {
    single_header(headers, FORWARDED_PROTO)
        .is_ok_and(|value| value.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"https")))
}

/// The last forwarded address that does not belong to a trusted proxy. Entries before an entry that is not an address
/// are ignored.
pub(crate) fn forwarded_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let values: Vec<&str> =
        headers.get_all(FORWARDED_FOR).map(|value| value.to_str().unwrap_or_default()).collect();
    let mut address = peer;
    for item in values.iter().rev().flat_map(|value| value.rsplit(',')) {
        let Some(parsed) = parse_address(item.trim()) else { break };
        address = parsed;
        if !is_trusted_proxy(address, trusted) {
            break;
        }
    }
    address
}

fn parse_address(item: &str) -> Option<IpAddr> {
    let address =
        item.parse::<IpAddr>().ok().or_else(|| item.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use actix_web::test::TestRequest;

    use super::*;

    fn build_request(peer: &str, headers: &[(&'static str, &str)]) -> ServiceRequest {
        let mut request = TestRequest::default().peer_addr(SocketAddr::new(peer.parse().unwrap(), 5_000));
        for (name, value) in headers {
            let header = (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
            request = request.append_header(header);
        }
        request.to_srv_request()
    }

    fn behind_trusted_proxies() -> Transport {
        Transport {
            terminates_tls: false,
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()],
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_https() {
        let check = |peer: &str, values: &[&str], expected: bool| {
            let headers: Vec<_> = values.iter().map(|value| (FORWARDED_PROTO, *value)).collect();
            assert_eq!(
                is_https(&behind_trusted_proxies(), &build_request(peer, &headers)),
                expected,
                "{peer} {values:?}"
            );
        };
        check("10.1.2.3", &["https"], true);
        check("10.1.2.3", &["HTTPS"], true);
        check("::1", &["https"], true);
        check("::ffff:10.1.2.3", &["https"], true);
        check("11.1.2.3", &["https"], false);
        check("10.1.2.3", &[], false);
        check("10.1.2.3", &["http"], false);
        check("10.1.2.3", &["http, https"], false);
        check("10.1.2.3", &["https", "https"], false);
        let with_tls = Transport { terminates_tls: true, ..behind_trusted_proxies() };
        assert!(is_https(&with_tls, &build_request("11.1.2.3", &[])));
    }

    #[test]
    fn a_client_is_the_last_address_that_is_not_a_trusted_proxy() {
        let check = |peer: &str, values: &[&str], expected: &str| {
            let headers: Vec<_> = values.iter().map(|value| (FORWARDED_FOR, *value)).collect();
            for terminates_tls in [false, true] {
                let transport = Transport { terminates_tls, ..behind_trusted_proxies() };
                let address = client_address(&transport, &build_request(peer, &headers));
                assert_eq!(address, Some(expected.parse().unwrap()), "{peer} {values:?}");
            }
        };
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &["192.0.2.7"], "192.0.2.7");
        check("10.0.0.1", &["198.51.100.1, 192.0.2.7"], "192.0.2.7");
        check("10.0.0.1", &["192.0.2.7, 10.0.0.2"], "192.0.2.7");
        check("10.0.0.1", &["198.51.100.1", "192.0.2.7,10.0.0.2"], "192.0.2.7");
        check("10.0.0.1", &["192.0.2.7", "10.0.0.2"], "192.0.2.7");
        check("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        check("10.0.0.1", &["192.0.2.7, unknown, 10.0.0.2"], "10.0.0.2");
        check("10.0.0.1", &["192.0.2.7:4711"], "192.0.2.7");
        check("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1");
        check("10.0.0.1", &["::ffff:192.0.2.7"], "192.0.2.7");
        check("192.0.2.1", &["192.0.2.7"], "192.0.2.1");
    }
}
