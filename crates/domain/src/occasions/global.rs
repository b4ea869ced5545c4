//! Global occasions: every provider can use them, and the operator creates, changes and deletes them
//! (behaviour 14.2).

use super::create::insert_new_occasion;
use crate::model::{Action, Occasion, OccasionText};
use crate::ports::{AuditLog, Context, LockableRow, Locks, Lookup, Occasions, ReadOccasions, StoreError};
use crate::values::{OccasionId, ProviderId};

/// Why a global occasion was not changed or deleted.
#[derive(Debug, thiserror::Error)]
pub enum GlobalOccasionError {
    #[error("no global occasion has this id")]
    NoSuchOccasion,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates an occasion that every company can use.
pub fn create_global<T: AuditLog + Occasions + ?Sized>(
    tx: &mut T,
    text: &OccasionText,
    context: &Context<'_>,
) -> Result<Occasion, StoreError> {
    let occasion = insert_new_occasion(tx, None, text, true, true, context)?;
    let entry = context.new_audit_entry(Action::GlobalOccasionCreated).with_object(occasion.id.as_uuid());
    tx.record_audit_entry(&entry.with_detail(text.name.as_str()))?;
    Ok(occasion)
}

/// Enables or disables, shows or hides a global occasion. Fields that are `None` do not change.
pub fn set_global<T: AuditLog + Locks + Occasions + ?Sized>(
    tx: &mut T,
    id: OccasionId,
    enabled: Option<bool>,
    visible: Option<bool>,
    context: &Context<'_>,
) -> Result<Occasion, GlobalOccasionError> {
    let mut occasion = lock_global_occasion(tx, id)?;
    let now = (enabled.unwrap_or(occasion.enabled), visible.unwrap_or(occasion.visible));
    if now != (occasion.enabled, occasion.visible) {
        (occasion.enabled, occasion.visible) = now;
        occasion.updated_at = context.clock.now();
        tx.update_occasion(&occasion)?;
        let detail = format!("enabled {}, visible {}", now.0, now.1);
        tx.record_audit_entry(
            &context
                .new_audit_entry(Action::GlobalOccasionChanged)
                .with_object(id.as_uuid())
                .with_detail(detail),
        )?;
    }
    Ok(occasion)
}

/// Deletes a global occasion. From then on it is not found, but recognitions still refer to its id, and
/// events still contain its name.
pub fn delete_global<T: AuditLog + Locks + Occasions + ?Sized>(
    tx: &mut T,
    id: OccasionId,
    context: &Context<'_>,
) -> Result<(), GlobalOccasionError> {
    lock_global_occasion(tx, id)?;
    tx.mark_occasion_deleted(id, context.clock.now())?;
    Ok(tx.record_audit_entry(
        &context.new_audit_entry(Action::GlobalOccasionDeleted).with_object(id.as_uuid()),
    )?)
}

fn lock_global_occasion<T: Locks + ReadOccasions + ?Sized>(
    tx: &mut T,
    id: OccasionId,
) -> Result<Occasion, GlobalOccasionError> {
    tx.lock_row(LockableRow::Occasion(id))?;
    let no_provider = ProviderId::from_uuid(uuid::Uuid::nil()); // its scope contains only global occasions
    match tx.find_occasion(no_provider, id)? {
        Lookup::Own(occasion) if occasion.is_global() => Ok(occasion),
        _ => Err(GlobalOccasionError::NoSuchOccasion),
    }
}
