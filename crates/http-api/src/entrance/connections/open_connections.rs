//! Counts open connections, in total and per network, and decides when the next one may be opened.
//!
//! Every connection costs a handshake, so an address may open 200 a second. Many addresses that reconnect as soon as they are
//! cut off could still exhaust the processors: addresses that opened more than eight connections within eight seconds share one
//! rate limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::values::fit;
use ipnet::IpNet;

use crate::api::ConnectionLimits;
use crate::entrance::pace::Pace;
use crate::entrance::receive_budget::Share;

/// The rate limit of an address: one connection in this interval, with this burst.
pub(super) const INTERVAL_PER_ADDRESS: Duration = Duration::from_millis(5);
const BURST_PER_ADDRESS: u32 = 200;
/// An address with a backlog of more than this many connections, at one in this interval, belongs to the crowd.
const CROWD_THRESHOLD: u32 = 8;
const CROWD_THRESHOLD_INTERVAL: Duration = Duration::from_secs(1);
/// The rate limit of the crowd: one connection in this interval, with this burst.
pub(super) const INTERVAL_OF_CROWD: Duration = Duration::from_millis(2);
pub(super) const BURST_OF_CROWD: u32 = 256;
/// Idle networks are removed only when there are more than this many.
pub(super) const CLEANUP_THRESHOLD_MIN: usize = 10_000;

/// In IPv6 the owner of a /64 often owns the whole /48, which has the limits of four addresses.
const SITE_V6: NetworkSize = NetworkSize { bits: 48, addresses: 4 };
const ADDRESS_V6: NetworkSize = NetworkSize { bits: 64, addresses: 1 };
const ADDRESS_V4: NetworkSize = NetworkSize { bits: 32, addresses: 1 };

/// A size of networks whose connections are counted together.
#[derive(Clone, Copy)]
struct NetworkSize {
    bits: u8,
    /// By how much the limits of one address are multiplied.
    addresses: u32,
}

/// The limit that a refused connection exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The limit of all connections.
    Total,
    /// The limit of this address, or of the network around it.
    Address,
}

#[derive(Default)]
pub(super) struct OpenConnections {
    pub(super) total: usize,
    pub(super) networks: HashMap<IpNet, Network>,
    /// With this many networks, those without open or recent connections are removed.
    cleanup_threshold: usize,
    crowd: Pace,
}

#[derive(Default)]
pub(super) struct Network {
    pub(super) open: usize,
    /// Connections at the rate limit of an address.
    opened: Pace,
    /// Connections at the rate that makes a network part of the crowd.
    opened_recently: Pace,
    received: Share,
}

impl OpenConnections {
    /// Counts a new connection and returns how long it must wait before it is used. A connection without an address counts
    /// only for the total.
    pub(super) fn open(
        &mut self,
        limits: &ConnectionLimits,
        address: Option<IpAddr>,
        now: Instant,
    ) -> Result<Duration, Refused> {
        if self.total >= limits.in_all {
            return Err(Refused::Total);
        }
        let wait = address
            .map_or(Ok(Duration::ZERO), |address| self.open_from(address, limits.of_one_address, now))?;
        self.total += 1;
        Ok(wait)
    }

    fn open_from(&mut self, address: IpAddr, max_open: usize, now: Instant) -> Result<Duration, Refused> {
        self.remove_idle(now);
        for (network, size) in networks_of(address) {
            let open = self.networks.get(&network).map_or(0, |network| network.open);
            if open >= max_open.saturating_mul(fit(size.addresses)) {
                return Err(Refused::Address);
            }
        }
        let (mut wait, mut is_in_crowd) = (Duration::ZERO, false);
        for (network, size) in networks_of(address) {
            let network = self.networks.entry(network).or_default();
            network.open += 1;
            let backlog = network.opened.add(INTERVAL_PER_ADDRESS / size.addresses, now);
            wait = wait.max(backlog.saturating_sub(INTERVAL_PER_ADDRESS * BURST_PER_ADDRESS));
            is_in_crowd |= network.joins_crowd(size, now);
        }
        if is_in_crowd {
            let backlog = self.crowd.add(INTERVAL_OF_CROWD, now);
            wait = wait.max(backlog.saturating_sub(INTERVAL_OF_CROWD * BURST_OF_CROWD));
        }
        Ok(wait)
    }

    /// Counts a connection as closed.
    pub(super) fn close(&mut self, address: Option<IpAddr>) {
        self.total -= 1;
        for (network, _) in address.into_iter().flat_map(networks_of) {
            if let Some(network) = self.networks.get_mut(&network) {
                network.open -= 1;
            }
        }
    }

    /// What the connections of the largest network around an address share.
    pub(super) fn share(&self, address: IpAddr) -> Option<Share> {
        let (network, _) = networks_of(address).last()?;
        self.networks.get(&network).map(|network| Arc::clone(&network.received))
    }

    fn remove_idle(&mut self, now: Instant) {
        if self.networks.len() >= self.cleanup_threshold.max(CLEANUP_THRESHOLD_MIN) {
            self.networks.retain(|_, network| !network.is_idle(now));
            self.cleanup_threshold = 2 * self.networks.len();
        }
    }
}

impl Network {
    /// Counts a connection; whether the network belongs to the crowd. Stays in the crowd for at most eight seconds after its
    /// last connection.
    fn joins_crowd(&mut self, size: NetworkSize, now: Instant) -> bool {
        let (threshold, interval) =
            (CROWD_THRESHOLD_INTERVAL * CROWD_THRESHOLD, CROWD_THRESHOLD_INTERVAL / size.addresses);
        if self.opened_recently.backlog(now) + interval <= 2 * threshold {
            self.opened_recently.add(interval, now);
        }
        self.opened_recently.backlog(now) > threshold
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.open == 0 && self.opened.backlog(now).is_zero() && self.opened_recently.backlog(now).is_zero()
    }
}

/// The networks in which an address counts, from the smallest to the largest.
fn networks_of(address: IpAddr) -> impl Iterator<Item = (IpNet, NetworkSize)> {
    let sizes: &[NetworkSize] = if address.is_ipv6() { &[ADDRESS_V6, SITE_V6] } else { &[ADDRESS_V4] };
    sizes.iter().filter_map(move |size| Some((IpNet::new(address, size.bits).ok()?.trunc(), *size)))
}
