//! Records that the database stores as a setting in JSON, so that every instance shows the same.

use guerdon_domain::ports::{ReadTx, Setting, Store, StoreError, StoreExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads a record; `None` if it was never stored, or is unreadable.
pub(super) fn load_record<T: DeserializeOwned>(
    reads: &mut dyn ReadTx,
    setting: Setting,
) -> Result<Option<T>, StoreError> {
    let stored = reads.get_setting(setting)?;
    Ok(stored.and_then(|stored| serde_json::from_str(&stored).ok()))
}

/// Replaces a record. A failure is only logged, because the recorded work has succeeded.
pub(super) fn store_record<T: Serialize>(store: &dyn Store, setting: Setting, record: &T) {
    let stored = serde_json::to_string(record).unwrap_or_default();
    let written = store.transaction(|tx| tx.set_setting(setting, &stored));
    if let Err(cause) = written {
        log::warn!(record = setting.name(), cause:%; "cannot store the result of background work");
    }
}
