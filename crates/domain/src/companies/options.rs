//! The options that an operator can enable for a company (behaviour 15.5).

use crate::any_provider;
use crate::model::Action;
use crate::ports::{AuditLog, Companies, Context, LockableRow, Locks, StoreError};
use crate::values::CompanyId;

/// Why an option was not set.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    #[error("no company has this id")]
    NoSuchCompany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Allows or forbids recognitions of zero points.
pub fn set_allow_zero_points<T: AuditLog + Companies + Locks + ?Sized>(
    tx: &mut T,
    id: CompanyId,
    allow: bool,
    context: &Context<'_>,
) -> Result<(), OptionsError> {
    tx.lock_row(LockableRow::Company(id))?;
    let mut company = any_provider::find_company(tx, id)?.ok_or(OptionsError::NoSuchCompany)?;
    if company.allow_zero_points != allow {
        (company.allow_zero_points, company.updated_at) = (allow, context.clock.now());
        tx.update_company(&company)?;
        let entry =
            context.new_audit_entry(Action::OptionsSet).with_company(id).with_provider(company.provider_id);
        tx.record_audit_entry(&entry.with_detail(format!("allow_zero_points {allow}")))?;
    }
    Ok(())
}
