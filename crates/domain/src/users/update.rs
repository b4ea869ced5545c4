//! Changing a user (behaviour 7, 13.3).

use crate::model::{Company, Profile, UpdateDetails, User};
use crate::ports::{
    Accounts, Context, Denied, LockableRow, Locks, ReadCompanies, ReadUsers, StoreError, Users,
};
use crate::values::{CompanyId, EmailAddress, Groups, ProviderId, SingleLine, Update, UserId};
use crate::wallets::{Account, WalletType};

/// The changes to make. Fields that are `None` or `Keep` do not change.
#[derive(Debug, Clone, Default)]
pub struct UpdateUser {
    /// Its company, which cannot change: only the current one is accepted.
    pub company_id: Option<CompanyId>,
    pub email: Option<EmailAddress>,
    pub first_name: Option<SingleLine>,
    /// Last name; `Clear` is accepted only from an owner who has none.
    pub last_name: Update<SingleLine>,
    pub details: UpdateDetails,
    /// Whether the manager wallet may be used.
    pub manager: Option<bool>,
    /// Whether the user administers the company.
    pub company_admin: Option<bool>,
    /// Whether the user administers the corporation; stored as false outside a corporation.
    pub corporation_admin: Option<bool>,
    pub groups: Update<Groups>,
    /// Five fields for the provider's own use.
    pub custom_fields: [Update<SingleLine>; 5],
}

/// Why a user was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateUserError {
    /// The user cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error("the user has been deleted and cannot be changed")]
    Deleted,
    /// The update contains a company other than the current one.
    #[error("company_id cannot be changed")]
    OtherCompany,
    /// The update contains an empty last name.
    #[error("last_name must not be empty")]
    NoLastName,
    /// The user owns the company and administers it; transfer the ownership first.
    #[error("company_admin must be true for the owner of the company until ownership is transferred")]
    IsOwner,
    /// Another active user of the company has the address.
    #[error("email has already been taken")]
    EmailTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes a user. Values that equal the stored ones change nothing. A user who becomes a manager gets a
/// manager wallet. A user who stops being a manager keeps the wallet.
pub fn update<T>(
    tx: &mut T,
    scope: ProviderId,
    id: UserId,
    update: &UpdateUser,
    context: &Context<'_>,
) -> Result<User, UpdateUserError>
where
    T: Accounts + Locks + ReadCompanies + Users + ?Sized,
{
    let company_id = tx.find_user(scope, id)?.or_denied("id")?.company_id;
    if update.company_admin == Some(false) || update.corporation_admin == Some(true) {
        // Prevents a concurrent transfer of ownership to the user, and a change of the corporation.
        tx.lock_row(LockableRow::Company(company_id))?;
    } else {
        tx.lock_provider_shared(company_id)?;
    }
    tx.lock_row(LockableRow::User(id))?;
    let before = tx.find_user(scope, id)?.or_denied("id")?;
    let company = tx.find_company(scope, company_id)?.or_denied("id")?.company;
    let mut user = before.clone();
    apply_update(update, &mut user.profile);
    user.profile.corporation_admin &= company.corporation_id.is_some();
    check_rules(tx, update, &before, &user, &company)?;
    if user != before {
        user.updated_at = context.clock.now();
        tx.update_user(&user)?;
        open_manager_wallet(tx, &before, &user)?;
    }
    Ok(user)
}

/// Whether [`update`] might change an active user or refuse the update. If this returns false, `update`
/// would return the user unchanged.
pub fn would_change(user: &User, update: &UpdateUser) -> bool {
    let mut profile = user.profile.clone();
    apply_update(update, &mut profile);
    profile != user.profile || update.company_id.is_some_and(|company_id| company_id != user.company_id)
}

fn check_rules<T: ReadUsers + ?Sized>(
    tx: &mut T,
    update: &UpdateUser,
    before: &User,
    after: &User,
    company: &Company,
) -> Result<(), UpdateUserError> {
    if before.deleted_at.is_some() {
        return Err(UpdateUserError::Deleted);
    }
    if update.company_id.is_some_and(|company_id| company_id != before.company_id) {
        return Err(UpdateUserError::OtherCompany);
    }
    if after.profile.last_name.is_none() && before.profile.last_name.is_some() {
        return Err(UpdateUserError::NoLastName);
    }
    if company.owner_id == before.id && !after.profile.company_admin {
        return Err(UpdateUserError::IsOwner);
    }
    if after.profile.email.folded() != before.profile.email.folded()
        && tx.find_active_user_by_email(company.id, &after.profile.email)?.is_some()
    {
        return Err(UpdateUserError::EmailTaken);
    }
    Ok(())
}

fn open_manager_wallet<T: Accounts + ?Sized>(
    tx: &mut T,
    before: &User,
    after: &User,
) -> Result<(), StoreError> {
    let becomes_manager = after.profile.manager && !before.profile.manager;
    if becomes_manager
        && !tx.list_wallets(after.id)?.iter().any(|wallet| wallet.wallet_type == WalletType::Manager)
    {
        let wallet = Account::Wallet(WalletType::Manager, after.id);
        tx.open_accounts(after.company_id, &[wallet], after.updated_at)?;
    }
    Ok(())
}

fn apply_update(update: &UpdateUser, profile: &mut Profile) {
    if let Some(email) = update.email.as_ref().filter(|email| **email != profile.email) {
        profile.email = email.clone(); // equality ignores case, so a change of case is not stored
    }
    profile.first_name = update.first_name.as_ref().unwrap_or(&profile.first_name).clone();
    update.last_name.apply_to_field(&mut profile.last_name);
    update.details.apply(&mut profile.details);
    update.groups.apply_to_field(&mut profile.groups);
    for (field, change) in profile.custom_fields.iter_mut().zip(&update.custom_fields) {
        change.apply_to_field(field);
    }
    profile.manager = update.manager.unwrap_or(profile.manager);
    profile.company_admin = update.company_admin.unwrap_or(profile.company_admin);
    profile.corporation_admin = update.corporation_admin.unwrap_or(profile.corporation_admin);
}
