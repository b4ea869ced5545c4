//! Which program this is.

/// Its version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit it was built from; `unknown` where nobody said.
pub(crate) const COMMIT: &str = env!("BUILD_COMMIT");
/// Both, for people.
pub(crate) const LONG: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_COMMIT"), ")");
