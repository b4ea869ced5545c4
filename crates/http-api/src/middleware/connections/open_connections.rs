//! Counts open connections, in total and per network, and decides when the next one may be opened.
//!
//! Every connection costs a handshake, so an address may open only 200 per second. Many addresses that reconnect as
//! soon as they are disconnected could still exhaust the processors. Therefore addresses that opened more than eight
//! connections within eight seconds, the frequent addresses, share one rate limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::values::checked_cast;
use ipnet::IpNet;

use crate::api::ConnectionLimits;
use crate::middleware::gcra::Gcra;
use crate::middleware::receive_budget::AddressUsage;

/// The rate limit of an address: one connection per interval, with this burst.
pub(super) const ADDRESS_INTERVAL: Duration = Duration::from_millis(5);
const BURST_PER_ADDRESS: u32 = 200;
/// An address is frequent if its backlog is more than this many connections. The backlog shrinks by one connection per
/// interval.
const FREQUENT_THRESHOLD: u32 = 8;
const FREQUENT_THRESHOLD_INTERVAL: Duration = Duration::from_secs(1);
/// The rate limit that all frequent addresses share: one connection per interval, with this burst.
pub(super) const FREQUENT_INTERVAL: Duration = Duration::from_millis(2);
pub(super) const FREQUENT_BURST: u32 = 256;
/// Idle networks are removed when there are at least this many.
pub(super) const CLEANUP_THRESHOLD_MIN: usize = 10_000;

/// In IPv6, the owner of a /64 network often owns the whole /48 network. A /48 network has the limits of four
/// addresses.
const SITE_IPV6: NetworkSize = NetworkSize { bits: 48, addresses: 4 };
const NETWORK_IPV6: NetworkSize = NetworkSize { bits: 64, addresses: 1 };
const ADDRESS_IPV4: NetworkSize = NetworkSize { bits: 32, addresses: 1 };

/// A network size. The connections of a network of this size are counted together.
#[derive(Clone, Copy)]
struct NetworkSize {
    bits: u8,
    /// The factor by which the limits of one address are multiplied.
    addresses: u32,
}

/// The limit that a refused connection exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitReached {
    /// The limit of all connections.
    Total,
    /// The limit of this address, or of the network around it.
    Address,
}

#[derive(Default)]
pub(super) struct OpenConnections {
    pub(super) total: usize,
    pub(super) networks: HashMap<IpNet, Network>,
    /// When there are this many networks, those without open or recent connections are removed.
    cleanup_threshold: usize,
    frequent_rate: Gcra,
}

#[derive(Default)]
pub(super) struct Network {
    pub(super) open: usize,
    /// Counts connections against the address's rate limit.
    address_rate: Gcra,
    /// Counts connections against the rate above which a network counts as frequent.
    recent_rate: Gcra,
    usage: AddressUsage,
}

impl OpenConnections {
    /// Counts a new connection and returns how long it must wait before it is used. A connection without an address
    /// counts only towards the total.
    pub(super) fn open_connection(
        &mut self,
        limits: &ConnectionLimits,
        address: Option<IpAddr>,
        now: Instant,
    ) -> Result<Duration, LimitReached> {
        if self.total >= limits.total {
            return Err(LimitReached::Total);
        }
        let wait =
            address.map_or(Ok(Duration::ZERO), |address| self.open_from(address, limits.per_address, now))?;
        self.total += 1;
        Ok(wait)
    }

    fn open_from(
        &mut self,
        address: IpAddr,
        max_open: usize,
        now: Instant,
    ) -> Result<Duration, LimitReached> {
        self.remove_idle(now);
        for (network, size) in networks_of(address) {
            let open = self.networks.get(&network).map_or(0, |network| network.open);
            if open >= max_open.saturating_mul(checked_cast(size.addresses)) {
                return Err(LimitReached::Address);
            }
        }
        let (mut wait, mut is_frequent) = (Duration::ZERO, false);
        for (network, size) in networks_of(address) {
            let network = self.networks.entry(network).or_default();
            network.open += 1;
            let backlog = network.address_rate.count_event(ADDRESS_INTERVAL / size.addresses, now);
            wait = wait.max(backlog.saturating_sub(ADDRESS_INTERVAL * BURST_PER_ADDRESS));
            is_frequent |= network.record_connection(size, now);
        }
        if is_frequent {
            let backlog = self.frequent_rate.count_event(FREQUENT_INTERVAL, now);
            wait = wait.max(backlog.saturating_sub(FREQUENT_INTERVAL * FREQUENT_BURST));
        }
        Ok(wait)
    }

    /// Counts a connection as closed.
    pub(super) fn close_connection(&mut self, address: Option<IpAddr>) {
        self.total -= 1;
        for (network, _) in address.into_iter().flat_map(networks_of) {
            if let Some(network) = self.networks.get_mut(&network) {
                network.open -= 1;
            }
        }
    }

    /// Returns the memory counter that all connections of the largest network that contains an address share.
    pub(super) fn address_usage(&self, address: IpAddr) -> Option<AddressUsage> {
        let (network, _) = networks_of(address).last()?;
        self.networks.get(&network).map(|network| Arc::clone(&network.usage))
    }

    fn remove_idle(&mut self, now: Instant) {
        if self.networks.len() >= self.cleanup_threshold.max(CLEANUP_THRESHOLD_MIN) {
            self.networks.retain(|_, network| !network.is_idle(now));
            self.cleanup_threshold = 2 * self.networks.len();
        }
    }
}

impl Network {
    /// Counts a connection. Returns whether the network is frequent. A network stops being frequent at most eight
    /// seconds after its last connection.
    fn record_connection(&mut self, size: NetworkSize, now: Instant) -> bool {
        let (threshold, interval) =
            (FREQUENT_THRESHOLD_INTERVAL * FREQUENT_THRESHOLD, FREQUENT_THRESHOLD_INTERVAL / size.addresses);
        if self.recent_rate.backlog(now) + interval <= 2 * threshold {
            self.recent_rate.count_event(interval, now);
        }
        self.recent_rate.backlog(now) > threshold
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.open == 0 && self.address_rate.backlog(now).is_zero() && self.recent_rate.backlog(now).is_zero()
    }
}

/// The networks that contain an address and have limits, from the smallest to the largest.
fn networks_of(address: IpAddr) -> impl Iterator<Item = (IpNet, NetworkSize)> {
    let sizes: &[NetworkSize] = if address.is_ipv6() { &[NETWORK_IPV6, SITE_IPV6] } else { &[ADDRESS_IPV4] };
    sizes.iter().filter_map(move |size| Some((IpNet::new(address, size.bits).ok()?.trunc(), *size)))
}
