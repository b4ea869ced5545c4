//! Changing a corporation.

use crate::model::Corporation;
use crate::ports::{Context, Corporations, Denied, LockableRow, Locks, StoreError};
use crate::values::{CorporationId, ProviderId, SingleLine};

/// Why a corporation was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCorporationError {
    /// The corporation cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Renames a corporation. `None` or its current name changes nothing.
pub fn update<T: Corporations + Locks + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: CorporationId,
    name: Option<&SingleLine>,
    context: &Context<'_>,
) -> Result<Corporation, UpdateCorporationError> {
    tx.lock_row(LockableRow::Corporation(id))?;
    let mut corporation = tx.find_corporation(scope, id)?.or_denied("id")?;
    if let Some(name) = name.filter(|name| **name != corporation.name) {
        (corporation.name, corporation.updated_at) = (name.clone(), context.clock.now());
        tx.update_corporation(&corporation)?;
    }
    Ok(corporation)
}
