//! The time of the latest backup, as the database stores it for the status, the metrics and the console.

use guerdon_domain::ports::{ReadTx, Setting, StoreError, Timestamp, Tx};

/// Records that a backup ended at this time.
pub(crate) fn record_backup(tx: &mut dyn Tx, ended_at: Timestamp) -> Result<(), StoreError> {
    tx.set_setting(Setting::LastBackup, &ended_at.unix_micros().to_string())
}

/// Reads when the latest backup ended; `None` if none was recorded.
pub(crate) fn load_last_backup(reads: &mut dyn ReadTx) -> Result<Option<Timestamp>, StoreError> {
    let stored = reads.get_setting(Setting::LastBackup)?;
    Ok(stored.and_then(|micros| Timestamp::from_unix_micros(micros.parse().ok()?)))
}
