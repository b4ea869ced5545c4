//! TCP connections that record their peer address and count the bytes they receive.

use std::net::SocketAddr;
use std::time::Instant;

use ureq::unversioned::transport::time::Duration;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, TcpConnector, Transport,
};
use ureq::{Error, Timeout};

use super::{EgressDenied, attempt_scope, is_public};

/// Opens TCP connections. Only public addresses are permitted, unless the policy allows others.
#[derive(Debug)]
pub(crate) struct EgressConnector {
    tcp: TcpConnector,
    allow_private_networks: bool,
}

/// One of ureq's TCP connections, with the address of its peer.
#[derive(Debug)]
pub(crate) struct EgressTransport {
    inner: <TcpConnector as Connector<()>>::Out,
    peer: SocketAddr,
}

impl EgressConnector {
    pub(crate) fn new(allow_private_networks: bool) -> Self {
        Self { tcp: TcpConnector::default(), allow_private_networks }
    }

    fn connect_to(
        &self,
        peer: SocketAddr,
        details: &ConnectionDetails<'_>,
        timeout: NextTimeout,
    ) -> Result<Option<EgressTransport>, Error> {
        if !self.allow_private_networks && !is_public(peer.ip()) {
            return Err(EgressDenied::NotPublic(peer.ip()).into());
        }
        let mut addrs = details.resolver.empty();
        addrs.push(peer);
        let details = ConnectionDetails {
            uri: details.uri,
            addrs,
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: (details.current_time)(),
            timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        let connected = self.tcp.connect(&details, None)?;
        Ok(connected.map(|inner| EgressTransport { inner, peer }))
    }
}

impl Connector<()> for EgressConnector {
    type Out = EgressTransport;

    /// Tries the addresses in order. Each gets an equal share of the remaining time, so that an unreachable address
    /// does not use up the time of the following addresses.
    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _chained: Option<()>,
    ) -> Result<Option<EgressTransport>, Error> {
        let started = Instant::now();
        let mut last_error = Error::ConnectionFailed;
        for (peer, left) in details.addrs.iter().zip((1..=details.addrs.len()).rev()) {
            let time_left = details.timeout.after.saturating_sub(started.elapsed());
            if time_left.is_zero() {
                return Err(Error::Timeout(Timeout::Connect));
            }
            let share = time_left / u32::try_from(left).unwrap_or(u32::MAX);
            let timeout = NextTimeout { after: Duration::Exact(share), ..details.timeout };
            match self.connect_to(*peer, details, timeout) {
                Ok(connected) => return Ok(connected),
                Err(cause @ (Error::Io(_) | Error::Timeout(_))) => last_error = cause,
                Err(cause) => return Err(cause),
            }
        }
        Err(last_error)
    }
}

impl Transport for EgressTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let before = self.inner.buffers().input().len();
        let made_progress = self.inner.await_input(timeout)?;
        let received = self.inner.buffers().input().len().saturating_sub(before);
        if !attempt_scope::count_received(received) {
            return Err(EgressDenied::ResponseTooLarge.into());
        }
        Ok(made_progress)
    }

    /// ureq calls this before it reuses a pooled connection and before it returns one to the pool. The connection
    /// must work, and its peer must be an address that the current attempt may use.
    fn is_open(&mut self) -> bool {
        attempt_scope::is_peer_allowed(self.peer) && self.inner.is_open()
    }
}

#[cfg(test)]
mod tests;
