//! Decides which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// IPv4 networks that are not public, or that lead to such networks.
const SPECIAL_IPV4: [Ipv4Net; 15] = [
    ipv4_net(0, 0, 0, 8),       // this network
    ipv4_net(10, 0, 0, 8),      // private
    ipv4_net(100, 64, 0, 10),   // carrier-grade NAT
    ipv4_net(127, 0, 0, 8),     // loopback
    ipv4_net(169, 254, 0, 16),  // link-local, cloud metadata
    ipv4_net(172, 16, 0, 12),   // private
    ipv4_net(192, 0, 0, 24),    // protocol assignments
    ipv4_net(192, 0, 2, 24),    // documentation
    ipv4_net(192, 88, 99, 24),  // 6to4 relays
    ipv4_net(192, 168, 0, 16),  // private
    ipv4_net(198, 18, 0, 15),   // benchmarks
    ipv4_net(198, 51, 100, 24), // documentation
    ipv4_net(203, 0, 113, 24),  // documentation
    ipv4_net(224, 0, 0, 4),     // multicast
    ipv4_net(240, 0, 0, 4),     // reserved, broadcast
];

/// The network that contains all public IPv6 addresses. It excludes the unspecified and the loopback address,
/// addresses that embed an IPv4 address (mapped, compatible, NAT64), the discard prefix, segment routing, unique
/// local, link-local, site-local and multicast addresses. They are refused whatever address they embed, because no
/// receiver needs them.
const GLOBAL_IPV6: Ipv6Net = ipv6_net([0x2000, 0, 0], 3);

/// Networks inside `GLOBAL_IPV6` that are not public.
const SPECIAL_IPV6: [Ipv6Net; 4] = [
    ipv6_net([0x2001, 0, 0], 23), // Teredo, benchmarks, ORCHID and other protocol assignments
    ipv6_net([0x2001, 0xdb8, 0], 32), // documentation
    ipv6_net([0x2002, 0, 0], 16), // 6to4, which embeds an IPv4 address
    ipv6_net([0x3fff, 0, 0], 20), // documentation
];

const fn ipv4_net(a: u8, b: u8, c: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), bits)
}

const fn ipv6_net([a, b, c]: [u16; 3], bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

/// Whether an address belongs to the public internet: it is in none of the ranges that IANA reserves for special
/// purposes, and does not embed an address of another protocol.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_IPV4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_IPV6.contains(&address) && !SPECIAL_IPV6.iter().any(|network| network.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    fn check(addresses: &[&str], expected: bool) {
        for address in addresses {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    /// Checks the first and the last address of each range.
    #[test]
    fn no_special_range_of_ipv4_is_public() {
        check(&["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255"], false);
        check(&["100.64.0.0", "100.127.255.255", "127.0.0.0", "127.255.255.255"], false);
        check(&["169.254.0.0", "169.254.169.254", "169.254.255.255"], false);
        check(&["172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255"], false);
        check(&["192.0.2.0", "192.0.2.255", "192.88.99.0", "192.88.99.255"], false);
        check(&["192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255"], false);
        check(&["198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255"], false);
        check(&["224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"], false);
    }

    #[test]
    fn the_neighbours_of_the_ranges_of_ipv4_are_public() {
        check(&["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"], true);
        check(&["126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"], true);
        check(&["172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0"], true);
        check(&["192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0"], true);
        check(&["198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0"], true);
        check(&["203.0.112.255", "203.0.114.0", "223.255.255.255", "8.8.8.8"], true);
    }

    #[test]
    fn no_special_range_of_ipv6_is_public() {
        check(&["::", "::1", "::7f00:1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8"], false);
        check(&["::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b:1::", "64:ff9b:1:ffff::"], false);
        check(&["100::", "100::ffff:ffff:ffff:ffff", "1fff:ffff::", "4000::", "5f00::"], false);
        check(&["2001::", "2001::1", "2001:1ff:ffff::", "2001:db8::", "2001:db8:ffff::"], false);
        check(&["2002::", "2002:808:808::1", "2002:ffff:ffff::", "3fff::", "3fff:fff:ffff::"], false);
        check(&["fc00::", "fd00::1", "fdff:ffff::", "fe80::1", "febf:ffff::", "fec0::1"], false);
        check(&["feff:ffff::", "ff00::", "ff02::1", "ffff:ffff::"], false);
    }

    #[test]
    fn the_rest_of_the_global_block_is_public() {
        check(&["2000::", "2001:200::1", "2001:db7:ffff::", "2001:db9::", "2003::1"], true);
        check(&["2606:4700::1111", "2a00:1450::1", "3ffe:ffff::", "3fff:1000::"], true);
    }
}
