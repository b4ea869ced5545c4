//! Maintenance commands: `guerdon maintenance` and `prune`.

pub(super) mod mode;
pub(super) mod prune;
pub(super) mod record_backup;
