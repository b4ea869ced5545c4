//! ureq's resolver: returns only addresses that the egress policy allows.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ureq::Timeout;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use url::Host;

use super::names::{NameError, Names};
use super::{is_public, passage};

/// The maximum of addresses tried per lookup; ureq's array holds no more.
const ADDRESSES_MAX: usize = 16;
/// Longer than any deadline, and short enough to be added to a clock's time.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Why the egress policy refuses an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("refused: {0} is not a public address")]
    NotPublic(IpAddr),
    #[error("more was received than an answer may hold")]
    TooMuch,
}

impl From<Refused> for ureq::Error {
    fn from(refused: Refused) -> Self {
        Self::Other(Box::new(refused))
    }
}

/// Resolves a host name and refuses the result if any of its addresses is not public.
pub(crate) struct VettingResolver {
    pub(crate) names: Arc<Names>,
    pub(crate) allow_private_networks: bool,
}

impl fmt::Debug for VettingResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VettingResolver").finish_non_exhaustive()
    }
}

impl Resolver for VettingResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let addresses = self.addresses(uri.host().unwrap_or_default(), timeout)?;
        if !self.allow_private_networks
            && let Some(bad) = addresses.iter().find(|address| !is_public(**address))
        {
            return Err(Refused::NotPublic(*bad).into());
        }
        let mut vetted = self.empty();
        for address in addresses.iter().take(ADDRESSES_MAX) {
            vetted.push(SocketAddr::new(*address, port));
        }
        passage::open(&vetted);
        Ok(vetted)
    }
}

impl VettingResolver {
    /// An address in any notation that URLs allow is not a host name and is not resolved, so that no other parser
    /// reads it differently.
    fn addresses(&self, host: &str, timeout: NextTimeout) -> Result<Arc<[IpAddr]>, ureq::Error> {
        let name = match Host::parse(host) {
            Ok(Host::Ipv4(address)) => return Ok([address.into()].into()),
            Ok(Host::Ipv6(address)) => return Ok([address.into()].into()),
            Ok(Host::Domain(name)) => name,
            Err(_) => return Err(ureq::Error::HostNotFound),
        };
        self.names.addresses(&name, (*timeout.after).min(LONGEST_WAIT)).map_err(|error| match error {
            NameError::Unknown => ureq::Error::HostNotFound,
            NameError::TooSlow => ureq::Error::Timeout(Timeout::Resolve),
        })
    }
}
