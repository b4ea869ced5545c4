//! The few facts about the service itself that live in its database.

use super::StoreError;

/// The names of the settings kept in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// `on` while the API answers 503.
    Maintenance,
    /// When that was last turned on or off.
    MaintenanceSince,
    /// Microseconds since 1970: delivered events of what was caused before may be gone.
    EventsPrunedBefore,
    /// When `guerdon verify` last ended, in microseconds since 1970, and how many violations it found: `at found`.
    LastVerification,
    /// When a write was last tried because requests had failed, in microseconds since 1970.
    WriteTried,
    /// The fingerprint of the master key that sealed what is stored.
    MasterKeyFingerprint,
}

impl Setting {
    /// The value of [`Maintenance`](Self::Maintenance) while the API answers 503.
    pub const ON: &str = "on";

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maintenance => "maintenance",
            Self::MaintenanceSince => "maintenance_since",
            Self::EventsPrunedBefore => "events_pruned_before",
            Self::LastVerification => "last_verification",
            Self::WriteTried => "write_tried",
            Self::MasterKeyFingerprint => "master_key_fingerprint",
        }
    }
}

pub trait ReadSettings {
    /// The value, or `None` where it was never set.
    fn setting(&mut self, setting: Setting) -> Result<Option<String>, StoreError>;
}

/// Writing settings.
pub trait Settings: ReadSettings {
    fn set_setting(&mut self, setting: Setting, value: &str) -> Result<(), StoreError>;
}
