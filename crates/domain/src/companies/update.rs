//! Changing a company (behaviour 7, 11.3, 11.7), including its owner, its rate and its reserve alert.

use super::change::{UpdateCompany, UpdateCompanyError};
use super::ownership;
use crate::model::{CompanyWithOwner, EntryKind};
use crate::ports::{
    Accounts, Companies, Context, JournalEntries, LockableRow, Locks, NotificationOutbox, Users,
};
use crate::reserve;
use crate::values::{CompanyId, ProviderId};

/// Changes a company. Values that equal the stored ones change nothing, not even the time of the last change.
pub fn update<T>(
    tx: &mut T,
    scope: ProviderId,
    id: CompanyId,
    update: &UpdateCompany,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError>
where
    T: Accounts + JournalEntries + Companies + Locks + NotificationOutbox + Users + ?Sized,
{
    tx.lock_row(LockableRow::Company(id))?;
    let found = tx.find_company(scope, id)?.or_denied("id")?;
    if update.domain.as_ref().is_some_and(|domain| *domain != found.company.domain) {
        return Err(UpdateCompanyError::OtherDomain);
    }
    let now = context.clock.now();
    let before = found.company.clone();
    let mut changed = ownership::update_owner(tx, found, update, context)?;
    let company = &mut changed.company;
    update.apply(company);
    if *company != before {
        company.updated_at = now;
        tx.update_company(company)?;
        if company.rate != before.rate {
            tx.record_journal_entry(&context.new_journal_entry(company, EntryKind::RateChange))?;
        }
        if (company.rate, company.reserve_alert) != (before.rate, before.reserve_alert) {
            reserve::set_alert(tx, &before, company, context)?;
        }
    }
    Ok(changed)
}
