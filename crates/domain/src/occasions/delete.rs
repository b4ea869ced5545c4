//! Deleting an occasion (behaviour 14.4).

use super::UpdateOccasionError;
use super::update::lock_occasion;
use crate::ports::{Context, Locks, Occasions};
use crate::values::{OccasionId, ProviderId};

/// Deletes an occasion. From then on it is not found, but recognitions still refer to its id, and events
/// still contain its name.
pub fn delete<T: Locks + Occasions + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: OccasionId,
    context: &Context<'_>,
) -> Result<(), UpdateOccasionError> {
    lock_occasion(tx, scope, id)?;
    Ok(tx.mark_occasion_deleted(id, context.clock.now())?)
}
