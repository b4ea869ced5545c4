//! Changing a company (behaviour 7, 11.3, 11.7), including its owner, its rate and its reserve alert.

use super::change::{UpdateCompany, UpdateCompanyError};
use super::ownership;
use crate::model::{Company, CompanyWithOwner, EntryKind};
use crate::ports::{Accounts, Companies, Context, JournalEntries, LockableRow, Locks, MailOutbox, Users};
use crate::reserve;
use crate::values::{CompanyId, ProviderId};

/// Changes a company. Values that equal the stored ones change nothing, not even the time of the last change.
pub fn update<T>(
    tx: &mut T,
    scope: ProviderId,
    id: CompanyId,
    command: &UpdateCompany,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError>
where
    T: Accounts + JournalEntries + Companies + Locks + MailOutbox + Users + ?Sized,
{
    tx.lock_row(LockableRow::Company(id))?;
    let found = tx.find_company(scope, id)?.or_denied("id")?;
    if command.domain.as_ref().is_some_and(|domain| *domain != found.company.domain) {
        return Err(UpdateCompanyError::OtherDomain);
    }
    let now = context.clock.now();
    let before = found.company.clone();
    let mut changed = ownership::update_owner(tx, found, command, context)?;
    let company = &mut changed.company;
    apply_update(command, company);
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

fn apply_update(command: &UpdateCompany, company: &mut Company) {
    if let Some(name) = &command.name {
        company.name = name.clone();
    }
    if let Some(logo_url) = &command.logo_url {
        company.logo_url = logo_url.clone();
    }
    if let Some(rate) = command.rate {
        company.rate = rate;
    }
    company.reserve_alert = command.reserve_alert.apply(company.reserve_alert);
    let reserve_bcc = command.reserve_bcc.clone().apply(company.reserve_bcc.clone());
    if reserve_bcc != company.reserve_bcc {
        company.reserve_bcc = reserve_bcc; // an address that differs only in case is equal, and is not changed
    }
}
