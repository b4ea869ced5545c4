//! How many connections there may be, in all and of one address (behaviour 2.8): what is one too many is closed before
//! anything is read of it. And how fast one address may begin them: what comes faster waits.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use metrics::{counter, gauge};

use super::placed::Placed;
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
/// So many addresses are remembered whatever they do.
const ADDRESSES_MIN: usize = 10_000;
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Who is connected.
pub(super) struct Connections {
    limits: ConnectionLimits,
    transport: Transport,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    all: usize,
    each: HashMap<IpAddr, Address>,
    /// With so many addresses those are forgotten that do nothing any more.
    forget_at: usize,
    /// When all that the crowd has begun would have begun if it had waited each time.
    crowd_until: Option<Instant>,
    /// Refused since that was told.
    untold: usize,
    told_at: Option<Instant>,
}

struct Address {
    open: usize,
    /// When all that it has begun would have begun if it had waited each time.
    begun_until: Instant,
    /// The same with one a second; it tells who begins many.
    many_until: Instant,
}

/// Why a connection is closed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// There are too many in all.
    All,
    /// There are too many of this address.
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
        Arc::new(Self { limits, transport, open: Mutex::default() })
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
        Ok(Placed::new(stream, place, is_proxy))
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
            if self.each.len() >= self.forget_at.max(ADDRESSES_MIN) {
                self.each.retain(|_, it| it.open > 0 || it.begun_until > now || it.many_until > now);
                self.forget_at = (2 * self.each.len()).max(ADDRESSES_MIN);
            }
            let address =
                self.each.entry(address).or_insert(Address { open: 0, begun_until: now, many_until: now });
            if address.open >= limits.of_one_address {
                return Err(Refused::Address);
            }
            address.open += 1;
            address.begun_until = address.begun_until.max(now) + BEGUN_EACH;
            let ahead = address.begun_until.saturating_duration_since(now);
            wait = ahead.saturating_sub(BEGUN_EACH * BEGUN_AT_ONCE);
            let many = address.many_until.max(now) + MANY_EACH;
            address.many_until = many.min(now + MANY_EACH * (2 * BEGUN_ALONE));
            if many.saturating_duration_since(now) > MANY_EACH * BEGUN_ALONE {
                let until = self.crowd_until.map_or(now, |it| it.max(now)) + BEGUN_EACH_OF_CROWD;
                let ahead = until.saturating_duration_since(now);
                wait = wait.max(ahead.saturating_sub(BEGUN_EACH_OF_CROWD * BEGUN_AT_ONCE_OF_CROWD));
                self.crowd_until = Some(until);
            }
        }
        self.all += 1;
        Ok(wait)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.all -= 1;
        if let Some(address) = self.address.and_then(|it| open.each.get_mut(&it)) {
            address.open -= 1;
        }
        gauge!(OPEN).decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(in_all: usize, of_one_address: usize) -> Arc<Connections> {
        Connections::new(ConnectionLimits { in_all, of_one_address }, Transport::Tls)
    }

    fn take(from: &Arc<Connections>, address: &str, now: Instant) -> Result<Place, Refused> {
        from.take(address.parse().unwrap(), false, now).map(|(place, _)| place)
    }

    #[test]
    fn an_address_has_its_part_and_a_network_of_ipv6_is_one() {
        let (all, now) = (connections(10, 2), Instant::now());
        let first = take(&all, "192.0.2.1", now).unwrap();
        let second = take(&all, "192.0.2.1", now).unwrap();
        assert_eq!(take(&all, "192.0.2.1", now).err(), Some(Refused::Address));
        drop(first);
        let third = take(&all, "::ffff:192.0.2.1", now).unwrap();
        assert_eq!(take(&all, "192.0.2.1", now).err(), Some(Refused::Address));
        let others = ["2001:db8::1", "2001:db8::ffff:2"].map(|it| take(&all, it, now).unwrap());
        assert_eq!(take(&all, "2001:db8::3", now).err(), Some(Refused::Address));
        assert!(take(&all, "2001:db8:0:1::3", now).is_ok());
        drop((second, third, others));
        assert_eq!(all.lock().all, 0);
    }

    #[test]
    fn there_are_so_many_in_all_and_a_proxy_counts_for_nothing_else() {
        let (all, now) = (connections(3, 1), Instant::now());
        let proxy = "10.0.0.1".parse().unwrap();
        let taken = [(); 3].map(|()| all.take(proxy, true, now).unwrap().0);
        assert_eq!(all.take(proxy, true, now).map(drop).err(), Some(Refused::All));
        assert_eq!(take(&all, "192.0.2.1", now).err(), Some(Refused::All));
        drop(taken);
        assert!(take(&all, "192.0.2.1", now).is_ok());
    }

    #[test]
    fn an_address_begins_two_hundred_at_once_and_then_two_hundred_a_second() {
        let (all, now) = (connections(10_000, 10_000), Instant::now());
        let mut places = Vec::new();
        let mut waits = |count: usize| {
            let taken = (0..count).map(|_| all.take("192.0.2.1".parse().unwrap(), false, now).unwrap());
            let (taken, waits): (Vec<_>, Vec<_>) = taken.unzip();
            places.extend(taken);
            *waits.last().unwrap()
        };
        assert_eq!(waits(200), Duration::ZERO);
        assert_eq!(waits(1), BEGUN_EACH);
        assert_eq!(waits(199), Duration::from_secs(1));
        assert_eq!(all.take("192.0.2.2".parse().unwrap(), false, now).unwrap().1, Duration::ZERO);
    }

    #[test]
    fn addresses_that_do_nothing_any_more_are_forgotten() {
        let (all, now) = (connections(10, 1), Instant::now());
        for number in 0..ADDRESSES_MIN {
            let address = std::net::Ipv4Addr::from_bits(u32::try_from(number).unwrap());
            drop(all.take(address.into(), false, now).unwrap());
        }
        let kept = take(&all, "192.0.2.1", now + Duration::from_secs(1)).unwrap();
        assert_eq!(all.lock().each.len(), 1);
        drop(kept);
    }

    #[test]
    fn addresses_that_begin_many_wait_for_each_other_and_a_newcomer_for_nobody() {
        let (all, now) = (connections(10_000, 1_000), Instant::now());
        let mut held = Vec::new();
        let mut wait = |address: String| {
            let (place, wait) = all.take(address.parse().unwrap(), false, now).unwrap();
            held.push(place);
            wait
        };
        let waits: Vec<Duration> =
            (0..8).flat_map(|it| vec![format!("192.0.2.{it}"); 100]).map(&mut wait).collect();
        let longest = waits.iter().max().unwrap();
        // Of each address' hundred all but the first eight are the crowd's.
        assert_eq!(*longest, BEGUN_EACH_OF_CROWD * (8 * 92 - BEGUN_AT_ONCE_OF_CROWD));
        assert_eq!(wait("198.51.100.1".to_owned()), Duration::ZERO);
    }
}
