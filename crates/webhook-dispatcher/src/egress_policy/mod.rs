//! The egress policy for webhooks (behaviour 23.11): which URLs may be requested, and which addresses may be connected
//! to.
//!
//! There are three checks. The URL string is checked when it is registered and
//! at every attempt. For every attempt, the resolver resolves the host name and refuses the result if any address is
//! not public; ureq gets exactly the checked addresses and resolves nothing. The connector checks each address again
//! when it connects.
//!
//! Pooled connections pass the same checks. The resolver runs before the pool is consulted, so a host name that now
//! resolves to a forbidden address is refused even if a connection to its old, public address is open. A pooled
//! connection is used only if its peer is among the addresses checked for this attempt. So requests follow a receiver
//! to a new address immediately, and a DNS rebinding attack finds no connection to reuse.

mod attempt_scope;
mod connector;
mod dns_cache;
mod public_ranges;
mod resolver;
mod target;

pub(crate) use attempt_scope::begin_attempt;
pub(crate) use connector::EgressConnector;
pub(crate) use dns_cache::DnsCache;
pub use dns_cache::{HostResolver, SystemResolver};
pub use public_ranges::is_public;
pub(crate) use resolver::{EgressDenied, EgressResolver};
pub use target::CallbackUrlError;
pub(crate) use target::parse_target;

/// What the operator allows in addition to https requests to public addresses (the settings `webhooks.*`). By default,
/// nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EgressPolicy {
    /// Whether plain http is allowed (`webhooks.allow_http`).
    pub allow_http: bool,
    /// Whether addresses that are not public are allowed (`webhooks.allow_private_networks`). Then addresses are not
    /// checked.
    pub allow_private_networks: bool,
}

/// Checks the callback URL as a string (behaviour 23.11). It must be an absolute https URL without user info or a
/// fragment. If its host is an address in any notation, the address must be public. The addresses of a host name are
/// checked at every attempt.
///
/// # Errors
///
/// The reason, as a sentence for the operator that begins with `callback_url`.
pub fn check_callback_url(url: &str, policy: EgressPolicy) -> Result<(), CallbackUrlError> {
    parse_target(url, policy).map(drop)
}
