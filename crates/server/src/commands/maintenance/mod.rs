//! Commands that keep the service in order: `guerdon maintenance` and `prune`.

pub(super) mod mode;
pub(super) mod prune;
