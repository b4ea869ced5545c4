//! Creating a corporation.

use crate::model::Corporation;
use crate::ports::{Context, Corporations, StoreError};
use crate::values::{CorporationId, ProviderId, SingleLine};

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
