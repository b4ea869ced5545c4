//! Transferring a company to another provider (behaviour 12.4, 23.10).

use crate::any_provider;
use crate::model::EntryKind;
use crate::ports::{
    Companies, Context, JournalEntries, LockableRow, Locks, ReadProviders, StoreError, Users,
};
use crate::values::{CompanyId, ProviderId};

/// Why a company was not transferred.
#[derive(Debug, thiserror::Error)]
pub enum TransferCompanyError {
    #[error("no company has this id")]
    NoSuchCompany,
    #[error("no provider has this id")]
    NoSuchProvider,
    /// The company already belongs to the provider.
    #[error("the company already belongs to this provider")]
    SameProvider,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Transfers a company and everything in it to another provider. The company leaves its corporation, which
/// stays with the old provider, so its users lose the corporation admin role. Events that were already
/// written stay with the old provider. Waits for requests in progress, so that none of them writes for the
/// old provider afterwards.
pub fn transfer_to_provider<T>(
    tx: &mut T,
    id: CompanyId,
    to: ProviderId,
    context: &Context<'_>,
) -> Result<(), TransferCompanyError>
where
    T: JournalEntries + Companies + Locks + ReadProviders + Users + ?Sized,
{
    tx.lock_provider_exclusive(id)?;
    tx.lock_row(LockableRow::Company(id))?;
    let mut company = any_provider::find_company(tx, id)?.ok_or(TransferCompanyError::NoSuchCompany)?;
    if tx.find_provider(to)?.is_none() {
        return Err(TransferCompanyError::NoSuchProvider);
    }
    if company.provider_id == to {
        return Err(TransferCompanyError::SameProvider);
    }
    tx.record_journal_entry(&context.new_journal_entry(&company, EntryKind::CompanyTransfer { to }))?;
    let now = context.clock.now();
    (company.provider_id, company.corporation_id, company.updated_at) = (to, None, now);
    tx.update_company(&company)?;
    Ok(tx.clear_corporation_admins(id, now)?)
}
