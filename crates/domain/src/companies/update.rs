//! Changing a company (spec §4.1, contract §4.1, §5.8).

use super::ownership::{self, OwnerName};
use crate::model::{Act, Company, CompanyWithOwner};
use crate::money::{Points, PointsPerDollar};
use crate::ports::{Accounts, Causes, Companies, Context, Denied, Locks, MailOutbox, Row, StoreError, Users};
use crate::reserve;
use crate::values::{CompanyId, DomainName, EmailAddress, InvalidValue, Line, ProviderId, Update, WebUrl};

/// What changes; what is `None` or `Keep` stays.
#[derive(Debug, Clone, Default)]
pub struct UpdateCompany {
    /// Its domain, which cannot change: only the present one is accepted.
    pub domain: Option<DomainName>,
    /// Its name.
    pub name: Option<Line>,
    /// Whose address the owner has: the present owner's, another active user's, or a new user's.
    pub owner_email: Option<EmailAddress>,
    /// The owner's full name.
    pub owner_name: Option<OwnerName>,
    /// Its logo.
    pub logo_url: Option<WebUrl>,
    /// Its conversion rate: amounts stay, what they show changes at once.
    pub rate: Option<PointsPerDollar>,
    /// The points below which the reserve alerts.
    pub reserve_alert: Update<Points>,
    /// Who else receives the alert.
    pub reserve_bcc: Update<EmailAddress>,
}

/// Why a company was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCompanyError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Another domain was sent.
    #[error("domain cannot be changed")]
    OtherDomain,
    /// The owner's name is no name.
    #[error("owner_name {0}")]
    OwnerName(InvalidValue),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes a company. A value that equals the stored one changes nothing, the time of the last change included.
pub fn update<T>(
    tx: &mut T,
    scope: ProviderId,
    id: CompanyId,
    command: &UpdateCompany,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError>
where
    T: Accounts + Causes + Companies + Locks + MailOutbox + Users + ?Sized,
{
    tx.hold(Row::Company(id))?;
    let found = tx.company(scope, id)?.named("id")?;
    if command.domain.as_ref().is_some_and(|it| *it != found.company.domain) {
        return Err(UpdateCompanyError::OtherDomain);
    }
    let now = context.clock.now();
    let before = found.company.clone();
    let mut changed = ownership::settle(tx, found, command, context)?;
    let company = &mut changed.company;
    apply(command, company);
    if *company != before {
        company.updated_at = now;
        tx.update_company(company)?;
        if company.rate != before.rate {
            tx.record(&context.cause(company, Act::Rate))?;
        }
        if (company.rate, company.reserve_alert) != (before.rate, before.reserve_alert) {
            reserve::set_alert(tx, &before, company, context)?;
        }
    }
    Ok(changed)
}

fn apply(command: &UpdateCompany, company: &mut Company) {
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
        company.reserve_bcc = reserve_bcc; // an address in another case is the same, and stays as it was
    }
}
