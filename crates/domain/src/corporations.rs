//! Corporations: groupings of companies (behaviour 12).

use crate::ports::{Context, Corporations, Denied, LockableRow, Locks, StoreError};
use crate::values::{CorporationId, ProviderId, SingleLine};

pub use crate::model::Corporation;

/// Why a corporation was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCorporationError {
    /// The corporation cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a corporation of a provider.
pub fn create<T: Corporations + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    name: &SingleLine,
    context: &Context<'_>,
) -> Result<Corporation, StoreError> {
    let now = context.clock.now();
    let corporation = Corporation {
        id: CorporationId::from_uuid(context.ids.next_id()),
        provider_id: scope,
        name: name.clone(),
        created_at: now,
        updated_at: now,
    };
    tx.insert_corporation(&corporation)?;
    Ok(corporation)
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
