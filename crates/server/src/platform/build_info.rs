//! Which program this is.

/// Its version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that the program was built from; `unknown` if the build was not told.
pub(crate) const COMMIT: &str = env!("BUILD_COMMIT");
/// Both, for people.
pub(crate) const LONG: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_COMMIT"), ")");
