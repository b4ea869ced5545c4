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
    /// When the ledger was last verified, and the result.
    LastVerification,
    /// Microseconds since 1970. The latest date and time for which a process has started the daily
    /// verification.
    DailyVerification,
    /// When the latest prune ended, and the result.
    LastPrune,
    /// When the last backup ended, in microseconds since 1970.
    LastBackup,
    /// When a test write was last made because requests had failed, in microseconds since 1970.
    LastTestWrite,
    /// The fingerprint of the master key that encrypted the stored secrets.
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
            Self::DailyVerification => "daily_verification",
            Self::LastPrune => "last_prune",
            Self::LastBackup => "last_backup",
            Self::LastTestWrite => "write_tried",
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

    /// Sets a setting if its value is still `expected`; `None` stands for a setting that was never set. Returns
    /// whether it was set: of several concurrent callers that expect the same value, one succeeds.
    fn replace_setting(
        &mut self,
        setting: Setting,
        expected: Option<&str>,
        value: &str,
    ) -> Result<bool, StoreError>;
}
