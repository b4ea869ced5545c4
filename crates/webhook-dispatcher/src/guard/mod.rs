//! The guard on outgoing requests (behaviour 23.11): which URLs may be called, which addresses may be connected to.
//!
//! Three walls, each of which would do alone. A URL is judged as a text, when it is registered and at every attempt.
//! The resolver then looks its name up anew for every attempt and refuses the whole answer if one address is not
//! public; ureq gets exactly the addresses that were vetted and resolves nothing itself. And the connector judges
//! each address once more in the moment it connects.
//!
//! A kept connection passes the same way: the resolver runs before the pool is asked, so a name that now leads to a
//! forbidden address is refused although a connection to its old, public one is still open; and of the kept
//! connections only one whose peer is among the addresses vetted for this very attempt is used. So a receiver that
//! moves is followed at once, and a rebinding finds nothing to reuse.

mod connector;
mod names;
mod passage;
mod ranges;
mod resolver;
mod target;

pub(crate) use connector::GuardedTcp;
pub(crate) use names::Names;
pub use names::{LookUp, SystemLookUp};
pub(crate) use passage::begin;
pub use ranges::is_public;
pub(crate) use resolver::{Refused, VettingResolver};
pub(crate) use target::Target;
pub use target::UrlRefused;

/// What the operator allows beyond public https (the settings `webhooks.*`). Nothing, by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether plain http may be called (`webhooks.allow_http`).
    pub allow_http: bool,
    /// Whether addresses that are not public may be called (`webhooks.allow_private_networks`). It turns the check
    /// of addresses off.
    pub allow_private_networks: bool,
}

/// Judges a callback URL as far as its text tells (behaviour 23.11): an absolute https URL without user info and
/// without a fragment, whose host, where it is an address in whatever notation, is public. What a name resolves to
/// is judged at every attempt.
///
/// # Errors
///
/// Why it is refused, in a sentence for the operator that begins with `callback_url`.
pub fn check_url(url: &str, policy: Policy) -> Result<(), UrlRefused> {
    Target::parse(url, policy).map(|_target| ())
}
