//! Limits how many connections are open, in total and per address (behaviour 2.8), and how fast an address opens them.
//!
//! A connection over a limit is closed before anything is read from it. A connection that comes too fast waits for the next free
//! moment of its address.

mod open_connections;

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use metrics::{counter, gauge};

use super::framing::Connection;
use super::placed::Placed;
use super::receive_budget::{Held, ReceiveBudget, Share};
use crate::api::{ConnectionLimits, Transport};
use crate::arrival::{is_proxy, network};
use crate::log_throttle::LogThrottle;
use open_connections::{OpenConnections, Refused};

const OPEN_CONNECTIONS: &str = "guerdon_http_connections";
const REFUSED_CONNECTIONS: &str = "guerdon_http_connections_refused_total";
const REFUSED_LOG_INTERVAL: Duration = Duration::from_secs(1);

/// The connections that are open.
pub(super) struct Connections {
    limits: ConnectionLimits,
    transport: Transport,
    open: Mutex<OpenConnections>,
    received: Arc<ReceiveBudget>,
    refused_log: LogThrottle<()>,
}

/// Counts as one open connection until it is dropped.
struct Place {
    connections: Arc<Connections>,
    /// `None` for a trusted proxy, which carries the connections of many clients.
    address: Option<IpAddr>,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits, transport: Transport) -> Arc<Self> {
        counter!(REFUSED_CONNECTIONS, "cause" => Refused::Total.label()).absolute(0);
        counter!(REFUSED_CONNECTIONS, "cause" => Refused::Address.label()).absolute(0);
        Arc::new(Self {
            limits,
            transport,
            open: Mutex::default(),
            received: Arc::default(),
            refused_log: LogThrottle::every(REFUSED_LOG_INTERVAL),
        })
    }

    /// Counts a new connection, and waits until its address may open it. Fails if a limit is reached.
    pub(super) async fn place(self: Arc<Self>, stream: TcpStream) -> io::Result<Placed> {
        let address = stream.peer_addr()?.ip();
        let is_proxy = is_proxy(&self.transport, address);
        let taken = self.take(address, is_proxy, Instant::now());
        let (place, wait) =
            taken.map_err(|cause| io::Error::new(io::ErrorKind::ConnectionRefused, cause.label()))?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // A response may follow the last bytes of the handshake. Without this the system would delay it until those are
        // acknowledged, by 40 ms.
        stream.set_nodelay(true)?;
        let connection = Connection::new(Held::of(&self.received, self.share(&place)));
        if is_proxy {
            connection.trust();
        }
        Ok(Placed::new(stream, place, connection))
    }

    /// What the connections of an address share; in IPv6, those of a network of 48 bits.
    fn share(&self, place: &Place) -> Share {
        place.address.and_then(|address| self.lock().share(address)).unwrap_or_default()
    }

    /// Counts a connection, and returns how long it must wait before it is used.
    fn take(
        self: &Arc<Self>,
        address: IpAddr,
        is_proxy: bool,
        now: Instant,
    ) -> Result<(Place, Duration), Refused> {
        let address = (!is_proxy).then(|| network(address));
        let taken = self.lock().open(&self.limits, address, now);
        match taken {
            Ok(wait) => {
                gauge!(OPEN_CONNECTIONS).increment(1);
                Ok((Place { connections: Arc::clone(self), address }, wait))
            }
            Err(cause) => {
                counter!(REFUSED_CONNECTIONS, "cause" => cause.label()).increment(1);
                if let Some(count) = self.refused_log.count((), now) {
                    log::warn!(
                        "connections closed at once: {count}, the last from {}, since {}",
                        address.map_or_else(|| "a proxy".to_owned(), |address| address.to_string()),
                        cause.reason()
                    );
                }
                Err(cause)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refused {
    fn label(self) -> &'static str {
        match self {
            Self::Total => "all",
            Self::Address => "address",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Total => "there are as many as there may be (http.max_connections)",
            Self::Address => "it has as many as it may have (http.max_connections_per_address)",
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().close(self.address);
        gauge!(OPEN_CONNECTIONS).decrement(1);
    }
}

#[cfg(test)]
mod tests;
