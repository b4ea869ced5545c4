//! Limits how many connections are open, in total and per address (behaviour 2.8), and how fast an address opens them.
//!
//! A connection over a limit is closed before anything is read from it. A connection above the rate of its address
//! waits until the address may open the next one.

mod open_connections;

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use metrics::{counter, gauge};

use super::counted_stream::CountedStream;
use super::framing::Connection;
use super::receive_budget::{AddressUsage, ConnectionUsage, ReceiveBudget};
use crate::api::{ConnectionLimits, Transport};
use crate::log_throttle::LogThrottle;
use crate::mutex::lock_mutex;
use crate::request_info::{is_trusted_proxy, limit_address};
use open_connections::{LimitReached, OpenConnections};

const OPEN_CONNECTIONS: &str = "guerdon_http_connections";
const REFUSED_CONNECTIONS: &str = "guerdon_http_connections_refused_total";
const REFUSED_LOG_INTERVAL: Duration = Duration::from_secs(1);

/// The connections that are open.
pub(super) struct ConnectionLimiter {
    limits: ConnectionLimits,
    transport: Transport,
    open: Mutex<OpenConnections>,
    budget: Arc<ReceiveBudget>,
    refused_log: LogThrottle<()>,
}

/// An open connection, which counts until the permit is dropped.
struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    /// `None` for a trusted proxy, which carries the connections of many clients.
    address: Option<IpAddr>,
}

impl ConnectionLimiter {
    pub(super) fn new(limits: ConnectionLimits, transport: Transport) -> Arc<Self> {
        counter!(REFUSED_CONNECTIONS, "cause" => LimitReached::Total.metric_label()).absolute(0);
        counter!(REFUSED_CONNECTIONS, "cause" => LimitReached::Address.metric_label()).absolute(0);
        Arc::new(Self {
            limits,
            transport,
            open: Mutex::default(),
            budget: Arc::default(),
            refused_log: LogThrottle::with_interval(REFUSED_LOG_INTERVAL),
        })
    }

    /// Counts a new connection, and waits until its address may open it. Fails if a limit is reached.
    pub(super) async fn admit_connection(self: Arc<Self>, stream: TcpStream) -> io::Result<CountedStream> {
        let address = stream.peer_addr()?.ip();
        let is_proxy = is_trusted_proxy(address, &self.transport.trusted_proxies);
        let acquired = self.acquire_permit(address, is_proxy, Instant::now());
        let (permit, wait) = acquired
            .map_err(|cause| io::Error::new(io::ErrorKind::ConnectionRefused, cause.metric_label()))?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        // A response may follow the last bytes of the handshake. Without `TCP_NODELAY`, the system would delay it by 40
        // ms, until those bytes are acknowledged.
        stream.set_nodelay(true)?;
        let connection =
            Connection::new(ConnectionUsage::with_budget(&self.budget, self.address_usage(&permit)));
        if is_proxy {
            connection.mark_trusted();
        }
        Ok(CountedStream::new(stream, permit, connection))
    }

    /// Returns the memory counter that all connections of an address share. For IPv6, all connections of the /48
    /// network share one counter.
    fn address_usage(&self, permit: &ConnectionPermit) -> AddressUsage {
        permit.address.and_then(|address| lock_mutex(&self.open).address_usage(address)).unwrap_or_default()
    }

    /// Counts a connection, and returns how long it must wait before it is used.
    fn acquire_permit(
        self: &Arc<Self>,
        address: IpAddr,
        is_proxy: bool,
        now: Instant,
    ) -> Result<(ConnectionPermit, Duration), LimitReached> {
        let address = (!is_proxy).then(|| limit_address(address));
        let acquired = lock_mutex(&self.open).open_connection(&self.limits, address, now);
        match acquired {
            Ok(wait) => {
                gauge!(OPEN_CONNECTIONS).increment(1);
                Ok((ConnectionPermit { limiter: Arc::clone(self), address }, wait))
            }
            Err(cause) => {
                counter!(REFUSED_CONNECTIONS, "cause" => cause.metric_label()).increment(1);
                if let Some(count) = self.refused_log.count_event((), now) {
                    let latest_address =
                        address.map_or_else(|| "a proxy".to_owned(), |address| address.to_string());
                    log::warn!(
                        count, latest_address = latest_address.as_str(), reason = cause.log_reason();
                        "refused new connections over a limit"
                    );
                }
                Err(cause)
            }
        }
    }

    /// The number of open connections.
    pub(super) fn count_open(&self) -> usize {
        lock_mutex(&self.open).total
    }
}

impl LimitReached {
    fn metric_label(self) -> &'static str {
        match self {
            Self::Total => "all",
            Self::Address => "address",
        }
    }

    fn log_reason(self) -> &'static str {
        match self {
            Self::Total => "too many connections (http.max_connections)",
            Self::Address => "too many connections from one address (http.max_connections_per_address)",
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        lock_mutex(&self.limiter.open).close_connection(self.address);
        gauge!(OPEN_CONNECTIONS).decrement(1);
    }
}

#[cfg(test)]
mod tests;
