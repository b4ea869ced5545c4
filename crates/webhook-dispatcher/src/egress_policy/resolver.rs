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

use super::dns_cache::{DnsCache, ResolveError};
use super::{attempt_scope, is_public};

/// The maximum number of addresses that are tried per lookup. ureq's array holds no more.
const ADDRESSES_MAX: usize = 16;
/// The maximum wait for a lookup. It is longer than any deadline, but short enough to be added to an `Instant`.
const RESOLVE_WAIT_MAX: Duration = Duration::from_secs(60);

/// Why the egress policy refuses an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EgressDenied {
    /// The message does not contain the address, because providers can read it: internal name servers may have returned
    /// it.
    #[error("refused: the host has an address that is not public")]
    NotPublic(IpAddr),
    #[error("the response is too large")]
    ResponseTooLarge,
}

impl From<EgressDenied> for ureq::Error {
    fn from(denied: EgressDenied) -> Self {
        Self::Other(Box::new(denied))
    }
}

/// Resolves a host name and refuses the result if any of its addresses is not public.
pub(crate) struct EgressResolver {
    pub(crate) dns_cache: Arc<DnsCache>,
    pub(crate) allow_private_networks: bool,
}

impl fmt::Debug for EgressResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressResolver").finish_non_exhaustive()
    }
}

impl Resolver for EgressResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let addresses = self.resolve_host(uri.host().unwrap_or_default(), timeout)?;
        if !self.allow_private_networks
            && let Some(forbidden) = addresses.iter().find(|address| !is_public(**address))
        {
            return Err(EgressDenied::NotPublic(*forbidden).into());
        }
        let mut allowed = self.empty();
        for address in addresses.iter().take(ADDRESSES_MAX) {
            allowed.push(SocketAddr::new(*address, port));
        }
        attempt_scope::allow_peers(&allowed);
        Ok(allowed)
    }
}

impl EgressResolver {
    /// An IP address, in any notation that URLs allow, is not a host name and is not resolved, because another parser
    /// might read it differently.
    fn resolve_host(&self, host: &str, timeout: NextTimeout) -> Result<Arc<[IpAddr]>, ureq::Error> {
        let name = match Host::parse(host) {
            Ok(Host::Ipv4(address)) => return Ok([address.into()].into()),
            Ok(Host::Ipv6(address)) => return Ok([address.into()].into()),
            Ok(Host::Domain(name)) => name,
            Err(_) => return Err(ureq::Error::HostNotFound),
        };
        self.dns_cache.resolve_host(&name, (*timeout.after).min(RESOLVE_WAIT_MAX)).map_err(
            |error| match error {
                ResolveError::NotFound => ureq::Error::HostNotFound,
                ResolveError::TimedOut => ureq::Error::Timeout(Timeout::Resolve),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress_policy::SystemResolver;

    #[test]
    fn the_port_is_that_of_the_url_or_of_its_scheme() {
        let dns_cache = Arc::new(DnsCache::new(Arc::new(SystemResolver), Duration::ZERO));
        let resolver = EgressResolver { dns_cache, allow_private_networks: false };
        for (url, expected) in [
            ("https://8.8.8.8/hook", "8.8.8.8:443"),
            ("http://8.8.8.8/hook", "8.8.8.8:80"),
            ("https://8.8.8.8:8443/hook", "8.8.8.8:8443"),
            ("https://[2606:4700::1111]/hook", "[2606:4700::1111]:443"),
        ] {
            let uri = Uri::from_static(url);
            let found = resolver.resolve(&uri, &Config::default(), NextTimeout::default()).unwrap();
            assert_eq!(found[..], [expected.parse().unwrap()], "{url}");
        }
    }
}
