//! Creating a company with its owner (behaviour 11.2). Company, owner and their accounts are created
//! together, because none may exist without the others.

use crate::model::{Company, CompanyWithOwner, EntryKind, Profile, User};
use crate::money::{Points, PointsPerDollar};
use crate::ports::{
    Accounts, Companies, Context, DeniedReference, JournalEntries, ReadCorporations, StoreError, Users,
};
use crate::reserve;
use crate::users::open_wallets;
use crate::values::{
    CompanyId, CorporationId, DomainName, EmailAddress, ProviderId, SingleLine, UserId, WebUrl,
};
use crate::wallets::Account;

/// The fields of a new company.
#[derive(Debug, Clone)]
pub struct CreateCompany {
    pub domain: DomainName,
    pub name: SingleLine,
    pub owner_email: EmailAddress,
    pub owner_first_name: SingleLine,
    /// The owner's last name; `None` if the full name is a single word.
    pub owner_last_name: Option<SingleLine>,
    pub logo_url: WebUrl,
    /// The corporation to join.
    pub corporation_id: Option<CorporationId>,
    pub rate: PointsPerDollar,
    /// The alert threshold of the reserve.
    pub reserve_alert: Option<Points>,
    /// An additional recipient of the alert.
    pub reserve_bcc: Option<EmailAddress>,
}

impl CreateCompany {
    /// Returns a company at the default rate with only the required fields: a domain, a name, an owner
    /// (address and first name) and a logo.
    pub fn with_defaults(
        domain: DomainName,
        name: SingleLine,
        (owner_email, owner_first_name): (EmailAddress, SingleLine),
        logo_url: WebUrl,
    ) -> Self {
        Self {
            domain,
            name,
            owner_email,
            owner_first_name,
            owner_last_name: None,
            logo_url,
            corporation_id: None,
            rate: PointsPerDollar::DEFAULT,
            reserve_alert: None,
            reserve_bcc: None,
        }
    }
}

/// Why a company was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateCompanyError {
    /// The corporation cannot be used.
    #[error(transparent)]
    Denied(#[from] DeniedReference),
    /// The domain is already taken, possibly by a company of another provider.
    #[error("domain has already been taken")]
    DomainTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a company, its accounts, and its owner as an active user and company admin.
pub fn create<T>(
    tx: &mut T,
    scope: ProviderId,
    new: &CreateCompany,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, CreateCompanyError>
where
    T: Accounts + JournalEntries + Companies + ReadCorporations + Users + ?Sized,
{
    if let Some(id) = new.corporation_id {
        tx.find_corporation(scope, id)?.or_denied_reference("corporation_id", id.as_uuid())?;
    }
    let now = context.clock.now();
    let owner_id = UserId::from_uuid(context.ids.next_id());
    let company = Company {
        id: CompanyId::from_uuid(context.ids.next_id()),
        provider_id: scope,
        corporation_id: new.corporation_id,
        domain: new.domain.clone(),
        name: new.name.clone(),
        owner_id,
        logo_url: new.logo_url.clone(),
        rate: new.rate,
        reserve_alert: new.reserve_alert,
        reserve_bcc: new.reserve_bcc.clone(),
        allow_zero_points: false,
        created_at: now,
        updated_at: now,
        handed_over_at: None,
    };
    if !tx.insert_company(&company)? {
        return Err(CreateCompanyError::DomainTaken);
    }
    tx.record_journal_entry(&context.new_journal_entry(&company, EntryKind::CompanyCreation))?;
    tx.open_accounts(company.id, &Account::company_accounts(company.id), now)?;
    if let Some(threshold) = reserve::alert_threshold(&company) {
        tx.set_reserve_alert(company.id, Some(threshold))?;
    }
    let mut profile = Profile::with_name(
        new.owner_email.clone(),
        new.owner_first_name.clone(),
        new.owner_last_name.clone(),
    );
    profile.company_admin = true;
    let owner = User::new(owner_id, company.id, profile, now);
    if !tx.insert_user(&owner)? {
        return Err(StoreError::Broken("the new company already has a user".into()).into());
    }
    open_wallets(tx, &owner, now)?;
    Ok(CompanyWithOwner::new(company, owner.profile))
}
