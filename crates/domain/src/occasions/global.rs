//! Global occasions: everybody's to use, the operator's to make, change and remove (behaviour 14.2).

use super::create::insert;
use crate::model::{Action, Occasion, OccasionText};
use crate::ports::{AuditLog, Context, Locks, Lookup, Occasions, ReadOccasions, Row, StoreError};
use crate::values::{OccasionId, ProviderId};

/// Why a global occasion was not changed or deleted.
#[derive(Debug, thiserror::Error)]
pub enum GlobalOccasionError {
    #[error("no global occasion has this id")]
    NoSuchOccasion,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates an occasion of every company.
pub fn create_global<T: AuditLog + Occasions + ?Sized>(
    tx: &mut T,
    text: &OccasionText,
    context: &Context<'_>,
) -> Result<Occasion, StoreError> {
    let occasion = insert(tx, None, text, true, true, context)?;
    let entry = context.entry(Action::GlobalOccasionCreated).about(occasion.id.as_uuid());
    tx.note(&entry.saying(text.name.as_str()))?;
    Ok(occasion)
}

/// Enables or disables it, shows or hides it; what is `None` stays.
pub fn set_global<T: AuditLog + Locks + Occasions + ?Sized>(
    tx: &mut T,
    id: OccasionId,
    enabled: Option<bool>,
    visible: Option<bool>,
    context: &Context<'_>,
) -> Result<Occasion, GlobalOccasionError> {
    let mut occasion = held(tx, id)?;
    let now = (enabled.unwrap_or(occasion.enabled), visible.unwrap_or(occasion.visible));
    if now != (occasion.enabled, occasion.visible) {
        (occasion.enabled, occasion.visible) = now;
        occasion.updated_at = context.clock.now();
        tx.update_occasion(&occasion)?;
        let said = format!("enabled {}, visible {}", now.0, now.1);
        tx.note(&context.entry(Action::GlobalOccasionChanged).about(id.as_uuid()).saying(said))?;
    }
    Ok(occasion)
}

/// Deletes it: from then on it is absent; recognitions keep its id, events its name.
pub fn delete_global<T: AuditLog + Locks + Occasions + ?Sized>(
    tx: &mut T,
    id: OccasionId,
    context: &Context<'_>,
) -> Result<(), GlobalOccasionError> {
    held(tx, id)?;
    tx.mark_occasion_deleted(id, context.clock.now())?;
    Ok(tx.note(&context.entry(Action::GlobalOccasionDeleted).about(id.as_uuid()))?)
}

fn held<T: Locks + ReadOccasions + ?Sized>(
    tx: &mut T,
    id: OccasionId,
) -> Result<Occasion, GlobalOccasionError> {
    tx.hold(Row::Occasion(id))?;
    let nobody = ProviderId::from_uuid(uuid::Uuid::nil()); // to whom only what is everybody's belongs
    match tx.occasion(nobody, id)? {
        Lookup::Own(occasion) if occasion.is_global() => Ok(occasion),
        _ => Err(GlobalOccasionError::NoSuchOccasion),
    }
}
