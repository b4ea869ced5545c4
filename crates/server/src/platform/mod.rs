//! The interface to the machine: time, ids, randomness, files, descriptors, signals and users; and the version of the
//! program. No other folder of this crate reads the clock, creates ids or generates random numbers.

use std::sync::Arc;

use guerdon_domain::commands::ContextSources;
use guerdon_webhook_dispatcher::Bodies;

pub(crate) mod build_info;
pub(crate) mod clock;
pub(crate) mod descriptors;
pub(crate) mod files;
mod ids;
pub(crate) mod random;
mod secret;
pub(crate) mod signals;
pub(crate) mod user;

pub(crate) use clock::SystemClock;
pub(crate) use ids::SystemIds;
pub(crate) use secret::SecretText;

/// The clock, the ids and the bodies of events for commands that move points.
pub(crate) fn context_sources() -> ContextSources {
    ContextSources { clock: Arc::new(SystemClock), ids: Arc::new(SystemIds), bodies: Arc::new(Bodies) }
}
