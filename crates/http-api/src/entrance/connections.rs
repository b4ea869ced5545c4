//! How many connections there may be, in all and of one address (behaviour 2.8): what is one too many is closed before
//! anything is read of it. And how fast one address may begin them: what comes faster waits.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use guerdon_domain::values::fit;
use ipnet::IpNet;
use metrics::{counter, gauge};

use super::framing::Connection;
use super::placed::Placed;
use super::receive_budget::{Held, ReceiveBudget, Share};
use crate::api::{ConnectionLimits, Transport};
use crate::arrival::{is_proxy, network};

const OPEN: &str = "guerdon_http_connections";
const REFUSED: &str = "guerdon_http_connections_refused_total";
/// An address begins a connection each so often, and so many at once: each costs the processors a handshake.
const BEGUN_EACH: Duration = Duration::from_millis(5);
const BEGUN_AT_ONCE: u32 = 200;
/// Whoever has begun more than so many in as many seconds is one of a crowd, which begins a connection so often all together, and so many at
/// once: many addresses that come back as soon as they are cut would else keep the processors shaking hands.
const BEGUN_ALONE: u32 = 8;
const MANY_EACH: Duration = Duration::from_secs(1);
const BEGUN_EACH_OF_CROWD: Duration = Duration::from_millis(2);
const BEGUN_AT_ONCE_OF_CROWD: u32 = 256;
/// Idle networks are forgotten only when more than this many are remembered.
const NETWORKS_MIN: usize = 10_000;
/// In IPv6 the owner of a /64 often owns the whole /48: a /48 has the limits of this many addresses.
const SITE: IpNetwork = IpNetwork { bits: 48, addresses: 4 };
const ADDRESS_V6: IpNetwork = IpNetwork { bits: 64, addresses: 1 };
const ADDRESS_V4: IpNetwork = IpNetwork { bits: 32, addresses: 1 };
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Who is connected.
pub(super) struct Connections {
    limits: ConnectionLimits,
    transport: Transport,
    open: Mutex<Open>,
    received: Arc<ReceiveBudget>,
}

#[derive(Default)]
struct Open {
    all: usize,
    each: HashMap<IpNet, Network>,
    /// When this many networks are remembered, those without open or recent connections are forgotten.
    forget_at: usize,
    /// When all that the crowd has begun would have begun if it had waited each time.
    crowd_until: Option<Instant>,
    /// Refused since that was told.
    untold: usize,
    told_at: Option<Instant>,
}

/// A size of networks whose connections are counted together.
#[derive(Clone, Copy)]
struct IpNetwork {
    bits: u8,
    /// How many times the limits of one address it has.
    addresses: u32,
}

struct Network {
    open: usize,
    /// When all that it has begun would have begun if it had waited each time.
    begun_until: Instant,
    /// The same with one a second; it tells who begins many.
    many_until: Instant,
    received: Share,
}

/// Why a connection is closed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// There are too many in all.
    All,
    /// There are too many of this address, or of the network around it.
    Address,
}

/// A connection's place; dropped, it is free.
struct Place {
    connections: Arc<Connections>,
    /// None for a trusted proxy, which stands for many.
    address: Option<IpAddr>,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits, transport: Transport) -> Arc<Self> {
        counter!(REFUSED, "cause" => Refused::All.label()).absolute(0);
        counter!(REFUSED, "cause" => Refused::Address.label()).absolute(0);
        Arc::new(Self { limits, transport, open: Mutex::default(), received: Arc::default() })
    }

    /// Gives a new connection its place, where there is one, when its address may go on.
    pub(super) async fn place(self: Arc<Self>, stream: TcpStream) -> io::Result<Placed> {
        let address = stream.peer_addr()?.ip();
        let is_proxy = is_proxy(&self.transport, address);
        let taken = self.take(address, is_proxy, Instant::now());
        let (place, wait) =
            taken.map_err(|cause| io::Error::new(io::ErrorKind::ConnectionRefused, cause.label()))?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // An answer may follow what the handshake still says: the system would wait for that to be acknowledged, 40 ms.
        stream.set_nodelay(true)?;
        let connection = Connection::new(Held::of(&self.received, self.share(&place)));
        if is_proxy {
            connection.trust(); // a trusted proxy carries the connections of many clients
        }
        Ok(Placed::new(stream, place, connection))
    }

    /// What connections of the same address share; in IPv6 those of the same network of 48 bits.
    fn share(&self, place: &Place) -> Share {
        let network = place.address.and_then(|it| networks(it).last());
        let share = network.and_then(|(it, _)| self.lock().each.get(&it).map(|it| Arc::clone(&it.received)));
        share.unwrap_or_default()
    }

    /// A place, and how long to wait before it is used.
    fn take(
        self: &Arc<Self>,
        address: IpAddr,
        is_proxy: bool,
        now: Instant,
    ) -> Result<(Place, Duration), Refused> {
        let address = (!is_proxy).then(|| network(address));
        let mut open = self.lock();
        match open.take(&self.limits, address, now) {
            Ok(wait) => {
                gauge!(OPEN).increment(1);
                Ok((Place { connections: Arc::clone(self), address }, wait))
            }
            Err(cause) => {
                counter!(REFUSED, "cause" => cause.label()).increment(1);
                open.untold += 1;
                if open.told_at.is_none_or(|it| now.saturating_duration_since(it) >= TELL_EVERY) {
                    log::warn!(
                        "connections closed at once: {}, the last from {}, since {}",
                        std::mem::take(&mut open.untold),
                        address.map_or_else(|| "a proxy".to_owned(), |it| it.to_string()),
                        cause.reason()
                    );
                    open.told_at = Some(now);
                }
                Err(cause)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refused {
    fn label(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Address => "address",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::All => "there are as many as there may be (http.max_connections)",
            Self::Address => "it has as many as it may have (http.max_connections_per_address)",
        }
    }
}

impl Open {
    fn take(
        &mut self,
        limits: &ConnectionLimits,
        address: Option<IpAddr>,
        now: Instant,
    ) -> Result<Duration, Refused> {
        if self.all >= limits.in_all {
            return Err(Refused::All);
        }
        let mut wait = Duration::ZERO;
        if let Some(address) = address {
            self.forget(now);
            for (network, size) in networks(address) {
                let open = self.each.get(&network).map_or(0, |it| it.open);
                if open >= limits.of_one_address.saturating_mul(fit(size.addresses)) {
                    return Err(Refused::Address);
                }
            }
            let mut begins_many = false;
            for (network, size) in networks(address) {
                let network = self.each.entry(network).or_insert_with(|| Network::new(now));
                wait = wait.max(network.begin(size, now));
                begins_many |= network.begins_many(size, now);
            }
            if begins_many {
                let until = self.crowd_until.map_or(now, |it| it.max(now)) + BEGUN_EACH_OF_CROWD;
                let ahead = until.saturating_duration_since(now);
                wait = wait.max(ahead.saturating_sub(BEGUN_EACH_OF_CROWD * BEGUN_AT_ONCE_OF_CROWD));
                self.crowd_until = Some(until);
            }
        }
        self.all += 1;
        Ok(wait)
    }

    fn forget(&mut self, now: Instant) {
        if self.each.len() >= self.forget_at.max(NETWORKS_MIN) {
            self.each.retain(|_, it| it.open > 0 || it.begun_until > now || it.many_until > now);
            self.forget_at = (2 * self.each.len()).max(NETWORKS_MIN);
        }
    }
}

impl Network {
    fn new(now: Instant) -> Self {
        Self { open: 0, begun_until: now, many_until: now, received: Share::default() }
    }

    /// Counts a connection; how long it waits for those that the network began before it.
    fn begin(&mut self, size: IpNetwork, now: Instant) -> Duration {
        let each = BEGUN_EACH / size.addresses;
        self.open += 1;
        self.begun_until = self.begun_until.max(now) + each;
        let ahead = self.begun_until.saturating_duration_since(now);
        ahead.saturating_sub(BEGUN_EACH * BEGUN_AT_ONCE)
    }

    /// Whether the network is one of the crowd, now that it begins another connection.
    fn begins_many(&mut self, size: IpNetwork, now: Instant) -> bool {
        let each = MANY_EACH / size.addresses;
        let many = self.many_until.max(now) + each;
        self.many_until = many.min(now + 2 * MANY_EACH * BEGUN_ALONE);
        many.saturating_duration_since(now) > MANY_EACH * BEGUN_ALONE
    }
}

/// The networks that an address counts for.
fn networks(address: IpAddr) -> impl Iterator<Item = (IpNet, IpNetwork)> {
    let sizes: &[IpNetwork] = if address.is_ipv6() { &[ADDRESS_V6, SITE] } else { &[ADDRESS_V4] };
    sizes.iter().filter_map(move |it| Some((IpNet::new(address, it.bits).ok()?.trunc(), *it)))
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.all -= 1;
        for (network, _) in self.address.into_iter().flat_map(networks) {
            if let Some(network) = open.each.get_mut(&network) {
                network.open -= 1;
            }
        }
        gauge!(OPEN).decrement(1);
    }
}

#[cfg(test)]
mod tests;
