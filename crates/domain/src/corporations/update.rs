//! Changing a corporation.

use crate::model::Corporation;
use crate::ports::{Context, Corporations, Denied, Locks, Row, StoreError};
use crate::values::{CorporationId, Line, ProviderId};

/// Why a corporation was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCorporationError {
    /// The corporation cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Renames a corporation. `None`, or its present name, changes nothing.
pub fn update<T: Corporations + Locks + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: CorporationId,
    name: Option<&Line>,
    context: &Context<'_>,
) -> Result<Corporation, UpdateCorporationError> {
    tx.hold(Row::Corporation(id))?;
    let mut corporation = tx.corporation(scope, id)?.named("id")?;
    if let Some(name) = name.filter(|name| **name != corporation.name) {
        (corporation.name, corporation.updated_at) = (name.clone(), context.clock.now());
        tx.update_corporation(&corporation)?;
    }
    Ok(corporation)
}
