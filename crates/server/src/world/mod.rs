//! The world behind the ports: time, ids, randomness, files, descriptors, signals. Nothing else asks for the time or makes
//! an id.

pub(crate) mod clock;
pub(crate) mod descriptors;
pub(crate) mod files;
mod ids;
pub(crate) mod random;
pub(crate) mod signals;
pub(crate) mod user;

pub(crate) use clock::SystemClock;
pub(crate) use ids::SystemIds;
