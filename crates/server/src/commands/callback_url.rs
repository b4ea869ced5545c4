//! Where events may be sent (contract §8.5), as far as the URL alone tells; what a name resolves to is vetted at
//! every attempt.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use guerdon_domain::values::WebUrl;
use ipnet::{Ipv4Net, Ipv6Net};
use url::{Host, Url};

use crate::settings::Webhooks;

/// Networks that are not the public internet.
const SPECIAL_V4: [(Ipv4Addr, u8); 14] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// What is public of IPv6 is 2000::/3 without these.
const GLOBAL_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
const SPECIAL_V6: [(Ipv6Addr, u8); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Judges a callback URL; it is then kept exactly as given.
pub(super) fn vet(text: &str, allowed: Webhooks) -> Result<(), String> {
    WebUrl::parse(text).map_err(|cause| format!("callback_url {cause}"))?;
    let url = Url::parse(text).map_err(|cause| format!("callback_url: {cause}"))?;
    if url.fragment().is_some() {
        return Err("callback_url must have no fragment".to_owned());
    }
    if url.scheme() != "https" && !allowed.allow_http {
        return Err("callback_url must be https (webhooks.allow_http allows plain http)".to_owned());
    }
    let public = match url.host() {
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
        Some(Host::Domain(name)) => !is_local_name(name),
        None => return Err("callback_url must name a host".to_owned()),
    };
    if !public && !allowed.allow_private_networks {
        return Err("callback_url must be a public address (webhooks.allow_private_networks allows others)"
            .to_owned());
    }
    Ok(())
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.into_iter().any(|it| is_in_v4(it, address)),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_public(mapped.into()),
            None => is_in_v6(GLOBAL_V6, address) && !SPECIAL_V6.into_iter().any(|it| is_in_v6(it, address)),
        },
    }
}

fn is_in_v4((network, bits): (Ipv4Addr, u8), address: Ipv4Addr) -> bool {
    Ipv4Net::new(network, bits).is_ok_and(|it| it.contains(&address))
}

fn is_in_v6((network, bits): (Ipv6Addr, u8), address: Ipv6Addr) -> bool {
    Ipv6Net::new(network, bits).is_ok_and(|it| it.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::vet;
    use crate::settings::Webhooks;

    fn vetted(url: &str, allow_http: bool, allow_private_networks: bool) -> bool {
        vet(url, Webhooks { allow_private_networks, allow_http, time_scale: 1.0 }).is_ok()
    }

    #[test]
    fn public_https_is_allowed() {
        for url in ["https://example.com/hook", "https://8.8.8.8", "https://[2606:4700::1111]:8443/x?y=z"] {
            assert!(vetted(url, false, false), "{url}");
        }
    }

    #[test]
    fn plain_http_must_be_allowed() {
        assert!(!vetted("http://example.com/", false, true));
        assert!(vetted("http://example.com/", true, false));
    }

    #[test]
    fn what_is_not_public_must_be_allowed() {
        for host in [
            "localhost",
            "api.localhost.",
            "127.0.0.1",
            "127.1",
            "0x7f000001",
            "2130706433",
            "0.0.0.0",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:10.0.0.1]",
            "[fe80::1]",
            "[fd00::1]",
            "[ff02::1]",
            "[2001:db8::1]",
            "[2002:a00::1]",
            "[64:ff9b::a00:1]",
        ] {
            let url = format!("https://{host}/hook");
            assert!(!vetted(&url, true, false), "{url}");
            assert!(vetted(&url, true, true), "{url}");
        }
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for url in [
            "",
            "example.com",
            "ftp://example.com",
            "https://a:b@example.com",
            "https://",
            "https://e.com/#x",
        ] {
            assert!(!vetted(url, true, true), "{url}");
        }
    }
}
