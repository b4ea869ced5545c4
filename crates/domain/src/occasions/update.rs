//! Changing an occasion (behaviour 7).

use crate::model::Occasion;
use crate::ports::{Context, Denied, LockableRow, Locks, Occasions, ReadOccasions, StoreError};
use crate::values::{CompanyId, Message, OccasionId, ProviderId, SingleLine};

/// The changes to make. Fields that are `None` do not change.
#[derive(Debug, Clone, Default)]
pub struct UpdateOccasion {
    /// Its company, which cannot change: only the current one is accepted.
    pub company_id: Option<CompanyId>,
    pub name: Option<SingleLine>,
    /// The title of its emails.
    pub title: Option<SingleLine>,
    /// The default message of its recognitions.
    pub default_message: Option<Message>,
    /// Whether it may be used.
    pub enabled: Option<bool>,
    /// Whether forms should show it. It can be used either way (behaviour 14.3).
    pub visible: Option<bool>,
}

/// Why an occasion was not changed or deleted.
#[derive(Debug, thiserror::Error)]
pub enum UpdateOccasionError {
    /// The occasion cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The occasion is global (behaviour 14.2).
    #[error("a global occasion cannot be changed")]
    Global,
    /// The update contains a company other than the current one.
    #[error("company_id cannot be changed")]
    OtherCompany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes an occasion. Values that equal the stored ones change nothing.
pub fn update<T: Locks + Occasions + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: OccasionId,
    update: &UpdateOccasion,
    context: &Context<'_>,
) -> Result<Occasion, UpdateOccasionError> {
    let before = lock_occasion(tx, scope, id)?;
    if update.company_id.is_some_and(|company_id| Some(company_id) != before.company_id) {
        return Err(UpdateOccasionError::OtherCompany);
    }
    let mut occasion = before.clone();
    apply_update(update, &mut occasion);
    if occasion != before {
        occasion.updated_at = context.clock.now();
        tx.update_occasion(&occasion)?;
    }
    Ok(occasion)
}

/// Locks and reads an occasion of the provider.
pub(super) fn lock_occasion<T: Locks + ReadOccasions + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: OccasionId,
) -> Result<Occasion, UpdateOccasionError> {
    let found = tx.find_occasion(scope, id)?.or_denied("id")?;
    tx.lock_provider_shared(found.company_id.ok_or(UpdateOccasionError::Global)?)?;
    tx.lock_row(LockableRow::Occasion(id))?;
    Ok(tx.find_occasion(scope, id)?.or_denied("id")?)
}

fn apply_update(update: &UpdateOccasion, occasion: &mut Occasion) {
    let text = &mut occasion.text;
    text.name = update.name.as_ref().unwrap_or(&text.name).clone();
    text.title = update.title.as_ref().unwrap_or(&text.title).clone();
    text.default_message = update.default_message.as_ref().unwrap_or(&text.default_message).clone();
    occasion.enabled = update.enabled.unwrap_or(occasion.enabled);
    occasion.visible = update.visible.unwrap_or(occasion.visible);
}
