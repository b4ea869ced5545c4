//! Deleting an occasion (behaviour 14.4).

use super::ChangeOccasionError;
use super::update::held;
use crate::ports::{Context, Locks, Occasions};
use crate::values::{OccasionId, ProviderId};

/// Deletes an occasion: from then on it is absent; recognitions keep its id, events its name.
pub fn delete<T: Locks + Occasions + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: OccasionId,
    context: &Context<'_>,
) -> Result<(), ChangeOccasionError> {
    held(tx, scope, id)?;
    Ok(tx.mark_occasion_deleted(id, context.clock.now())?)
}
