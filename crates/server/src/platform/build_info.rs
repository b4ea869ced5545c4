//! The version and commit of this program.

/// The version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that the program was built from; `unknown` if the build did not set it.
pub(crate) const COMMIT: &str = env!("BUILD_COMMIT");
/// Version and commit for people to read.
pub(crate) const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_COMMIT"), ")");
