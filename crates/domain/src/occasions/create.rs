//! Creating an occasion of a company.

use crate::model::{Occasion, OccasionText};
use crate::ports::{Context, DeniedReference, Locks, Occasions, ReadCompanies, StoreError};
use crate::values::{CompanyId, OccasionId, ProviderId};

/// Why an occasion was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateOccasionError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] DeniedReference),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates an occasion of a company.
pub fn create<T: Locks + Occasions + ReadCompanies + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    company_id: CompanyId,
    text: &OccasionText,
    enabled: bool,
    visible: bool,
    context: &Context<'_>,
) -> Result<Occasion, CreateOccasionError> {
    // An absent company is reported first: the lock fails for a company that was handed over to another cell.
    tx.find_company(scope, company_id)?.or_denied_reference("company_id", company_id.as_uuid())?;
    tx.lock_provider_shared(company_id)?;
    tx.find_company(scope, company_id)?.or_denied_reference("company_id", company_id.as_uuid())?;
    Ok(insert_new_occasion(tx, Some(company_id), text, enabled, visible, context)?)
}

pub(super) fn insert_new_occasion<T: Occasions + ?Sized>(
    tx: &mut T,
    company_id: Option<CompanyId>,
    text: &OccasionText,
    enabled: bool,
    visible: bool,
    context: &Context<'_>,
) -> Result<Occasion, StoreError> {
    let now = context.clock.now();
    let id = OccasionId::from_uuid(context.ids.next_id());
    let text = text.clone();
    let occasion = Occasion { id, company_id, text, enabled, visible, created_at: now, updated_at: now };
    tx.insert_occasion(&occasion)?;
    Ok(occasion)
}
