//! The few values about the service itself that are stored in its database.

use super::StoreError;

/// The names of the settings in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// `on` while the API responds with 503.
    Maintenance,
    /// When maintenance mode was last turned on or off.
    MaintenanceSince,
    /// Microseconds since 1970. Delivered events that were created before this time may have been deleted.
    EventsPrunedBefore,
    /// When `guerdon verify` last ended, in microseconds since 1970, and the number of violations: `at
    /// found`.
    LastVerification,
    /// When a trial write was last made because requests had failed, in microseconds since 1970.
    LastTrialWrite,
    /// The fingerprint of the master key that sealed the stored secrets.
    MasterKeyFingerprint,
}

impl Setting {
    /// The value of [`Maintenance`](Self::Maintenance) while the API responds with 503.
    pub const ON: &str = "on";

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maintenance => "maintenance",
            Self::MaintenanceSince => "maintenance_since",
            Self::EventsPrunedBefore => "events_pruned_before",
            Self::LastVerification => "last_verification",
            Self::LastTrialWrite => "write_tried",
            Self::MasterKeyFingerprint => "master_key_fingerprint",
        }
    }
}

pub trait ReadSettings {
    /// The value; `None` if it was never set.
    fn get_setting(&mut self, setting: Setting) -> Result<Option<String>, StoreError>;
}

/// Writes settings.
pub trait Settings: ReadSettings {
    fn set_setting(&mut self, setting: Setting, value: &str) -> Result<(), StoreError>;
}
