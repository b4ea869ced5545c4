//! The world behind the ports: time, ids, randomness, files, descriptors, signals. Nothing else asks for the time or makes
//! an id.

use std::sync::Arc;

use guerdon_domain::commands::Surroundings;
use guerdon_webhook_dispatcher::Bodies;

pub(crate) mod clock;
pub(crate) mod descriptors;
pub(crate) mod files;
mod ids;
pub(crate) mod random;
pub(crate) mod signals;
pub(crate) mod user;

pub(crate) use clock::SystemClock;
pub(crate) use ids::SystemIds;

/// The world, for commands that move points.
pub(crate) fn surroundings() -> Surroundings {
    Surroundings { clock: Arc::new(SystemClock), ids: Arc::new(SystemIds), bodies: Arc::new(Bodies) }
}
